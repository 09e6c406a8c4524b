/* Makes a surface its own mirror image: the triangles on one side of each plane are kept, cut at
 * the plane, and mirrored. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_mirror.h"

/* Vertices within this fraction of their longest edge from a plane are moved onto it. */
static const double snap = 0.02;

/* An open surface on one side of the planes that were dealt with. */
typedef struct half {
    const hx_surface *whole;
    hx_mirrors *m;
    const int32_t *twin;     /* [m->n][n_vertex of whole] (borrowed) */
    int64_t n_vertex, n_tri; /* lengths */
    double *xyz;             /* [n_vertex][3] (owned) */
    int32_t *tri;            /* [n_tri][3] (owned) */
    uint8_t *is_cap;         /* [n_tri] (owned) */
    uint8_t *on;             /* [n_vertex] (owned) */
    int32_t *from;           /* [n_vertex] vertex of whole, -1: new (owned) */
    int32_t *image;          /* [n_vertex][HX_MIRROR_MOST] (owned) */
} half;

static void half_free(half *h)
{
    free(h->xyz);
    free(h->tri);
    free(h->is_cap);
    free(h->on);
    free(h->from);
    free(h->image);
}

/* Memory for a surface of this size; of its parent only what is borrowed is taken. */
static int half_create(half *h, const half *parent, int64_t n_vertex, int64_t n_tri)
{
    *h = (half){.whole = parent->whole, .m = parent->m, .twin = parent->twin};
    h->n_vertex = n_vertex;
    h->n_tri = n_tri;
    const size_t n = (size_t)n_vertex, m = (size_t)n_tri;
    HX_TRY(hx_alloc_raw(&h->xyz, 3 * n, sizeof *h->xyz, "surface vertices"));
    HX_TRY(hx_alloc_raw(&h->tri, 3 * m, sizeof *h->tri, "triangles of the surface"));
    HX_TRY(hx_alloc_raw(&h->is_cap, m, 1, "triangles of the surface"));
    HX_TRY(hx_alloc_raw(&h->on, n, 1, "surface vertices"));
    HX_TRY(hx_alloc_raw(&h->from, n, sizeof *h->from, "surface vertices"));
    return hx_alloc_raw(&h->image, HX_MIRROR_MOST * n, sizeof *h->image, "surface vertices");
}

/* The whole surface, with each vertex at the mean of its place and of the images of its twins. */
static int begin(half *h, const half *borrowed)
{
    const hx_surface *const s = borrowed->whole;
    HX_TRY(half_create(h, borrowed, s->n_vertex, s->n_tri));
    memcpy(h->xyz, s->xyz, 3 * (size_t)s->n_vertex * sizeof *h->xyz);
    memcpy(h->tri, s->tri, 3 * (size_t)s->n_tri * sizeof *h->tri);
    memcpy(h->is_cap, s->is_cap, (size_t)s->n_tri);
    memset(h->on, 0, (size_t)s->n_vertex);
    for (int64_t v = 0; v < s->n_vertex; v++) h->from[v] = (int32_t)v;
    for (int p = 0; p < h->m->n; p++)
        for (int64_t v = 0; v < s->n_vertex; v++) {
            const int64_t w = h->twin[p * s->n_vertex + v];
            if (w < v) continue;
            double *const x = h->xyz + 3 * v, *const y = h->xyz + 3 * w;
            double z[3] = {y[0], y[1], y[2]};
            hx_mirror_reflect(h->m, p, z);
            for (int d = 0; d < 3; d++) z[d] = 0.5 * (x[d] + z[d]);
            memcpy(x, z, sizeof z);
            hx_mirror_reflect(h->m, p, z);
            if (w > v) memcpy(y, z, sizeof z);
        }
    return HX_OK;
}

/* --- cuts --- */

static double height_of(const half *h, int p, int64_t v)
{
    const hx_mirror_plane *const plane = &h->m->plane[p];
    return hx_dot3(plane->normal, h->xyz + 3 * v) - plane->at;
}

