/* The largest local volume: the largest mean b of the physical densities over the balls of a radius
 * about the free elements (Wu et al. 2018), of all or of those of a set. In
 * place of the maximum, which has no derivative, a scaled norm:
 *
 *     c PN,  PN = (sum v b^16 / sum v)^(1/16),  c = 0.5 max b / PN + 0.5 c of the last design
 *
 * with volumes v, and c constant in the derivative. Means include passive elements; they do not
 * count as centres, because no design changes them. Records have the true maximum. No solve. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/reduce.h"
#include "../linalg/vector_ops.h"
#include "local_volume.h"
#include "response_set.h"
#include "stress_ops.h"

#define KEPT 0.5     /* share of the last design's scale */
enum { POWER = 16 }; /* of the norm; powers below are products */

static const char *origin_of(const hx_response_params *params)
{
    return params->origin ? params->origin : "local_volume";
}

static int check_set(const hx_problem *problem, const hx_response_params *params)
{
    const hx_set *const set = hx_mesh_find_set(problem->mesh, params->set);
    if (!set) return hx_response_check_set(problem, params->set, origin_of(params));
    if (set->n_elem > 0 || problem->mesh->ownership) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: set '%s' has no elements, and a local volume is that about an element; "
                    "name a set that contains whole elements",
                    origin_of(params), params->set);
}

static int check_local(const hx_problem *problem, const hx_response_params *params)
{
    const double edge = hx_ball_edge(problem), least = HX_BALL_LEAST_EDGES * edge;
    if (!(params->radius > 0.0) || !isfinite(params->radius))
        return HX_RAISE(HX_EINPUT, "%s: radius = %g: the ball needs a radius above 0",
                        origin_of(params), params->radius);
    if (params->radius < least)
        return HX_RAISE(HX_EINPUT,
                        "%s: radius = %g is below %.4g, which is %g times the edge of an element: "
                        "such a ball holds too few elements for a mean; give a larger radius, or "
                        "refine the mesh",
                        origin_of(params), params->radius, least, HX_BALL_LEAST_EDGES);
    return params->set ? check_set(problem, params) : HX_OK;
}

static hx_ball_method method_of(const hx_problem *problem, const hx_response_params *params)
{
    return params->is_measured ? hx_ball_method_once(problem, params->radius)
                               : hx_ball_method_for(problem, params->radius);
}

static size_t local_bytes(const hx_problem *problem, const hx_response_params *params)
{
    const size_t n = (size_t)problem->mesh->n_elem;
    return hx_ball_bytes(problem, params->radius, method_of(problem, params)) +
           n * (3 * sizeof(double) + 1);
}

/* Marks the centres among the elements of this process; weight[n_elem]: their volumes, else 0. */
static void mark_centres(const hx_analysis *a, const hx_response_params *params,
                         const uint8_t *whole, uint8_t *counts, double *weight)
{
    const hx_problem *const own = a->fields;
    for (int64_t e = 0; e < own->mesh->n_elem; e++) {
        const int64_t w = a->dist ? a->dist->subdomain.elem[e] : e;
        const int is_free = !own->passive.density || isnan(own->passive.density[e]);
        counts[e] = is_free && (!params->set || whole[w]);
        weight[e] = counts[e] ? own->volume[e] : 0.0;
    }
}

static int put_centres(hx_response *o, hx_local_volume *own)
{
    const hx_analysis *const a = o->analysis;
    const size_t n = (size_t)a->fields->mesh->n_elem;
    const hx_set *const set =
        o->params.set ? hx_mesh_find_set(a->problem->mesh, o->params.set) : NULL;
    uint8_t *whole = NULL, *counts = NULL;
    double *weight = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&whole, (size_t)a->problem->mesh->n_elem + 1, 1, "elements of a set"));
    HX_TRY_FAIL(hx_alloc(&counts, n + 1, 1, "elements of a set"));
    HX_TRY_FAIL(hx_alloc(&weight, n + 1, sizeof *weight, "elements of a set"));
    for (int64_t k = 0; set && k < set->n_elem; k++) whole[set->elem[k]] = 1;
    mark_centres(a, &o->params, whole, counts, weight);
    for (size_t e = 0; e < n; e++) own->total += weight[e];
    if (a->dist) HX_TRY_FAIL(hx_dist_sum(a->dist, 1, &own->total));
    if (!(own->total > 0.0))
        HX_TRY_FAIL(HX_RAISE(HX_EINPUT, "%s: no element is left: all of its elements are passive",
                             origin_of(&o->params)));
    HX_TRY_FAIL(hx_device_put(a->dev, &own->d_counts, counts, n));
    rc = hx_device_put(a->dev, &own->d_weight, weight, n * sizeof *weight);
fail:
    free(whole);
    free(counts);
    free(weight);
    return rc;
}

static int create_local(hx_response *o)
{
    const hx_analysis *const a = o->analysis;
    hx_device *const dev = a->dev;
    const size_t bytes = (size_t)a->fields->mesh->n_elem * sizeof(double);
    hx_local_volume *own;
    if (!dev->ops->stress)
        return HX_RAISE(HX_EINPUT, "%s: device '%s' does not support local volumes",
                        origin_of(&o->params), dev->ops->name);
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "limit on the local volume"));
    o->impl = own;
    HX_TRY(put_centres(o, own));
    HX_TRY(dev->ops->alloc(dev, bytes, &own->d_mean));
    if (!o->measured->d_scratch) HX_TRY(dev->ops->alloc(dev, bytes, &own->d_own));
    return hx_ball_create(&own->ball, dev, a->fields, o->params.radius,
                          method_of(a->fields, &o->params));
}

