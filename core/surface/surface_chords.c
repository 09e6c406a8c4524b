/* Splits the triangles along round faces until their chords are short enough. Triangles are
 * bisected at their longest edges (Rivara 1984). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "surface_edit.h"

enum { MOST_LEVELS = 16, UNSPLIT = -1, PLAIN = -2 };

/* Least cosine between the normal of a facet and that of its seat. */
static const double along = 0.8;

typedef struct splitter {
    hx_surface *s;
    int64_t n_seat;
    const hx_surface_seat *seat;
    double chord;
    double center[3];  /* of the surface's box */
    int32_t *opposite; /* [3 n_tri] (owned) */
    int32_t *of;       /* [3 n_tri] seat of a half-edge that is split, PLAIN or UNSPLIT (owned) */
    int32_t *middle;   /* [3 n_tri] new vertex on a half-edge (owned) */
} splitter;

static void splitter_free(splitter *p)
{
    free(p->opposite);
    free(p->of);
    free(p->middle);
    p->opposite = p->of = p->middle = NULL;
}

static const double *end_of(const splitter *p, int64_t c)
{
    return p->s->xyz + 3 * (int64_t)p->s->tri[c];
}

static void middle_of(const splitter *p, int64_t c, double x[3])
{
    const double *const a = end_of(p, c), *const b = end_of(p, hx_corner_next(c));
    for (int d = 0; d < 3; d++) x[d] = 0.5 * (a[d] + b[d]);
}

/* 1 if triangle t is a cap along the seat; for another cap, *normal is its unit normal. */
static int lies_along(const splitter *p, const hx_surface_seat *seat, int64_t t, const double x[3],
                      double normal[3])
{
    const double *y[3];
    double radial[3];
    normal[0] = normal[1] = normal[2] = 0.0;
    if (!p->s->is_cap[t]) return 0;
    hx_triangle_corners(p->s, p->s->xyz, t, y);
    hx_triangle_normal2(y[0], y[1], y[2], normal);
    hx_seat_radial(seat, x, radial);
    const double size = hx_norm3(normal);
    const int is_along = fabs(hx_dot3(normal, radial)) > along * size * hx_norm3(radial);
    for (int d = 0; d < 3; d++) normal[d] = size > 0.0 && !is_along ? normal[d] / size : 0.0;
    return is_along;
}

/* The seat from which the edge of half-edge c is too far, UNSPLIT: none. */
static int32_t find_seat(const splitter *p, int64_t c)
{
    const int64_t t[2] = {c / 3, p->opposite[c] / 3};
    double x[3], radial[3], normal[3];
    if (!p->s->is_cap[t[0]] && !p->s->is_cap[t[1]]) return UNSPLIT;
    middle_of(p, c, x);
    for (int64_t k = 0; k < p->n_seat; k++) {
        const hx_surface_seat *const seat = &p->seat[k];
        hx_seat_radial(seat, x, radial);
        if (!(fabs(hx_norm3(radial) - seat->radius) > p->chord)) continue;
        if (!hx_seat_has(seat, end_of(p, c)) || !hx_seat_has(seat, end_of(p, hx_corner_next(c))))
            continue;
        if (lies_along(p, seat, t[0], x, normal) || lies_along(p, seat, t[1], x, normal))
            return (int32_t)k;
    }
    return UNSPLIT;
}

/* 1 if a is larger than b beyond rounding, -1 if it is smaller, 0 if they are equal. */
static int compare_numbers(double a, double b, double size)
{
    return fabs(a - b) <= 1e-9 * size ? 0 : a > b ? 1 : -1;
}

/* 1 if half-edge a is to be split rather than b: the longer one, and of equal ones that at a
 * greater distance from the middle of the surface. All of this is the same in a mirror image. */
static int is_preferred(const splitter *p, int64_t a, int64_t b)
{
    const int64_t edge[2] = {a, b};
    double square[2], from[2][4];
    for (int i = 0; i < 2; i++) {
        const double *const x = end_of(p, edge[i]), *const y = end_of(p, hx_corner_next(edge[i]));
        const double d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        square[i] = hx_dot3(d, d);
        for (int k = 0; k < 3; k++) from[i][1 + k] = fabs(0.5 * (x[k] + y[k]) - p->center[k]);
        from[i][0] = hx_norm3(from[i] + 1);
    }
    int order = compare_numbers(square[0], square[1], square[0]);
    for (int k = 0; order == 0 && k < 4; k++)
        order = compare_numbers(from[0][k], from[1][k], from[0][0]);
    return order > 0;
}

