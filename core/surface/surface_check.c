/* Checks whether a surface is closed and manifold, and measures what it encloses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/union_find.h"
#include "surface_internal.h"

/* The surface as a reader of the file sees it. */
typedef struct welded {
    int64_t n_vertex, n_tri;
    double *xyz;  /* [vertices of the surface][3] rounded (owned) */
    int32_t *tri; /* [n_tri][3] with one number per position (owned) */
} welded;

static uint64_t hash_place(const double x[3])
{
    uint64_t hash = 0;
    for (int d = 0; d < 3; d++) {
        uint64_t bits;
        const double value = x[d] + 0.0; /* -0 is 0 */
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash * 0xbf58476d1ce4e5b9u;
}

static int same_place(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static void welded_free(welded *w)
{
    free(w->xyz);
    free(w->tri);
}

static int weld(const hx_surface *s, hx_surface_precision precision, welded *w)
{
    int rc;
    const size_t n_vertex = (size_t)s->n_vertex, n_tri = (size_t)s->n_tri;
    uint64_t *key = NULL;
    int32_t *order = NULL, *number = NULL;
    double *xyz = NULL;
    memset(w, 0, sizeof *w);
    HX_TRY_FAIL(hx_alloc_raw(&key, n_vertex, sizeof *key, "places of vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&order, n_vertex, sizeof *order, "places of vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&number, n_vertex, sizeof *number, "places of vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * n_vertex, sizeof *xyz, "places of vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&w->xyz, 3 * n_vertex, sizeof *w->xyz, "places of vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&w->tri, 3 * n_tri, sizeof *w->tri, "triangles"));
#pragma omp parallel for schedule(static)
    for (int64_t v = 0; v < s->n_vertex; v++) {
        for (int d = 0; d < 3; d++) {
            const double x = s->xyz[3 * v + d];
            xyz[3 * v + d] = precision == HX_SURFACE_F32 ? (double)(float)x : x;
        }
        key[v] = hash_place(xyz + 3 * v);
    }
    HX_TRY_FAIL(hx_radix_sort(key, order, s->n_vertex, 64));
    /* Vertices with equal hashes are adjacent in `order`; each is compared with the preceding
     * ones of its hash. */
    int64_t count = 0, first = 0;
    for (int64_t i = 0; i < s->n_vertex; i++) {
        const double *x = xyz + 3 * (int64_t)order[i];
        if (hash_place(xyz + 3 * (int64_t)order[first]) != hash_place(x)) first = i;
        int64_t k = first;
        while (k < i && !same_place(xyz + 3 * (int64_t)order[k], x)) k++;
        number[order[i]] = k < i ? number[order[k]] : (int32_t)count++;
    }
    w->n_vertex = count;
    w->n_tri = s->n_tri;
    for (int64_t v = 0; v < s->n_vertex; v++)
        memcpy(w->xyz + 3 * (int64_t)number[v], xyz + 3 * v, 3 * sizeof *xyz);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < 3 * s->n_tri; c++) w->tri[c] = number[s->tri[c]];
fail:
    free(key);
    free(order);
    free(number);
    free(xyz);
    if (rc < 0) welded_free(w);
    return rc;
}

/* Counts vertices with more than one fan of triangles. */
static int count_bad_vertices(const welded *w, const int32_t *opposite, int64_t *n_bad)
{
    int rc;
    const size_t n_corner = 3 * (size_t)w->n_tri;
    uint8_t *visited = NULL, *fans = NULL;
    HX_TRY_FAIL(hx_alloc(&visited, n_corner, 1, "fans of the surface"));
    HX_TRY_FAIL(hx_alloc(&fans, (size_t)w->n_vertex, 1, "fans of the surface"));
    for (size_t c = 0; c < n_corner; c++) {
        if (visited[c]) continue;
        for (int64_t i = (int64_t)c; i >= 0 && !visited[i];
             i = opposite[i] < 0 ? -1 : hx_corner_turn(opposite, i))
            visited[i] = 1;
        if (fans[w->tri[c]] < 2) fans[w->tri[c]]++;
    }
    for (int64_t v = 0; v < w->n_vertex; v++) *n_bad += fans[v] != 1;
fail:
    free(visited);
    free(fans);
    return rc;
}

static void measure_welded(const welded *w, int32_t *parent, double *volume,
                           hx_surface_report *report)
{
    double origin[3], area2 = 0.0;
    for (int d = 0; d < 3; d++) {
        report->min[d] = HUGE_VAL;
        report->max[d] = -HUGE_VAL;
        for (int64_t v = 0; v < w->n_vertex; v++) {
            report->min[d] = fmin(report->min[d], w->xyz[3 * v + d]);
            report->max[d] = fmax(report->max[d], w->xyz[3 * v + d]);
        }
        origin[d] = 0.5 * (report->min[d] + report->max[d]);
    }
    for (int64_t v = 0; v < w->n_vertex; v++) parent[v] = (int32_t)v;
    for (int64_t c = 0; c < 3 * w->n_tri; c++)
        hx_unite(parent, w->tri[c], w->tri[hx_corner_next(c)]);
    for (int64_t t = 0; t < w->n_tri; t++) {
        const int32_t *tri = w->tri + 3 * t;
        double x[3][3], n[3];
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) x[k][d] = w->xyz[3 * (int64_t)tri[k] + d] - origin[d];
        hx_triangle_normal2(x[0], x[1], x[2], n);
        area2 += hx_norm3(n);
        volume[hx_root(parent, tri[0])] += hx_triple3(x[0], x[1], x[2]) / 6.0;
        report->n_degenerate += tri[0] == tri[1] || tri[1] == tri[2] || tri[2] == tri[0];
    }
    report->area = 0.5 * area2;
}

static int judge_welded(const welded *w, hx_surface_report *report)
{
    int rc;
    int32_t *opposite = NULL, *parent = NULL;
    double *volume = NULL;
    const size_t n_vertex = (size_t)w->n_vertex, n_tri = (size_t)w->n_tri;
    HX_TRY_FAIL(hx_alloc_raw(&opposite, 3 * n_tri, sizeof *opposite, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&parent, n_vertex, sizeof *parent, "shells"));
    HX_TRY_FAIL(hx_alloc(&volume, n_vertex, sizeof *volume, "shells"));
    HX_TRY_FAIL(
        hx_surface_pair(w->n_vertex, w->n_tri, w->tri, opposite, NULL, &report->n_bad_edge));
    HX_TRY_FAIL(count_bad_vertices(w, opposite, &report->n_bad_vertex));
    HX_TRY_FAIL(hx_surface_find_crossings(w->xyz, w->n_tri, w->tri, NULL, &report->n_crossing));
    HX_TRY_FAIL(
        hx_surface_quality(w->xyz, w->n_tri, w->tri, &report->worst_quality, &report->low_quality));
    measure_welded(w, parent, volume, report);
    /* Counts shells and cavities from the volumes at their roots. */
    double solid = 0.0, largest = 0.0;
    for (int64_t v = 0; v < w->n_vertex; v++) {
        if (parent[v] != v) continue;
        report->volume += volume[v];
        if (volume[v] > 0.0) {
            report->n_shell++;
            solid += volume[v];
            largest = fmax(largest, volume[v]);
        } else
            report->n_cavity++;
    }
    report->largest_share = solid > 0.0 ? largest / solid : 0.0;
    report->n_vertex = w->n_vertex;
    report->n_tri = w->n_tri;
    report->is_closed_manifold =
        report->n_bad_edge == 0 && report->n_bad_vertex == 0 && report->n_degenerate == 0;
    /* a closed surface has 3/2 edges per triangle */
    report->euler = report->n_vertex - report->n_tri / 2;
    report->genus = report->n_shell + report->n_cavity - report->euler / 2;
fail:
    free(opposite);
    free(parent);
    free(volume);
    return rc;
}

int hx_surface_check(const hx_surface *surface, hx_surface_precision precision,
                     hx_surface_report *report)
{
    welded w;
    memset(report, 0, sizeof *report);
    HX_TRY(weld(surface, precision, &w));
    const int rc = judge_welded(&w, report);
    welded_free(&w);
    return rc;
}

int hx_surface_weld(hx_surface *surface)
{
    welded w;
    int64_t n = 0;
    HX_TRY(weld(surface, HX_SURFACE_F64, &w));
    for (int64_t t = 0; t < w.n_tri; t++) {
        const int32_t *const tri = w.tri + 3 * t;
        if (tri[0] == tri[1] || tri[1] == tri[2] || tri[2] == tri[0]) continue;
        memmove(w.tri + 3 * n++, tri, 3 * sizeof *tri);
    }
    free(surface->xyz);
    free(surface->tri);
    surface->xyz = w.xyz;
    surface->tri = w.tri;
    surface->n_vertex = w.n_vertex;
    surface->n_tri = n;
    return HX_OK;
}

int hx_surface_find_open(const hx_surface *surface, int64_t *n_open, double point[3])
{
    int32_t *opposite = NULL;
    const size_t n_corner = 3 * (size_t)surface->n_tri;
    HX_TRY(hx_alloc_raw(&opposite, n_corner, sizeof *opposite, "half-edges"));
    const int rc =
        hx_surface_pair(surface->n_vertex, surface->n_tri, surface->tri, opposite, NULL, n_open);
    for (int64_t c = 0; rc == HX_OK && *n_open > 0 && c < (int64_t)n_corner; c++) {
        if (opposite[c] >= 0) continue;
        const double *const a = surface->xyz + 3 * (int64_t)surface->tri[c],
                            *const b = surface->xyz + 3 * (int64_t)surface->tri[hx_corner_next(c)];
        for (int d = 0; d < 3; d++) point[d] = 0.5 * (a[d] + b[d]);
        break;
    }
    free(opposite);
    return rc;
}
