/* Reduces triangles by edge collapse, approximately in the order of the quadric error (Garland and
 * Heckbert 1997). In addition to the planes of its triangles, the quadric of a vertex has a small
 * term for the vertex's own position, which acts like noise in the planes (Trettner and Kobbelt
 * 2020) and makes the best position unique even on flat regions. A collapse that would not leave a
 * closed manifold (the link condition) or that flips a triangle is rejected. Coordinates are scaled
 * to a box of size 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "surface_edit.h"

/* Weight of a vertex's own position relative to the planes. */
static const double place_share = 1e-4;

/* A collapse may make no triangle worse than this quality, unless one there was worse before. */
static const double least_quality = 0.21;

/* x' A x + 2 b' x + c: a00 a01 a02 a11 a12 a22, b, c */
typedef struct quadric {
    double a[6], b[3], c;
} quadric;

/* A possible collapse; outdated if one of its vertices has changed since. */
typedef struct candidate {
    int32_t a, b;
    uint32_t stamp; /* sum of the vertices' stamps */
    int32_t next;   /* next in its bucket, -1: last */
} candidate;

/* Costs are sorted into buckets by the leading bits of a float, eight per factor of 2. A heap of
 * all edges would take most of the time, and a finer order does not improve the surface. */
enum { N_BUCKET = 1 << 11, BUCKET_SHIFT = 20 };

typedef struct collapser {
    int64_t n_vertex, n_tri, n_left;
    double *xyz;         /* [n_vertex][3] scaled (borrowed) */
    hx_half_edges edges; /* tri is borrowed, the others are owned */
    int32_t *into;       /* [n_vertex] vertex into which it was merged (borrowed) */
    quadric *q;          /* [n_vertex] (owned) */
    uint32_t *stamp;     /* [n_vertex] (owned) */
    candidate *edge;     /* [n_edge] in buckets or unused (owned) */
    size_t n_edge, capacity;
    int32_t bucket[N_BUCKET], unused; /* head of each list, -1: empty */
    int least;                        /* all buckets below this are empty */
} collapser;

/* --- quadrics --- */

static void add_plane(quadric *q, double weight, const double n[3], double d)
{
    q->a[0] += weight * n[0] * n[0];
    q->a[1] += weight * n[0] * n[1];
    q->a[2] += weight * n[0] * n[2];
    q->a[3] += weight * n[1] * n[1];
    q->a[4] += weight * n[1] * n[2];
    q->a[5] += weight * n[2] * n[2];
    for (int i = 0; i < 3; i++) q->b[i] += weight * n[i] * d;
    q->c += weight * d * d;
}

static void add_place(quadric *q, double weight, const double x[3])
{
    q->a[0] += weight;
    q->a[3] += weight;
    q->a[5] += weight;
    for (int i = 0; i < 3; i++) q->b[i] -= weight * x[i];
    q->c += weight * hx_dot3(x, x);
}

static void add_quadric(quadric *to, const quadric *q)
{
    for (int i = 0; i < 6; i++) to->a[i] += q->a[i];
    for (int i = 0; i < 3; i++) to->b[i] += q->b[i];
    to->c += q->c;
}

static double evaluate_quadric(const quadric *q, const double x[3])
{
    const double *a = q->a;
    const double ax[3] = {a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
                          a[1] * x[0] + a[3] * x[1] + a[4] * x[2],
                          a[2] * x[0] + a[4] * x[1] + a[5] * x[2]};
    return hx_dot3(x, ax) + 2.0 * hx_dot3(q->b, x) + q->c;
}

/* x := minimiser of the quadric; the position terms make the matrix regular. */
static void find_least(const quadric *q, double x[3])
{
    const double *a = q->a;
    const double m0 = a[3] * a[5] - a[4] * a[4], m1 = a[2] * a[4] - a[1] * a[5],
                 m2 = a[1] * a[4] - a[2] * a[3], m3 = a[0] * a[5] - a[2] * a[2],
                 m4 = a[1] * a[2] - a[0] * a[4], m5 = a[0] * a[3] - a[1] * a[1];
    const double scale = -1.0 / (a[0] * m0 + a[1] * m1 + a[2] * m2);
    const double *b = q->b;
    x[0] = scale * (m0 * b[0] + m1 * b[1] + m2 * b[2]);
    x[1] = scale * (m1 * b[0] + m3 * b[1] + m4 * b[2]);
    x[2] = scale * (m2 * b[0] + m4 * b[1] + m5 * b[2]);
}

static const double *place_of_vertex(const collapser *k, int32_t v)
{
    return k->xyz + 3 * (int64_t)v;
}

