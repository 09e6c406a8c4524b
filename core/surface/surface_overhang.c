#include "surface_overhang.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"
#include "surface_settle.h"
#include "triangle_tree.h"

static const double DEGREE = 0.017453292519943295;

/* Triangles that face down at up to this many degrees above the angle belong to vertices that may be
 * raised. */
static const double NEAR = 30.0;

/* Changes below this are none, largest lift, shortest edge that is split, and depth of the first point of a
 * ray, in element sizes; largest share of the material above a vertex. */
static const double STILL = 1e-3, MOST_LIFT = 1.5, SHORTEST = 0.3, INSIDE = 0.05, SHARE = 0.4;

/* On the plate or on a cap; it would have to go too far. */
enum { FIXED = 1, KEPT = HX_SETTLE_BACK };

enum { MOST_PASSES = 100, MOST_ATTEMPTS = 4, N_SPLIT = 2 };

typedef struct lifting {
    hx_surface *s;
    const hx_overhang_limit *limit;
    double slope;           /* rise per length aside of the cone */
    double flat;            /* a normal with a larger component downwards is too flat */
    double near;            /* the same for triangles whose vertices may be raised */
    int32_t *first;         /* [n_vertex + 1] corners around a vertex (owned, like the next) */
    int32_t *corner;        /* [3 n_tri] */
    uint8_t *stays;         /* [n_vertex] why it is not raised, or 0 */
    double *lift, *next;    /* [n_vertex] along `up` */
    uint8_t *moved, *moves; /* [n_vertex] in the pass before, in this one */
    double *most;           /* [n_vertex] largest lift; NaN: not measured yet */
    int64_t n_kept;
} lifting;

static double height_of(const lifting *m, int64_t v)
{
    return hx_dot3(m->s->xyz + 3 * v, m->limit->up) + m->lift[v];
}

static void place_of(const lifting *m, int64_t v, double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = m->s->xyz[3 * v + d] + m->lift[v] * m->limit->up[d];
}

/* Component of the normal of a triangle downwards, with the lifts; -1 if it lies on the plate. */
static double faces_down(const lifting *m, int64_t t)
{
    double x[3][3], n[3];
    int on_plate = 1;
    for (int k = 0; k < 3; k++) {
        const double h = height_of(m, m->s->tri[3 * t + k]);
        on_plate &= h >= m->limit->base[0] && h <= m->limit->base[1];
        place_of(m, m->s->tri[3 * t + k], x[k]);
    }
    hx_triangle_normal2(x[0], x[1], x[2], n);
    const double size = hx_norm3(n);
    return on_plate || !(size > 0.0) ? -1.0 : -hx_dot3(n, m->limit->up) / size;
}

/* Least height at which v, at x without its lift, rests on a point of the edge from a to b. */
static double rests_at(const lifting *m, const double x[3], int64_t a, int64_t b)
{
    const double *const up = m->limit->up, *const at_a = m->s->xyz + 3 * a;
    const double *const at_b = m->s->xyz + 3 * b;
    const double height = height_of(m, a), rise = height_of(m, b) - height;
    double from[3], along[3];
    for (int d = 0; d < 3; d++) from[d] = at_a[d] - x[d], along[d] = at_b[d] - at_a[d];
    const double up_from = hx_dot3(from, up), up_along = hx_dot3(along, up);
    for (int d = 0; d < 3; d++) from[d] -= up_from * up[d], along[d] -= up_along * up[d];
    const double length = hx_norm3(along);
    if (!(length > 0.0)) return fmin(height, height + rise) + m->slope * hx_norm3(from);
    /* the foot of x on the edge, and the point at which the cone touches it */
    const double foot = -hx_dot3(from, along) / (length * length), grade = rise / length;
    double aside2 = hx_dot3(from, from) - foot * foot * length * length;
    aside2 = fmax(aside2, 0.0);
    double share = grade < 0.0 ? 1.0 : 0.0;
    if (fabs(grade) < m->slope)
        share = foot - grade * sqrt(aside2 / (m->slope * m->slope - grade * grade)) / length;
    share = fmin(fmax(share, 0.0), 1.0);
    const double off = (share - foot) * length;
    return height + share * rise + m->slope * sqrt(aside2 + off * off);
}

