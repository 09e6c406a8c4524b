/* Half-edges and their opposites. Where elements touch only in an edge or a node, the surface is
 * cut open so that every edge has two triangles and every vertex one fan. A triangle's corner c (3
 * * triangle + 0, 1, 2) also denotes the half-edge from it to the next corner. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/radix_sort.h"
#include "surface_internal.h"

/* The sides of a cut are separated by this fraction of the distance to their neighbours. */
static const double split_share = 0.02;

/* Maximum number of rounds in which edges are split at their middle. */
enum { MOST_SPLITS = 4 };

static uint64_t edge_key(const int32_t *tri, int64_t c, int bits)
{
    const uint64_t a = (uint64_t)tri[c], b = (uint64_t)tri[hx_corner_next(c)];
    return a < b ? a << bits | b : b << bits | a;
}

/* End of the half-edges in `order`, starting at `begin`, that lie on one edge. */
static int64_t group_end(const int32_t *tri, const int32_t *order, int64_t n, int64_t begin)
{
    int64_t end = begin + 1;
    while (end < n && edge_key(tri, order[end], 31) == edge_key(tri, order[begin], 31)) end++;
    return end;
}

int hx_surface_pair(int64_t n_vertex, int64_t n_tri, const int32_t *tri, int32_t *opposite,
                    int32_t **group, int64_t *n_bad)
{
    int rc;
    const int64_t n = 3 * n_tri;
    const int bits = hx_bits((uint64_t)n_vertex);
    uint64_t *key = NULL;
    int32_t *order = NULL;
    *n_bad = 0;
    if (group) *group = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, "edges of the surface"));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, "edges of the surface"));
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < n; c++) key[c] = edge_key(tri, c, bits);
    HX_TRY_FAIL(hx_radix_sort(key, order, n, 2 * bits));
    for (int64_t i = 0, end; i < n; i = end) {
        end = group_end(tri, order, n, i);
        /* These two half-edges are opposite and the only ones on their edge? */
        if (end - i == 2 && tri[order[i]] != tri[order[i + 1]] &&
            tri[order[i]] != tri[hx_corner_next(order[i])]) {
            opposite[order[i]] = order[i + 1];
            opposite[order[i + 1]] = order[i];
            continue;
        }
        ++*n_bad;
        for (int64_t k = i; k < end; k++) opposite[order[k]] = -1;
    }
    if (group) {
        *group = order;
        order = NULL;
    }
fail:
    free(key);
    free(order);
    return rc;
}

/* --- edges with more than two triangles --- */

/* A half-edge on such an edge, with the direction of its triangle around the edge. */
typedef struct blade {
    double angle;
    int32_t corner;
    /* 1: the direction is along the edge's axis, so the solid lies at smaller angles */
    int is_forward;
} blade;

static int compare_blades(const void *a, const void *b)
{
    const blade *x = a, *y = b;
    if (x->angle != y->angle) return x->angle < y->angle ? -1 : 1;
    if (x->is_forward != y->is_forward) return y->is_forward - x->is_forward;
    return (x->corner > y->corner) - (x->corner < y->corner);
}

static void normalise(double x[3])
{
    const double size = hx_norm3(x);
    for (int d = 0; d < 3; d++) x[d] /= size > 0.0 ? size : 1.0;
}

/* Two unit vectors that span, right-handed, the plane perpendicular to `axis`. */
static void span_plane(const double axis[3], double e1[3], double e2[3])
{
    const double zero[3] = {0.0, 0.0, 0.0};
    int least = 0;
    for (int d = 1; d < 3; d++)
        if (fabs(axis[d]) < fabs(axis[least])) least = d;
    double unit[3] = {0.0, 0.0, 0.0};
    unit[least] = 1.0;
    hx_triangle_normal2(zero, axis, unit, e1);
    hx_triangle_normal2(zero, axis, e1, e2);
    normalise(e1);
    normalise(e2);
}

