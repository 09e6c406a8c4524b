/* The optimizer's memory, its limits and its update. */
#include "optimizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/kind_table.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "analysis_internal.h"
#include "optimizer_internal.h"

/* Late designs are judged by their parts if a field of the whole mesh has at most these bytes. */
#define JUDGED_BYTES 1e8

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

int hx_optimizer_count_kept(const hx_optimizer_params *params)
{
    return params->keep_within > 0.0;
}

/* 1 if late designs are judged by their parts. */
static int judges_parts(const hx_optimizer_params *params, const hx_problem *problem)
{
    const hx_mesh *const mesh = hx_problem_whole(problem)->mesh; /* the same in all processes */
    const double bytes = (double)hx_mesh_n_elem_all(mesh) * sizeof(double);
    return hx_optimizer_count_kept(params) && count_lagrangian(params) > 0 && bytes <= JUDGED_BYTES;
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
    const hx_design_params *const design = filter_params->design;
    const int n_side = design && design->analyses_all ? HX_OPTIMIZER_SIDES : 0;
    const int n_more = params->n_constraint - n_lagrangian + (n_lagrangian > 0) +
                       n_side * (1 + params->n_constraint) +
                       (objective_of(params)->is_worst_case ? problem->cases.n : 0);
    const int n_field = HX_OPTIMIZER_FIELDS - n_borrowed -
                        !hx_filter_kind_maps_design(filter, filter_params) -
                        !hx_design_has_variants(filter_params->design) + n_more +
                        hx_optimizer_count_kept(params) + judges_parts(params, problem);
    const int has_volume = !filter_params->design || filter_params->design->volume_fraction > 0.0;
    const size_t of_responses = (size_t)(n_more + has_volume) * (size_t)kind->bytes_per_response;
    return n * ((size_t)n_field * sizeof(double) + (size_t)kind->bytes_per_elem + of_responses) +
           kind->bytes + hx_optimizer_side_bytes(problem, design) +
           (size_t)n_side * hx_optimizer_response_bytes(problem, params);
}

static int create_fields(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis->dev;
    const hx_pcg *pcg = opt->analysis->pcg;
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    const int fits = fits_vector(opt->problem);
    HX_TRY(hx_optimizer_take_field(opt, NULL, &opt->d_design));
    HX_TRY(hx_optimizer_take_field(opt, NULL, &opt->d_proposal));
    HX_TRY(hx_optimizer_take_field(opt, NULL, &opt->d_volume));
    HX_TRY(hx_optimizer_take_field(opt, hx_filter_maps_design(opt->filter) ? NULL : opt->d_design,
                                   &opt->d_physical));
    HX_TRY(hx_optimizer_take_field(
        opt, hx_filter_has_variants(opt->filter) ? NULL : opt->d_physical, &opt->d_made));
    HX_TRY(hx_optimizer_take_field(opt, fits ? pcg->d_r : NULL, &opt->d_energy));
    HX_TRY(hx_optimizer_take_field(opt, fits ? pcg->d_p : NULL, &opt->d_dv));
    double *const d_behind =
        fits && fits_twice(opt->problem) ? pcg->d_r + field_stride(opt->problem) : NULL;
    HX_TRY(hx_optimizer_take_field(opt, fits && pcg->d_z ? pcg->d_z : d_behind, &opt->d_dc));
    if (hx_optimizer_count_kept(&opt->params))
        HX_TRY(hx_optimizer_take_field(opt, NULL, &opt->kept.d_design));
    opt->kept.judged = NAN;
    opt->judged = NAN;
    if (judges_parts(&opt->params, opt->problem))
        HX_TRY(hx_optimizer_take_field(opt, NULL, &opt->d_part));
    return dev->ops->upload(dev, opt->d_volume, opt->problem->volume, bytes);
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
    if (!d_derivative && !kind->in_lagrangian) HX_TRY(hx_optimizer_take_field(opt, NULL, d_own));
    g->d_derivative = d_derivative ? d_derivative : *d_own;
    return HX_OK;
}

static void add_row(hx_optimizer *opt, hx_limit_row row)
{
    opt->row[opt->update.n_row++] = row;
}

/* HX_EINPUT: limits that contradict each other, or to which no value can be related. */
static int check_limits(const hx_constraint_spec *spec, double zero)
{
    const char *const origin = spec->params.origin ? spec->params.origin : "constraint";
    if (isnan(spec->max) && isnan(spec->min))
        return HX_RAISE(HX_EINPUT, "%s: %s has no limit; give max, min or both", origin,
                        spec->kind->name);
    if (spec->max == zero || spec->min == zero)
        return HX_RAISE(HX_EINPUT,
                        "%s: the limit of %s is %g, from which its violation is measured, so that "
                        "no value can be related to it; use a limit that differs a little",
                        origin, spec->kind->name, zero);
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
    const double zero = hx_response_zero(spec->kind, opt->analysis->problem, &spec->params);
    HX_TRY(check_limits(spec, zero));
    hx_response_params params = spec->params;
    params.limit = spec->max;
    HX_TRY(add_constraint(opt, kind_of_limit(spec), &params, NULL));
    HX_TRY(hx_strdup(&name, spec->name ? spec->name : spec->kind->name));
    *record = (hx_response_record){.name = name, .max = spec->max, .min = spec->min, .zero = zero};
    hx_limit_row row = {.response = &opt->constraint[opt->n_constraint - 1], .zero = zero};
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
    HX_TRY(hx_optimizer_take_field(opt, NULL, &opt->lagrangian.d_derivative));
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
    HX_TRY(hx_alloc(&opt->row, 3 * (2 * n + 1), sizeof *opt->row, "constraints"));
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
    HX_TRY(add_cases(opt));
    return hx_optimizer_create_sides(opt);
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
        .changes_sign = hx_problem_loads_vary(opt->problem) || opt->objective.kind->adjoint_load ||
                        opt->lagrangian.sum.kind,
        .total_volume = opt->total_volume,
        .d_volume = opt->d_volume,
    };
    const hx_kind_entry entry[] = {HX_ENTRY(kind, name), HX_ENTRY(kind, help),
                                   HX_ENTRY(kind, create), HX_ENTRY(kind, propose),
                                   HX_ENTRY(kind, destroy)};
    HX_TRY(hx_kind_check("update", kind->name, sizeof entry / sizeof entry[0], entry));
    HX_TRY(check_rows(opt, kind));
    if (kind->judge && hx_filter_has_variants(opt->filter))
        return HX_RAISE(HX_EINPUT,
                        "update '%s' compares designs by values, but with an eroded or dilated "
                        "design the derivative of the volume is that of another design than its "
                        "value; use \"mma\"",
                        kind->name);
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

void hx_optimizer_free(hx_optimizer *opt)
{
    hx_device *dev = opt->analysis ? opt->analysis->dev : NULL;
    if (opt->update.kind) opt->update.kind->destroy(&opt->update);
    hx_response_free(&opt->objective);
    hx_response_free(&opt->lagrangian.sum);
    free((void *)opt->lagrangian.limit);
    for (int i = 0; i < opt->n_constraint; i++) hx_response_free(&opt->constraint[i]);
    hx_optimizer_free_sides(opt);
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
