#include "optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "analysis_internal.h"
#include "optimizer_internal.h"

const char *hx_stage_name(hx_stage stage)
{
    static const char *const name[HX_N_STAGE] = {
        [HX_STAGE_SETUP] = "pre-computation", [HX_STAGE_PCG] = "PCG",
        [HX_STAGE_COMPLIANCE] = "compliance", [HX_STAGE_FILTER] = "filter",
        [HX_STAGE_UPDATE] = "update",         [HX_STAGE_OUTPUT] = "output",
    };
    return name[stage];
}

/* 1 if a PCG vector can hold a field: not on tetrahedra, which outnumber the unknowns of their
 * nodes. */
static int fits_vector(const hx_problem *problem)
{
    return problem->components * problem->space.n_point >= problem->mesh->n_elem;
}

/* Distance between two fields in one vector, in doubles, such that both are aligned. */
static int64_t field_stride(const hx_problem *problem)
{
    return (problem->mesh->n_elem + 31) / 32 * 32;
}

/* 1 if a vector can hold two fields. */
static int fits_twice(const hx_problem *problem)
{
    return problem->components * problem->space.n_point >=
           field_stride(problem) + problem->mesh->n_elem;
}

/* Number of fields stored in PCG vectors between two solves: energy in r, dv in p, dc in z, or
 * after the energy if there is no z. */
static int count_borrowed(const hx_problem *problem, int n_vector)
{
    if (!fits_vector(problem)) return 0;
    return n_vector > 3 || fits_twice(problem) ? 3 : 2;
}

size_t hx_optimizer_bytes(const hx_problem *problem, const hx_update_kind *update,
                          const hx_filter_kind *filter, const hx_filter_params *params,
                          const hx_precond_kind *precond)
{
    const hx_update_kind *kind = update ? update : &hx_update_oc;
    const size_t n = (size_t)problem->mesh->n_elem;
    const int n_vector = hx_pcg_vectors(precond, problem->rigid.n > 0); /* r, p, q, z */
    const int n_borrowed = count_borrowed(problem, n_vector);
    const int n_field =
        HX_OPTIMIZER_FIELDS - n_borrowed - !hx_filter_kind_maps_design(filter, params);
    return (size_t)n_field * n * sizeof(double) + kind->bytes + n * (size_t)kind->bytes_per_elem;
}

/* Uses existing memory for a field, or allocates its own. */
static int take_field(hx_optimizer *opt, double *d_there, double **d_field)
{
    hx_device *dev = opt->analysis->dev;
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    *d_field = d_there;
    if (d_there) return HX_OK;
    HX_TRY(dev->ops->alloc(dev, bytes, d_field));
    opt->field[opt->n_field++] = *d_field;
    return HX_OK;
}

static int create_fields(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis->dev;
    const hx_pcg *pcg = opt->analysis->pcg;
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    const int fits = fits_vector(opt->problem);
    HX_TRY(take_field(opt, NULL, &opt->d_design));
    HX_TRY(take_field(opt, NULL, &opt->d_proposal));
    HX_TRY(take_field(opt, NULL, &opt->d_volume));
    HX_TRY(take_field(opt, hx_filter_maps_design(opt->filter) ? NULL : opt->d_design,
                      &opt->d_physical));
    HX_TRY(take_field(opt, fits ? pcg->d_r : NULL, &opt->d_energy));
    HX_TRY(take_field(opt, fits ? pcg->d_p : NULL, &opt->d_dv));
    double *const d_behind =
        fits && fits_twice(opt->problem) ? pcg->d_r + field_stride(opt->problem) : NULL;
    HX_TRY(take_field(opt, fits && pcg->d_z ? pcg->d_z : d_behind, &opt->d_dc));
    return dev->ops->upload(dev, opt->d_volume, opt->problem->volume, bytes);
}

int hx_optimizer_filter(hx_optimizer *opt)
{
    if (hx_filter_maps_design(opt->filter))
        return hx_filter_forward(opt->filter, opt->d_design, opt->d_physical);
    opt->d_physical = opt->d_design; /* the filter would only copy it */
    return HX_OK;
}

/* Sets penalty and beta of the first design. */
static void begin_continuation(hx_optimizer *opt)
{
    const double penalty = opt->problem->penalty, beta = opt->filter->params.beta;
    opt->penalty = opt->params.penalty;
    opt->beta = opt->params.beta;
    if (opt->penalty.every <= 0) opt->penalty = (hx_schedule){.value = penalty, .last = penalty};
    if (opt->beta.every <= 0) opt->beta = (hx_schedule){.value = beta, .last = beta};
    opt->filter->projection.beta = opt->beta.value;
}

