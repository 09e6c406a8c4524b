/* The largest value over the nodes of a set, as a scaled p-norm (response_set.h). The nodes are few
 * beside those of the mesh: their displacements are brought to the host, and the adjoint load is
 * made there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/reduce.h"
#include "../base/vec3.h"
#include "../linalg/vector_ops.h"
#include "response_set.h"

#define KEPT 0.5 /* share of the last design's scale */

/* The values of a load case at the samples of this process. */
typedef struct of_case {
    double *load;              /* [n_entry] derivative of the norm by the entries (owned) */
    double norm, ratio, scale; /* ratio: largest / norm; scale = 0: not yet known */
} of_case;

/* A sample is a node of the set. Its displacement is a sum over points, of one point apart from
 * splines. */
struct hx_largest {
    int components;
    double direction[3]; /* of unit length; 0: the size of the displacement */
    int64_t n_all;       /* samples of all processes */
    int64_t n, n_point;
    int64_t *first;          /* [n + 1] first term of a sample (owned, like all below) */
    uint8_t *is_own;         /* [n] 1: no other process counts it */
    int64_t *at;             /* [terms] position among the points below */
    double *share;           /* [terms] */
    int64_t *d_entry;        /* [n_point][components] entries of a vector */
    double *d_value, *value; /* [n_point][components], on device and host */
    double *q, *slope;       /* [n], [n][components] of the case at hand */
    int n_case;
    of_case *of; /* [n_case] */
};

/* Marks the nodes of the set among the nodes of the device's problem: position[n_node] := number of
 * the sample or -1. Returns their number. */
static int64_t mark_samples(const hx_analysis *a, const hx_set *set, int32_t *whole,
                            int32_t *position)
{
    const int64_t n_whole = a->problem->mesh->n_node, n_node = a->fields->mesh->n_node;
    int64_t n = 0;
    for (int64_t i = 0; i < n_whole; i++) whole[i] = 0;
    for (int64_t k = 0; k < set->n_node; k++) whole[set->node[k]] = 1;
    for (int64_t i = 0; i < n_node; i++) {
        const int64_t w = a->dist ? a->dist->subdomain.node[i] : i;
        position[i] = w < n_whole && whole[w] ? (int32_t)n++ : -1;
    }
    return n;
}

static int alloc_samples(hx_largest *l, const hx_space *space)
{
    const size_t n = (size_t)l->n + 1;
    const size_t terms = n * (space->element == HX_ELEMENT_SPLINE ? HX_SPLINE_CELL_POINTS : 1);
    HX_TRY(hx_alloc(&l->first, n, sizeof *l->first, "nodes of a set"));
    HX_TRY(hx_alloc(&l->is_own, n, 1, "nodes of a set"));
    HX_TRY(hx_alloc(&l->at, terms, sizeof *l->at, "nodes of a set"));
    HX_TRY(hx_alloc(&l->share, terms, sizeof *l->share, "nodes of a set"));
    HX_TRY(hx_alloc(&l->q, n, sizeof *l->q, "nodes of a set"));
    return hx_alloc(&l->slope, n * (size_t)l->components, sizeof *l->slope, "nodes of a set");
}

/* The terms of the samples; place[n_point] := position of a point among those used, -1: none. */
static void list_terms(hx_largest *l, const hx_analysis *a, const int32_t *sample, int32_t *place)
{
    const hx_space *const space = &a->fields->space;
    int64_t n_term = 0, n = 0;
    for (int64_t p = 0; p < space->n_point; p++) place[p] = -1;
    for (int64_t i = 0; i < a->fields->mesh->n_node; i++) {
        int32_t point[HX_SPLINE_CELL_POINTS];
        double share[HX_SPLINE_CELL_POINTS];
        if (sample[i] < 0) continue;
        const int n_here = hx_space_node_points(space, i, point, share);
        l->is_own[n] = 1;
        l->first[n++] = n_term;
        for (int k = 0; k < n_here; k++) {
            if (place[point[k]] < 0) place[point[k]] = (int32_t)l->n_point++;
            l->at[n_term] = place[point[k]];
            l->share[n_term++] = share[k];
        }
    }
    l->first[n] = n_term;
    if (!a->dist) return;
    for (int64_t k = 0; k < a->dist->subdomain.n_other; k++) {
        const int32_t other = a->dist->subdomain.other[k];
        if (other < a->fields->mesh->n_node && sample[other] >= 0) l->is_own[sample[other]] = 0;
    }
}