/* side[n_vertex] := 1 above the plane, -1 below, 0 on it. longest[n_vertex]: scratch. */
static void find_sides(half *h, int p, double *longest, int8_t *side)
{
    for (int64_t v = 0; v < h->n_vertex; v++) longest[v] = 0.0;
    for (int64_t c = 0; c < 3 * h->n_tri; c++) {
        const int64_t a = h->tri[c], b = h->tri[hx_corner_next(c)];
        double e[3];
        for (int d = 0; d < 3; d++) e[d] = h->xyz[3 * b + d] - h->xyz[3 * a + d];
        longest[a] = fmax(longest[a], hx_norm3(e));
        longest[b] = fmax(longest[b], hx_norm3(e));
    }
    for (int64_t v = 0; v < h->n_vertex; v++) {
        const double height = height_of(h, p, v);
        const int32_t from = h->from[v];
        const int is_own_twin = from >= 0 && h->twin[p * h->whole->n_vertex + from] == from;
        side[v] = (int8_t)(height > 0.0 ? 1 : -1);
        if (is_own_twin || fabs(height) <= snap * longest[v]) side[v] = 0;
        if (side[v] != 0) continue;
        h->on[v] |= (uint8_t)(1u << p);
        hx_mirror_project(h->m, h->on[v], h->xyz + 3 * v);
    }
}

/* The part of a triangle above the plane as a polygon; corners below number[] are vertices, others
 * the half-edges that are cut. Returns the number of corners. */
static int cut_triangle(const half *h, const int8_t *side, const int32_t *middle, int64_t t,
                        const int32_t *number, int32_t corner[4])
{
    int n = 0;
    for (int64_t c = 3 * t; c < 3 * t + 3; c++) {
        const int32_t a = h->tri[c], b = h->tri[hx_corner_next(c)];
        if (side[a] >= 0) corner[n++] = number[a];
        if (side[a] * side[b] < 0) corner[n++] = middle[c];
    }
    return n;
}

static int is_above(const half *h, const int8_t *side, int64_t t)
{
    const int32_t *const v = h->tri + 3 * t;
    return side[v[0]] > 0 || side[v[1]] > 0 || side[v[2]] > 0;
}

/* Numbers the vertices that stay and those that are new; returns how many, and *n_tri triangles. */
static int64_t number_vertices(const half *h, const int8_t *side, const int32_t *opposite,
                               int32_t *number, int32_t *middle, int64_t *n_tri)
{
    int32_t n = 0;
    *n_tri = 0;
    for (int64_t v = 0; v < h->n_vertex; v++) number[v] = -1;
    for (int64_t t = 0; t < h->n_tri; t++) {
        int n_corner = 0;
        if (!is_above(h, side, t)) continue;
        for (int64_t c = 3 * t; c < 3 * t + 3; c++) {
            const int32_t a = h->tri[c], b = h->tri[hx_corner_next(c)];
            if (side[a] >= 0) number[a] = 0;
            n_corner += (side[a] >= 0) + (side[a] * side[b] < 0);
        }
        *n_tri += n_corner - 2;
    }
    for (int64_t v = 0; v < h->n_vertex; v++)
        if (number[v] == 0) number[v] = n++;
    for (int64_t c = 0; c < 3 * h->n_tri; c++) {
        middle[c] = -1;
        if (side[h->tri[c]] * side[h->tri[hx_corner_next(c)]] >= 0) continue;
        middle[c] = opposite[c] >= 0 && opposite[c] < c ? middle[opposite[c]] : n++;
    }
    return n;
}

/* The vertex at which half-edge c crosses the plane. */
static void place_middle(const half *h, int p, int64_t c, half *to, int32_t v)
{
    const int64_t a = h->tri[c], b = h->tri[hx_corner_next(c)];
    const double at_a = height_of(h, p, a), at_b = height_of(h, p, b), part = at_a / (at_a - at_b);
    double *const x = to->xyz + 3 * (int64_t)v;
    for (int d = 0; d < 3; d++)
        x[d] = h->xyz[3 * a + d] + part * (h->xyz[3 * b + d] - h->xyz[3 * a + d]);
    to->on[v] = (uint8_t)((h->on[a] & h->on[b]) | 1u << p);
    to->from[v] = -1;
    hx_mirror_project(h->m, to->on[v], x);
}

