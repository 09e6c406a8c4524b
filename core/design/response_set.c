/* Means over a set and what follows from them (response_set.h). */
#include "response_set.h"

#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../linalg/vector_ops.h"

int hx_add_set_mean(const hx_problem *problem, const char *name, const char *origin,
                    const double direction[3], double *l)
{
    hx_load_spec force = {
        .set = name, .origin = origin, .kind = HX_LOAD_TOTAL_FORCE, .load_case = 1};
    for (int i = 0; i < 3; i++) /* a load refuses components near the smallest double */
        force.value[i] = fabs(direction[i]) < 1e-100 ? 0.0 : direction[i];
    return hx_problem_add_load(&problem->space, &force, l); /* also refuses an unknown set */
}

int hx_response_set_vectors(const hx_problem *problem, const hx_response_params *params)
{
    return problem->components == 1 || hx_norm3(params->direction) > 0.0 ? 1 : 3;
}

/* The direction of m_i, of unit length. */
static void direction_of(const hx_problem *problem, const hx_response_params *params, int i,
                         double direction[3])
{
    const double *const d = params->direction, size = hx_norm3(d);
    const int is_given = problem->components == 3 && size > 0.0;
    for (int k = 0; k < 3; k++) direction[k] = is_given ? d[k] / size : k == i;
}

/* Leaves l[n_point][components] of l[n_point][3]. */
static void leave_components(const hx_problem *problem, double *l)
{
    const int64_t n = problem->space.n_point;
    for (int64_t p = 0; problem->components == 1 && p < n; p++) l[p] = l[3 * p];
}

static int fill_mean(const hx_problem *problem, const hx_response_params *params, int i, double *l)
{
    const char *const origin = params->origin ? params->origin : "response";
    double direction[3];
    direction_of(problem, params, i, direction);
    HX_TRY(hx_add_set_mean(problem, params->set, origin, direction, l));
    for (int k = 0; k < 3; k++) direction[k] = -direction[k];
    if (params->set_2) HX_TRY(hx_add_set_mean(problem, params->set_2, origin, direction, l));
    leave_components(problem, l);
    return HX_OK;
}

int hx_response_set_mean(const hx_problem *problem, const hx_response_params *params, int i,
                         double **l)
{
    HX_TRY(hx_alloc(l, 3 * (size_t)problem->space.n_point, sizeof **l, "mean over a set"));
    const int rc = fill_mean(problem, params, i, *l);
    if (rc < 0) free(*l);
    return rc;
}

int hx_response_check_set(const hx_problem *problem, const char *name, const char *origin)
{
    const hx_load_spec force = {
        .set = name, .origin = origin, .kind = HX_LOAD_NODE_FORCE, .load_case = 1};
    double *l;
    if (!name) return HX_OK;
    HX_TRY(hx_alloc(&l, 3 * (size_t)problem->space.n_point, sizeof *l, "nodes of a set"));
    const int rc = hx_problem_add_load(&problem->space, &force, l); /* collective */
    free(l);
    return rc;
}

/* Number of points that carry the values at the nodes of a set, at most. */
static int64_t most_points(const hx_problem *problem, const char *name)
{
    const hx_set *const set = name ? hx_mesh_find_set(hx_problem_whole(problem)->mesh, name) : NULL;
    const int64_t n = set ? set->n_node : 0, n_point = problem->space.n_point;
    const int64_t per_node =
        problem->space.element == HX_ELEMENT_SPLINE ? HX_SPLINE_CELL_POINTS : 5;
    return n < n_point / per_node ? n * per_node : n_point;
}

size_t hx_response_set_bytes(const hx_problem *problem, const hx_response_params *params)
{
    const int64_t n = most_points(problem, params->set) + most_points(problem, params->set_2);
    const size_t each = sizeof(int64_t) + sizeof(double);
    return ((size_t)n + 1) * (size_t)problem->components * each;
}

/* Index in the whole problem of an entry of a vector of the device's problem. */
static int64_t whole_entry(const hx_analysis *a, int64_t k)
{
    const int64_t c = a->problem->components;
    return a->dist ? c * a->dist->subdomain.node[k / c] + k % c : k;
}