/* The entries of a vector that the samples use, on the device. */
static int put_entries(hx_largest *l, const hx_analysis *a, const int32_t *place)
{
    const int c = l->components;
    const size_t n = (size_t)l->n_point * (size_t)c + 1;
    int64_t *entry;
    HX_TRY(hx_alloc(&entry, n, sizeof *entry, "nodes of a set"));
    for (int64_t p = 0; p < a->fields->space.n_point; p++)
        for (int i = 0; place[p] >= 0 && i < c; i++) entry[c * place[p] + i] = c * p + i;
    const int rc = hx_device_put(a->dev, &l->d_entry, entry, n * sizeof *entry);
    free(entry);
    HX_TRY(rc);
    HX_TRY(a->dev->ops->alloc(a->dev, n * sizeof *l->d_value, &l->d_value));
    HX_TRY(hx_alloc(&l->value, n, sizeof *l->value, "nodes of a set"));
    HX_TRY(hx_alloc(&l->of, (size_t)l->n_case, sizeof *l->of, "load cases"));
    for (int k = 0; k < l->n_case; k++)
        HX_TRY(hx_alloc(&l->of[k].load, n, sizeof(double), "nodes of a set"));
    return HX_OK;
}

static int make_samples(hx_largest *l, const hx_analysis *a, const hx_set *set)
{
    const size_t n_point = (size_t)a->fields->space.n_point + 1;
    int32_t *whole = NULL, *sample = NULL, *place = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&whole, (size_t)a->problem->mesh->n_node + 1, sizeof *whole, "nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&sample, n_point, sizeof *sample, "nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&place, n_point, sizeof *place, "nodes"));
    l->n = mark_samples(a, set, whole, sample);
    l->n_all = set->n_node;
    HX_TRY_FAIL(alloc_samples(l, &a->fields->space));
    list_terms(l, a, sample, place);
    rc = put_entries(l, a, place);
fail:
    free(whole);
    free(sample);
    free(place);
    return rc;
}

int hx_largest_create(hx_response *o, hx_largest **largest)
{
    const hx_analysis *const a = o->analysis;
    const hx_set *const set = hx_mesh_find_set(a->problem->mesh, o->params.set);
    const double size = hx_norm3(o->params.direction);
    hx_largest *l;
    HX_TRY(hx_alloc(&l, 1, sizeof *l, "largest value of a set"));
    *largest = l;
    l->components = a->problem->components;
    l->n_case = a->problem->cases.n;
    for (int i = 0; i < 3; i++) l->direction[i] = size > 0.0 ? o->params.direction[i] / size : 0.0;
    return make_samples(l, a, set);
}

/* q and its derivative by the displacement of a sample. */
static double measure_sample(const hx_largest *l, int64_t s, double *slope)
{
    const int c = l->components;
    double u[3] = {0.0, 0.0, 0.0}, along = 0.0;
    for (int64_t k = l->first[s]; k < l->first[s + 1]; k++)
        for (int i = 0; i < c; i++) u[i] += l->share[k] * l->value[c * l->at[k] + i];
    for (int i = 0; i < 3; i++) along += l->direction[i] * u[i];
    const int is_along = c == 3 && hx_norm3(l->direction) > 0.0;
    const double q = is_along ? fabs(along) : hx_norm3(u);
    for (int i = 0; i < c; i++)
        slope[i] = !(q > 0.0) ? 0.0 : is_along ? along / q * l->direction[i] : u[i] / q;
    return q;
}