/* The lift with which v rests on a point of the triangles around it, at least the one it has. */
static double lift_of(const lifting *m, int64_t v)
{
    const double *const x = m->s->xyz + 3 * v;
    double least = HUGE_VAL;
    int is_near = 0;
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++)
        is_near |= faces_down(m, m->corner[k] / 3) > m->near;
    if (!is_near) return m->lift[v];
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++) {
        const int64_t b = hx_corner_next(m->corner[k]), c = hx_corner_next(b);
        least = fmin(least, rests_at(m, x, m->s->tri[b], m->s->tri[c]));
    }
    return fmax(m->lift[v], least - hx_dot3(x, m->limit->up));
}

/* Vertices on the plate, and of caps across `up`. */
static void mark_fixed(const lifting *m)
{
    const hx_surface *const s = m->s;
    for (int64_t t = 0; t < s->n_tri; t++) {
        const double *x[3];
        double n[3];
        if (!s->is_cap[t]) continue;
        hx_triangle_corners(s, s->xyz, t, x);
        hx_triangle_normal2(x[0], x[1], x[2], n);
        if (!(fabs(hx_dot3(n, m->limit->up)) > 1e-3 * hx_norm3(n))) continue;
        for (int k = 0; k < 3; k++) m->stays[s->tri[3 * t + k]] = FIXED;
    }
    for (int64_t v = 0; v < s->n_vertex; v++) {
        const double h = hx_dot3(s->xyz + 3 * v, m->limit->up);
        if (h >= m->limit->base[0] && h <= m->limit->base[1]) m->stays[v] = FIXED;
    }
}

/* Largest lift of a vertex: 1.5 elements, or a share of what is above a point just inside of it. */
static double most_of(const lifting *m, const hx_triangle_tree *tree, int64_t v)
{
    const hx_surface_motion motion = {.surface = m->s, .first = m->first, .corner = m->corner};
    const double size = m->limit->size, far = MOST_LIFT * size / SHARE;
    double n[3], a[3], b[3], share = 1.0;
    hx_surface_vertex_normal(&motion, v, n);
    const double length = hx_norm3(n);
    for (int d = 0; d < 3; d++) {
        a[d] = m->s->xyz[3 * v + d] - (length > 0.0 ? INSIDE * size * n[d] / length : 0.0);
        b[d] = a[d] + far * m->limit->up[d];
    }
    if (!hx_triangle_tree_crossing(tree, a, b, &share)) share = 1.0;
    return SHARE * share * far;
}

/* 1 if v or a vertex around it moved in the pass before. */
static int is_stirred(const lifting *m, int64_t v)
{
    int is = m->moved[v];
    for (int32_t k = m->first[v]; k < m->first[v + 1] && !is; k++)
        is = m->moved[m->s->tri[hx_corner_next(m->corner[k])]];
    return is;
}

/* Raises all vertices until nothing changes; those that must not go as far as they would have to
 * stay. Returns the number of these. */
static int64_t raise_all(lifting *m, const hx_triangle_tree *tree)
{
    int64_t n_kept = 0;
    memset(m->lift, 0, (size_t)m->s->n_vertex * sizeof *m->lift);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double change = 0.0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(max : change) reduction(+ : n_kept)
        for (int64_t v = 0; v < m->s->n_vertex; v++) {
            m->next[v] = m->lift[v];
            m->moves[v] = 0;
            if (m->stays[v] || (pass > 0 && !is_stirred(m, v))) continue;
            const double lift = lift_of(m, v);
            if (!(lift > m->lift[v] + STILL * m->limit->size)) continue;
            if (isnan(m->most[v])) m->most[v] = most_of(m, tree, v);
            m->next[v] = lift;
            m->moves[v] = 1;
            change = fmax(change, lift - m->lift[v]);
            if (lift <= m->most[v]) continue;
            m->next[v] = 0.0;
            m->stays[v] = KEPT;
            n_kept++;
        }
        double *const swap = m->lift;
        uint8_t *const moved = m->moved;
        m->lift = m->next;
        m->next = swap;
        m->moved = m->moves;
        m->moves = moved;
        if (change == 0.0) break;
    }
    return n_kept;
}