static double square_between(const half *h, int32_t a, int32_t b)
{
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = h->xyz[3 * (int64_t)a + i] - h->xyz[3 * (int64_t)b + i];
    return hx_dot3(d, d);
}

static void fill_half(const half *h, int p, const int8_t *side, const int32_t *number,
                      const int32_t *middle, half *to)
{
    int64_t at = 0;
    for (int64_t v = 0; v < h->n_vertex; v++) {
        if (number[v] < 0) continue;
        memcpy(to->xyz + 3 * (int64_t)number[v], h->xyz + 3 * v, 3 * sizeof *to->xyz);
        to->on[number[v]] = h->on[v];
        to->from[number[v]] = h->from[v];
    }
    for (int64_t c = 0; c < 3 * h->n_tri; c++)
        if (middle[c] >= 0) place_middle(h, p, c, to, middle[c]);
    for (int64_t t = 0; t < h->n_tri; t++) {
        int32_t x[4];
        if (!is_above(h, side, t)) continue;
        const int n = cut_triangle(h, side, middle, t, number, x);
        /* by the shorter diagonal */
        const int k = n == 4 && square_between(to, x[1], x[3]) < square_between(to, x[0], x[2]);
        for (int i = 1; i + 1 < n; i++) {
            const int32_t part[3] = {x[k], x[(k + i) % 4], x[(k + i + 1) % 4]};
            memcpy(to->tri + 3 * at, part, sizeof part);
            to->is_cap[at++] = h->is_cap[t];
        }
    }
}

/* Replaces the surface by its part above plane p. */
static int cut(half *h, int p)
{
    int rc;
    half to = {0};
    int64_t n_bad, n_tri;
    const size_t n_vertex = (size_t)h->n_vertex, n_corner = 3 * (size_t)h->n_tri;
    int32_t *opposite = NULL, *number = NULL, *middle = NULL;
    double *longest = NULL;
    int8_t *side = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&opposite, n_corner, sizeof *opposite, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&middle, n_corner, sizeof *middle, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&number, n_vertex, sizeof *number, "surface vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&longest, n_vertex, sizeof *longest, "surface vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&side, n_vertex, 1, "surface vertices"));
    HX_TRY_FAIL(hx_surface_pair(h->n_vertex, h->n_tri, h->tri, opposite, NULL, &n_bad));
    find_sides(h, p, longest, side);
    const int64_t n = number_vertices(h, side, opposite, number, middle, &n_tri);
    HX_TRY_FAIL(half_create(&to, h, n, n_tri));
    fill_half(h, p, side, number, middle, &to);
    half_free(h);
    *h = to;
    memset(&to, 0, sizeof to);
fail:
    half_free(&to);
    free(opposite);
    free(middle);
    free(number);
    free(longest);
    free(side);
    return rc;
}

/* --- images --- */

