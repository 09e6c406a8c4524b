#include "optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../base/sum.h"
#include "../solver/element_ops.h"
#include "../solver/vector_ops.h"
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

/* 1 if a case has loads by mass and others, which are then kept apart. */
static int keeps_static(const hx_problem *problem, int c)
{
    const hx_body_field *body = hx_problem_body(problem, c);
    return body && !body->alone;
}

int hx_optimizer_vectors(const hx_problem *problem)
{
    int n = 2 * problem->n_case;
    for (int c = 0; c < problem->n_case; c++) n += keeps_static(problem, c);
    return n;
}

size_t hx_optimizer_bytes(const hx_problem *problem)
{
    return 7 * (size_t)problem->mesh->n_elem * sizeof(double) + sizeof(hx_oc_state);
}

/* First guess of PCG: the prescribed displacements, 0 elsewhere. */
static int reset_displacement(hx_optimizer *opt, double *d_u)
{
    const hx_operator *op = opt->op;
    const size_t bytes = (size_t)op->linear.n * sizeof(double);
    if (op->d_prescribed) return op->dev->ops->copy(op->dev, d_u, op->d_prescribed, bytes);
    return op->dev->ops->zero(op->dev, d_u, bytes);
}

static int create_cases(hx_optimizer *opt)
{
    const hx_problem *problem = opt->problem;
    hx_device *dev = opt->op->dev;
    const size_t n_case = (size_t)problem->n_case;
    const size_t bytes = (size_t)opt->op->linear.n * sizeof(double);
    HX_TRY(hx_alloc(&opt->load_case, n_case, sizeof *opt->load_case, "load cases"));
    HX_TRY(hx_alloc(&opt->d_u, n_case, sizeof *opt->d_u, "load cases"));
    HX_TRY(hx_alloc(&opt->d_f, n_case, sizeof *opt->d_f, "load cases"));
    HX_TRY(hx_alloc(&opt->d_static, n_case, sizeof *opt->d_static, "load cases"));
    for (size_t c = 0; c < n_case; c++) {
        HX_TRY(dev->ops->alloc(dev, bytes, &opt->d_u[c]));
        HX_TRY(dev->ops->alloc(dev, bytes, &opt->d_f[c]));
        if (keeps_static(problem, (int)c)) HX_TRY(dev->ops->alloc(dev, bytes, &opt->d_static[c]));
        HX_TRY(dev->ops->upload(dev, opt->d_static[c] ? opt->d_static[c] : opt->d_f[c],
                                problem->force[c], bytes));
        HX_TRY(reset_displacement(opt, opt->d_u[c]));
    }
    return HX_OK;
}

static double initial_density(const hx_problem *problem, const double *density, int64_t e)
{
    if (problem->passive && !isnan(problem->passive[e])) return problem->passive[e];
    return density ? density[e] : problem->initial_density;
}

/* The first design into design[n_elem] on the host. */
static int fill_design(const hx_problem *problem, const double *density, double *design)
{
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) {
        const double rho = initial_density(problem, density, e);
        if (!(rho >= 0.0 && rho <= 1.0) && e < bad) bad = e;
        design[e] = fmax(rho, problem->rho_min);
    }
    if (bad == INT64_MAX) return HX_OK;
    return HX_RAISE(HX_EINPUT, "initial density of element %lld is %g, not in [0, 1]",
                    (long long)hx_mesh_elem_number(problem->mesh, bad),
                    initial_density(problem, density, bad));
}

