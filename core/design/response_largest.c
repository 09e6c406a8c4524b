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

/* Share of the scale that is kept from the design before
 * (doc/notebook/2026-11-30-largest-values-that-alternate.md). */
#define KEPT 0.5

/* A load case of the analysed design, with the values of this process. */
typedef struct of_case {
    double *value; /* [n_point][components] displacements (owned) */
    double *load;  /* [n_point][components] derivative of the norm by them (owned) */
    double largest, lowest;
    double norm;              /* of the values plus the shift */
    hx_largest_constants are; /* scale = 0: not yet known */
    int has_own;              /* 1: they are those of the analysed design */
} of_case;

/* A sample is a node of the set. Its displacement is a sum over points, of one point apart from
 * splines. */
struct hx_largest {
    int components;
    double direction[3]; /* of unit length; 0: the size of the displacement */
    int is_signed;       /* 0: values are sizes */
    int64_t n_all;       /* samples of all processes */
    int64_t n, n_point;
    int64_t *first;          /* [n + 1] first term of a sample (owned, like all below) */
    uint8_t *is_own;         /* [n] 1: no other process counts it */
    int64_t *at;             /* [terms] position among the points below */
    double *share;           /* [terms] */
    int64_t *d_entry;        /* [n_point][components] entries of a vector */
    double *d_value, *value; /* [n_point][components] scratch, on device and host */
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
    for (int k = 0; k < l->n_case; k++) {
        HX_TRY(hx_alloc(&l->of[k].value, n, sizeof(double), "nodes of a set"));
        HX_TRY(hx_alloc(&l->of[k].load, n, sizeof(double), "nodes of a set"));
    }
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
    for (int64_t k = 0; k < set->n_node; k++)
        l->n_all += hx_mesh_owns_node(a->problem->mesh, set->node[k]);
    HX_TRY_FAIL(hx_reduce_sum_i64(hx_mesh_reduce(a->problem->mesh), 1, &l->n_all));
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
    l->is_signed = !o->params.is_magnitude && (l->components == 1 || size > 0.0);
    return make_samples(l, a, set);
}

/* The value of a sample and its derivative by the displacement there. value: see of_case. */
static double measure_sample(const hx_largest *l, const double *value, int64_t s, double *slope)
{
    const int c = l->components;
    double u[3] = {0.0, 0.0, 0.0}, along = 0.0;
    for (int64_t k = l->first[s]; k < l->first[s + 1]; k++)
        for (int i = 0; i < c; i++) u[i] += l->share[k] * value[c * l->at[k] + i];
    for (int i = 0; i < 3; i++) along += l->direction[i] * u[i];
    const int is_along = c == 3 && hx_norm3(l->direction) > 0.0;
    const double q = is_along ? fabs(along) : hx_norm3(u);
    if (l->is_signed) {
        for (int i = 0; i < c; i++) slope[i] = is_along ? l->direction[i] : 1.0;
        return is_along ? along : u[0];
    }
    for (int i = 0; i < c; i++)
        slope[i] = !(q > 0.0) ? 0.0 : is_along ? along / q * l->direction[i] : u[i] / q;
    return q;
}

/* The values of a case at the samples, and the extremes over those of all processes. */
static int measure_case(const hx_analysis *a, hx_largest *l, of_case *of)
{
    double extreme[2] = {-INFINITY, -INFINITY}; /* largest, - lowest */
    for (int64_t s = 0; s < l->n; s++) {
        const double q = measure_sample(l, of->value, s, l->slope + l->components * s);
        l->q[s] = q;
        for (int i = 0; i < 2; i++) extreme[i] = isnan(q) ? NAN : fmax(extreme[i], i == 0 ? q : -q);
        if (isnan(q)) break;
    }
    if (a->dist) HX_TRY(hx_reduce_max(&a->dist->reduce.base, 2, extreme));
    of->largest = extreme[0];
    of->lowest = -extreme[1];
    return HX_OK;
}

/* The norm of the values that measure_case left, and its derivative. A value that is negative in
 * spite of the shift lies so far below the largest that it does not count. */
static int sum_norm(const hx_analysis *a, hx_largest *l, of_case *of)
{
    const int c = l->components;
    const double shift = of->are.shift, top = of->largest + shift;
    double sum = 0.0;
    memset(of->load, 0, (size_t)l->n_point * (size_t)c * sizeof *of->load);
    for (int64_t s = 0; s < l->n; s++)
        if (l->is_own[s]) sum += pow(fmax(l->q[s] + shift, 0.0) / top, HX_LARGEST_POWER);
    if (a->dist) HX_TRY(hx_dist_sum(a->dist, 1, &sum));
    of->norm = top <= 0.0 ? 0.0 : top * pow(sum / (double)l->n_all, 1.0 / HX_LARGEST_POWER);
    for (int64_t s = 0; of->norm > 0.0 && s < l->n; s++) {
        const double q = fmax(l->q[s] + shift, 0.0),
                     factor = pow(q / of->norm, HX_LARGEST_POWER - 1) / (double)l->n_all;
        for (int64_t k = l->first[s]; k < l->first[s + 1]; k++)
            for (int i = 0; i < c; i++)
                of->load[c * l->at[k] + i] += factor * l->share[k] * l->slope[c * s + i];
    }
    return HX_OK;
}