/* Computes and sorts the angles of the triangles at half-edges corner[n] of one edge. */
static void sort_blades(const hx_surface *s, int64_t n, const int32_t *corner, blade *list)
{
    double axis[3], e1[3], e2[3];
    int32_t a = s->tri[corner[0]], b = s->tri[hx_corner_next(corner[0])];
    if (a > b) {
        const int32_t swap = a;
        a = b;
        b = swap;
    }
    for (int d = 0; d < 3; d++) axis[d] = s->xyz[3 * (int64_t)b + d] - s->xyz[3 * (int64_t)a + d];
    span_plane(axis, e1, e2);
    for (int64_t i = 0; i < n; i++) {
        const int32_t apex = s->tri[hx_corner_next(hx_corner_next(corner[i]))];
        double u = 0.0, v = 0.0;
        for (int d = 0; d < 3; d++) {
            const double w = s->xyz[3 * (int64_t)apex + d] - s->xyz[3 * (int64_t)a + d];
            u += w * e1[d];
            v += w * e2[d];
        }
        list[i] = (blade){atan2(v, u), corner[i], s->tri[corner[i]] == a};
    }
    qsort(list, (size_t)n, sizeof *list, compare_blades);
}

/* If the mesh's elements share whole faces, the surface is closed. */
static int refuse_open(const hx_surface *s, int32_t corner)
{
    const double *const x = s->xyz + 3 * (int64_t)s->tri[corner];
    return HX_RAISE(
        HX_EINPUT,
        "the surface is not closed at an edge at (%g %g %g), because the elements there "
        "do not share whole faces, or overlap; `hextop check` of the mesh lists them",
        x[0], x[1], x[2]);
}

/* Pairs the half-edges of one edge, each pair around a wedge of the solid. middle[corner] := a
 * number common to both of a pair, counting from *next. HX_EINPUT: the surface is not closed. */
static int pair_blades(const hx_surface *s, int64_t n, const blade *list, int32_t *middle,
                       int32_t *next)
{
    for (int64_t i = 0; i < n; i++) {
        if (!list[i].is_forward) continue;
        int64_t k = i; /* the nearest unpaired half-edge below it at which the solid ends */
        do k = (k + n - 1) % n;
        while (k != i && (list[k].is_forward || middle[list[k].corner] >= 0));
        if (k == i) return refuse_open(s, list[i].corner);
        middle[list[i].corner] = middle[list[k].corner] = (*next)++;
    }
    for (int64_t i = 0; i < n; i++)
        if (middle[list[i].corner] < 0) return refuse_open(s, list[i].corner);
    return HX_OK;
}

/* middle[3 n_tri] := number of the new vertex in the middle of a half-edge, -1: none. */
static int choose_middles(const hx_surface *s, const int32_t *group, const int32_t *opposite,
                          int32_t *middle, int32_t *next)
{
    const int64_t n = 3 * s->n_tri;
    int rc = HX_OK;
    for (int64_t c = 0; c < n; c++) middle[c] = -1;
    for (int64_t i = 0, end; i < n; i = end) {
        blade *list = NULL;
        end = group_end(s->tri, group, n, i);
        if (opposite[group[i]] >= 0) continue;
        HX_TRY(hx_alloc(&list, (size_t)(end - i), sizeof *list, "triangles at an edge"));
        sort_blades(s, end - i, group + i, list);
        rc = pair_blades(s, end - i, list, middle, next);
        free(list);
        HX_TRY(rc);
    }
    return HX_OK;
}

/* Splits a triangle whose edges i have middles m[i] (-1: none); returns the number of pieces. */
static int split_triangle(const int32_t v[3], const int32_t m[3], int32_t out[4][3])
{
    const int n = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0);
    /* corner such that edge `first` has a middle; if two edges have one, `first` is followed by the
     * other */
    int first = 0;
    while (n > 0 && (m[first] < 0 || (n == 2 && m[(first + 2) % 3] >= 0))) first++;
    const int32_t a = v[first], b = v[(first + 1) % 3], c = v[(first + 2) % 3];
    const int32_t ab = m[first], bc = m[(first + 1) % 3], ca = m[(first + 2) % 3];
    const int32_t pieces[4][4][3] = {{{a, b, c}},
                                     {{a, ab, c}, {ab, b, c}},
                                     {{ab, b, bc}, {a, ab, bc}, {a, bc, c}},
                                     {{a, ab, ca}, {ab, b, bc}, {bc, c, ca}, {ab, bc, ca}}};
    memcpy(out, pieces[n], sizeof pieces[n]);
    return n + 1;
}

