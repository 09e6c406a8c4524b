/* Smooths the rims of caps within their planes, like Taubin (1995), with the distance of a vertex
 * from the chord of its two neighbours instead of that from their mean, so that vertices do not
 * drift along the rim. All moves of a step are judged together, so that their order, and with it
 * the numbering of the mesh, makes no difference. */
#include "surface_rims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/cell.h"

/* As in surface_smooth.c. */
static const double lambda = 0.5, mu = -1.0 / 1.9;

enum { FEW = 8 };

/* Admissible distance from the plane of a face, and outside a face, relative to its size. */
static const double in_face = 1e-6;

typedef struct smoother {
    const hx_surface_editor *m;
    const hx_surface *s;
    const hx_surface_field *field;
    double least;        /* quality that a triangle keeps */
    int64_t n;           /* vertices that may move */
    int32_t *vertex;     /* [n] (owned) */
    int32_t (*side)[2];  /* [n] neighbours on the rim (owned) */
    double (*before)[3]; /* [n] places before a step (owned) */
    double (*next)[3];   /* [n] (owned) */
    int32_t *number;     /* [n_vertex] place in `vertex`, -1: does not move (owned) */
    int64_t n_ring;      /* closed rims without corners, in one plane */
    int32_t *ring;       /* [n] places in `vertex` of their vertices, in order (owned) */
    int32_t *ring_end;   /* [n_ring] end of each in `ring` (owned) */
    uint8_t *is_back;    /* [n] 1: moved back (owned) */
    int32_t *first;      /* [n_node + 1] start of a node's faces in face (owned) */
    int64_t *face;       /* faces that the surface crosses, by node (owned) */
} smoother;

/* --- where a rim may go --- */

static int list_face(const smoother *r, int64_t face, int32_t node[4])
{
    return hx_cell_face(r->field->mesh->conn + 8 * (face / 6), (int)(face % 6), node);
}

/* Lists the faces with nodes on both sides of the surface. */
static int list_faces(smoother *r, const hx_surface *cut)
{
    int rc;
    const hx_surface_field *const field = r->field;
    const int64_t n_node = field->mesh->n_node;
    uint8_t *is_inside = NULL;
    int32_t node[4];
    HX_TRY_FAIL(hx_alloc(&is_inside, (size_t)n_node, 1, "nodes inside"));
    HX_TRY_FAIL(hx_alloc(&r->first, (size_t)n_node + 1, sizeof *r->first, "faces of nodes"));
    for (int64_t v = 0; v < cut->n_vertex; v++)
        if (cut->edge[2 * v] >= 0) is_inside[cut->edge[2 * v]] = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < field->n_face; i++) {
            const int n = list_face(r, field->face[i], node);
            int n_in = 0;
            for (int k = 0; k < n; k++) n_in += is_inside[node[k]];
            if (n < 3 || n_in == 0 || n_in == n) continue;
            for (int k = 0; k < n; k++) {
                if (pass == 0)
                    r->first[node[k] + 1]++;
                else
                    r->face[r->first[node[k]]++] = field->face[i];
            }
        }
        if (pass == 1) break;
        for (int64_t a = 0; a < n_node; a++) r->first[a + 1] += r->first[a];
        HX_TRY_FAIL(hx_alloc_raw(&r->face, (size_t)r->first[n_node], sizeof *r->face, "faces"));
    }
    memmove(r->first + 1, r->first, (size_t)n_node * sizeof *r->first);
    r->first[0] = 0;
fail:
    free(is_inside);
    return rc;
}

/* 1 if x is in a face whose plane has normal `hold`. */
static int is_in_face(const smoother *r, int64_t face, const double hold[3], const double x[3])
{
    int32_t node[4];
    const int n = list_face(r, face, node);
    double sense = 0.0;
    for (int k = 0; k < n; k++) {
        const double *const p = r->field->mesh->xyz + 3 * (int64_t)node[k];
        const double *const q = r->field->mesh->xyz + 3 * (int64_t)node[(k + 1) % n];
        double e[3], by[3], cross[3];
        for (int d = 0; d < 3; d++) {
            e[d] = q[d] - p[d];
            by[d] = x[d] - p[d];
        }
        hx_cross3(e, by, cross);
        const double size2 = hx_dot3(e, e), side = hx_dot3(cross, hold);
        if (fabs(hx_dot3(by, hold)) > in_face * sqrt(size2)) return 0;
        if (fabs(side) <= in_face * size2) continue;
        if (side * sense < 0.0) return 0;
        sense = side;
    }
    return 1;
}