/* Position at which a and b would merge, and its cost. */
static double find_merged_place(const collapser *k, int32_t a, int32_t b, double x[3])
{
    quadric q = k->q[a];
    add_quadric(&q, &k->q[b]);
    find_least(&q, x);
    double cost = evaluate_quadric(&q, x);
    const double *const end[2] = {place_of_vertex(k, a), place_of_vertex(k, b)};
    for (int i = 0; i < 2; i++) {
        const double at_end = evaluate_quadric(&q, end[i]);
        if (cost <= at_end) continue; /* otherwise rounding made x worse than one of the ends */
        memcpy(x, end[i], 3 * sizeof *x);
        cost = at_end;
    }
    return cost > 0.0 ? cost : 0.0;
}

/* --- buckets --- */

static int find_bucket(const collapser *k, int32_t a, int32_t b)
{
    double x[3];
    const float single =
        (float)find_merged_place(k, a, b, x); /* not negative, so its bits are ordered */
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return (int)(bits >> BUCKET_SHIFT);
}

static void put_in(collapser *k, int32_t edge, int bucket)
{
    k->edge[edge].next = k->bucket[bucket];
    k->bucket[bucket] = edge;
    if (bucket < k->least) k->least = bucket;
}

static int push(collapser *k, int32_t a, int32_t b)
{
    int32_t edge = k->unused;
    if (edge >= 0) {
        k->unused = k->edge[edge].next;
    } else {
        HX_TRY(hx_grow(&k->edge, k->n_edge, &k->capacity, sizeof *k->edge, "edges to collapse"));
        edge = (int32_t)k->n_edge++;
    }
    k->edge[edge] = (candidate){a, b, k->stamp[a] + k->stamp[b], -1};
    put_in(k, edge, find_bucket(k, a, b));
    return HX_OK;
}

/* Removes one of the cheapest candidates; returns 0 if there is none. */
static int pop(collapser *k, candidate *c)
{
    while (k->least < N_BUCKET && k->bucket[k->least] < 0) k->least++;
    if (k->least == N_BUCKET) return 0;
    const int32_t edge = k->bucket[k->least];
    *c = k->edge[edge];
    k->bucket[k->least] = c->next;
    k->edge[edge].next = k->unused;
    k->unused = edge;
    return 1;
}

/* --- a collapse --- */

/* Returns 1 if, with the vertex at x, no triangle of the fan flips. Triangles gone[2] are removed;
 * the worst quality of the fan before and after the collapse goes to worst[2]. */
static int keeps_sides(const collapser *k, const int32_t *fan, int n, const double x[3],
                       const int32_t gone[2], double worst[2])
{
    for (int i = 0; i < n; i++) {
        const int64_t c = fan[i], next = hx_corner_next(c);
        const double *p = place_of_vertex(k, k->edges.tri[next]),
                     *r = place_of_vertex(k, k->edges.tri[hx_corner_next(next)]);
        const double *old = place_of_vertex(k, k->edges.tri[c]);
        double before[3], after[3];
        worst[0] = fmin(worst[0], hx_triangle_quality(old, p, r));
        if (c / 3 == gone[0] || c / 3 == gone[1]) continue;
        hx_triangle_normal2(old, p, r, before);
        hx_triangle_normal2(x, p, r, after);
        if (!(hx_dot3(before, after) > 0.3 * hx_norm3(before) * hx_norm3(after))) return 0;
        worst[1] = fmin(worst[1], hx_triangle_quality(x, p, r));
    }
    return 1;
}

/* Performs the collapse if it is still valid. */
static int try_candidate(collapser *k, const candidate *c)
{
    int32_t fan_a[HX_FAN_MOST], fan_b[HX_FAN_MOST];
    double x[3];
    if (k->edges.corner[c->a] < 0 || k->edges.corner[c->b] < 0) return HX_OK;
    if (k->stamp[c->a] + k->stamp[c->b] != c->stamp) return HX_OK;
    const int n_a = hx_fan_list(&k->edges, c->a, fan_a), n_b = hx_fan_list(&k->edges, c->b, fan_b);
    const int32_t h = hx_fan_find(&k->edges, fan_a, n_a, c->b);
    if (n_a == 0 || n_b == 0 || h < 0) return HX_OK;
    if (!hx_fan_may_merge(&k->edges, fan_a, n_a, fan_b, n_b)) return HX_OK;
    const int32_t gone[2] = {h / 3, k->edges.opposite[h] / 3};
    double worst[2] = {1.0, 1.0};
    find_merged_place(k, c->a, c->b, x);
    if (!keeps_sides(k, fan_a, n_a, x, gone, worst)) return HX_OK;
    if (!keeps_sides(k, fan_b, n_b, x, gone, worst)) return HX_OK;
    if (!(worst[1] >= fmin(worst[0], least_quality))) return HX_OK;
    /* Merges b into a, which moves to x. */
    const int32_t a = c->a, b = c->b;
    int32_t fan[HX_FAN_MOST];
    hx_half_edge_collapse(&k->edges, h, fan_b, n_b);
    k->into[b] = a;
    memcpy(k->xyz + 3 * (int64_t)a, x, 3 * sizeof *x);
    add_quadric(&k->q[a], &k->q[b]);
    k->stamp[a]++;
    k->n_left -= 2;
    const int n = hx_fan_list(&k->edges, a, fan);
    for (int i = 0; i < n; i++) HX_TRY(push(k, a, k->edges.tri[hx_corner_next(fan[i])]));
    return HX_OK;
}