static int lift_vertices(lifting *m, hx_surface_held *held)
{
    int rc;
    double *xyz = NULL;
    int64_t n_back = 0;
    hx_triangle_tree tree = {0};
    HX_TRY_FAIL(hx_triangle_tree_create(&tree, m->s));
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        const int64_t n_far = raise_all(m, &tree);
        m->n_kept += n_far;
        if (n_far == 0) break;
    }
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)m->s->n_vertex, sizeof *xyz, "vertices"));
    for (int64_t v = 0; v < m->s->n_vertex; v++) {
        held->n_moved += m->lift[v] > 0.0;
        place_of(m, v, xyz + 3 * v);
    }
    HX_TRY_FAIL(hx_surface_settle(m->s, xyz, m->stays, &n_back));
    held->n_moved -= n_back;
    m->n_kept += n_back;
    memset(m->lift, 0, (size_t)m->s->n_vertex * sizeof *m->lift);
fail:
    hx_triangle_tree_free(&tree);
    free(xyz);
    return rc;
}

static void free_lists(lifting *m)
{
    free(m->first);
    free(m->corner);
    free(m->stays);
    free(m->lift);
    free(m->next);
    free(m->most);
    free(m->moved);
    free(m->moves);
    m->first = m->corner = NULL;
    m->stays = m->moved = m->moves = NULL;
    m->lift = m->next = m->most = NULL;
}

static int make_lists(lifting *m)
{
    const size_t n = (size_t)m->s->n_vertex;
    HX_TRY(hx_alloc_raw(&m->first, n + 1, sizeof *m->first, "corners of vertices"));
    HX_TRY(hx_alloc_raw(&m->corner, 3 * (size_t)m->s->n_tri, sizeof *m->corner,
                        "corners of vertices"));
    HX_TRY(hx_alloc(&m->stays, n, sizeof *m->stays, "vertices that stay"));
    HX_TRY(hx_alloc(&m->lift, n, sizeof *m->lift, "lifts"));
    HX_TRY(hx_alloc(&m->next, n, sizeof *m->next, "lifts"));
    HX_TRY(hx_alloc(&m->moved, n, sizeof *m->moved, "vertices that move"));
    HX_TRY(hx_alloc(&m->moves, n, sizeof *m->moves, "vertices that move"));
    HX_TRY(hx_alloc_raw(&m->most, n, sizeof *m->most, "lifts"));
    for (size_t v = 0; v < n; v++) m->most[v] = (double)NAN;
    hx_surface_list_corners(m->s, m->first, m->corner);
    mark_fixed(m);
    return HX_OK;
}

/* Splits the triangles that are too flat though none of their vertices was kept. */
static int split_flat(const lifting *m)
{
    uint8_t *is_split;
    HX_TRY(hx_alloc(&is_split, (size_t)m->s->n_tri, sizeof *is_split, "flat triangles"));
    for (int64_t t = 0; t < m->s->n_tri; t++) {
        int kept = 0;
        for (int k = 0; k < 3; k++) kept += m->stays[m->s->tri[3 * t + k]] == KEPT;
        is_split[t] = kept == 0 && faces_down(m, t) > m->flat;
    }
    const int rc = hx_surface_split(m->s, is_split, SHORTEST * m->limit->size);
    free(is_split);
    return rc;
}

int hx_surface_hold_overhang(hx_surface *surface, const hx_overhang_limit *limit,
                             hx_surface_held *held)
{
    int rc = HX_OK;
    const double angle = limit->angle - HX_OVERHANG_SLACK;
    lifting m = {.s = surface,
                 .limit = limit,
                 .slope = tan(DEGREE * angle),
                 .flat = cos(DEGREE * (angle - 0.5)),
                 .near = cos(DEGREE * fmin(89.0, angle + NEAR))};
    memset(held, 0, sizeof *held);
    held->volume_before = hx_surface_enclosed(surface);
    for (int i = 0; i <= N_SPLIT; i++) {
        HX_TRY_FAIL(make_lists(&m));
        m.n_kept = 0;
        HX_TRY_FAIL(lift_vertices(&m, held));
        held->n_kept = m.n_kept;
        if (i < N_SPLIT) HX_TRY_FAIL(split_flat(&m));
        free_lists(&m);
    }
    held->volume_after = hx_surface_enclosed(surface);
fail:
    free_lists(&m);
    return rc;
}
