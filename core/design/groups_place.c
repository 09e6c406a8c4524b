#include "groups_place.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"

static double largest_coordinate(const hx_mesh *mesh, const hx_groups_params *params)
{
    double most = 0.0;
    for (int i = 0; i < 3; i++) {
        most = fmax(most, fmax(fabs(mesh->box_min[i]), fabs(mesh->box_max[i])));
        for (size_t p = 0; p < params->n_plane; p++)
            most = fmax(most, fabs(params->plane[p].point[i]));
        for (size_t r = 0; r < params->n_repetition; r++) /* fmax ignores a point not given */
            most = fmax(most, fabs(params->repetition[r].point[i]));
    }
    return most;
}

static void find_mean(hx_place *place)
{
    double sum[3] = {0.0};
#pragma omp parallel for schedule(static) reduction(+ : sum[:3])
    for (int64_t e = 0; e < place->mesh->n_elem; e++) {
        double x[3];
        hx_place_centroid(place, e, x);
        for (int i = 0; i < 3; i++) sum[i] += x[i];
    }
    for (int i = 0; i < 3; i++) place->mean[i] = sum[i] / (double)place->mesh->n_elem;
}

/* Sums of x, of x |x|^2 and of volume-weighted x relative to the mean, which rotate with the
 * part. */
static void find_skew(hx_place *place)
{
    double sum[3 * HX_PLACE_VECTORS] = {0.0}, all[HX_PLACE_VECTORS] = {0.0};
#pragma omp parallel for schedule(static) reduction(+ : sum[:3 * HX_PLACE_VECTORS], all[:HX_PLACE_VECTORS])
    for (int64_t e = 0; e < place->mesh->n_elem; e++) {
        const double v = place->volume[e];
        double x[3];
        hx_place_centroid(place, e, x);
        for (int i = 0; i < 3; i++) x[i] -= place->mean[i];
        const double square = hx_dot3(x, x), weight[HX_PLACE_VECTORS] = {square, v, v * square};
        for (int m = 0; m < HX_PLACE_VECTORS; m++) {
            for (int i = 0; i < 3; i++) sum[3 * m + i] += weight[m] * x[i];
            all[m] += weight[m] * sqrt(square);
        }
    }
    for (int m = 0; m < HX_PLACE_VECTORS; m++) {
        const double length = hx_norm3(sum + 3 * m);
        for (int i = 0; i < 3 && length > 1e-4 * all[m]; i++)
            place->skew[m][i] = sum[3 * m + i] / length;
    }
}

void hx_place_create(hx_place *place, const hx_problem *problem, const hx_groups_params *params)
{
    const hx_mesh *const mesh = problem->mesh;
    const double length = hx_norm3(params->extrusion);
    memset(place, 0, sizeof *place);
    place->mesh = mesh;
    place->volume = problem->volume;
    place->margin =
        fmax(1e-9 * mesh->elem_size, 16.0 * DBL_EPSILON * largest_coordinate(mesh, params));
    for (int i = 0; i < 3; i++) {
        place->origin[i] = 0.5 * (mesh->box_min[i] + mesh->box_max[i]);
        if (params->is_extruded && length > 0.0) place->along[i] = params->extrusion[i] / length;
    }
    place->n_plane = params->n_plane < HX_PLACE_PLANES ? (int)params->n_plane : HX_PLACE_PLANES;
    for (int p = 0; p < place->n_plane; p++) {
        const hx_symmetry_plane *const plane = &params->plane[p];
        const double size = hx_norm3(plane->normal);
        for (int i = 0; i < 3; i++) {
            place->normal[p][i] = plane->normal[i] / size;
            place->level[p] += place->normal[p][i] * (plane->point[i] - place->origin[i]);
        }
    }
    find_mean(place);
    find_skew(place);
}

void hx_place_centroid(const hx_place *place, int64_t elem, double x[3])
{
    hx_mesh_centroid(place->mesh, elem, x);
    for (int i = 0; i < 3; i++) x[i] -= place->origin[i];
}