/* Checks that some design has the prescribed volume. */
static int check_volume(hx_optimizer *opt)
{
    hx_least_volume least;
    if (opt->params.least) return hx_least_volume_check(opt->params.least, opt->filter);
    HX_TRY(hx_least_volume_find(&least, opt->filter, &opt->beta));
    return hx_least_volume_check(&least, opt->filter);
}

static int create_update(hx_optimizer *opt)
{
    const hx_update_kind *kind = opt->params.update ? opt->params.update : &hx_update_oc;
    opt->update = (hx_update){
        .dev = opt->analysis->dev,
        .problem = opt->problem,
        .filter = opt->filter,
        .move = opt->params.move,
        .damping = opt->params.damping,
        .total_volume = opt->total_volume,
        .d_volume = opt->d_volume,
    };
    HX_TRY(kind->create(&opt->update));
    opt->update.kind = kind;
    return HX_OK;
}

int hx_optimizer_create(hx_optimizer *opt, const hx_optimizer_params *params, hx_analysis *analysis,
                        hx_filter *filter, const double *density)
{
    const hx_objective_kind *objective =
        params->objective ? params->objective : &hx_objective_compliance;
    int rc;
    memset(opt, 0, sizeof *opt);
    opt->params = *params;
    opt->problem = analysis->fields;
    opt->analysis = analysis;
    opt->filter = filter;
    opt->last_value = INFINITY;
    if (!(params->move > 0.0 && params->move <= 1.0))
        return HX_RAISE(HX_EINPUT, "the move limit is %g; it must be above 0 and at most 1",
                        params->move);
    if (!(params->damping > 0.0 && params->damping <= 1.0))
        return HX_RAISE(HX_EINPUT, "the damping is %g; it must be above 0 and at most 1",
                        params->damping);
    opt->total_volume = opt->problem->total_volume;
    begin_continuation(opt);
    HX_TRY_FAIL(check_volume(opt));
    HX_TRY_FAIL(create_fields(opt));
    HX_TRY_FAIL(hx_optimizer_start(opt, density));
    HX_TRY_FAIL(hx_objective_create(&opt->objective, objective, analysis, params->objective_data));
    HX_TRY_FAIL(create_update(opt));
    return HX_OK;
fail:
    hx_optimizer_free(opt);
    return rc;
}

/* Brings design and volume of all members of the groups to the host. */
static int download_members(hx_optimizer *opt, double *design, double *volume, int64_t n)
{
    hx_device *dev = opt->analysis->dev;
    const size_t bytes = (size_t)n * sizeof *design;
    hx_halo *const halo = opt->linked.halo;
    if (halo) {
        HX_TRY(hx_halo_fill(halo, 0, opt->d_design));
        HX_TRY(hx_halo_fill(halo, 1, opt->d_volume));
    }
    HX_TRY(dev->ops->download(dev, design, halo ? halo->d_value[0] : opt->d_design, bytes));
    return dev->ops->download(dev, volume, halo ? halo->d_value[1] : opt->d_volume, bytes);
}

/* Assigns the mean density of its group to each element. */
static int average_design(hx_optimizer *opt, const hx_groups *groups)
{
    hx_device *dev = opt->analysis->dev;
    const int64_t n_elem = opt->problem->mesh->n_elem,
                  n = n_elem + (opt->linked.halo ? opt->linked.halo->n_beyond : 0);
    double *design;
    HX_TRY(hx_alloc_raw(&design, 2 * (size_t)n, sizeof *design, "densities"));
    int rc = download_members(opt, design, design + n, n);
    if (rc == HX_OK) {
        hx_groups_average(groups, design + n, design);
        rc = dev->ops->upload(dev, opt->d_design, design, (size_t)n_elem * sizeof *design);
    }
    free(design);
    return rc;
}

int hx_optimizer_link(hx_optimizer *opt, const hx_groups *groups)
{
    hx_dist *const dist = opt->analysis->dist;
    hx_groups own = {0};
    if (groups->n_group == 0) return HX_OK;
    if (dist) HX_TRY(hx_groups_take_own(&own, &opt->linked.halo, dist, groups));
    int rc = hx_device_groups_create(&opt->groups, opt->analysis->dev, dist ? &own : groups);
    opt->groups.linked = dist ? &opt->linked : NULL;
    opt->update.groups = &opt->groups;
    if (rc == HX_OK) rc = average_design(opt, dist ? &own : groups);
    hx_groups_free(&own);
    return rc;
}