/* Adds the mirror image by plane p. */
static int mirror(half *h, int p)
{
    int rc;
    half to = {0};
    int32_t *image = NULL;
    int64_t n = h->n_vertex;
    HX_TRY_FAIL(hx_alloc_raw(&image, (size_t)n, sizeof *image, "surface vertices"));
    for (int64_t v = 0; v < h->n_vertex; v++) image[v] = (int32_t)(h->on[v] >> p & 1u ? v : n++);
    HX_TRY_FAIL(half_create(&to, h, n, 2 * h->n_tri));
    for (int64_t v = 0; v < h->n_vertex; v++) {
        const int64_t w = image[v], pair[2] = {v, w};
        for (int i = 0; i < 2; i++) {
            const int64_t here = pair[i];
            const int32_t from = h->from[v];
            double *const x = to.xyz + 3 * here;
            if (i == 1 && w == v) continue;
            memcpy(x, h->xyz + 3 * v, 3 * sizeof *x);
            if (i == 1) hx_mirror_reflect(h->m, p, x);
            to.on[here] = h->on[v];
            to.from[here] = i == 1 && from >= 0 ? h->twin[p * h->whole->n_vertex + from] : from;
            for (int q = 0; q < p; q++) {
                const int32_t other = h->image[HX_MIRROR_MOST * v + q];
                to.image[HX_MIRROR_MOST * here + q] = i == 1 ? image[other] : other;
            }
            to.image[HX_MIRROR_MOST * here + p] = (int32_t)pair[!i];
        }
    }
    for (int64_t t = 0; t < h->n_tri; t++) {
        const int32_t *const x = h->tri + 3 * t;
        const int32_t y[3] = {image[x[0]], image[x[2]], image[x[1]]};
        memcpy(to.tri + 3 * t, x, sizeof y);
        memcpy(to.tri + 3 * (h->n_tri + t), y, sizeof y);
        to.is_cap[t] = to.is_cap[h->n_tri + t] = h->is_cap[t];
    }
    half_free(h);
    *h = to;
    memset(&to, 0, sizeof to);
fail:
    half_free(&to);
    free(image);
    return rc;
}

/* *is_closed := 1 if the surface is a closed manifold. */
static int check_closed(const half *h, int *is_closed)
{
    int rc;
    int64_t n_bad, n_seen = 0;
    int32_t *opposite = NULL, *corner = NULL;
    *is_closed = 0;
    HX_TRY_FAIL(hx_alloc_raw(&opposite, 3 * (size_t)h->n_tri, sizeof *opposite, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&corner, (size_t)h->n_vertex, sizeof *corner, "vertices"));
    HX_TRY_FAIL(hx_surface_pair(h->n_vertex, h->n_tri, h->tri, opposite, NULL, &n_bad));
    if (n_bad > 0 || h->n_tri == 0) goto fail;
    for (int64_t v = 0; v < h->n_vertex; v++) corner[v] = -1;
    for (int64_t c = 0; c < 3 * h->n_tri; c++) corner[h->tri[c]] = (int32_t)c;
    for (int64_t v = 0; v < h->n_vertex; v++) {
        int64_t c = corner[v];
        if (c < 0) goto fail;
        do {
            c = hx_corner_turn(opposite, c);
            n_seen++;
        } while (c != corner[v]);
    }
    *is_closed = n_seen == 3 * h->n_tri;
fail:
    free(opposite);
    free(corner);
    return rc;
}

int hx_mirrors_make(hx_mirrors *mirrors, const hx_surface *surface, const int32_t *twin,
                    hx_surface *made, int32_t **from)
{
    int rc, is_closed;
    const half borrowed = {.whole = surface, .m = mirrors, .twin = twin};
    half h = {0};
    memset(made, 0, sizeof *made);
    *from = NULL;
    HX_TRY_FAIL(begin(&h, &borrowed));
    for (int p = 0; p < mirrors->n; p++) HX_TRY_FAIL(cut(&h, p));
    mirrors->n_own = h.n_vertex;
    for (int p = 0; p < mirrors->n; p++) HX_TRY_FAIL(mirror(&h, p));
    HX_TRY_FAIL(check_closed(&h, &is_closed));
    if (!is_closed) {
        mirrors->n = 0;
        goto fail;
    }
    HX_TRY_FAIL(hx_alloc_raw(&made->edge, 2 * (size_t)h.n_vertex, sizeof *made->edge, "vertices"));
    for (int64_t i = 0; i < 2 * h.n_vertex; i++)
        made->edge[i] = h.from[i / 2] < 0 ? -1 : surface->edge[2 * (int64_t)h.from[i / 2] + i % 2];
    made->n_vertex = h.n_vertex;
    made->n_tri = h.n_tri;
    made->n_split = surface->n_split;
    made->xyz = h.xyz;
    made->tri = h.tri;
    made->is_cap = h.is_cap;
    mirrors->image = h.image;
    mirrors->on = h.on;
    *from = h.from;
    memset(&h, 0, sizeof h);
fail:
    half_free(&h);
    return rc;
}