/* Norm and value of a case by the constants of the analysed design, with which the value is the
 * largest. */
static int take_own_constants(const hx_analysis *a, hx_largest *l, of_case *of)
{
    const double least_top = 0.5 * fmax(fabs(of->largest), fabs(of->lowest));
    of->are.shift = l->is_signed ? fmax(0.0, least_top - of->largest) : 0.0;
    HX_TRY(sum_norm(a, l, of));
    of->are.scale = of->norm > 0.0 ? (of->largest + of->are.shift) / of->norm : 1.0;
    of->has_own = 1;
    return HX_OK;
}

int hx_largest_prepare(hx_response *o, hx_largest *l)
{
    const hx_analysis *const a = o->analysis;
    const int64_t n = l->n_point * l->components;
    for (int c = 0; c < l->n_case; c++) {
        of_case *const of = &l->of[c];
        if (!hx_response_has_case(o, c)) continue;
        HX_TRY(a->dev->ops->vector->take_entries(a->dev, n, l->d_entry, a->d_u[c], l->d_value));
        HX_TRY(a->dev->ops->download(a->dev, of->value, l->d_value, (size_t)n * sizeof *of->value));
        HX_TRY(measure_case(a, l, of));
        of->has_own = 0;
        HX_TRY(of->are.scale > 0.0 ? sum_norm(a, l, of) : take_own_constants(a, l, of));
    }
    return HX_OK;
}

int hx_largest_accept(const hx_response *o, hx_largest *l)
{
    const hx_analysis *const a = o->analysis;
    for (int c = 0; c < l->n_case; c++) {
        if (!hx_response_has_case(o, c) || l->of[c].has_own) continue;
        const hx_largest_constants was = l->of[c].are;
        HX_TRY(measure_case(a, l, &l->of[c]));
        HX_TRY(take_own_constants(a, l, &l->of[c]));
        if (was.shift < l->of[c].are.shift || was.shift > l->of[c].are.shift) continue;
        l->of[c].are.scale = KEPT * was.scale + (1.0 - KEPT) * l->of[c].are.scale;
        l->of[c].has_own = 0;
    }
    return HX_OK;
}

double hx_largest_value(const hx_largest *l, int c)
{
    const of_case *const of = &l->of[c];
    return of->has_own ? of->largest : of->are.scale * of->norm - of->are.shift;
}

double hx_largest_maximum(const hx_largest *l, int c)
{
    return l->of[c].largest;
}

hx_largest_constants *hx_largest_constants_of(hx_largest *l, int c)
{
    return &l->of[c].are;
}

int hx_largest_load(const hx_response *o, const hx_largest *l, int c, double factor, double *d_load)
{
    const hx_analysis *const a = o->analysis;
    hx_device *const dev = a->dev;
    const int64_t n = l->n_point * l->components;
    for (int64_t k = 0; k < n; k++) l->value[k] = factor * l->of[c].are.scale * l->of[c].load[k];
    HX_TRY(dev->ops->upload(dev, l->d_value, l->value, (size_t)n * sizeof *l->value));
    HX_TRY(dev->ops->zero(dev, d_load, (size_t)a->op->linear.n * sizeof *d_load));
    return dev->ops->vector->put_entries(dev, n, l->d_entry, l->d_value, d_load);
}

int hx_largest_snapshot(hx_response *o, hx_largest *l, hx_snapshot *image)
{
    char name[HX_SNAPSHOT_NAME];
    for (int c = 0; c < l->n_case; c++) {
        snprintf(name, sizeof name, "%s.scale %d", o->role, c + 1);
        HX_TRY(hx_snapshot_host(image, name, &l->of[c].are.scale, sizeof(double)));
        snprintf(name, sizeof name, "%s.shift %d", o->role, c + 1);
        HX_TRY(hx_snapshot_host(image, name, &l->of[c].are.shift, sizeof(double)));
    }
    return HX_OK;
}

void hx_largest_free(hx_device *dev, hx_largest *l)
{
    if (!l) return;
    dev->ops->release(dev, l->d_entry);
    dev->ops->release(dev, l->d_value);
    for (int c = 0; l->of && c < l->n_case; c++) {
        free(l->of[c].value);
        free(l->of[c].load);
    }
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