/* *finite: 1 if all entries are finite, judged by their volume-weighted sum. */
static int check_finite(const hx_optimizer *opt, const double *d_field, int *finite)
{
    hx_device *dev = opt->analysis->dev;
    double sum;
    HX_TRY(
        dev->ops->vector->field_dot(dev, opt->problem->mesh->n_elem, d_field, opt->d_volume, &sum));
    *finite = isfinite(sum);
    return HX_OK;
}

/* HX_ENUMERIC: K is not positive definite, even after a restart. */
static int check_breakdown(const hx_optimizer *opt, const hx_iteration *record)
{
    if (record->reason != HX_PCG_INDEFINITE) return HX_OK;
    const hx_analysis *const analysis = opt->analysis;
    const int is_mixed = analysis->pcg->params.precision == HX_PRECISION_MIXED;
    const int is_jacobi = strcmp(analysis->pc->kind->name, "jacobi") == 0;
    return HX_RAISE(HX_ENUMERIC,
                    "iteration %d: PCG broke down twice because the matrix is not positive "
                    "definite (|r|/|f| = %.2g); possible causes are an unsupported part, an "
                    "inverted element or a void that is too soft; try %s%sa larger "
                    "optimization.rho_min or a lower optimization.penalty",
                    opt->iteration, record->pcg_residual,
                    is_jacobi ? "" : "solver.preconditioner = \"jacobi\", ",
                    is_mixed ? "solver.precision = \"double\", " : "");
}

/* Step 1: solves K(rho) u = f for every load case, and the adjoint problems. */
static int analyse_design(hx_optimizer *opt, hx_iteration *record)
{
    const hx_analysis_record *solves = &opt->analysis->record;
    HX_TRY(hx_analysis_solve(opt->analysis, opt->d_physical, opt->penalty.value));
    HX_TRY(hx_objective_solve_adjoint(&opt->objective));
    record->pcg_iterations = solves->pcg_iterations;
    record->pcg_fell_back = solves->pcg_fell_back;
    record->pcg_restarts = solves->pcg_restarts;
    record->pcg_refinements = solves->pcg_refinements;
    record->pcg_took_exact = solves->pcg_took_exact;
    record->pcg_residual = solves->pcg_residual;
    record->pcg_error = solves->pcg_error;
    record->reason = solves->reason;
    record->spmv_seconds = solves->spmv_seconds;
    record->precond_seconds = solves->precond_seconds;
    record->prepare_seconds = solves->prepare_seconds;
    return check_breakdown(opt, record);
}

/* Step 2: the objective and its derivatives by the physical densities. */
static int differentiate(hx_optimizer *opt, hx_iteration *record)
{
    const hx_objective *objective = &opt->objective;
    double *const d_work[2] = {opt->d_dv, opt->d_proposal}; /* free at this point */
    int finite;
    HX_TRY(hx_analysis_compliance(opt->analysis, &record->compliance));
    HX_TRY(hx_analysis_energy(opt->analysis, opt->d_energy, opt->d_dv));
    HX_TRY(objective->kind->value(objective, &record->objective));
    HX_TRY(hx_objective_derivative(objective, opt->d_energy, opt->d_dc, d_work));
    HX_TRY(check_finite(opt, opt->d_dc, &finite));
    if (isfinite(record->objective) && finite) return HX_OK;
    return HX_RAISE(
        HX_ENUMERIC,
        "iteration %d: the %s or a sensitivity is not finite (%g; PCG: %s): " HX_NOT_FINITE_REMEDY,
        opt->iteration, objective->kind->name, record->objective,
        hx_pcg_reason_name(record->reason));
}

/* Volume fraction and greyness of the analysed design. */
static int measure_design(const hx_optimizer *opt, hx_iteration *record)
{
    hx_device *dev = opt->analysis->dev;
    double mass, grey;
    HX_TRY(dev->ops->design->measure(dev, opt->problem->mesh->n_elem, opt->d_physical,
                                     opt->d_volume, opt->filter->d_passive, &mass, &grey));
    record->volume = mass / opt->total_volume;
    const double wanted = opt->problem->volume_fraction;
    record->volume_missed = !(fabs(record->volume - wanted) <= HX_VOLUME_TOLERANCE * wanted);
    record->greyness = 4.0 * grey / opt->problem->design_volume;
    return HX_OK;
}