static int create_fields(hx_optimizer *opt, const double *density)
{
    const hx_problem *problem = opt->problem;
    hx_device *dev = opt->op->dev;
    const size_t n = (size_t)problem->mesh->n_elem, bytes = n * sizeof(double);
    double **const field[] = {&opt->d_design, &opt->d_physical, &opt->d_proposal, &opt->d_energy,
                              &opt->d_dc,     &opt->d_dv,       &opt->d_volume};
    double *design = NULL;
    int rc;
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++)
        HX_TRY(dev->ops->alloc(dev, bytes, field[i]));
    HX_TRY(dev->ops->alloc(dev, sizeof *opt->d_oc, &opt->d_oc));
    HX_TRY(dev->ops->upload(dev, opt->d_volume, problem->volume, bytes));
    opt->d_passive = opt->filter->d_passive;
    HX_TRY(hx_alloc_raw(&design, n, sizeof *design, "densities"));
    rc = fill_design(problem, density, design);
    if (rc == HX_OK) rc = dev->ops->upload(dev, opt->d_design, design, bytes);
    free(design);
    return rc;
}

/* Penalty and beta of the first design. */
static void begin_continuation(hx_optimizer *opt)
{
    const double penalty = opt->problem->penalty, beta = opt->filter->params.beta;
    opt->penalty = opt->params.penalty;
    opt->beta = opt->params.beta;
    if (opt->penalty.every <= 0) opt->penalty = (hx_stair){.value = penalty, .last = penalty};
    if (opt->beta.every <= 0) opt->beta = (hx_stair){.value = beta, .last = beta};
    opt->filter->projection.beta = opt->beta.value;
}

/* Some design has the volume asked for. */
static int check_volume(hx_optimizer *opt)
{
    hx_least_volume least;
    if (opt->params.least) return hx_least_volume_check(opt->params.least, opt->filter);
    HX_TRY(hx_least_volume_find(&least, opt->filter, &opt->beta));
    return hx_least_volume_check(&least, opt->filter);
}

int hx_optimizer_create(hx_optimizer *opt, const hx_optimizer_params *params,
                        const hx_problem *problem, hx_operator *op, hx_precond *pc, hx_pcg *pcg,
                        hx_filter *filter, const double *density)
{
    int rc;
    memset(opt, 0, sizeof *opt);
    opt->params = *params;
    opt->problem = problem;
    opt->op = op;
    opt->pc = pc;
    opt->pcg = pcg;
    opt->filter = filter;
    opt->shift = 1.0;
    opt->last_value = INFINITY;
    if (!(params->move > 0.0 && params->move <= 1.0))
        return HX_RAISE(HX_EINPUT, "move limit %g must be above 0 and at most 1", params->move);
    if (!(params->damping > 0.0 && params->damping <= 1.0))
        return HX_RAISE(HX_EINPUT, "damping %g must be above 0 and at most 1", params->damping);
    if (problem->body && !op->dev->ops->body)
        return HX_RAISE(HX_EINPUT, "device '%s' has no loads by mass", op->dev->ops->name);
    opt->total_volume = hx_sum(problem->mesh->n_elem, problem->volume);
    begin_continuation(opt);
    HX_TRY_FAIL(check_volume(opt));
    HX_TRY_FAIL(create_fields(opt, density));
    if (!density && hx_filter_maps_design(filter)) HX_TRY_FAIL(hx_optimizer_fit_initial(opt));
    HX_TRY_FAIL(create_cases(opt));
    return HX_OK;
fail:
    hx_optimizer_free(opt);
    return rc;
}

int hx_optimizer_tie(hx_optimizer *opt, const hx_ties *ties)
{
    hx_device *dev = opt->op->dev;
    const size_t n = (size_t)opt->problem->mesh->n_elem;
    double *design = NULL;
    if (ties->n_group == 0) return HX_OK;
    HX_TRY(hx_device_ties_create(&opt->ties, dev, ties));
    HX_TRY(hx_alloc_raw(&design, n, sizeof *design, "densities"));
    int rc = dev->ops->download(dev, design, opt->d_design, n * sizeof *design);
    if (rc == HX_OK) {
        hx_ties_average(ties, opt->problem->volume, design);
        rc = dev->ops->upload(dev, opt->d_design, design, n * sizeof *design);
    }
    free(design);
    return rc;
}

