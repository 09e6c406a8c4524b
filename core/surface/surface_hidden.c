#include "surface_hidden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"
#include "surface_reach.h"
#include "surface_settle.h"
#include "triangle_tree.h"

/* In element sizes: first point outside of a vertex, steps along its normal, shortest edge that is
 * split, and distance of the rays of triangles. Least length of a normal in the planes of caps. */
static const double FIRST = 0.03, STEP = 0.05, SHORTEST = 0.3, OUTSIDE = 0.1, PLANE = 0.3;

enum { N_SPLIT = 2, N_BISECTION = 6 };

typedef struct filling {
    hx_surface *s;
    hx_surface start;      /* as it was given (owned) */
    hx_triangle_tree tree; /* over start (owned) */
    int n;
    const double (*direction)[3];
    double size, far;
    int32_t *first, *corner; /* corners around vertices (owned, like the next) */
    double *place;           /* [n_vertex][3] */
    uint8_t *is_back;        /* [n_vertex] */
    int64_t n_moved, n_kept;
} filling;

static int copy_surface(hx_surface *to, const hx_surface *from)
{
    to->n_vertex = from->n_vertex;
    to->n_tri = from->n_tri;
    HX_TRY(hx_alloc_raw(&to->xyz, 3 * (size_t)from->n_vertex, sizeof *to->xyz, "vertices"));
    HX_TRY(hx_alloc_raw(&to->tri, 3 * (size_t)from->n_tri, sizeof *to->tri, "triangles"));
    memcpy(to->xyz, from->xyz, 3 * (size_t)from->n_vertex * sizeof *to->xyz);
    memcpy(to->tri, from->tri, 3 * (size_t)from->n_tri * sizeof *to->tri);
    return HX_OK;
}

/* A length that no ray within the part's box exceeds. */
static double length_across(const hx_surface *s)
{
    double sum = 0.0;
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < s->n_vertex; v++) {
            low = fmin(low, s->xyz[3 * v + d]);
            high = fmax(high, s->xyz[3 * v + d]);
        }
        sum += high - low;
    }
    return sum;
}

/* The outward normal of the free triangles at v within the planes of its caps, of length 1; returns
 * 0 if v has none or may not move along it. */
static int normal_of(const filling *m, int64_t v, double n[3])
{
    double plane[3][3], here[3];
    int n_plane = 0;
    memset(n, 0, 3 * sizeof *n);
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++) {
        const int64_t t = m->corner[k] / 3;
        const double *x[3];
        hx_triangle_corners(m->s, m->s->xyz, t, x);
        hx_triangle_normal2(x[0], x[1], x[2], here);
        if (!m->s->is_cap[t]) {
            for (int d = 0; d < 3; d++) n[d] += here[d];
            continue;
        }
        const double size = hx_norm3(here);
        for (int i = 0; i < n_plane; i++) { /* what planes before it leave of this one */
            const double along = hx_dot3(here, plane[i]);
            for (int d = 0; d < 3; d++) here[d] -= along * plane[i][d];
        }
        const double left = hx_norm3(here);
        if (!(left > 1e-3 * size) || n_plane == 3) continue;
        for (int d = 0; d < 3; d++) plane[n_plane][d] = here[d] / left;
        n_plane++;
    }
    const double whole = hx_norm3(n);
    for (int i = 0; i < n_plane; i++) {
        const double along = hx_dot3(n, plane[i]);
        for (int d = 0; d < 3; d++) n[d] -= along * plane[i][d];
    }
    const double left = hx_norm3(n);
    if (!(left > PLANE * whole)) return 0;
    for (int d = 0; d < 3; d++) n[d] /= left;
    return 1;
}

/* 1 if all rays from the point at distance `at` along n meet the part. */
static int is_hidden(const filling *m, int64_t v, const double n[3], double at)
{
    double x[3], end[3], share;
    for (int d = 0; d < 3; d++) x[d] = m->s->xyz[3 * v + d] + at * n[d];
    for (int i = 0; i < m->n; i++) {
        for (int d = 0; d < 3; d++) end[d] = x[d] + m->far * m->direction[i][d];
        if (!hx_triangle_tree_crossing(&m->tree, x, end, &share)) return 0;
    }
    return 1;
}

