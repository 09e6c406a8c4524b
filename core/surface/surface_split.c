/* Triangles that are split at the middles of their edges; their neighbours are split with them. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"
#include "surface_settle.h"

enum { WHOLE = -1 };

typedef struct splitting {
    hx_surface *s;
    int32_t *opposite;       /* [3 n_tri] half-edges (owned) */
    int32_t *middle;         /* [3 n_tri] vertex in the middle of a half-edge, or WHOLE (owned) */
    int64_t n_vertex, n_tri; /* afterwards */
} splitting;

static const double *start_of(const splitting *p, int64_t c)
{
    return p->s->xyz + 3 * (int64_t)p->s->tri[c];
}

static double square_between(const double a[3], const double b[3])
{
    double sum = 0.0;
    for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/* Numbers the new vertices, edge by edge. */
static void mark_edges(splitting *p, const uint8_t *is_split, double shortest)
{
    const int64_t n_corner = 3 * p->s->n_tri;
    for (int64_t c = 0; c < n_corner; c++) p->middle[c] = WHOLE;
    for (int64_t c = 0; c < n_corner; c++) {
        const double length2 = square_between(start_of(p, c), start_of(p, hx_corner_next(c)));
        if (!is_split[c / 3] || p->middle[c] != WHOLE || length2 < shortest * shortest) continue;
        p->middle[c] = p->middle[p->opposite[c]] = (int32_t)p->n_vertex++;
        p->n_tri += 2;
    }
}

static int grow(splitting *p)
{
    hx_surface *const s = p->s;
    double *xyz;
    int32_t *edge;
    if (3 * p->n_tri > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "the surface has more than 2^31 corners of triangles");
    HX_TRY(hx_alloc_raw(&xyz, 3 * (size_t)p->n_vertex, sizeof *xyz, "vertices"));
    memcpy(xyz, s->xyz, 3 * (size_t)s->n_vertex * sizeof *xyz);
    for (int64_t c = 0; c < 3 * s->n_tri; c++) {
        const double *const a = start_of(p, c), *const b = start_of(p, hx_corner_next(c));
        for (int d = 0; d < 3 && p->middle[c] != WHOLE; d++)
            xyz[3 * (int64_t)p->middle[c] + d] = 0.5 * (a[d] + b[d]);
    }
    free(s->xyz);
    s->xyz = xyz;
    HX_TRY(hx_alloc_raw(&edge, 2 * (size_t)p->n_vertex, sizeof *edge, "edges of vertices"));
    memcpy(edge, s->edge, 2 * (size_t)s->n_vertex * sizeof *edge);
    for (int64_t i = 2 * s->n_vertex; i < 2 * p->n_vertex; i++) edge[i] = -1;
    free(s->edge);
    s->edge = edge;
    s->n_vertex = p->n_vertex;
    return HX_OK;
}

/* Writes the triangles into which one with corners v and middles m is split; returns their
 * number. */
static int list_parts(const splitting *p, const int32_t v[3], const int32_t m[3], int32_t tri[4][3])
{
    int n = 0, k = 0;
    for (int i = 0; i < 3; i++) n += m[i] != WHOLE;
#define PUT(i, a, b, c) (tri[i][0] = (a), tri[i][1] = (b), tri[i][2] = (c))
    if (n == 0) return PUT(0, v[0], v[1], v[2]), 1;
    if (n == 3) {
        for (int i = 0; i < 3; i++) PUT(i, v[i], m[i], m[(i + 2) % 3]);
        return PUT(3, m[0], m[1], m[2]), 4;
    }
    while ((m[k] != WHOLE) != (n == 1)) k++; /* the only edge that is split, or that is whole */
    const int32_t a = v[k], b = v[(k + 1) % 3], c = v[(k + 2) % 3];
    if (n == 1) return PUT(0, a, m[k], c), PUT(1, m[k], b, c), 2;
    const int32_t at_b = m[(k + 1) % 3], at_a = m[(k + 2) % 3];
    const double *const x = p->s->xyz;
    PUT(0, at_a, at_b, c);
    if (square_between(x + 3 * (int64_t)a, x + 3 * (int64_t)at_b) <
        square_between(x + 3 * (int64_t)b, x + 3 * (int64_t)at_a))
        PUT(1, a, b, at_b), PUT(2, a, at_b, at_a);
    else
        PUT(1, a, b, at_a), PUT(2, b, at_b, at_a);
#undef PUT
    return 3;
}

static int replace_triangles(const splitting *p)
{
    hx_surface *const s = p->s;
    int32_t *tri;
    uint8_t *is_cap;
    int64_t n = 0;
    HX_TRY(hx_alloc_raw(&tri, 3 * (size_t)p->n_tri, sizeof *tri, "triangles"));
    int rc = hx_alloc_raw(&is_cap, (size_t)p->n_tri, sizeof *is_cap, "triangles");
    for (int64_t t = 0; rc == HX_OK && t < s->n_tri; t++) {
        int32_t part[4][3];
        const int n_part = list_parts(p, s->tri + 3 * t, p->middle + 3 * t, part);
        for (int i = 0; i < n_part; i++) {
            memcpy(tri + 3 * n, part[i], sizeof part[i]);
            is_cap[n++] = s->is_cap[t];
        }
    }
    if (rc != HX_OK) {
        free(tri);
        return rc;
    }
    free(s->tri);
    free(s->is_cap);
    s->tri = tri;
    s->is_cap = is_cap;
    s->n_tri = n;
    return HX_OK;
}

int hx_surface_split(hx_surface *surface, const uint8_t *is_split, double shortest)
{
    int rc;
    int64_t n_bad;
    splitting p = {.s = surface, .n_vertex = surface->n_vertex, .n_tri = surface->n_tri};
    const size_t n_corner = 3 * (size_t)surface->n_tri;
    HX_TRY_FAIL(hx_alloc_raw(&p.opposite, n_corner, sizeof *p.opposite, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&p.middle, n_corner, sizeof *p.middle, "middles of edges"));
    HX_TRY_FAIL(
        hx_surface_pair(surface->n_vertex, surface->n_tri, surface->tri, p.opposite, NULL, &n_bad));
    if (n_bad > 0) HX_TRY_FAIL(HX_RAISE(HX_EINTERNAL, "the surface to be split is not manifold"));
    mark_edges(&p, is_split, shortest);
    if (p.n_vertex == surface->n_vertex) goto fail;
    HX_TRY_FAIL(grow(&p));
    rc = replace_triangles(&p);
fail:
    free(p.opposite);
    free(p.middle);
    return rc;
}
