/* The step of a design: analysis, values and derivatives, the proposal, continuation. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "../base/clock.h"
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

/* HX_ENUMERIC: the objective, or an entry of its filtered derivative, is not finite; the latter is
 * judged by the volume-weighted sum. Clipping in the update would hide a NaN. */
static int check_finite(const hx_optimizer *opt, const hx_iteration *record)
{
    hx_device *dev = opt->analysis->dev;
    double sum = 0.0;
    if (isfinite(record->objective))
        HX_TRY(dev->ops->vector->field_dot(dev, opt->problem->mesh->n_elem, opt->d_dc,
                                           opt->d_volume, &sum));
    if (isfinite(record->objective) && isfinite(sum)) return HX_OK;
    return HX_RAISE(
        HX_ENUMERIC,
        "iteration %d: the %s or a sensitivity is not finite (%g; PCG: %s): " HX_NOT_FINITE_REMEDY,
        opt->iteration, opt->objective.kind->name, record->objective,
        hx_pcg_reason_name(record->reason));
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

/* Adds the solves of an analysed design. */
static int record_solves(const hx_optimizer *opt, const hx_analysis *analysis, hx_iteration *record)
{
    const hx_analysis_record *solves = &analysis->record;
    record->pcg_iterations += solves->pcg_iterations;
    record->pcg_fell_back += solves->pcg_fell_back;
    record->pcg_restarts += solves->pcg_restarts;
    record->pcg_refinements += solves->pcg_refinements;
    record->pcg_took_exact += solves->pcg_took_exact;
    record->pcg_residual = fmax(record->pcg_residual, solves->pcg_residual);
    record->pcg_error = fmax(record->pcg_error, solves->pcg_error);
    if (solves->reason > record->reason) record->reason = solves->reason;
    record->spmv_seconds += solves->spmv_seconds;
    record->precond_seconds += solves->precond_seconds;
    record->prepare_seconds += solves->prepare_seconds;
    return check_breakdown(opt, record);
}

static int record_limits(hx_optimizer *opt, hx_iteration *record)
{
    record->violation = 0.0;
    if (opt->has_volume)
        record->violation =
            hx_limits_exceeded(record->volume, opt->design->volume_fraction, NAN, 0.0);
    for (int i = 0; i < opt->params.n_constraint; i++) {
        hx_response_record *const r = &opt->record[i];
        HX_TRY(hx_response_report(&opt->constraint[opt->has_volume + i], &r->value));
        r->violation = hx_limits_exceeded(r->value, r->max, r->min, r->zero);
        record->violation = fmax(record->violation, r->violation);
    }
    record->n_response = opt->params.n_constraint;
    record->response = opt->record;
    return HX_OK;
}

/* Weight of the objective beside the augmented Lagrangian, for which a solid part's volume or mass
 * is 1, and any other objective of the first design. */
static int find_scale(hx_optimizer *opt)
{
    hx_device *const dev = opt->analysis->dev;
    const int64_t n = opt->problem->mesh->n_elem;
    double solid = fabs(opt->objective.now);
    if (opt->lagrangian.scale > 0.0) return HX_OK;
    if (opt->objective.kind->is_linear) {
        HX_TRY(opt->objective.kind->derivative(&opt->objective, NULL, opt->d_dc));
        HX_TRY(dev->ops->vector->fill(dev, n, 1.0, opt->d_dv));
        HX_TRY(dev->ops->vector->field_dot(dev, n, opt->d_dc, opt->d_dv, &solid));
    }
    opt->lagrangian.scale = solid > 0.0 ? 1.0 / solid : 1.0;
    return HX_OK;
}

static int evaluate_lagrangian(hx_optimizer *opt)
{
    hx_response *const sum = &opt->lagrangian.sum;
    HX_TRY(find_scale(opt));
    return sum->kind->value(sum, &sum->now);
}

/* Values of the analysed design. */
static int evaluate(hx_optimizer *opt, hx_iteration *record)
{
    hx_response *const objective = &opt->objective;
    HX_TRY(hx_analysis_compliance(opt->analysis, &record->compliance)); /* f'u */
    HX_TRY(hx_optimizer_measure(opt, record));                          /* v'rho, greyness [2] */
    HX_TRY(objective->kind->value(objective, &objective->now));
    HX_TRY(hx_response_report(objective, &record->objective));
    for (int i = 0; i < opt->n_constraint; i++) {
        hx_response *const g = &opt->constraint[i];
        HX_TRY(g->kind->value(g, &g->now));
    }
    if (opt->lagrangian.sum.kind) HX_TRY(evaluate_lagrangian(opt));
    return record_limits(opt, record);
}

/* Derivatives by the physical density, of all but the volume that volume_fraction prescribes. */
static int differentiate(hx_optimizer *opt)
{
    double *const d_work[2] = {opt->d_dv, opt->d_proposal}; /* free until they are filled */
    HX_TRY(hx_analysis_energy(opt->analysis, opt->d_energy, opt->d_dv)); /* u_e'Ke u_e [1, 4 per
                                                                            more load case] */
    HX_TRY(hx_response_derivative(&opt->objective, opt->d_energy, opt->d_dc, d_work)); /* [4] */
    for (int i = 0; i < opt->n_constraint; i++)
        if (opt->d_more[i])
            HX_TRY(
                hx_response_derivative(&opt->constraint[i], opt->d_energy, opt->d_more[i], d_work));
    return hx_optimizer_add_lagrangian(opt, d_work);
}

/* The value from which the objective's size is measured. */
static double objective_zero(const hx_optimizer *opt)
{
    return hx_response_zero(opt->objective.kind, opt->analysis->problem, &opt->objective.params);
}

/* The function that is minimised. */
static double merit(const hx_optimizer *opt)
{
    const double objective = opt->objective.now - objective_zero(opt);
    return opt->lagrangian.sum.kind ? opt->lagrangian.scale * objective + opt->lagrangian.sum.now
                                    : objective;
}

static hx_update_step begin_update(const hx_optimizer *opt, const hx_iteration *record)
{
    return (hx_update_step){
        .d_design = opt->d_design,
        .d_dc = opt->d_dc,
        .value = merit(opt),
        .convexity =
            hx_filter_maps_design(opt->filter) ? 0.0 : hx_stress_convexity(&opt->lagrangian.list),
        .is_augmented = opt->lagrangian.sum.kind != NULL,
        .d_proposal = opt->d_proposal,
        .is_worse = record->objective > opt->last_value,
        .is_other = isinf(opt->last_value),
        .kkt = NAN,
    };
}

static int propose(hx_optimizer *opt, hx_iteration *record, int is_again)
{
    hx_update_step step = begin_update(opt, record);
    step.is_again = is_again;
    HX_TRY(opt->update.kind->propose(&opt->update, &step));
    record->change = step.change;
    record->kkt = step.kkt;
    const double tolerance = opt->design->change_tolerance;
    record->is_held_back = step.change < tolerance && step.free_change >= tolerance;
    record->volume_trials += step.trials;
    record->is_flat |= step.is_flat;
    return HX_OK;
}

/* The relative change of the objective since the last design. */
static void record_objective(hx_optimizer *opt, hx_iteration *record)
{
    const double size = fabs(record->objective - objective_zero(opt));
    record->objective_change = isfinite(opt->last_value)
                                   ? fabs(record->objective - opt->last_value) / fmax(size, DBL_MIN)
                                   : INFINITY;
    opt->last_value = record->objective;
}

/* Sets penalty and beta of the next design. Returns 1 if beta rises: the constraints apply to the
 * proposal under the next projection, which therefore is made again. */
static int climb(hx_optimizer *opt, hx_iteration *record)
{
    const int settled = record->change < opt->design->change_tolerance && !record->is_held_back;
    const int penalty = hx_schedule_advance(&opt->penalty, settled);
    const int beta = hx_schedule_advance(&opt->beta, settled);
    record->raised = penalty || beta;
    if (record->raised) opt->last_value = INFINITY; /* it belongs to another objective function */
    if (beta) opt->filter->projection.beta = opt->beta.value;
    return beta;
}

/* The stages of a design that are timed, and marked in the timeline. */
typedef struct stages {
    hx_device *dev;
    hx_iteration *record;
    hx_stage now; /* HX_N_STAGE: none */
    double clock;
} stages;

/* Ends the current stage and begins the next one; HX_N_STAGE: none. */
static int next_stage(stages *at, hx_stage next)
{
    static const hx_span span[HX_N_STAGE] = {[HX_STAGE_FILTER] = HX_SPAN_FILTER,
                                             [HX_STAGE_PCG] = HX_SPAN_PCG,
                                             [HX_STAGE_COMPLIANCE] = HX_SPAN_COMPLIANCE,
                                             [HX_STAGE_UPDATE] = HX_SPAN_UPDATE};
    const hx_stage before = at->now;
    const double now = hx_clock();
    at->now = next;
    if (before != HX_N_STAGE) at->record->stage[before] += now - at->clock;
    at->clock = now;
    if (before != HX_N_STAGE) HX_TRY(hx_span_end(at->dev, span[before]));
    if (before != HX_N_STAGE) hx_span_end_host(at->dev, span[before]);
    if (next == HX_N_STAGE) return HX_OK;
    hx_span_begin_host(at->dev, span[next], -1);
    return hx_span_begin(at->dev, span[next], -1);
}

/* Solves for the displacements of d_design. */
static int analyse(hx_optimizer *opt, stages *at)
{
    hx_analysis *const a = opt->analysis;
    opt->measured.d_scratch = opt->d_proposal;
    HX_TRY(next_stage(at, HX_STAGE_FILTER));
    HX_TRY(hx_optimizer_filter(opt)); /* rho = H(F x) [2 if it maps the design] */
    HX_TRY(a->dev->ops->sync(a->dev));
    HX_TRY(next_stage(at, HX_STAGE_PCG));
    HX_TRY(hx_analysis_solve(a, opt->d_physical, opt->penalty.value)); /* K(rho) u = f [2] */
    opt->measured.d_physical = opt->d_physical;
    opt->measured.d_made = opt->d_made;
    HX_TRY(hx_response_prepare(&opt->objective));
    for (int i = 0; i < opt->n_constraint; i++) HX_TRY(hx_response_prepare(&opt->constraint[i]));
    return HX_OK;
}

/* The designs beside the one that is made. */
static int take_sides(hx_optimizer *opt, stages *at, hx_iteration *record)
{
    for (int i = 0; i < HX_OPTIMIZER_SIDES; i++) {
        hx_optimizer_side *const side = &opt->side[i];
        if (!side->name) continue;
        HX_TRY(next_stage(at, HX_STAGE_PCG));
        HX_TRY(hx_optimizer_solve_side(opt, side));
        HX_TRY(record_solves(opt, &side->analysis, record));
        HX_TRY(next_stage(at, HX_STAGE_COMPLIANCE));
        HX_TRY(hx_optimizer_differentiate_side(opt, side));
    }
    return HX_OK;
}

/* *is_rejected: the update replaced the analysed design, which its proposal has become. */
static int judge(hx_optimizer *opt, stages *at, hx_iteration *record, int *is_rejected)
{
    *is_rejected = 0;
    if (!opt->update.kind->judge) return HX_OK;
    HX_TRY(next_stage(at, HX_STAGE_COMPLIANCE));
    HX_TRY(evaluate(opt, record));
    HX_TRY(next_stage(at, HX_STAGE_UPDATE));
    hx_update_step step = begin_update(opt, record);
    HX_TRY(opt->update.kind->judge(&opt->update, &step));
    *is_rejected = step.is_rejected;
    if (!step.is_rejected) return HX_OK;
    HX_TRY(record_solves(opt, opt->analysis, record));
    record->is_rejected = 1;
    record->volume_trials++;
    hx_optimizer_advance(opt);
    return HX_OK;
}

/* From the displacements to the values and filtered derivatives of the design. */
static int evaluate_design(hx_optimizer *opt, stages *at, hx_iteration *record)
{
    if (at->now != HX_STAGE_PCG) HX_TRY(next_stage(at, HX_STAGE_PCG));
    HX_TRY(hx_response_solve_adjoint(&opt->objective)); /* K lambda = dg/du, if not self-adjoint */
    for (int i = 0; i < opt->n_constraint; i++)
        HX_TRY(hx_response_solve_adjoint(&opt->constraint[i]));
    if (opt->lagrangian.sum.kind) HX_TRY(hx_response_solve_adjoint(&opt->lagrangian.sum));
    HX_TRY(record_solves(opt, opt->analysis, record));

    HX_TRY(next_stage(at, HX_STAGE_COMPLIANCE));
    HX_TRY(evaluate(opt, record));
    HX_TRY(differentiate(opt));

    HX_TRY(next_stage(at, HX_STAGE_FILTER));
    HX_TRY(
        hx_optimizer_filter_backward(opt)); /* dg/dx = F'H' dg/drho [2, 4 if it maps the design] */
    return check_finite(opt, record);       /* [2] */
}

/* One design iteration: from the densities x to the next proposal. In brackets the memory traffic
 * in doubles per element, read and written, beside the solves, the sums of the filter and the
 * gathers of displacements. */
static int take_step(hx_optimizer *opt, hx_iteration *record)
{
    stages at = {opt->analysis->dev, record, HX_N_STAGE, 0.0};
    int is_rejected;
    opt->judged = NAN;
    if (hx_optimizer_is_judged(opt, record)) {
        HX_TRY(next_stage(&at, HX_STAGE_PCG));
        HX_TRY(hx_optimizer_judge(opt));
    }
    HX_TRY(take_sides(opt, &at, record));
    do {
        HX_TRY(analyse(opt, &at));
        HX_TRY(judge(opt, &at, record, &is_rejected));
    } while (is_rejected);
    HX_TRY(evaluate_design(opt, &at, record));

    HX_TRY(next_stage(&at, HX_STAGE_UPDATE));
    HX_TRY(propose(opt, record, 0)); /* x of the next design [update_oc.c] */
    record_objective(opt, record);
    if (climb(opt, record)) HX_TRY(propose(opt, record, 1));
    HX_TRY(hx_optimizer_keep(opt, record));
    HX_TRY(hx_stress_advance(&opt->lagrangian.list, opt->d_dv)); /* multipliers of stress limits */
    return next_stage(&at, HX_N_STAGE);
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

int hx_optimizer_note_failure(const hx_optimizer *opt, int rc)
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

int hx_optimizer_analyse(hx_optimizer *opt, hx_iteration *record)
{
    const double begin = hx_clock();
    stages at = {opt->analysis->dev, record, HX_N_STAGE, 0.0};
    begin_record(opt, record);
    opt->analysis->design = opt->iteration;
    HX_TRY(analyse(opt, &at));
    HX_TRY(evaluate_design(opt, &at, record));
    HX_TRY(next_stage(&at, HX_N_STAGE));
    record->seconds = hx_clock() - begin;
    return HX_OK;
}

int hx_optimizer_step(hx_optimizer *opt, hx_iteration *record)
{
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    return hx_optimizer_note_failure(opt, step_with_time(opt, record));
}

void hx_optimizer_advance(hx_optimizer *opt)
{
    double *const d_design = opt->d_design;
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
    for (int i = 0; i < opt->n_constraint; i++) HX_TRY(hx_response_reset(&opt->constraint[i]));
    HX_TRY(hx_response_reset(&opt->objective));
    HX_TRY(hx_optimizer_reset_sides(opt));
    if (opt->lagrangian.sum.kind) HX_TRY(hx_response_reset(&opt->lagrangian.sum));
    return hx_analysis_reset(opt->analysis);
}

int hx_optimizer_undo(hx_optimizer *opt)
{
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    return hx_optimizer_note_failure(opt, undo(opt));
}

int hx_optimizer_density(const hx_optimizer *opt, double *host)
{
    return hx_analysis_download(opt->analysis, opt->d_made, host);
}

int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host)
{
    return hx_analysis_download(opt->analysis, opt->d_dc, host);
}

int hx_optimizer_stiffness_error(hx_optimizer *opt, double *error)
{
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    return hx_optimizer_note_failure(opt,
                                     hx_analysis_stiffness_error(opt->analysis, opt->d_dv, error));
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
    HX_TRY(hx_optimizer_note_failure(opt, weigh_energy(opt)));
    return hx_analysis_download(opt->analysis, opt->d_dv, host);
}

int hx_optimizer_own_field(hx_optimizer *opt, hx_design_field field, double *own)
{
    hx_device *dev = opt->analysis->dev;
    const double *const d_field[] = {[HX_DESIGN_DENSITY] = opt->d_made,
                                     [HX_DESIGN_SENSITIVITY] = opt->d_dc,
                                     [HX_DESIGN_ENERGY] = opt->d_dv};
    if (field == HX_DESIGN_ENERGY) HX_TRY(weigh_energy(opt));
    return dev->ops->download(dev, own, d_field[field],
                              (size_t)opt->problem->mesh->n_elem * sizeof *own);
}