static double *scratch_of(const hx_response *o)
{
    const hx_local_volume *const own = o->impl;
    return own->d_own ? own->d_own : o->measured->d_scratch;
}

/* d_power := the mean to the power 2, 4, 8 or 16; d_power may not be d_mean. */
static int raise(const hx_response *o, int power, double *d_power)
{
    const hx_local_volume *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    const int64_t n = own->ball.n;
    HX_TRY(dev->ops->vector->multiply(dev, n, own->d_mean, own->d_mean, d_power));
    for (int k = 2; k < power; k *= 2)
        HX_TRY(dev->ops->vector->multiply(dev, n, d_power, d_power, d_power));
    return HX_OK;
}

static int find_largest(const hx_response *o, double *largest)
{
    const hx_local_volume *const own = o->impl;
    const hx_analysis *const a = o->analysis;
    const hx_device_stress law = {
        .n = own->ball.n, .d_rho = own->d_mean, .d_counts = own->d_counts, .reference = 1.0};
    int64_t unused;
    HX_TRY(a->dev->ops->stress->largest(a->dev, &law, own->d_mean, largest, &unused));
    return a->dist ? hx_reduce_max(&a->dist->reduce.base, 1, largest) : HX_OK;
}

static int prepare_local(hx_response *o)
{
    hx_local_volume *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    double *const d_work = scratch_of(o), sum;
    HX_TRY(hx_ball_mean(&own->ball, o->measured->d_made, own->d_mean, d_work));
    HX_TRY(find_largest(o, &own->largest));
    HX_TRY(raise(o, POWER, d_work));
    HX_TRY(dev->ops->vector->field_dot(dev, own->ball.n, d_work, own->d_weight, &sum));
    own->norm = pow(sum / own->total, 1.0 / (double)POWER);
    own->ratio = own->norm > 0.0 ? own->largest / own->norm : 1.0;
    if (!(own->scale > 0.0)) own->scale = own->ratio;
    return HX_OK;
}

static int accept_local(hx_response *o)
{
    hx_local_volume *const own = o->impl;
    own->scale = KEPT * own->scale + (1.0 - KEPT) * own->ratio;
    return HX_OK;
}

static int local_value(const hx_response *o, double *value)
{
    const hx_local_volume *const own = o->impl;
    *value = own->scale * own->norm;
    return HX_OK;
}

static int report_local(const hx_response *o, double *value)
{
    const hx_local_volume *const own = o->impl;
    *value = own->largest;
    return HX_OK;
}

/* c dPN/db = c PN^-15 v b^15 / sum v, as the product of b and b^2, b^4 and b^8. */
static int local_derivative(const hx_response *o, const double *d_energy, double *d_dg)
{
    hx_local_volume *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    const int64_t n = own->ball.n;
    double *const d_work = scratch_of(o);
    (void)d_energy;
    HX_TRY(dev->ops->zero(dev, d_dg, (size_t)n * sizeof *d_dg));
    if (!(own->norm > 0.0)) return HX_OK;
    const double factor = own->scale * pow(own->norm, 1.0 - (double)POWER) / own->total;
    HX_TRY(vector->axpy(dev, n, factor, own->d_weight, d_dg));
    HX_TRY(vector->multiply(dev, n, d_dg, own->d_mean, d_dg));
    for (int k = 2; k < POWER; k *= 2) {
        HX_TRY(raise(o, k, d_work));
        HX_TRY(vector->multiply(dev, n, d_dg, d_work, d_dg));
    }
    return hx_ball_transpose(&own->ball, d_dg, d_work);
}

static int snapshot_local(hx_response *o, hx_snapshot *image)
{
    hx_local_volume *const own = o->impl;
    char name[HX_SNAPSHOT_NAME];
    snprintf(name, sizeof name, "%s.scale", o->role);
    return hx_snapshot_host(image, name, &own->scale, sizeof own->scale);
}

static void destroy_local(hx_response *o)
{
    hx_local_volume *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    if (!own) return;
    hx_ball_free(&own->ball);
    dev->ops->release(dev, own->d_counts);
    dev->ops->release(dev, own->d_weight);
    dev->ops->release(dev, own->d_mean);
    dev->ops->release(dev, own->d_own);
    free(own);
    o->impl = NULL;
}

const hx_response_kind hx_response_local_volume = {
    .name = "local_volume",
    .help = "largest mean density over the balls of a radius about the free elements",
    .is_of_made = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_RADIUS,
    .needs = HX_TAKES_RADIUS,
    .is_distributed = 1,
    .is_upper = 1,
    .check = check_local,
    .bytes = local_bytes,
    .create = create_local,
    .prepare = prepare_local,
    .accept = accept_local,
    .value = local_value,
    .report = report_local,
    .derivative = local_derivative,
    .snapshot = snapshot_local,
    .destroy = destroy_local,
};