/* 1 if x is in a face at an end of the mesh edge of vertex v. */
static int is_near(const smoother *r, int32_t v, const double hold[3], const double x[3])
{
    for (int i = 0; i < 2; i++) {
        const int32_t a = r->s->edge[2 * (int64_t)v + i];
        for (int32_t k = a >= 0 ? r->first[a] : 0; a >= 0 && k < r->first[a + 1]; k++)
            if (is_in_face(r, r->face[k], hold, x)) return 1;
    }
    return 0;
}

/* 1 if the place of vertex i is one that it may have. */
static int may_be(const smoother *r, int64_t i)
{
    const int32_t v = r->vertex[i], *const edge = r->s->edge + 2 * (int64_t)v;
    const double *const hold = r->m->hold + 3 * (int64_t)v;
    const double *const x = r->s->xyz + 3 * (int64_t)v;
    if (r->m->rank[v] == 1)
        return is_near(r, v, hold, x) || is_near(r, r->side[i][0], hold, x) ||
               is_near(r, r->side[i][1], hold, x);
    const double *const in = r->field->mesh->xyz + 3 * (int64_t)edge[0];
    const double *const out = r->field->mesh->xyz + 3 * (int64_t)edge[1];
    double along = 0.0, length2 = 0.0;
    for (int d = 0; d < 3; d++) {
        along += (x[d] - in[d]) * (out[d] - in[d]);
        length2 += (out[d] - in[d]) * (out[d] - in[d]);
    }
    return along >= HX_SURFACE_MARGIN * length2 && along <= (1.0 - HX_SURFACE_MARGIN) * length2;
}

/* --- rims --- */

/* The neighbours of v on its rim; returns 0 if v is not on exactly one, or held at its place. */
static int find_sides(const smoother *r, int32_t v, int32_t side[2])
{
    int32_t fan[HX_FAN_MOST];
    int n_side = 0;
    const hx_surface *const s = r->s;
    const int32_t in = s->edge[2 * (int64_t)v];
    if (r->m->edges.corner[v] < 0) return 0;
    const int n = hx_fan_list(&r->m->edges, v, fan);
    for (int i = 0; i < n; i++) {
        if (s->is_cap[fan[i] / 3] == s->is_cap[r->m->edges.opposite[fan[i]] / 3]) continue;
        if (n_side < 2) side[n_side] = s->tri[hx_corner_next(fan[i])];
        n_side++;
    }
    const int is_held = r->m->rank[v] == 0 || r->m->rank[v] > 2 || (r->m->rank[v] == 2 && in < 0);
    const int is_repaired = r->field->is_repaired && in >= 0 && r->field->is_repaired[in];
    return n_side == 2 && !is_held && !is_repaired && !hx_rim_is_corner(s, n, fan, v);
}

/* 1 if v is on a closed rim of at most FEW vertices, one of which stays: the others would close the
 * hole. */
static int is_on_small_hole(const smoother *r, int32_t v)
{
    int32_t at = v, last = -1, side[2];
    int n_fixed = 0;
    for (int i = 0; i < FEW; i++) {
        side[0] = side[1] = -1;
        n_fixed += !find_sides(r, at, side);
        if (side[1] < 0) return 0;
        const int32_t to = side[0] == last ? side[1] : side[0];
        if (to == v) return n_fixed > 0;
        last = at;
        at = to;
    }
    return 0;
}

static int may_move(const smoother *r, int32_t v, int32_t side[2])
{
    return find_sides(r, v, side) && !is_on_small_hole(r, v);
}

static int list_vertices(smoother *r)
{
    const size_t n_vertex = (size_t)r->s->n_vertex;
    int32_t side[2];
    HX_TRY(hx_alloc_raw(&r->number, n_vertex, sizeof *r->number, "rims"));
    for (int32_t v = 0; v < r->s->n_vertex; v++)
        r->number[v] = may_move(r, v, side) ? (int32_t)r->n++ : -1;
    const size_t n = (size_t)r->n;
    HX_TRY(hx_alloc_raw(&r->vertex, n, sizeof *r->vertex, "rims"));
    HX_TRY(hx_alloc_raw(&r->side, n, sizeof *r->side, "rims"));
    HX_TRY(hx_alloc_raw(&r->before, n, sizeof *r->before, "rims"));
    HX_TRY(hx_alloc_raw(&r->next, n, sizeof *r->next, "rims"));
    HX_TRY(hx_alloc_raw(&r->is_back, n, 1, "rims"));
    for (int32_t v = 0; v < r->s->n_vertex; v++) {
        if (r->number[v] < 0) continue;
        r->vertex[r->number[v]] = v;
        find_sides(r, v, r->side[r->number[v]]);
    }
    return HX_OK;
}