/* Step 3: filtered derivatives. */
static int filter_sensitivities(hx_optimizer *opt)
{
    int finite;
    HX_TRY(
        hx_filter_backward_volume(opt->filter, opt->d_design, opt->d_volume, opt->d_dc, opt->d_dv));
    if (opt->update.groups)
        HX_TRY(opt->analysis->dev->ops->design->link(opt->analysis->dev, &opt->groups, opt->d_dv,
                                                     opt->d_dc));
    HX_TRY(check_finite(opt, opt->d_dc, &finite));
    if (finite) return HX_OK; /* clipping would hide a NaN */
    return HX_RAISE(HX_ENUMERIC,
                    "iteration %d: a filtered sensitivity is not finite: " HX_NOT_FINITE_REMEDY,
                    opt->iteration);
}

/* Step 4: the proposal. */
static int propose(hx_optimizer *opt, hx_iteration *record, int is_again)
{
    hx_update_step step = {
        .d_design = opt->d_design,
        .d_dc = opt->d_dc,
        .d_dv = opt->d_dv,
        .d_proposal = opt->d_proposal,
        .volume = record->volume,
        .is_worse = record->objective > opt->last_value,
        .is_again = is_again,
    };
    HX_TRY(opt->update.kind->propose(&opt->update, &step));
    record->change = step.change;
    record->volume_trials += step.trials;
    record->is_flat |= step.is_flat;
    opt->last_value = record->objective;
    return HX_OK;
}

/* Step 5: penalty and beta of the next design. The volume constraint applies to the proposal under
 * the next projection. */
static int climb(hx_optimizer *opt, hx_iteration *record)
{
    const int settled = record->change < opt->params.change_tolerance;
    const int penalty = hx_schedule_advance(&opt->penalty, settled);
    const int beta = hx_schedule_advance(&opt->beta, settled);
    record->raised = penalty || beta;
    if (record->raised) opt->last_value = INFINITY; /* it belongs to another objective function */
    if (!beta) return HX_OK;
    opt->filter->projection.beta = opt->beta.value;
    return propose(opt, record, 1);
}

/* Seconds since *clock, which is set to now. */
static double lap(double *clock)
{
    const double now = hx_clock(), seconds = now - *clock;
    *clock = now;
    return seconds;
}

static void begin_record(hx_optimizer *opt, hx_iteration *record)
{
    memset(record, 0, sizeof *record);
    opt->before.penalty = opt->penalty;
    opt->before.beta = opt->beta;
    opt->before.last_value = opt->last_value;
    record->iteration = ++opt->iteration;
    record->load_case = opt->analysis->load_case;
    record->penalty = opt->penalty.value;
    record->beta = opt->beta.value;
    record->climbing = !hx_schedule_ended(&opt->penalty) || !hx_schedule_ended(&opt->beta);
}

static int evaluate_design(hx_optimizer *opt, hx_iteration *record)
{
    HX_TRY(differentiate(opt, record));
    return measure_design(opt, record);
}

static int update(hx_optimizer *opt, hx_iteration *record)
{
    HX_TRY(propose(opt, record, 0));
    return climb(opt, record);
}

/* From the densities to the next proposal, with the time of each stage. */
static int take_step(hx_optimizer *opt, hx_iteration *record)
{
    hx_device *dev = opt->analysis->dev;
    double clock = hx_clock();

    HX_IN_STAGE(dev, HX_SPAN_FILTER, -1, hx_optimizer_filter(opt));
    HX_TRY(dev->ops->sync(dev));
    record->stage[HX_STAGE_FILTER] = lap(&clock);

    HX_IN_STAGE(dev, HX_SPAN_PCG, -1, analyse_design(opt, record));
    record->stage[HX_STAGE_PCG] = lap(&clock);

    HX_IN_STAGE(dev, HX_SPAN_COMPLIANCE, -1, evaluate_design(opt, record));
    record->stage[HX_STAGE_COMPLIANCE] = lap(&clock);

    HX_IN_STAGE(dev, HX_SPAN_FILTER, -1, filter_sensitivities(opt));
    record->stage[HX_STAGE_FILTER] += lap(&clock);

    HX_IN_STAGE(dev, HX_SPAN_UPDATE, -1, update(opt, record));
    record->stage[HX_STAGE_UPDATE] = lap(&clock);
    return HX_OK;
}

/* After a failure the ranks may be out of step; if a result is not finite, that is the same on all
 * of them. */