/* Reallocates for more vertices. */
static int grow_vertices(hx_surface *s, int64_t n_vertex)
{
    int rc;
    double *xyz = NULL;
    int32_t *edge = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)n_vertex, sizeof *xyz, "surface vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&edge, 2 * (size_t)n_vertex, sizeof *edge, "surface vertices"));
    memcpy(xyz, s->xyz, 3 * (size_t)s->n_vertex * sizeof *xyz);
    memcpy(edge, s->edge, 2 * (size_t)s->n_vertex * sizeof *edge);
    free(s->xyz);
    free(s->edge);
    s->xyz = xyz;
    s->edge = edge;
    for (int64_t i = 2 * s->n_vertex; i < 2 * n_vertex; i++) edge[i] = -1;
    s->n_vertex = n_vertex;
    return HX_OK;
fail:
    free(xyz);
    free(edge);
    return rc;
}

/* Splits the triangles at the middles of their edges. */
static int insert_middles(hx_surface *s, const int32_t *middle, int32_t n_vertex)
{
    int rc;
    int32_t *tri = NULL, piece[4][3];
    uint8_t *is_cap = NULL;
    int64_t n_tri = s->n_tri, at = 0;
    for (int64_t c = 0; c < 3 * s->n_tri; c++) n_tri += middle[c] >= 0;
    HX_TRY_FAIL(hx_alloc_raw(&tri, 3 * (size_t)n_tri, sizeof *tri, "triangles of the surface"));
    HX_TRY_FAIL(hx_alloc_raw(&is_cap, (size_t)n_tri, 1, "triangles of the surface"));
    HX_TRY_FAIL(grow_vertices(s, n_vertex));
    for (int64_t c = 0; c < 3 * s->n_tri; c++) {
        const int64_t a = s->tri[c], b = s->tri[hx_corner_next(c)];
        for (int d = 0; d < 3 && middle[c] >= 0; d++)
            s->xyz[3 * (int64_t)middle[c] + d] = 0.5 * (s->xyz[3 * a + d] + s->xyz[3 * b + d]);
    }
    for (int64_t t = 0; t < s->n_tri; t++) {
        const int n = split_triangle(s->tri + 3 * t, middle + 3 * t, piece);
        memcpy(tri + 3 * at, piece, 3 * (size_t)n * sizeof *tri);
        for (int i = 0; i < n; i++) is_cap[at++] = s->is_cap[t];
    }
    free(s->tri);
    free(s->is_cap);
    s->tri = tri;
    s->is_cap = is_cap;
    s->n_tri = n_tri;
    return HX_OK;
fail:
    free(tri);
    free(is_cap);
    return rc;
}

/* --- vertices with more than one fan --- */

/* Marks the corners of the fan of c, and assigns `vertex` to them if it is >= 0. */
static void visit_fan(const int32_t *opposite, int64_t c, uint8_t *visited, int32_t *tri,
                      int32_t vertex)
{
    for (int64_t i = c; !visited[i]; i = hx_corner_turn(opposite, i)) {
        visited[i] = 1;
        if (vertex >= 0) tri[i] = vertex;
    }
}

/* Gives every fan but the first a vertex of its own; apart[n_vertex] marks all of them. */
static int split_fans(hx_surface *s, const int32_t *opposite, uint8_t **apart)
{
    int rc;
    const size_t n_corner = 3 * (size_t)s->n_tri;
    uint8_t *visited = NULL, *seen = NULL;
    int64_t n_more = 0;
    HX_TRY_FAIL(hx_alloc(&visited, n_corner, 1, "fans of the surface"));
    HX_TRY_FAIL(hx_alloc(&seen, (size_t)s->n_vertex, 1, "fans of the surface"));
    for (size_t c = 0; c < n_corner; c++) {
        if (visited[c]) continue;
        visit_fan(opposite, (int64_t)c, visited, s->tri, -1);
        n_more += seen[s->tri[c]];
        seen[s->tri[c]] = 1;
    }
    const int64_t n_vertex = s->n_vertex;
    int64_t next = n_vertex;
    HX_TRY_FAIL(hx_alloc(apart, (size_t)(n_vertex + n_more), 1, "fans of the surface"));
    if (n_more == 0) goto fail;
    HX_TRY_FAIL(grow_vertices(s, n_vertex + n_more));
    memset(visited, 0, n_corner);
    memset(seen, 0, (size_t)n_vertex);
    for (size_t c = 0; c < n_corner; c++) {
        if (visited[c]) continue;
        const int64_t v = s->tri[c];
        if (seen[v]) {
            memcpy(s->xyz + 3 * next, s->xyz + 3 * v, 3 * sizeof *s->xyz);
            (*apart)[v] = (*apart)[next] = 1;
            s->edge[2 * v] = s->edge[2 * v + 1] = -1;
        }
        visit_fan(opposite, (int64_t)c, visited, s->tri, seen[v] ? (int32_t)next : -1);
        next += seen[v];
        seen[v] = 1;
    }
fail:
    free(visited);
    free(seen);
    return rc;
}