/* f'u of a case. Prescribed displacements u_p with reactions r enter as f'u - r'u_p = 2 f'u - u'K u
 * (minus twice the potential energy), so that lower is stiffer and dC/drho = -u' dK u still holds.
 */
static int case_compliance(hx_optimizer *opt, int c, double *compliance)
{
    const hx_operator *op = opt->op;
    const hx_device_ops *ops = op->dev->ops;
    double uku;
    HX_TRY(ops->vector->dot(op->dev, op->linear.n, opt->d_f[c], opt->d_u[c], compliance));
    if (!op->d_prescribed) return HX_OK;
    HX_TRY(hx_operator_apply_unmasked(op, opt->d_u[c], opt->pcg->d_q));
    HX_TRY(ops->vector->dot(op->dev, op->linear.n, opt->d_u[c], opt->pcg->d_q, &uku));
    *compliance = 2.0 * *compliance - uku;
    return HX_OK;
}

/* f = static part + loads by mass of the physical densities. */
static int update_loads(hx_optimizer *opt)
{
    hx_device *dev = opt->op->dev;
    for (int c = 0; c < opt->problem->n_case; c++) {
        const hx_body_field *body = hx_problem_body(opt->problem, c);
        if (!body) continue;
        HX_TRY(dev->ops->body->force(dev, &opt->op->model, body, opt->d_physical, opt->d_static[c],
                                     opt->d_f[c]));
    }
    return HX_OK;
}

/* Step 1: K(rho) u = f for every load case. */
static int analyse(hx_optimizer *opt, hx_iteration *record)
{
    HX_TRY(opt->op->dev->ops->design->modulus(opt->op->dev, opt->op->model.n_elem,
                                              opt->problem->young, opt->penalty.value,
                                              opt->d_physical, opt->op->model.d_modulus));
    HX_TRY(hx_operator_update(opt->op));
    HX_TRY(update_loads(opt));
    HX_TRY(opt->op->dev->ops->sync(opt->op->dev));
    const double begin = hx_clock();
    HX_TRY(hx_precond_setup(opt->pc));
    HX_TRY(opt->op->dev->ops->sync(opt->op->dev));
    record->prepare_seconds = hx_clock() - begin;
    for (int c = 0; c < opt->problem->n_case; c++) {
        hx_pcg_result *pcg = &opt->load_case[c].pcg;
        if (!opt->params.warm_start) HX_TRY(reset_displacement(opt, opt->d_u[c]));
        HX_TRY(hx_pcg_solve(opt->pcg, &opt->op->linear, opt->pc, opt->d_f[c], opt->d_u[c], pcg));
        record->pcg_iterations += pcg->iterations;
        record->pcg_fell_back += pcg->fell_back;
        record->pcg_residual = fmax(record->pcg_residual, pcg->residual);
        record->spmv_seconds += pcg->spmv_seconds;
        record->precond_seconds += pcg->precond_seconds;
        if (pcg->reason > record->reason) record->reason = pcg->reason;
    }
    return HX_OK;
}

/* *finite: whether all entries are, as far as their sum says. */
static int check_finite(const hx_optimizer *opt, const double *d_field, int *finite)
{
    double sum;
    HX_TRY(opt->op->dev->ops->vector->sum(opt->op->dev, opt->op->model.n_elem, d_field, &sum));
    *finite = isfinite(sum);
    return HX_OK;
}

/* Loads by mass give 2 u' df/drho_e besides, also where displacements are prescribed. */
static int add_body_work(hx_optimizer *opt)
{
    hx_device *dev = opt->op->dev;
    for (int c = 0; c < opt->problem->n_case; c++) {
        const hx_body_field *body = hx_problem_body(opt->problem, c);
        if (!body) continue;
        HX_TRY(dev->ops->body->work(dev, &opt->op->model, body, 2.0 * opt->problem->weight[c],
                                    opt->d_physical, opt->d_u[c], opt->d_dc));
    }
    return HX_OK;
}

