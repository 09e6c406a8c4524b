#include "optimizer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/grow.h"
#include "../base/kind_table.h"
#include "../base/memory.h"
#include "../base/names.h"
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

/* The objective, with its defaults. */
static const hx_response_kind *objective_of(const hx_optimizer_params *params)
{
    return params->objective ? params->objective : &hx_response_compliance;
}

/* The kind of a constraint. */
static const hx_response_kind *kind_of_limit(const hx_constraint_spec *spec)
{
    const hx_response_kind *const lagrangian = spec->kind->lagrangian;
    return spec->params.is_lagrangian && lagrangian ? lagrangian : spec->kind;
}

/* Number of limits by the augmented Lagrangian. */
static int count_lagrangian(const hx_optimizer_params *params)
{
    int n = 0;
    for (int i = 0; i < params->n_constraint; i++)
        n += kind_of_limit(&params->constraint[i])->in_lagrangian;
    return n;
}

size_t hx_optimizer_response_bytes(const hx_problem *problem, const hx_optimizer_params *params)
{
    const hx_response_kind *const objective = objective_of(params);
    const hx_response_params *const of = params->objective ? &params->objective_params : NULL;
    size_t bytes = hx_response_bytes(objective, problem, of);
    int has_adjoint = objective->adjoint_load != NULL;
    for (int i = 0; i < params->n_constraint; i++) {
        const hx_constraint_spec *const spec = &params->constraint[i];
        bytes += hx_response_bytes(kind_of_limit(spec), problem, &spec->params);
        has_adjoint |= spec->kind->adjoint_load != NULL;
    }
    if (count_lagrangian(params) > 0)
        bytes += hx_response_bytes(&hx_response_stress_joined, problem, NULL);
    if (has_adjoint) /* scratch */
        bytes += (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    return bytes;
}

size_t hx_optimizer_bytes(const hx_problem *problem, const hx_optimizer_params *params,
                          const hx_filter_kind *filter, const hx_filter_params *filter_params,
                          const hx_precond_kind *precond)
{
    const hx_update_kind *kind = params->update ? params->update : &hx_update_oc;
    const size_t n = (size_t)problem->mesh->n_elem;
    const int n_vector = hx_pcg_vectors(precond, problem->rigid.n > 0); /* r, p, q, z */
    const int n_borrowed = count_borrowed(problem, n_vector);
    const int n_lagrangian = count_lagrangian(params); /* one field in all */
    const int n_more = params->n_constraint - n_lagrangian + (n_lagrangian > 0) +
                       (objective_of(params)->is_worst_case ? problem->cases.n : 0);
    const int n_field = HX_OPTIMIZER_FIELDS - n_borrowed -
                        !hx_filter_kind_maps_design(filter, filter_params) + n_more;
    const int has_volume = !filter_params->design || filter_params->design->volume_fraction > 0.0;
    const size_t of_responses = (size_t)(n_more + has_volume) * (size_t)kind->bytes_per_response;
    return n * ((size_t)n_field * sizeof(double) + (size_t)kind->bytes_per_elem + of_responses) +
           kind->bytes;
}

/* Uses existing memory for a field, or allocates its own. */
static int take_field(hx_optimizer *opt, double *d_there, double **d_field)
{
    hx_device *dev = opt->analysis->dev;
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    *d_field = d_there;
    if (d_there) return HX_OK;
    HX_TRY(hx_resize(&opt->field, (size_t)opt->n_field, (size_t)opt->n_field + 1,
                     sizeof *opt->field, "fields"));
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
    opt->penalty = opt->design->penalty;
    opt->beta = opt->design->beta;
    opt->filter->projection.beta = opt->beta.value;
}

/* Checks that some design has the prescribed volume. */
static int check_volume(hx_optimizer *opt)
{
    hx_least_volume least;
    if (!(opt->design->volume_fraction > 0.0)) return HX_OK;
    if (opt->params.least) return hx_least_volume_check(opt->params.least, opt->filter);
    HX_TRY(hx_least_volume_find(&least, opt->filter));
    return hx_least_volume_check(&least, opt->filter);
}

/* Number of constraints that hx_optimizer.constraint has room for. */
static size_t most_constraints(const hx_optimizer *opt)
{
    return 1 + (size_t)opt->params.n_constraint + (size_t)opt->analysis->problem->cases.n;
}

/* Adds a constraint; d_derivative: its derivative, NULL: a field of its own. */
static int add_constraint(hx_optimizer *opt, const hx_response_kind *kind,
                          const hx_response_params *params, double *d_derivative)
{
    hx_response *const g = &opt->constraint[opt->n_constraint];
    double **const d_own = &opt->d_more[opt->n_constraint];
    char role[HX_RESPONSE_ROLE];
    snprintf(role, sizeof role, "constraint %d", opt->n_constraint + 1);
    HX_TRY(hx_response_create(g, kind, role, opt->analysis, &opt->measured, params));
    opt->n_constraint++;
    if (!opt->measured.d_load) opt->measured.d_load = g->d_load;
    if (!d_derivative && !kind->in_lagrangian) HX_TRY(take_field(opt, NULL, d_own));
    g->d_derivative = d_derivative ? d_derivative : *d_own;
    return HX_OK;
}

static void add_row(hx_optimizer *opt, hx_limit_row row)
{
    opt->row[opt->update.n_row++] = row;
}

/* HX_EINPUT: limits that contradict each other, or to which no value can be related. */
static int check_limits(const hx_constraint_spec *spec)
{
    const char *const origin = spec->params.origin ? spec->params.origin : "constraint";
    if (isnan(spec->max) && isnan(spec->min))
        return HX_RAISE(HX_EINPUT, "%s: %s has no limit; give max, min or both", origin,
                        spec->kind->name);
    if (spec->max == 0.0 || spec->min == 0.0)
        return HX_RAISE(HX_EINPUT,
                        "%s: the limit of %s is 0, to which no value can be related; use a small "
                        "limit instead",
                        origin, spec->kind->name);
    if (isinf(spec->max) || isinf(spec->min))
        return HX_RAISE(HX_EINPUT, "%s: a limit of %s is not a finite number", origin,
                        spec->kind->name);
    if (spec->min > spec->max)
        return HX_RAISE(HX_EINPUT,
                        "%s: no %s lies between min = %g and max = %g; min must not exceed max",
                        origin, spec->kind->name, spec->min, spec->max);
    if (!spec->kind->is_constraint && spec->kind->is_objective)
        return HX_RAISE(HX_EINPUT, "%s: %s can be minimised but not limited", origin,
                        spec->kind->name);
    if (spec->kind->is_upper && !isnan(spec->min))
        return HX_RAISE(HX_EINPUT, "%s: %s can only be limited from above; leave min out", origin,
                        spec->kind->name);
    return HX_OK;
}

/* A response of the parameters, its record and its rows. */
static int add_limited(hx_optimizer *opt, int i)
{
    const hx_constraint_spec *const spec = &opt->params.constraint[i];
    hx_response_record *const record = &opt->record[i];
    char *name;
    HX_TRY(check_limits(spec));
    hx_response_params params = spec->params;
    params.limit = spec->max;
    HX_TRY(add_constraint(opt, kind_of_limit(spec), &params, NULL));
    HX_TRY(hx_strdup(&name, spec->name ? spec->name : spec->kind->name));
    *record = (hx_response_record){.name = name, .max = spec->max, .min = spec->min};
    hx_limit_row row = {.response = &opt->constraint[opt->n_constraint - 1]};
    if (row.response->kind->in_lagrangian) {
        opt->lagrangian.limit[opt->lagrangian.list.n++] = row.response;
        return HX_OK;
    }
    if (!isnan(spec->max)) {
        row.sign = 1.0;
        row.bound = spec->max;
        add_row(opt, row);
    }
    if (!isnan(spec->min)) {
        row.sign = -1.0;
        row.bound = spec->min;
        add_row(opt, row);
    }
    return HX_OK;
}

/* The augmented Lagrangian of the limits that have no rows. */
static int add_lagrangian(hx_optimizer *opt)
{
    const hx_response_params params = {.load_case = HX_ALL_CASES, .data = &opt->lagrangian.list};
    if (opt->lagrangian.list.n == 0) return HX_OK;
    if (opt->params.update && opt->params.update->judge)
        return HX_RAISE(HX_EINPUT,
                        "update '%s' compares designs by one function, but the augmented "
                        "Lagrangian of the stress limits changes every few designs; use \"mma\", "
                        "or method = \"p-norm\"",
                        opt->params.update->name);
    opt->lagrangian.list.limit = opt->lagrangian.limit;
    HX_TRY(take_field(opt, NULL, &opt->lagrangian.d_derivative));
    HX_TRY(hx_response_create(&opt->lagrangian.sum, &hx_response_stress_joined, "stress limits",
                              opt->analysis, &opt->measured, &params));
    if (!opt->measured.d_load) opt->measured.d_load = opt->lagrangian.sum.d_load;
    return HX_OK;
}

/* The cases whose largest compliance is minimised. */
static int add_cases(hx_optimizer *opt)
{
    const hx_load_cases *const cases = &opt->analysis->problem->cases;
    if (!opt->objective.kind->is_worst_case) return HX_OK;
    for (int c = 0; c < cases->n; c++) {
        const hx_response_params params = {.load_case = c};
        HX_TRY(add_constraint(opt, &hx_response_compliance, &params, NULL));
        add_row(opt, (hx_limit_row){.response = &opt->constraint[opt->n_constraint - 1],
                                    .sign = 1.0,
                                    .bound = 1.0,
                                    .in_largest = 1,
                                    .weight = cases->weight[c]});
    }
    return HX_OK;
}

static int create_constraints(hx_optimizer *opt)
{
    const size_t n = most_constraints(opt), n_spec = (size_t)opt->params.n_constraint;
    HX_TRY(hx_alloc(&opt->constraint, n, sizeof *opt->constraint, "constraints"));
    HX_TRY(hx_alloc(&opt->d_more, n, sizeof *opt->d_more, "constraints"));
    HX_TRY(hx_alloc(&opt->row, 2 * n, sizeof *opt->row, "constraints"));
    HX_TRY(hx_alloc(&opt->record, n_spec + 1, sizeof *opt->record, "constraints"));
    HX_TRY(hx_alloc(&opt->lagrangian.limit, n_spec + 1, sizeof(hx_response *), "constraints"));
    opt->has_volume = opt->design->volume_fraction > 0.0;
    if (opt->has_volume) {
        HX_TRY(add_constraint(opt, &hx_constraint_volume, NULL, opt->d_dv));
        add_row(opt, (hx_limit_row){.response = opt->constraint,
                                    .sign = 1.0,
                                    .bound = opt->design->volume_fraction * opt->total_volume});
    }
    for (int i = 0; i < opt->params.n_constraint; i++) HX_TRY(add_limited(opt, i));
    HX_TRY(add_lagrangian(opt));
    return add_cases(opt);
}

/* HX_EINPUT: the update does not support the limits. */
static int check_rows(const hx_optimizer *opt, const hx_update_kind *kind)
{
    const int n = opt->update.n_row;
    char names[256] = "";
    size_t used = 0;
    if (kind->needs_volume && !opt->has_volume)
        return HX_RAISE(HX_EINPUT, "update '%s' needs a volume_fraction; without one, use \"mma\"",
                        kind->name);
    if (kind->needs_volume && opt->objective.kind->is_worst_case)
        return HX_RAISE(HX_EINPUT, "update '%s' cannot minimise the %s; use \"mma\"", kind->name,
                        opt->objective.kind->name);
    if (n <= kind->most_rows) return HX_OK;
    for (int i = 0; i < n && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 opt->row[i].response->kind->name);
    return HX_RAISE(HX_EINPUT, "update '%s' supports %d %s%s, but there are %d: %s", kind->name,
                    kind->most_rows, hx_noun(kind->most_rows, "limit", "limits"),
                    kind->needs_volume ? ", that of the volume" : "", n, names);
}

static int create_update(hx_optimizer *opt)
{
    const hx_update_kind *kind = opt->params.update ? opt->params.update : &hx_update_oc;
    opt->update = (hx_update){
        .dev = opt->analysis->dev,
        .problem = opt->problem,
        .design = opt->design,
        .filter = opt->filter,
        .analysis = opt->analysis,
        .n_row = opt->update.n_row,
        .row = opt->row,
        .changes_sign = opt->problem->cases.body || opt->objective.kind->adjoint_load ||
                        opt->lagrangian.sum.kind,
        .total_volume = opt->total_volume,
        .d_volume = opt->d_volume,
    };
    const hx_kind_entry entry[] = {HX_ENTRY(kind, name), HX_ENTRY(kind, help),
                                   HX_ENTRY(kind, create), HX_ENTRY(kind, propose),
                                   HX_ENTRY(kind, destroy)};
    HX_TRY(hx_kind_check("update", kind->name, sizeof entry / sizeof entry[0], entry));
    HX_TRY(check_rows(opt, kind));
    if (opt->analysis->dist && !kind->is_distributed)
        return HX_RAISE(HX_EINPUT, "update '%s' does not support a distributed design", kind->name);
    HX_TRY(kind->create(&opt->update));
    opt->update.kind = kind;
    return HX_OK;
}

int hx_optimizer_create(hx_optimizer *opt, const hx_optimizer_params *params, hx_analysis *analysis,
                        hx_filter *filter, const double *density)
{
    int rc;
    memset(opt, 0, sizeof *opt);
    opt->params = *params;
    opt->problem = analysis->fields;
    opt->analysis = analysis;
    opt->filter = filter;
    opt->design = filter->design;
    opt->last_value = INFINITY;
    HX_TRY(hx_design_check(opt->design, "the design"));
    opt->total_volume = opt->problem->total_volume;
    begin_continuation(opt);
    HX_TRY_FAIL(check_volume(opt));
    HX_TRY_FAIL(create_fields(opt));
    opt->measured.d_scratch = opt->d_proposal;
    HX_TRY_FAIL(hx_optimizer_start(opt, density));
    HX_TRY_FAIL(hx_response_create(&opt->objective, objective_of(params), "objective", analysis,
                                   &opt->measured,
                                   params->objective ? &params->objective_params : NULL));
    opt->measured.d_load = opt->objective.d_load;
    HX_TRY_FAIL(create_constraints(opt));
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
static int record_solves(const hx_optimizer *opt, hx_iteration *record)
{
    const hx_analysis_record *solves = &opt->analysis->record;
    record->pcg_iterations += solves->pcg_iterations;
    record->pcg_fell_back += solves->pcg_fell_back;
    record->pcg_restarts += solves->pcg_restarts;
    record->pcg_refinements += solves->pcg_refinements;
    record->pcg_took_exact += solves->pcg_took_exact;
    record->pcg_residual = solves->pcg_residual;
    record->pcg_error = solves->pcg_error;
    if (solves->reason > record->reason) record->reason = solves->reason;
    record->spmv_seconds += solves->spmv_seconds;
    record->precond_seconds += solves->precond_seconds;
    record->prepare_seconds += solves->prepare_seconds;
    return check_breakdown(opt, record);
}

int hx_volume_is_missed(const hx_update_kind *update, double volume, double wanted)
{
    const double excess = volume - wanted;
    return !((update->is_upper_limit ? excess : fabs(excess)) <= HX_VOLUME_TOLERANCE * wanted);
}

/* Volume fraction and greyness of the analysed design. */
static int measure_design(hx_optimizer *opt, hx_iteration *record)
{
    hx_device *dev = opt->analysis->dev;
    double mass, grey;
    HX_TRY(dev->ops->design->measure(dev, opt->problem->mesh->n_elem, opt->d_physical,
                                     opt->d_volume, opt->filter->d_passive, &mass, &grey));
    record->volume = mass / opt->total_volume;
    record->volume_missed = opt->has_volume && hx_volume_is_missed(opt->update.kind, record->volume,
                                                                   opt->design->volume_fraction);
    record->greyness = 4.0 * grey / opt->problem->design_volume;
    opt->measured.d_physical = opt->d_physical;
    opt->measured.d_volume = opt->d_volume;
    opt->measured.volume = record->volume;
    return HX_OK;
}

double hx_limits_exceeded(double value, double max, double min)
{
    return value > max ? (value - max) / fabs(max) : value < min ? (min - value) / fabs(min) : 0.0;
}

static int record_limits(hx_optimizer *opt, hx_iteration *record)
{
    record->violation = 0.0;
    if (opt->has_volume)
        record->violation = hx_limits_exceeded(record->volume, opt->design->volume_fraction, NAN);
    for (int i = 0; i < opt->params.n_constraint; i++) {
        hx_response_record *const r = &opt->record[i];
        HX_TRY(hx_response_report(&opt->constraint[opt->has_volume + i], &r->value));
        r->violation = hx_limits_exceeded(r->value, r->max, r->min);
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
    HX_TRY(measure_design(opt, record));                                /* v'rho, greyness [2] */
    HX_TRY(objective->kind->value(objective, &objective->now));
    HX_TRY(hx_response_report(objective, &record->objective));
    for (int i = 0; i < opt->n_constraint; i++) {
        hx_response *const g = &opt->constraint[i];
        HX_TRY(g->kind->value(g, &g->now));
    }
    if (opt->lagrangian.sum.kind) HX_TRY(evaluate_lagrangian(opt));
    return record_limits(opt, record);
}

/* d_dc := derivative of the objective times its weight, plus the augmented Lagrangian. */
static int add_lagrangian_derivative(hx_optimizer *opt, double *const d_work[2])
{
    hx_device *const dev = opt->analysis->dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    const int64_t n = opt->problem->mesh->n_elem;
    double *const d_sum = opt->lagrangian.d_derivative;
    HX_TRY(hx_response_derivative(&opt->lagrangian.sum, opt->d_energy, d_sum, d_work));
    HX_TRY(vector->axpy(dev, n, opt->lagrangian.scale - 1.0, opt->d_dc, opt->d_dc));
    return vector->axpy(dev, n, 1.0, d_sum, opt->d_dc);
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
    return opt->lagrangian.sum.kind ? add_lagrangian_derivative(opt, d_work) : HX_OK;
}

/* Derivatives by the physical density become those by the design. */
static int filter_backward(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis->dev;
    HX_TRY(
        hx_filter_backward_volume(opt->filter, opt->d_design, opt->d_volume, opt->d_dc, opt->d_dv));
    for (int i = opt->has_volume; i < opt->n_constraint; i++)
        if (opt->d_more[i])
            HX_TRY(hx_filter_backward(opt->filter, opt->d_design, opt->d_more[i], NULL));
    if (!opt->update.groups) return HX_OK;
    for (int i = opt->has_volume; i < opt->n_constraint; i++)
        if (opt->d_more[i])
            HX_TRY(dev->ops->design->link(dev, &opt->groups, opt->d_dv, opt->d_more[i]));
    return dev->ops->design->link(dev, &opt->groups, opt->d_dv, opt->d_dc);
}

/* The function that is minimised. */
static double merit(const hx_optimizer *opt)
{
    return opt->lagrangian.sum.kind
               ? opt->lagrangian.scale * opt->objective.now + opt->lagrangian.sum.now
               : opt->objective.now;
}

static hx_update_step begin_update(const hx_optimizer *opt, const hx_iteration *record)
{
    return (hx_update_step){
        .d_design = opt->d_design,
        .d_dc = opt->d_dc,
        .value = merit(opt),
        .convexity =
            hx_filter_maps_design(opt->filter) ? 0.0 : hx_stress_convexity(&opt->lagrangian.list),
        .d_proposal = opt->d_proposal,
        .is_worse = record->objective > opt->last_value,
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
    record->objective_change =
        isfinite(opt->last_value)
            ? fabs(record->objective - opt->last_value) / fmax(fabs(record->objective), DBL_MIN)
            : INFINITY;
    opt->last_value = record->objective;
    return HX_OK;
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
    HX_TRY(hx_response_prepare(&opt->objective));
    for (int i = 0; i < opt->n_constraint; i++) HX_TRY(hx_response_prepare(&opt->constraint[i]));
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
    HX_TRY(record_solves(opt, record));
    record->is_rejected = 1;
    record->volume_trials++;
    hx_optimizer_advance(opt);
    return HX_OK;
}

/* One design iteration: from the densities x to the next proposal. In brackets the memory traffic
 * in doubles per element, read and written, beside the solves, the sums of the filter and the
 * gathers of displacements. */
static int take_step(hx_optimizer *opt, hx_iteration *record)
{
    stages at = {opt->analysis->dev, record, HX_N_STAGE, 0.0};
    int is_rejected;
    do {
        HX_TRY(analyse(opt, &at));
        HX_TRY(judge(opt, &at, record, &is_rejected));
    } while (is_rejected);
    if (at.now != HX_STAGE_PCG) HX_TRY(next_stage(&at, HX_STAGE_PCG));
    HX_TRY(hx_response_solve_adjoint(&opt->objective)); /* K lambda = dg/du, if not self-adjoint */
    for (int i = 0; i < opt->n_constraint; i++)
        HX_TRY(hx_response_solve_adjoint(&opt->constraint[i]));
    if (opt->lagrangian.sum.kind) HX_TRY(hx_response_solve_adjoint(&opt->lagrangian.sum));
    HX_TRY(record_solves(opt, record));

    HX_TRY(next_stage(&at, HX_STAGE_COMPLIANCE));
    HX_TRY(evaluate(opt, record));
    HX_TRY(differentiate(opt));

    HX_TRY(next_stage(&at, HX_STAGE_FILTER));
    HX_TRY(filter_backward(opt));      /* dg/dx = F'H' dg/drho [2, 4 if it maps the design] */
    HX_TRY(check_finite(opt, record)); /* [2] */

    HX_TRY(next_stage(&at, HX_STAGE_UPDATE));
    HX_TRY(propose(opt, record, 0)); /* x of the next design [update_oc.c] */
    if (climb(opt, record)) HX_TRY(propose(opt, record, 1));
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
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    return note_failure(opt, step_with_time(opt, record));
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
    if (opt->lagrangian.sum.kind) HX_TRY(hx_response_reset(&opt->lagrangian.sum));
    return hx_analysis_reset(opt->analysis);
}

int hx_optimizer_undo(hx_optimizer *opt)
{
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    return note_failure(opt, undo(opt));
}

int hx_optimizer_density(const hx_optimizer *opt, double *host)
{
    return hx_analysis_download(opt->analysis, opt->d_physical, host);
}

int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host)
{
    return hx_analysis_download(opt->analysis, opt->d_dc, host);
}

int hx_optimizer_stiffness_error(hx_optimizer *opt, double *error)
{
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
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
    hx_response_free(&opt->objective);
    hx_response_free(&opt->lagrangian.sum);
    free((void *)opt->lagrangian.limit);
    for (int i = 0; i < opt->n_constraint; i++) hx_response_free(&opt->constraint[i]);
    for (int i = 0; opt->record && i < opt->params.n_constraint; i++)
        free((char *)opt->record[i].name);
    free(opt->record);
    free(opt->constraint);
    free(opt->row);
    free(opt->d_more);
    for (int i = 0; dev && i < opt->n_field; i++) dev->ops->release(dev, opt->field[i]);
    free(opt->field);
    hx_device_groups_free(&opt->groups, dev);
    hx_halo_free(opt->linked.halo);
    memset(opt, 0, sizeof *opt);
}