static int note_failure(const hx_optimizer *opt, int rc)
{
    hx_dist *const dist = opt->analysis->dist;
    return dist && rc != HX_ENUMERIC ? hx_dist_note_error(dist, rc) : rc;
}

static int step_with_time(hx_optimizer *opt, hx_iteration *record)
{
    const double begin = hx_clock();
    begin_record(opt, record);
    opt->analysis->design = opt->iteration;
    HX_IN_STAGE(opt->analysis->dev, HX_SPAN_DESIGN, opt->iteration, take_step(opt, record));
    record->seconds = hx_clock() - begin;
    return HX_OK;
}

int hx_optimizer_step(hx_optimizer *opt, hx_iteration *record)
{
    HX_TRY(hx_analysis_announce(opt->analysis, HX_CALL_STEP, 0));
    return note_failure(opt, step_with_time(opt, record));
}

void hx_optimizer_advance(hx_optimizer *opt)
{
    double *const d_design = opt->d_design;
    if (hx_analysis_announce(opt->analysis, HX_CALL_ADVANCE, 0) < 0)
        hx_error_clear(); /* the next call reports it */
    opt->d_design = opt->d_proposal;
    opt->d_proposal = d_design;
}

static int undo(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis->dev;
    opt->penalty = opt->before.penalty;
    opt->beta = opt->before.beta;
    opt->last_value = opt->before.last_value;
    opt->iteration--;
    HX_TRY(dev->ops->copy(dev, opt->d_proposal, opt->d_design,
                          (size_t)opt->problem->mesh->n_elem * sizeof(double)));
    if (opt->filter->kind->reset) HX_TRY(opt->filter->kind->reset(opt->filter));
    HX_TRY(hx_objective_reset(&opt->objective));
    return hx_analysis_reset(opt->analysis);
}

int hx_optimizer_undo(hx_optimizer *opt)
{
    HX_TRY(hx_analysis_announce(opt->analysis, HX_CALL_UNDO, 0));
    return note_failure(opt, undo(opt));
}

int hx_optimizer_density(const hx_optimizer *opt, double *host)
{
    HX_TRY(hx_analysis_announce(opt->analysis, HX_CALL_DENSITY, 0));
    return hx_analysis_download(opt->analysis, opt->d_physical, host);
}

int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host)
{
    HX_TRY(hx_analysis_announce(opt->analysis, HX_CALL_SENSITIVITY, 0));
    return hx_analysis_download(opt->analysis, opt->d_dc, host);
}

int hx_optimizer_stiffness_error(hx_optimizer *opt, double *error)
{
    HX_TRY(hx_analysis_announce(opt->analysis, HX_CALL_STIFFNESS_ERROR, 0));
    return note_failure(opt, hx_analysis_stiffness_error(opt->analysis, opt->d_dv, error));
}

/* Computes the element energies into dv. */
static int weigh_energy(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis->dev;
    return dev->ops->vector->multiply(dev, opt->problem->mesh->n_elem, opt->d_energy,
                                      opt->analysis->d_modulus, opt->d_dv);
}

int hx_optimizer_energy(hx_optimizer *opt, double *host)
{
    HX_TRY(hx_analysis_announce(opt->analysis, HX_CALL_ENERGY, 0));
    HX_TRY(note_failure(opt, weigh_energy(opt)));
    return hx_analysis_download(opt->analysis, opt->d_dv, host);
}

int hx_optimizer_own_field(hx_optimizer *opt, hx_design_field field, double *own)
{
    hx_device *dev = opt->analysis->dev;
    const double *const d_field[] = {[HX_DESIGN_DENSITY] = opt->d_physical,
                                     [HX_DESIGN_SENSITIVITY] = opt->d_dc,
                                     [HX_DESIGN_ENERGY] = opt->d_dv};
    if (field == HX_DESIGN_ENERGY) HX_TRY(weigh_energy(opt));
    return dev->ops->download(dev, own, d_field[field],
                              (size_t)opt->problem->mesh->n_elem * sizeof *own);
}

void hx_optimizer_free(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis ? opt->analysis->dev : NULL;
    if (opt->update.kind) opt->update.kind->destroy(&opt->update);
    hx_objective_free(&opt->objective);
    for (int i = 0; dev && i < opt->n_field; i++) dev->ops->release(dev, opt->field[i]);
    hx_device_groups_free(&opt->groups, dev);
    hx_halo_free(opt->linked.halo);
    memset(opt, 0, sizeof *opt);
}