/* Step 2: compliance and its derivatives, dC/drho_e = -p rho_e^(p-1) E u_e' Ke u_e (P1). */
static int sensitivities(hx_optimizer *opt, hx_iteration *record)
{
    const hx_problem *problem = opt->problem;
    hx_device *dev = opt->op->dev;
    const int64_t n = opt->op->model.n_elem;
    const size_t bytes = (size_t)n * sizeof(double);
    double *const d_scratch = opt->d_dv;
    int finite;
    HX_TRY(dev->ops->zero(dev, opt->d_energy, bytes));
    for (int c = 0; c < problem->n_case; c++) {
        const double weight = problem->weight[c];
        HX_TRY(case_compliance(opt, c, &opt->load_case[c].compliance));
        record->compliance += weight * opt->load_case[c].compliance;
        HX_TRY(hx_operator_energy(opt->op, opt->d_u[c], d_scratch));
        HX_TRY(dev->ops->vector->axpy(dev, n, weight, d_scratch, opt->d_energy));
    }
    HX_TRY(dev->ops->design->sensitivity(dev, n, opt->penalty.value, opt->op->model.d_modulus,
                                         opt->d_physical, opt->d_energy, opt->d_dc));
    HX_TRY(add_body_work(opt));
    HX_TRY(dev->ops->copy(dev, opt->d_dv, opt->d_volume, bytes));
    HX_TRY(check_finite(opt, opt->d_dc, &finite));
    if (!isfinite(record->compliance) || !finite)
        return HX_RAISE(HX_ENUMERIC,
                        "iteration %d: the compliance or a sensitivity is not finite (%g; PCG: %s)",
                        opt->iteration, record->compliance, hx_pcg_reason_name(record->reason));
    return HX_OK;
}

/* Volume fraction and greyness of the analysed design. */
static int measure_design(const hx_optimizer *opt, hx_iteration *record)
{
    hx_device *dev = opt->op->dev;
    double mass, grey;
    HX_TRY(dev->ops->design->measure(dev, opt->op->model.n_elem, opt->d_physical, opt->d_volume,
                                     opt->d_passive, &mass, &grey));
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
    HX_TRY(hx_filter_backward(opt->filter, opt->d_design, opt->d_dc, opt->d_dv));
    if (opt->ties.n_group > 0)
        HX_TRY(opt->op->dev->ops->design->tie(opt->op->dev, &opt->ties, opt->d_dv, opt->d_dc));
    HX_TRY(check_finite(opt, opt->d_dc, &finite));
    if (finite) return HX_OK; /* clipping would hide a NaN */
    return HX_RAISE(HX_ENUMERIC, "iteration %d: a filtered sensitivity is not finite",
                    opt->iteration);
}

/* How many times the shift of oc.h: twice as much after a step that made the objective worse, as
 * designs that jump to and fro do; else a little less. */
static void adapt_shift(hx_optimizer *opt, const hx_iteration *record)
{
    const double most = 64.0;
    opt->shift = record->compliance > opt->last_value ? fmin(most, 2.0 * opt->shift)
                                                      : fmax(1.0, 0.8 * opt->shift);
    opt->last_value = record->compliance;
}

static int find_shift(const hx_optimizer *opt, hx_device_oc *oc)
{
    if (!opt->problem->body) return HX_OK;
    HX_TRY(opt->op->dev->ops->design->mean_positive(opt->op->dev, oc->n, oc->d_dc, oc->d_dv,
                                                    oc->d_passive, &oc->shift));
    oc->shift *= opt->shift;
    return HX_OK;
}