/* 1 if a key is equal for all elements. */
static int is_absent(const hx_place *place, int key)
{
    const int vector = key - (3 + HX_PLACE_PLANES);
    if (key == 1 + HX_PLACE_PLANES) return !(hx_norm3(place->along) > 0.0);
    if (vector >= 0) return !(hx_norm3(place->skew[vector]) > 0.0);
    return key > place->n_plane && key <= HX_PLACE_PLANES;
}

/* The keys: distance from the mean across the extrusion, distances from the planes, distance from
 * the mean along the extrusion, volume, components along the skew directions. */
static double key_of_element(const hx_place *place, int key, int64_t elem)
{
    double x[3], d[3], along = 0.0, square = 0.0;
    if (key == 2 + HX_PLACE_PLANES) return place->volume[elem];
    hx_place_centroid(place, elem, x);
    if (key >= 1 && key <= place->n_plane)
        return fabs(hx_dot3(place->normal[key - 1], x) - place->level[key - 1]);
    if (key >= 3 + HX_PLACE_PLANES) return hx_dot3(place->skew[key - (3 + HX_PLACE_PLANES)], x);
    for (int i = 0; i < 3; i++) {
        d[i] = x[i] - place->mean[i];
        along += d[i] * place->along[i];
    }
    if (key == 1 + HX_PLACE_PLANES) return fabs(along);
    for (int i = 0; i < 3; i++) square += pow(d[i] - along * place->along[i], 2.0);
    return sqrt(square);
}

static double tolerance_of(const hx_place *place, int key, double value)
{
    if (key != 2 + HX_PLACE_PLANES) return 4.0 * place->margin;
    return fabs(value) * fmin(1e-3, 24.0 * place->margin / cbrt(fabs(value)));
}

int hx_place_rank(const hx_place *place, int64_t a, int64_t b)
{
    for (int key = 0; key < HX_PLACE_KEYS; key++) {
        if (is_absent(place, key)) continue;
        const double at = key_of_element(place, key, a), other = key_of_element(place, key, b);
        if (fabs(at - other) > tolerance_of(place, key, at)) return at < other ? -1 : 1;
    }
    return 0;
}

typedef struct entry {
    double key;
    int32_t elem;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const double x = ((const entry *)a)->key, y = ((const entry *)b)->key;
    return (x > y) - (x < y);
}

/* Returns 1 if all values of a key are equal. */
static int fill_keys(const hx_place *place, int key, entry *at, int64_t n)
{
    double least = INFINITY, most = -INFINITY;
#pragma omp parallel for schedule(static) reduction(min                                            \
                                                    : least) reduction(max                         \
                                                                       : most) if (n > 10000)
    for (int64_t i = 0; i < n; i++) {
        at[i].key = key_of_element(place, key, at[i].elem);
        least = fmin(least, at[i].key);
        most = fmax(most, at[i].key);
    }
    return most - least <= tolerance_of(place, key, most);
}

/* Sorts by one key, then every run of equal values by the keys after it. */
static void sort_from(const hx_place *place, int key, entry *at, int64_t n)
{
    while (key < HX_PLACE_KEYS && (is_absent(place, key) || fill_keys(place, key, at, n))) key++;
    if (key == HX_PLACE_KEYS) return;
    qsort(at, (size_t)n, sizeof *at, compare_entries);
    for (int64_t begin = 0, end; begin < n && key + 1 < HX_PLACE_KEYS; begin = end) {
        for (end = begin + 1; end < n; end++)
            if (at[end].key - at[end - 1].key > tolerance_of(place, key, at[end].key)) break;
        if (end - begin > 1) sort_from(place, key + 1, at + begin, end - begin);
    }
}

int hx_place_sort(const hx_place *place, int64_t n, int32_t *elem)
{
    entry *list = NULL;
    HX_TRY(hx_alloc_raw(&list, (size_t)n, sizeof *list, "symmetry"));
    for (int64_t i = 0; i < n; i++) list[i] = (entry){0.0, elem[i]};
    sort_from(place, 0, list, n);
    for (int64_t i = 0; i < n; i++) elem[i] = list[i].elem;
    free(list);
    return HX_OK;
}