/* The half-edge of a triangle that is split first. */
static int64_t longest_of(const splitter *p, int64_t t)
{
    int64_t best = 3 * t;
    for (int64_t c = 3 * t + 1; c < 3 * t + 3; c++)
        if (is_preferred(p, c, best)) best = c;
    return best;
}

static void find_center(splitter *p)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int64_t i = 0; i < 3 * p->s->n_vertex; i++) {
        low[i % 3] = fmin(low[i % 3], p->s->xyz[i]);
        high[i % 3] = fmax(high[i % 3], p->s->xyz[i]);
    }
    for (int d = 0; d < 3; d++) p->center[d] = 0.5 * (low[d] + high[d]);
}

/* Marks the edges to split; returns their number. */
static int64_t mark_edges(const splitter *p)
{
    const int64_t n_half = 3 * p->s->n_tri;
    int64_t n = 0;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < n_half; c++)
        if (c < p->opposite[c]) p->of[c] = p->of[p->opposite[c]] = find_seat(p, c);
    for (int is_changed = 1; is_changed;) {
        is_changed = 0;
        for (int64_t t = 0; t < p->s->n_tri; t++) {
            const int32_t *const of = p->of + 3 * t;
            if (of[0] == UNSPLIT && of[1] == UNSPLIT && of[2] == UNSPLIT) continue;
            const int64_t c = longest_of(p, t);
            if (p->of[c] != UNSPLIT) continue;
            p->of[c] = p->of[p->opposite[c]] = PLAIN;
            is_changed = 1;
        }
    }
    for (int64_t c = 0; c < n_half; c++) n += c < p->opposite[c] && p->of[c] != UNSPLIT;
    return n;
}

/* Position of the new vertex on half-edge c: on its seat and, if another cap meets it
 * there, in the plane of that cap. */