/* Appends the ring that begins at place i of `vertex`; returns its end in `ring`, or `begin` if it
 * has a vertex that stays or is not held in a plane. */
static int32_t add_ring(smoother *r, int64_t i, int32_t begin)
{
    int32_t n = begin, last = -1;
    for (int64_t k = i; n == begin || k != i;) {
        const int32_t v = r->vertex[k];
        r->is_back[k] = 1; /* visited */
        r->ring[n++] = (int32_t)k;
        const int32_t to = r->side[k][0] == last ? r->side[k][1] : r->side[k][0];
        if (r->m->rank[v] != 1 || r->number[to] < 0) return begin;
        k = r->number[to];
        if (k != i && r->is_back[k]) return begin;
        last = v;
    }
    return n;
}

static int list_rings(smoother *r)
{
    int32_t at = 0;
    HX_TRY(hx_alloc_raw(&r->ring, (size_t)r->n, sizeof *r->ring, "rims"));
    HX_TRY(hx_alloc_raw(&r->ring_end, (size_t)r->n, sizeof *r->ring_end, "rims"));
    memset(r->is_back, 0, (size_t)r->n);
    for (int64_t i = 0; i < r->n; i++) {
        if (r->is_back[i]) continue;
        const int32_t end = add_ring(r, i, at);
        if (end > at) r->ring_end[r->n_ring++] = end;
        at = end;
    }
    return HX_OK;
}

/* --- a step --- */

/* to := vertex i moved by a share of its distance from the chord between its neighbours. */
static void move_vertex(const smoother *r, int64_t i, double factor, double to[3])
{
    const int32_t v = r->vertex[i];
    const double *const x = r->s->xyz + 3 * (int64_t)v;
    const double *const a = r->s->xyz + 3 * (int64_t)r->side[i][0];
    const double *const b = r->s->xyz + 3 * (int64_t)r->side[i][1];
    const double *const hold = r->m->hold + 3 * (int64_t)v;
    double c[3], w[3], by[3];
    for (int d = 0; d < 3; d++) {
        c[d] = b[d] - a[d];
        w[d] = x[d] - a[d];
    }
    const double cc = hx_dot3(c, c);
    /* away from the neighbours, if the rim folds back */
    const double at = cc > 0.0 ? fmin(fmax(hx_dot3(w, c) / cc, 0.25), 0.75) : 0.5;
    for (int d = 0; d < 3; d++) by[d] = at * c[d] - w[d];
    const double part = hx_dot3(by, hold);
    if (r->m->rank[v] == 1) {
        for (int d = 0; d < 3; d++) to[d] = x[d] + factor * (by[d] - part * hold[d]);
        return;
    }
    /* along the line, to its nearest point to the chord */
    const double ec = hx_dot3(hold, c), determinant = cc - ec * ec;
    const double share =
        determinant > 0.1 * cc ? (ec * hx_dot3(w, c) - cc * hx_dot3(w, hold)) / determinant : 0.0;
    for (int d = 0; d < 3; d++) to[d] = x[d] + factor * share * hold[d];
}

/* Area of a ring[n] with its vertices at x[n_vertex]; middle: their mean. */
static double measure_ring(const int32_t *ring, int32_t n, const double (*x)[3], double middle[3])
{
    double area[3] = {0.0, 0.0, 0.0};
    middle[0] = middle[1] = middle[2] = 0.0;
    for (int32_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) middle[d] += x[ring[i]][d] / n;
    for (int32_t i = 0; i < n; i++) {
        double here[3];
        hx_triangle_normal2(middle, x[ring[i]], x[ring[(i + 1) % n]], here);
        for (int d = 0; d < 3; d++) area[d] += here[d];
    }
    return hx_norm3(area);
}

/* Scales every ring to the area that it had before the step. Otherwise rings of a few elements
 * would shrink, because all their waves are above the pass band. */
static void keep_areas(smoother *r)
{
    for (int64_t k = 0; k < r->n_ring; k++) {
        const int32_t begin = k > 0 ? r->ring_end[k - 1] : 0, n = r->ring_end[k] - begin;
        const int32_t *const ring = r->ring + begin;
        double middle[3];
        const double before = measure_ring(ring, n, (const double(*)[3])r->before, middle);
        const double after = measure_ring(ring, n, (const double(*)[3])r->next, middle);
        const double scale = after > 0.25 * before ? sqrt(before / after) : 2.0;
        for (int32_t i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) {
                double *const x = &r->next[ring[i]][d];
                *x = middle[d] + scale * (*x - middle[d]);
            }
    }
}