/* Distance along n to the end of the hidden space; 0: it does not begin here; above size: it is too
 * deep. */
static double depth_of(const filling *m, int64_t v, const double n[3])
{
    double low = FIRST * m->size;
    if (!is_hidden(m, v, n, low)) return 0.0;
    while (is_hidden(m, v, n, low + STEP * m->size)) {
        low += STEP * m->size;
        if (low > m->size) return low;
    }
    double high = low + STEP * m->size;
    for (int i = 0; i < N_BISECTION; i++) {
        const double middle = 0.5 * (low + high);
        if (is_hidden(m, v, n, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void free_lists(filling *m)
{
    free(m->first);
    free(m->corner);
    free(m->place);
    free(m->is_back);
    m->first = m->corner = NULL;
    m->place = NULL;
    m->is_back = NULL;
}

/* Moves all vertices once. */
static int move_vertices(filling *m)
{
    const size_t n_vertex = (size_t)m->s->n_vertex;
    int64_t n_moved = 0, n_far = 0, n_back = 0;
    HX_TRY(hx_alloc_raw(&m->first, n_vertex + 1, sizeof *m->first, "corners of vertices"));
    HX_TRY(hx_alloc_raw(&m->corner, 3 * (size_t)m->s->n_tri, sizeof *m->corner,
                        "corners of vertices"));
    HX_TRY(hx_alloc_raw(&m->place, 3 * n_vertex, sizeof *m->place, "vertices"));
    HX_TRY(hx_alloc(&m->is_back, n_vertex, 1, "vertices that stay"));
    hx_surface_list_corners(m->s, m->first, m->corner);
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : n_moved, n_far)
    for (int64_t v = 0; v < m->s->n_vertex; v++) {
        double n[3];
        memcpy(m->place + 3 * v, m->s->xyz + 3 * v, 3 * sizeof *m->place);
        if (!normal_of(m, v, n)) continue;
        const double depth = depth_of(m, v, n);
        n_far += depth > m->size;
        if (depth == 0.0 || depth > m->size) continue;
        for (int d = 0; d < 3; d++) m->place[3 * v + d] += depth * n[d];
        n_moved++;
    }
    HX_TRY(hx_surface_settle(m->s, m->place, m->is_back, &n_back));
    m->n_moved += n_moved - n_back;
    m->n_kept = n_far + n_back;
    return HX_OK;
}

/* Splits the triangles that are hidden though none of their vertices was put back. */
static int split_hidden(filling *m)
{
    uint8_t *is_split;
    double share;
    HX_TRY(hx_alloc_raw(&is_split, (size_t)m->s->n_tri, 1, "hidden triangles"));
    int rc =
        hx_surface_find_unreached(m->s, m->n, m->direction, OUTSIDE * m->size, is_split, &share);
    for (int64_t c = 0; c < 3 * m->s->n_tri && rc == HX_OK; c++)
        if (m->is_back[m->s->tri[c]]) is_split[c / 3] = 0;
    if (rc == HX_OK) rc = hx_surface_split(m->s, is_split, SHORTEST * m->size);
    free(is_split);
    return rc;
}

int hx_surface_fill_hidden(hx_surface *surface, int n, const double (*direction)[3], double size,
                           hx_surface_held *held)
{
    int rc;
    filling m = {.s = surface, .n = n, .direction = direction, .size = size};
    memset(held, 0, sizeof *held);
    held->volume_before = hx_surface_enclosed(surface);
    m.far = length_across(surface) + 2.0 * size;
    HX_TRY_FAIL(copy_surface(&m.start, surface));
    HX_TRY_FAIL(hx_triangle_tree_create(&m.tree, &m.start));
    for (int i = 0; i <= N_SPLIT; i++) {
        HX_TRY_FAIL(move_vertices(&m));
        if (i < N_SPLIT) HX_TRY_FAIL(split_hidden(&m));
        free_lists(&m);
    }
    held->n_moved = m.n_moved;
    held->n_kept = m.n_kept;
    held->volume_after = hx_surface_enclosed(surface);
fail:
    free_lists(&m);
    hx_triangle_tree_free(&m.tree);
    hx_surface_free(&m.start);
    return rc;
}