/* Step 4: the proposal, by optimality criteria. */
static int propose(hx_optimizer *opt, hx_iteration *record)
{
    const hx_problem *problem = opt->problem;
    hx_device_oc oc = {
        .n = opt->op->model.n_elem,
        .move = opt->params.move,
        .damping = opt->params.damping,
        .rho_min = problem->rho_min,
        .d_design = opt->d_design,
        .d_dc = opt->d_dc,
        .d_dv = opt->d_dv,
        .d_passive = opt->d_passive,
        .d_proposal = opt->d_proposal,
        .d_state = opt->d_oc,
        .ties = opt->ties.n_group > 0 ? &opt->ties : NULL,
    };
    HX_TRY(find_shift(opt, &oc));
    if (hx_filter_maps_design(opt->filter)) return hx_optimizer_meet_volume(opt, &oc, record);
    const double target = problem->volume_fraction * opt->total_volume - problem->passive_mass;
    record->volume_trials++;
    return hx_oc_update(opt->op->dev, &oc, target, &record->change);
}

/* Step 5: penalty and beta of the next design. The volume allowed is that of the proposal as the
 * next projection sees it. */
static int climb(hx_optimizer *opt, hx_iteration *record)
{
    const int settled = record->change < opt->params.settled;
    const int penalty = hx_stair_climb(&opt->penalty, settled);
    const int beta = hx_stair_climb(&opt->beta, settled);
    record->raised = penalty || beta;
    if (record->raised) opt->last_value = INFINITY; /* of another objective */
    if (!beta) return HX_OK;
    opt->filter->projection.beta = opt->beta.value;
    return propose(opt, record);
}

/* Seconds since *clock, which moves on. */
static double lap(double *clock)
{
    const double now = hx_clock(), seconds = now - *clock;
    *clock = now;
    return seconds;
}

int hx_optimizer_step(hx_optimizer *opt, hx_iteration *record)
{
    const double begin = hx_clock();
    double clock = begin;
    memset(record, 0, sizeof *record);
    record->iteration = ++opt->iteration;
    record->load_case = opt->load_case;
    record->penalty = opt->penalty.value;
    record->beta = opt->beta.value;
    record->climbing = !hx_stair_ended(&opt->penalty) || !hx_stair_ended(&opt->beta);

    HX_TRY(hx_filter_forward(opt->filter, opt->d_design, opt->d_physical));
    HX_TRY(opt->op->dev->ops->sync(opt->op->dev));
    record->stage[HX_STAGE_FILTER] = lap(&clock);

    HX_TRY(analyse(opt, record));
    record->stage[HX_STAGE_PCG] = lap(&clock);

    HX_TRY(sensitivities(opt, record));
    HX_TRY(measure_design(opt, record));
    record->stage[HX_STAGE_COMPLIANCE] = lap(&clock);

    HX_TRY(filter_sensitivities(opt));
    record->stage[HX_STAGE_FILTER] += lap(&clock);

    adapt_shift(opt, record);
    HX_TRY(propose(opt, record));
    HX_TRY(climb(opt, record));
    record->stage[HX_STAGE_UPDATE] = lap(&clock);

    record->seconds = hx_clock() - begin;
    return HX_OK;
}

void hx_optimizer_advance(hx_optimizer *opt)
{
    double *const d_design = opt->d_design;
    opt->d_design = opt->d_proposal;
    opt->d_proposal = d_design;
}

static int download_field(const hx_optimizer *opt, const double *d_field, double *host)
{
    return opt->op->dev->ops->download(opt->op->dev, host, d_field,
                                       (size_t)opt->op->model.n_elem * sizeof *host);
}

int hx_optimizer_density(const hx_optimizer *opt, double *host)
{
    return download_field(opt, opt->d_physical, host);
}

int hx_optimizer_modulus(const hx_optimizer *opt, double *host)
{
    return download_field(opt, opt->op->model.d_modulus, host);
}

int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host)
{
    return download_field(opt, opt->d_dc, host);
}

int hx_optimizer_energy(hx_optimizer *opt, double *host)
{
    hx_device *dev = opt->op->dev;
    double *const d_scratch = opt->d_dv;
    HX_TRY(dev->ops->vector->multiply(dev, opt->op->model.n_elem, opt->d_energy,
                                      opt->op->model.d_modulus, d_scratch));
    return download_field(opt, d_scratch, host);
}

