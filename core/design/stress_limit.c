/* What the two kinds of stress limits share (stress_limit.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/reduce.h"
#include "../operator/interface_ops.h"
#include "response_set.h"
#include "stress_limit.h"

/* A passive element of at most this density is void, and its stress means nothing. */
#define MOST_VOID 0.5

static const char *origin_of(const hx_response_params *params)
{
    return params->origin ? params->origin : "stress";
}

/* --- checks --- */

static int check_elems(const hx_problem *problem, const char *name, const char *origin)
{
    const hx_set *const set = hx_mesh_find_set(problem->mesh, name);
    if (!set) return hx_response_check_set(problem, name, origin); /* states the nearest name */
    if (set->n_elem > 0 || problem->mesh->ownership) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: set '%s' has no elements, and stresses are those of elements; name a set "
                    "that contains whole elements",
                    origin, name);
}

int hx_stress_limit_check(const hx_problem *problem, const hx_response_params *params)
{
    const char *const origin = origin_of(params);
    if (hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: physics = \"heat\" has no stresses; use temperature",
                        origin);
    if (problem->space.element == HX_ELEMENT_SPLINE)
        return HX_RAISE(HX_EINPUT,
                        "%s: stresses of splines cannot be limited or minimized; mesh the part "
                        "with hexahedra or tetrahedra",
                        origin);
    if (!(params->relaxation >= 0.0 && params->relaxation <= 1.0))
        return HX_RAISE(HX_EINPUT,
                        "%s: relaxation = %g is not in [0, 1]; 0.5 fits penalty = 3 (0: the stress "
                        "of the solid material)",
                        origin, params->relaxation);
    if (params->set) HX_TRY(check_elems(problem, params->set, origin));
    for (int i = 0; i < params->n_exclude; i++)
        HX_TRY(check_elems(problem, params->exclude[i], origin));
    return HX_OK;
}

/* --- which elements count --- */

/* counts[n_elem of the whole] of the elements of a set := value. */
static void mark_set(const hx_mesh *mesh, const char *name, uint8_t value, uint8_t *counts)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    for (int64_t k = 0; set && k < set->n_elem; k++) counts[set->elem[k]] = value;
}

/* counts[n_elem] of the problem of this process. Returns their number. */
static int64_t mark_counted(const hx_analysis *a, const hx_response_params *params, uint8_t *whole,
                            uint8_t *counts)
{
    const hx_problem *const problem = a->problem, *const own = a->fields;
    int64_t n = 0;
    memset(whole, !params->set, (size_t)problem->mesh->n_elem);
    if (params->set) mark_set(problem->mesh, params->set, 1, whole);
    for (int i = 0; i < params->n_exclude; i++)
        mark_set(problem->mesh, params->exclude[i], 0, whole);
    for (int64_t e = 0; e < own->mesh->n_elem; e++) {
        const double fixed = own->passive.density ? own->passive.density[e] : NAN;
        const int64_t w = a->dist ? a->dist->subdomain.elem[e] : e;
        counts[e] = whole[w] && !(fixed <= MOST_VOID);
        n += counts[e];
    }
    return n;
}

static int put_counted(hx_response *o, hx_stress_limit *own)
{
    const hx_analysis *const a = o->analysis;
    const size_t n = (size_t)a->fields->mesh->n_elem;
    uint8_t *whole = NULL, *counts = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&whole, (size_t)a->problem->mesh->n_elem + 1, 1, "elements of a set"));
    HX_TRY_FAIL(hx_alloc(&counts, n + 1, 1, "elements of a set"));
    own->n_counted = mark_counted(a, &o->params, whole, counts);
    if (a->dist) HX_TRY_FAIL(hx_reduce_sum_i64(&a->dist->reduce.base, 1, &own->n_counted));
    if (own->n_counted == 0)
        HX_TRY_FAIL(HX_RAISE(HX_EINPUT,
                             "%s: no element is left: all of its elements are excluded or passive "
                             "void",
                             origin_of(&o->params)));
    rc = hx_device_put(a->dev, &own->d_counts, counts, n);
fail:
    free(whole);
    free(counts);
    return rc;
}

/* --- creation --- */

/* 1: some elements have several points. */
static int has_points(const hx_problem *problem)
{
    return problem->space.element != HX_ELEMENT_LINEAR || hx_mesh_is_collapsed(problem->mesh);
}

int hx_stress_limit_has(const hx_response_params *params, int c)
{
    return params->load_case == HX_ALL_CASES || params->load_case == c;
}

size_t hx_stress_limit_bytes(const hx_problem *problem, const hx_response_params *params)
{
    const size_t n = (size_t)problem->mesh->n_elem;
    size_t n_field = 0;
    for (int c = 0; params->is_lagrangian && c < problem->cases.n; c++)
        n_field += (size_t)hx_stress_limit_has(params, c);
    return n * (1 + (size_t)has_points(problem)) + n_field * n * sizeof(double) +
           hx_device_mesh_list_bytes(problem->mesh);
}

static int create_fields(hx_response *o, hx_stress_limit *own)
{
    hx_device *const dev = o->analysis->dev;
    const size_t n = (size_t)o->analysis->fields->mesh->n_elem;
    HX_TRY(put_counted(o, own));
    if (has_points(o->analysis->fields)) HX_TRY(dev->ops->alloc(dev, n, &own->d_at));
    if (!o->measured->d_scratch) HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &own->d_own));
    for (int c = 0; o->params.is_lagrangian && c < own->n_case; c++) {
        if (!hx_stress_limit_has(&o->params, c)) continue;
        HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &own->of[c].d_lambda));
        HX_TRY(dev->ops->zero(dev, own->of[c].d_lambda, n * sizeof(double)));
    }
    return HX_OK;
}