/* The norm and its derivative by the entries, from the values of all processes. */
static int sum_norm(const hx_analysis *a, hx_largest *l, of_case *of)
{
    const int c = l->components;
    double largest = 0.0, sum = 0.0;
    for (int64_t s = 0; s < l->n; s++) {
        l->q[s] = measure_sample(l, s, l->slope + c * s);
        largest = isnan(l->q[s]) ? NAN : fmax(largest, l->q[s]);
        if (isnan(largest)) break;
    }
    if (a->dist) HX_TRY(hx_reduce_max(&a->dist->reduce.base, 1, &largest));
    for (int64_t s = 0; s < l->n; s++)
        if (l->is_own[s]) sum += pow(l->q[s] / largest, HX_LARGEST_POWER);
    if (a->dist) HX_TRY(hx_dist_sum(a->dist, 1, &sum));
    memset(of->load, 0, (size_t)l->n_point * (size_t)c * sizeof *of->load);
    of->norm = largest * pow(sum / (double)l->n_all, 1.0 / HX_LARGEST_POWER);
    if (largest == 0.0) of->norm = 0.0;
    for (int64_t s = 0; of->norm > 0.0 && s < l->n; s++) {
        const double factor = pow(l->q[s] / of->norm, HX_LARGEST_POWER - 1) / (double)l->n_all;
        for (int64_t k = l->first[s]; k < l->first[s + 1]; k++)
            for (int i = 0; i < c; i++)
                of->load[c * l->at[k] + i] += factor * l->share[k] * l->slope[c * s + i];
    }
    of->ratio = of->norm > 0.0 ? largest / of->norm : 1.0;
    if (!(of->scale > 0.0)) of->scale = of->ratio;
    return HX_OK;
}

int hx_largest_prepare(hx_response *o, hx_largest *l)
{
    const hx_analysis *const a = o->analysis;
    const int64_t n = l->n_point * l->components;
    for (int c = 0; c < l->n_case; c++) {
        if (!hx_response_has_case(o, c)) continue;
        HX_TRY(a->dev->ops->vector->take_entries(a->dev, n, l->d_entry, a->d_u[c], l->d_value));
        HX_TRY(a->dev->ops->download(a->dev, l->value, l->d_value, (size_t)n * sizeof *l->value));
        HX_TRY(sum_norm(a, l, &l->of[c]));
    }
    return HX_OK;
}

void hx_largest_accept(hx_largest *l)
{
    for (int c = 0; c < l->n_case; c++)
        l->of[c].scale = KEPT * l->of[c].scale + (1.0 - KEPT) * l->of[c].ratio;
}

double hx_largest_value(const hx_largest *l, int c)
{
    return l->of[c].scale * l->of[c].norm;
}

double hx_largest_scale(const hx_largest *l, int c)
{
    return l->of[c].scale;
}

int hx_largest_load(const hx_response *o, const hx_largest *l, int c, double factor, double *d_load)
{
    const hx_analysis *const a = o->analysis;
    hx_device *const dev = a->dev;
    const int64_t n = l->n_point * l->components;
    for (int64_t k = 0; k < n; k++) l->value[k] = factor * l->of[c].scale * l->of[c].load[k];
    HX_TRY(dev->ops->upload(dev, l->d_value, l->value, (size_t)n * sizeof *l->value));
    HX_TRY(dev->ops->zero(dev, d_load, (size_t)a->op->linear.n * sizeof *d_load));
    return dev->ops->vector->put_entries(dev, n, l->d_entry, l->d_value, d_load);
}

int hx_largest_snapshot(hx_response *o, hx_largest *l, hx_snapshot *image)
{
    char name[HX_SNAPSHOT_NAME];
    for (int c = 0; c < l->n_case; c++) {
        snprintf(name, sizeof name, "%s.scale %d", o->role, c + 1);
        HX_TRY(hx_snapshot_host(image, name, &l->of[c].scale, sizeof(double)));
    }
    return HX_OK;
}

void hx_largest_free(hx_device *dev, hx_largest *l)
{
    if (!l) return;
    dev->ops->release(dev, l->d_entry);
    dev->ops->release(dev, l->d_value);
    for (int c = 0; l->of && c < l->n_case; c++) free(l->of[c].load);
    free(l->of);
    free(l->first);
    free(l->is_own);
    free(l->at);
    free(l->share);
    free(l->value);
    free(l->q);
    free(l->slope);
    free(l);
}