/* Uploads the entries of l that are not 0; l[n_point of the whole][components]. */
static int put_sparse(const hx_analysis *a, const double *l, hx_sparse_vector *to)
{
    const int64_t n = a->op->linear.n;
    int64_t *at = NULL;
    double *value = NULL;
    int rc;
    for (int64_t k = 0; k < n; k++) to->n += l[whole_entry(a, k)] != 0.0;
    const size_t n_entry = (size_t)to->n;
    HX_TRY_FAIL(hx_alloc(&at, n_entry + 1, sizeof *at, "entries of a mean"));
    HX_TRY_FAIL(hx_alloc(&value, n_entry + 1, sizeof *value, "entries of a mean"));
    for (int64_t k = 0, i = 0; k < n; k++) {
        if (l[whole_entry(a, k)] == 0.0) continue;
        at[i] = k;
        value[i++] = l[whole_entry(a, k)];
    }
    HX_TRY_FAIL(hx_device_put(a->dev, &to->d_at, at, (n_entry + 1) * sizeof *at));
    HX_TRY_FAIL(hx_device_put(a->dev, &to->d_value, value, (n_entry + 1) * sizeof *value));
    rc = HX_OK;
fail:
    free(at);
    free(value);
    return rc;
}

int hx_response_set_create(hx_response *o,
                           int (*make)(const hx_problem *problem, const hx_response_params *params,
                                       int i, double **l))
{
    const hx_problem *const problem = o->analysis->problem;
    hx_response_set *own;
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "response about a set"));
    o->impl = own;
    HX_TRY(hx_alloc(&own->now, (size_t)problem->cases.n, sizeof *own->now, "load cases"));
    own->n_vector = hx_response_set_vectors(problem, &o->params);
    for (int i = 0; i < own->n_vector; i++) {
        double *l;
        HX_TRY(make(problem, &o->params, i, &l));
        const int rc = put_sparse(o->analysis, l, &own->vector[i]);
        free(l);
        HX_TRY(rc);
    }
    return HX_OK;
}

void hx_response_set_destroy(hx_response *o)
{
    hx_response_set *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    if (!own) return;
    for (int i = 0; i < 3; i++) {
        dev->ops->release(dev, own->vector[i].d_at);
        dev->ops->release(dev, own->vector[i].d_value);
    }
    free(own->now);
    free(own);
    o->impl = NULL;
}

static int expand(const hx_response *o, const hx_sparse_vector *from, double *d_to)
{
    hx_device *const dev = o->analysis->dev;
    HX_TRY(dev->ops->zero(dev, d_to, (size_t)o->analysis->op->linear.n * sizeof *d_to));
    return dev->ops->vector->put_entries(dev, from->n, from->d_at, from->d_value, d_to);
}

int hx_response_set_measure(hx_response *o, int c, const double *d_x)
{
    hx_response_set *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    for (int i = 0; i < own->n_vector; i++) {
        HX_TRY(expand(o, &own->vector[i], o->d_load));
        HX_TRY(
            dev->ops->vector->dot(dev, o->analysis->op->linear.n, o->d_load, d_x, &own->now[c][i]));
    }
    return HX_OK;
}

int hx_response_set_prepare(hx_response *o)
{
    for (int c = 0; c < o->analysis->problem->cases.n; c++)
        if (hx_response_has_case(o, c)) HX_TRY(hx_response_set_measure(o, c, o->analysis->d_u[c]));
    return HX_OK;
}

double hx_response_set_value(const hx_response *o, int c, double slope[3])
{
    const hx_response_set *const own = o->impl;
    const double *const m = own->now[c];
    const double size = own->n_vector == 1 ? fabs(m[0]) : hx_norm3(m);
    const int is_signed = own->n_vector == 1 && !o->params.is_magnitude;
    for (int i = 0; i < 3; i++) slope[i] = i < own->n_vector && size > 0.0 ? m[i] / size : 0.0;
    if (is_signed) slope[0] = 1.0;
    return is_signed ? m[0] : size;
}

int hx_response_set_load(const hx_response *o, double factor, const double slope[3], double *d_load)
{
    const hx_response_set *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    const int64_t n = o->analysis->op->linear.n;
    double *const d_one = o->analysis->pcg->d_q;
    if (own->n_vector == 1 && factor * slope[0] == 1.0) return expand(o, &own->vector[0], d_load);
    HX_TRY(dev->ops->zero(dev, d_load, (size_t)n * sizeof *d_load));
    for (int i = 0; i < own->n_vector; i++) {
        HX_TRY(expand(o, &own->vector[i], d_one));
        HX_TRY(dev->ops->vector->axpy(dev, n, factor * slope[i], d_one, d_load));
    }
    return HX_OK;
}