int hx_stress_limit_create(hx_response *o)
{
    hx_stress_limit *own;
    const hx_analysis *const a = o->analysis;
    if (!a->dev->ops->stress)
        return HX_RAISE(HX_EINPUT, "%s: device '%s' does not support stresses",
                        origin_of(&o->params), a->dev->ops->name);
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "limit on stresses"));
    o->impl = own;
    own->n_case = a->problem->cases.n;
    own->weight = hx_stress_first_weight;
    own->margin = 1.0;
    HX_TRY(hx_alloc(&own->of, (size_t)own->n_case, sizeof *own->of, "load cases"));
    HX_TRY(create_fields(o, own));
    return hx_device_mesh_need_lists(a->dev, a->op->mesh);
}

void hx_stress_limit_destroy(hx_response *o)
{
    hx_stress_limit *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    if (!own) return;
    for (int c = 0; own->of && c < own->n_case; c++) dev->ops->release(dev, own->of[c].d_lambda);
    dev->ops->release(dev, own->d_counts);
    dev->ops->release(dev, own->d_at);
    dev->ops->release(dev, own->d_own);
    free(own->of);
    free(own);
    o->impl = NULL;
}

/* --- stresses of a case --- */

double *hx_stress_limit_scratch(const hx_response *o)
{
    const hx_stress_limit *const own = o->impl;
    return own->d_own ? own->d_own : o->measured->d_scratch;
}

hx_device_stress hx_stress_limit_law(const hx_response *o, int c)
{
    const hx_stress_limit *const own = o->impl;
    const hx_analysis *const a = o->analysis;
    const hx_stress_case *const of = &own->of[c];
    return (hx_device_stress){.n = a->fields->mesh->n_elem,
                              .d_rho = o->measured->d_physical,
                              .d_counts = own->d_counts,
                              .relaxation = o->params.relaxation,
                              .reference = of->largest > 0.0 ? of->largest : 1.0,
                              .d_lambda = of->d_lambda,
                              .limit = own->margin * o->params.limit,
                              .penalty = a->penalty,
                              .weight = own->weight};
}

int hx_stress_limit_find(const hx_response *o, int c, double *d_s)
{
    const hx_stress_limit *const own = o->impl;
    const hx_analysis *const a = o->analysis;
    return a->dev->ops->stress->von_mises(a->dev, &a->op->model, a->problem->young, a->d_u[c],
                                          own->d_at, d_s);
}

int hx_stress_limit_load(const hx_response *o, int c, const double *d_weight, double *d_load)
{
    const hx_stress_limit *const own = o->impl;
    const hx_analysis *const a = o->analysis;
    hx_device_model model = a->op->model;
    model.d_node_elem_ptr = a->op->mesh->d_node_elem_ptr;
    model.d_node_elem = a->op->mesh->d_node_elem;
    double *const d_work[3] = {a->pcg->d_p, a->pcg->d_q, a->pcg->d_r};
    HX_TRY(a->dev->ops->stress->load(a->dev, &model, a->problem->young, a->d_u[c], own->d_at,
                                     d_weight, d_load == a->pcg->d_q ? NULL : d_work, d_load));
    return hx_interface_add(a->dev, a->problem->components, d_load);
}

/* The largest stress of a case over all processes. */
static int find_largest(const hx_response *o, hx_stress_case *of, const hx_device_stress *law,
                        const double *d_s)
{
    const hx_analysis *const a = o->analysis;
    HX_TRY(a->dev->ops->stress->largest(a->dev, law, d_s, &of->largest, &of->elem));
    if (!a->dist) return HX_OK;
    const double here = of->largest;
    HX_TRY(hx_reduce_max(&a->dist->reduce.base, 1, &of->largest));
    if (!(here >= of->largest)) of->elem = -1;
    return HX_OK;
}

int hx_stress_limit_prepare(hx_response *o)
{
    hx_stress_limit *const own = o->impl;
    const hx_analysis *const a = o->analysis;
    double *const d_s = hx_stress_limit_scratch(o);
    for (int c = 0; c < own->n_case; c++) {
        if (!hx_stress_limit_has(&o->params, c)) continue;
        hx_stress_case *const of = &own->of[c];
        hx_device_stress law = hx_stress_limit_law(o, c);
        HX_TRY(hx_stress_limit_find(o, c, d_s));
        HX_TRY(find_largest(o, of, &law, d_s));
        if (o->params.is_lagrangian) continue;
        law.reference = of->largest > 0.0 ? of->largest : 1.0;
        HX_TRY(a->dev->ops->stress->sum(a->dev, &law, d_s, &of->sum));
        if (a->dist) HX_TRY(hx_dist_sum(a->dist, 1, &of->sum));
    }
    return HX_OK;
}

int hx_stress_limit_report(const hx_response *o, double *value)
{
    const hx_stress_limit *const own = o->impl;
    *value = 0.0;
    for (int c = 0; c < own->n_case; c++)
        if (hx_stress_limit_has(&o->params, c) && !(own->of[c].largest <= *value))
            *value = own->of[c].largest;
    return HX_OK;
}