/* --- all of it --- */

static void make_quadrics(collapser *k)
{
    for (int64_t t = 0; t < k->n_tri; t++) {
        const int32_t *v = k->edges.tri + 3 * t;
        double n[3];
        hx_triangle_normal2(place_of_vertex(k, v[0]), place_of_vertex(k, v[1]),
                            place_of_vertex(k, v[2]), n);
        const double area = hx_norm3(n);
        if (!(area > 0.0)) continue;
        for (int d = 0; d < 3; d++) n[d] /= area;
        for (int i = 0; i < 3; i++) {
            add_plane(&k->q[v[i]], area, n, -hx_dot3(n, place_of_vertex(k, v[0])));
            add_place(&k->q[v[i]], place_share * area, place_of_vertex(k, v[i]));
        }
    }
}

/* Enters every edge once; within a bucket in the order of the half-edges. */
static int make_buckets(collapser *k)
{
    const int64_t n_half = 3 * k->n_tri;
    uint16_t *bucket = NULL;
    k->capacity = (size_t)n_half / 2 + 1;
    for (int i = 0; i < N_BUCKET; i++) k->bucket[i] = -1;
    k->unused = -1;
    HX_TRY(hx_alloc_raw(&k->edge, k->capacity, sizeof *k->edge, "edges to collapse"));
    for (int64_t h = 0; h < n_half; h++)
        if (h < k->edges.opposite[h])
            k->edge[k->n_edge++] =
                (candidate){k->edges.tri[h], k->edges.tri[hx_corner_next(h)], 0, -1};
    HX_TRY(hx_alloc_raw(&bucket, k->n_edge, sizeof *bucket, "edges to collapse"));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < k->n_edge; i++)
        bucket[i] = (uint16_t)find_bucket(k, k->edge[i].a, k->edge[i].b);
    for (size_t i = k->n_edge; i-- > 0;) put_in(k, (int32_t)i, bucket[i]);
    free(bucket);
    return HX_OK;
}

static int begin_collapser(collapser *k)
{
    int64_t n_bad;
    const size_t n_vertex = (size_t)k->n_vertex;
    HX_TRY(hx_alloc_raw(&k->edges.opposite, 3 * (size_t)k->n_tri, sizeof *k->edges.opposite,
                        "half-edges"));
    HX_TRY(hx_alloc_raw(&k->edges.corner, n_vertex, sizeof *k->edges.corner, "vertices"));
    HX_TRY(hx_alloc(&k->q, n_vertex, sizeof *k->q, "quadrics"));
    HX_TRY(hx_alloc(&k->stamp, n_vertex, sizeof *k->stamp, "vertices"));
    HX_TRY(hx_surface_pair(k->n_vertex, k->n_tri, k->edges.tri, k->edges.opposite, NULL, &n_bad));
    if (n_bad > 0)
        return HX_RAISE(HX_EINPUT, "the surface cannot be simplified because it has %lld open %s",
                        (long long)n_bad, hx_noun(n_bad, "edge", "edges"));
    for (int64_t v = 0; v < k->n_vertex; v++) k->edges.corner[v] = -1;
    for (int64_t c = 0; c < 3 * k->n_tri; c++) k->edges.corner[k->edges.tri[c]] = (int32_t)c;
    make_quadrics(k);
    return make_buckets(k);
}

int hx_surface_collapse(int64_t n_vertex, double *xyz, int64_t n_tri, int32_t *tri, int64_t n_want,
                        int32_t *into, int64_t *n_left)
{
    int rc;
    collapser k = {.n_vertex = n_vertex, .n_tri = n_tri, .n_left = n_tri, .least = N_BUCKET};
    k.xyz = xyz;
    k.edges.tri = tri;
    k.into = into;
    for (int64_t v = 0; v < n_vertex; v++) into[v] = (int32_t)v;
    HX_TRY_FAIL(begin_collapser(&k));
    for (candidate c; k.n_left > n_want && pop(&k, &c);) HX_TRY_FAIL(try_candidate(&k, &c));
    *n_left = k.n_left;
fail:
    free(k.edges.opposite);
    free(k.edges.corner);
    free(k.q);
    free(k.stamp);
    free(k.edge);
    return rc;
}