static void place_middle(const splitter *p, int64_t c, double x[3])
{
    middle_of(p, c, x);
    if (p->of[c] < 0) return;
    const hx_surface_seat *const seat = p->seat + p->of[c];
    const double from[3] = {x[0], x[1], x[2]};
    double normal[2][3], radial[3];
    for (int i = 0; i < 2; i++)
        lies_along(p, seat, (i == 0 ? c : p->opposite[c]) / 3, from, normal[i]);
    for (int step = 0; step < 50; step++) {
        double off = 0.0;
        hx_seat_radial(seat, x, radial);
        const double r = hx_norm3(radial);
        for (int d = 0; d < 3; d++) x[d] += (seat->radius / r - 1.0) * radial[d];
        for (int i = 0; i < 2; i++) {
            const double by[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
            const double height = hx_dot3(by, normal[i]);
            for (int d = 0; d < 3; d++) x[d] -= height * normal[i][d];
            off = fmax(off, fabs(height));
        }
        if (!(off > 1e-12 * seat->radius)) break;
    }
}

static int add_vertices(const splitter *p, int64_t n_new)
{
    int rc;
    hx_surface *const s = p->s;
    const size_t n = (size_t)(s->n_vertex + n_new);
    double *xyz = NULL;
    int32_t *edge = NULL;
    int64_t at = s->n_vertex;
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * n, sizeof *xyz, "surface vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&edge, 2 * n, sizeof *edge, "surface vertices"));
    memcpy(xyz, s->xyz, 3 * (size_t)s->n_vertex * sizeof *xyz);
    memcpy(edge, s->edge, 2 * (size_t)s->n_vertex * sizeof *edge);
    for (int64_t c = 0; c < 3 * s->n_tri; c++) {
        if (c > p->opposite[c] || p->of[c] == UNSPLIT) continue;
        place_middle(p, c, xyz + 3 * at);
        edge[2 * at] = edge[2 * at + 1] = -1;
        p->middle[c] = p->middle[p->opposite[c]] = (int32_t)at++;
    }
    free(s->xyz);
    free(s->edge);
    s->xyz = xyz;
    s->edge = edge;
    s->n_vertex = at;
    return HX_OK;
fail:
    free(xyz);
    free(edge);
    return rc;
}

/* Writes the parts of triangle t; returns their number. */
static int split_triangle(const splitter *p, int64_t t, int64_t c, int32_t part[4][3])
{
    const int32_t *const tri = p->s->tri;
    if (p->of[c] == UNSPLIT) {
        memcpy(part[0], tri + 3 * t, sizeof part[0]);
        return 1;
    }
    const int64_t side[3] = {c, hx_corner_next(c), hx_corner_next(hx_corner_next(c))};
    const int32_t a = tri[side[0]], b = tri[side[1]], d = tri[side[2]], m = p->middle[c];
    int n = 0;
    const int32_t whole[2][3] = {{m, b, d}, {a, m, d}};
    for (int i = 0; i < 2; i++) {
        const int64_t h = side[1 + i];
        if (p->of[h] == UNSPLIT) {
            memcpy(part[n++], whole[i], sizeof part[0]);
            continue;
        }
        const int32_t q = p->middle[h];
        const int32_t two[2][2][3] = {{{m, b, q}, {m, q, d}}, {{a, m, q}, {q, m, d}}};
        memcpy(part[n++], two[i][0], sizeof part[0]);
        memcpy(part[n++], two[i][1], sizeof part[0]);
    }
    return n;
}

static int split_triangles(const splitter *p, const int32_t *longest, int64_t n_new)
{
    int rc;
    hx_surface *const s = p->s;
    const size_t n = (size_t)(s->n_tri + 2 * n_new);
    int32_t *tri = NULL;
    uint8_t *is_cap = NULL;
    int64_t at = 0;
    HX_TRY_FAIL(hx_alloc_raw(&tri, 3 * n, sizeof *tri, "triangles of the surface"));
    HX_TRY_FAIL(hx_alloc_raw(&is_cap, n, 1, "triangles of the surface"));
    for (int64_t t = 0; t < s->n_tri; t++) {
        int32_t part[4][3];
        const int n_part = split_triangle(p, t, 3 * t + longest[t], part);
        for (int i = 0; i < n_part; i++) {
            memcpy(tri + 3 * at, part[i], sizeof part[i]);
            is_cap[at++] = s->is_cap[t];
        }
    }
    free(s->tri);
    free(s->is_cap);
    s->tri = tri;
    s->is_cap = is_cap;
    s->n_tri = at;
    return HX_OK;
fail:
    free(tri);
    free(is_cap);
    return rc;
}

/* Splits every edge that is too far from its seat once; *n_new: number of edges. */
static int split_once(splitter *p, int64_t *n_new)
{
    int rc;
    int64_t n_bad;
    int32_t *longest = NULL;
    const size_t n_half = 3 * (size_t)p->s->n_tri;
    HX_TRY_FAIL(hx_alloc_raw(&p->opposite, n_half, sizeof *p->opposite, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&p->of, n_half, sizeof *p->of, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&p->middle, n_half, sizeof *p->middle, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&longest, n_half / 3, sizeof *longest, "half-edges"));
    HX_TRY_FAIL(hx_surface_pair(p->s->n_vertex, p->s->n_tri, p->s->tri, p->opposite, NULL, &n_bad));
    *n_new = n_bad == 0 ? mark_edges(p) : 0;
    if (*n_new == 0) goto fail;
    if (3 * (p->s->n_tri + 2 * *n_new) > INT32_MAX) {
        rc = HX_RAISE(HX_EINPUT, "the surface would have %lld %s; at most %d are supported",
                      (long long)(p->s->n_tri + 2 * *n_new),
                      hx_noun(p->s->n_tri + 2 * *n_new, "triangle", "triangles"), INT32_MAX / 3);
        goto fail;
    }
    for (int64_t t = 0; t < p->s->n_tri; t++) longest[t] = (int32_t)(longest_of(p, t) - 3 * t);
    HX_TRY_FAIL(add_vertices(p, *n_new));
    HX_TRY_FAIL(split_triangles(p, longest, *n_new));
fail:
    free(longest);
    splitter_free(p);
    return rc;
}

int hx_surface_limit_chords(hx_surface *surface, int64_t n_seat, const hx_surface_seat *seat,
                            double chord, int64_t *n_added)
{
    splitter p = {.s = surface, .n_seat = n_seat, .seat = seat, .chord = chord};
    const int64_t before = surface->n_tri;
    int64_t n_new = n_seat > 0;
    find_center(&p);
    for (int level = 0; level < MOST_LEVELS && n_new > 0; level++) HX_TRY(split_once(&p, &n_new));
    *n_added = surface->n_tri - before;
    return HX_OK;
}