int hx_optimizer_displacement(const hx_optimizer *opt, int load_case, double *u)
{
    const hx_operator *op = opt->op;
    return op->dev->ops->download(op->dev, u, opt->d_u[load_case],
                                  (size_t)op->linear.n * sizeof *u);
}

int hx_optimizer_load(const hx_optimizer *opt, int load_case, double total[3])
{
    const hx_problem *problem = opt->problem;
    double *rho, body[3];
    hx_problem_total_force(problem, load_case, total);
    if (!hx_problem_body(problem, load_case)) return HX_OK;
    HX_TRY(hx_alloc_raw(&rho, (size_t)problem->mesh->n_elem, sizeof *rho, "densities"));
    const int rc = hx_optimizer_density(opt, rho);
    if (rc == HX_OK) hx_problem_total_body(problem, load_case, rho, body);
    for (int i = 0; rc == HX_OK && i < 3; i++) total[i] += body[i];
    free(rho);
    return rc;
}

int hx_optimizer_reaction(hx_optimizer *opt, int load_case, double total[3])
{
    const hx_operator *op = opt->op;
    const hx_problem *problem = opt->problem;
    double *reaction;
    HX_TRY(hx_alloc_raw(&reaction, (size_t)op->linear.n, sizeof *reaction, "reactions"));
    int rc = hx_operator_apply_unmasked(op, opt->d_u[load_case], opt->pcg->d_q);
    if (rc == HX_OK)
        rc = op->dev->ops->vector->subtract(op->dev, op->linear.n, opt->pcg->d_q,
                                            opt->d_f[load_case], opt->pcg->d_q);
    if (rc == HX_OK)
        rc = op->dev->ops->download(op->dev, reaction, opt->pcg->d_q,
                                    (size_t)op->linear.n * sizeof *reaction);
    total[0] = total[1] = total[2] = 0.0;
    for (int64_t k = 0; rc == HX_OK && k < op->linear.n; k++)
        if (problem->fixed[k / 3] >> (k % 3) & 1) total[k % 3] += reaction[k];
    free(reaction);
    return rc;
}

int hx_optimizer_spring_force(const hx_optimizer *opt, int load_case, double total[3])
{
    const hx_problem *problem = opt->problem;
    double *u;
    total[0] = total[1] = total[2] = 0.0;
    if (problem->n_spring == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&u, (size_t)opt->op->linear.n, sizeof *u, "displacements"));
    const int rc = hx_optimizer_displacement(opt, load_case, u);
    for (int64_t k = 0; rc == HX_OK && k < problem->n_spring; k++)
        total[problem->spring_dof[k] % 3] -= problem->spring[k] * u[problem->spring_dof[k]];
    free(u);
    return rc;
}

void hx_optimizer_free(hx_optimizer *opt)
{
    hx_device *dev = opt->op ? opt->op->dev : NULL;
    double *const field[] = {opt->d_design, opt->d_physical, opt->d_proposal, opt->d_energy,
                             opt->d_dc,     opt->d_dv,       opt->d_volume};
    for (int c = 0; dev && c < opt->problem->n_case; c++) {
        if (opt->d_u) dev->ops->release(dev, opt->d_u[c]);
        if (opt->d_f) dev->ops->release(dev, opt->d_f[c]);
        if (opt->d_static) dev->ops->release(dev, opt->d_static[c]);
    }
    for (size_t i = 0; dev && i < sizeof field / sizeof field[0]; i++)
        dev->ops->release(dev, field[i]);
    if (dev) dev->ops->release(dev, opt->d_oc);
    hx_device_ties_free(&opt->ties, dev);
    free(opt->d_u);
    free(opt->d_f);
    free(opt->d_static);
    free(opt->load_case);
    memset(opt, 0, sizeof *opt);
}