static void swap_in(smoother *r)
{
    for (int64_t i = 0; i < r->n; i++)
        memcpy(r->s->xyz + 3 * (int64_t)r->vertex[i], r->next[i], sizeof r->next[i]);
}

static const double *before_of(const smoother *r, int32_t v)
{
    return r->number[v] < 0 ? r->s->xyz + 3 * (int64_t)v : r->before[r->number[v]];
}

/* 1 if a triangle turned, or became worse than it may be. */
static int is_spoilt(const smoother *r, int64_t t)
{
    const double *x[3], *y[3];
    double a[3], b[3];
    for (int k = 0; k < 3; k++) x[k] = before_of(r, r->s->tri[3 * t + k]);
    hx_triangle_corners(r->s, r->s->xyz, t, y);
    const double old = hx_triangle_quality(x[0], x[1], x[2]);
    const double now = hx_triangle_quality(y[0], y[1], y[2]);
    /* in single precision, so that rounding, which depends on the numbering of the mesh, makes no
     * difference */
    if ((float)now < (float)old && now < r->least) return 1;
    hx_triangle_normal2(x[0], x[1], x[2], a);
    hx_triangle_normal2(y[0], y[1], y[2], b);
    return hx_dot3(a, b) < (r->s->is_cap[t] ? 0.9 : 0.5) * hx_norm3(a) * hx_norm3(b);
}

/* Moves vertices back until no triangle is spoilt and all are where they may be. */
static void hold_back(smoother *r)
{
    for (int any = 1; any;) {
        any = 0;
        for (int64_t i = 0; i < r->n; i++) {
            const int32_t v = r->vertex[i];
            int32_t fan[HX_FAN_MOST];
            r->is_back[i] = (uint8_t)!may_be(r, i);
            const int n = hx_fan_list(&r->m->edges, v, fan);
            for (int k = 0; k < n && !r->is_back[i]; k++)
                r->is_back[i] = (uint8_t)is_spoilt(r, fan[k] / 3);
        }
        for (int64_t i = 0; i < r->n; i++) {
            double *const x = r->s->xyz + 3 * (int64_t)r->vertex[i];
            /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): unmoved means the same bits */
            if (!r->is_back[i] || memcmp(x, r->before[i], sizeof r->before[i]) == 0) continue;
            memcpy(x, r->before[i], sizeof r->before[i]);
            any = 1;
        }
    }
}

/* Moves the images of vertices to the images of their places. */
static void mirror_places(smoother *r)
{
    const hx_mirrors *const mirrors = r->m->mirrors;
    for (int64_t i = 0; i < r->n && mirrors->n > 0; i++) {
        const int32_t v = r->vertex[i];
        double *const x = r->s->xyz + 3 * (int64_t)v;
        if (v >= mirrors->n_own) continue;
        hx_mirror_project(mirrors, mirrors->on[v], x);
        for (unsigned set = 1; set < 1u << mirrors->n; set++) {
            double y[3] = {x[0], x[1], x[2]};
            if (set & mirrors->on[v]) continue;
            hx_mirror_reflect_by(mirrors, set, y);
            memcpy(r->s->xyz + 3 * (int64_t)hx_mirror_image(mirrors, v, set), y, sizeof y);
        }
    }
}

static void take_step(smoother *r)
{
    for (int64_t i = 0; i < r->n; i++)
        memcpy(r->before[i], r->s->xyz + 3 * (int64_t)r->vertex[i], sizeof r->before[i]);
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < r->n; i++) move_vertex(r, i, k == 0 ? lambda : mu, r->next[i]);
        if (k == 1) keep_areas(r);
        swap_in(r);
    }
    hold_back(r);
    mirror_places(r);
}

int hx_surface_smooth_rims(hx_surface_editor *m, const hx_surface_field *field,
                           const hx_surface *cut, int n_step, double least)
{
    int rc;
    smoother r = {.m = m, .s = m->surface, .field = field, .least = least};
    if (n_step == 0) return HX_OK;
    HX_TRY_FAIL(list_faces(&r, cut));
    HX_TRY_FAIL(list_vertices(&r));
    HX_TRY_FAIL(list_rings(&r));
    for (int i = 0; i < n_step; i++) take_step(&r);
fail:
    free(r.vertex);
    free(r.side);
    free(r.before);
    free(r.next);
    free(r.number);
    free(r.is_back);
    free(r.ring);
    free(r.ring_end);
    free(r.first);
    free(r.face);
    return rc;
}