/* Splits edges with more than two triangles at their middle; *n_bad: number of such edges
 * before. */
static int split_edges_once(hx_surface *s, int32_t **opposite, int64_t *n_bad)
{
    int rc;
    int32_t *group = NULL, *middle = NULL, next = (int32_t)s->n_vertex;
    free(*opposite);
    *opposite = NULL;
    HX_TRY_FAIL(hx_alloc_raw(opposite, 3 * (size_t)s->n_tri, sizeof **opposite, "half-edges"));
    HX_TRY_FAIL(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, *opposite, &group, n_bad));
    if (*n_bad == 0) goto fail;
    HX_TRY_FAIL(hx_alloc_raw(&middle, 3 * (size_t)s->n_tri, sizeof *middle, "half-edges"));
    HX_TRY_FAIL(choose_middles(s, group, *opposite, middle, &next));
    rc = insert_middles(s, middle, next);
fail:
    free(group);
    free(middle);
    return rc;
}

/* Repeats until no such edge is left. One round suffices for any valid solid; if elements overlap,
 * more than two triangles may again share the edge between two middles. */
static int split_edges(hx_surface *s, int32_t **opposite)
{
    int64_t n_bad = 1;
    for (int i = 0; i < MOST_SPLITS && n_bad > 0; i++)
        HX_TRY(split_edges_once(s, opposite, &n_bad));
    if (n_bad == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%lld %s to more than two of its triangles, because "
                    "elements overlap; `hextop check` of the mesh may list them",
                    (long long)n_bad,
                    hx_noun(n_bad, "edge of the surface belongs", "edges of the surface belong"));
}

int hx_surface_make_manifold(hx_surface *s)
{
    int rc;
    int32_t *opposite = NULL;
    uint8_t *apart = NULL;
    const int64_t n_before = s->n_vertex;
    HX_TRY_FAIL(split_edges(s, &opposite));
    const int64_t n_middle_end = s->n_vertex;
    HX_TRY_FAIL(split_fans(s, opposite, &apart));
    s->n_split = s->n_vertex - n_before;
    for (int64_t v = n_before; v < n_middle_end; v++) apart[v] = 1;
    /* Moves marked vertices slightly towards their neighbours, so that each moves to its own
     * side of the solid. */
    if (s->n_split > 0) {
        double *sum = NULL; /* [n_vertex][4] sum of the neighbours' coordinates, and their number */
        HX_TRY_FAIL(hx_alloc(&sum, 4 * (size_t)s->n_vertex, sizeof *sum, "neighbours of vertices"));
        for (int64_t c = 0; c < 3 * s->n_tri; c++) {
            const int64_t v = s->tri[c], b = s->tri[hx_corner_next(c)];
            if (!apart[v]) continue;
            for (int d = 0; d < 3; d++) sum[4 * v + d] += s->xyz[3 * b + d];
            sum[4 * v + 3] += 1.0;
        }
        for (int64_t v = 0; v < s->n_vertex; v++)
            for (int d = 0; apart[v] && d < 3; d++)
                s->xyz[3 * v + d] +=
                    split_share * (sum[4 * v + d] / sum[4 * v + 3] - s->xyz[3 * v + d]);
        free(sum);
    }
fail:
    free(opposite);
    free(apart);
    return rc;
}
