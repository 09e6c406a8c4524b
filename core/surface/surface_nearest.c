/* Distance between two surfaces of which one was made from the other. For each point, the search
 * starts from a triangle that the point was made from, and descends to a nearest triangle in the
 * neighbourhood. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/union_find.h"
#include "surface_internal.h"
#include "surface_order.h"
#include "surface_simplify.h"

enum { MAX_POINT = 400000 }; /* maximum number of points in each direction */

/* Triangles and their connectivity. */
typedef struct sheet {
    int64_t n_vertex, n_tri;
    double *xyz;
    int32_t *tri;
    int32_t *opposite; /* [n_tri][3] half-edges (owned) */
    int32_t *corner;   /* [n_vertex] one corner of each vertex (owned) */
} sheet;

static int begin_sheet(sheet *s)
{
    int64_t n_bad;
    HX_TRY(hx_alloc_raw(&s->opposite, 3 * (size_t)s->n_tri, sizeof *s->opposite, "half-edges"));
    HX_TRY(hx_alloc(&s->corner, (size_t)s->n_vertex, sizeof *s->corner, "vertices"));
    HX_TRY(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, s->opposite, NULL, &n_bad));
    for (int64_t c = 0; c < 3 * s->n_tri; c++) s->corner[s->tri[c]] = (int32_t)c;
    return HX_OK;
}

static void end_sheet(sheet *s)
{
    free(s->opposite);
    free(s->corner);
}

/* --- the nearest point --- */

void hx_triangle_nearest(const double *a, const double *b, const double *c, const double *x,
                         double share[3])
{
    double ab[3], ac[3], ax[3], bx[3], cx[3];
    for (int d = 0; d < 3; d++) {
        ab[d] = b[d] - a[d];
        ac[d] = c[d] - a[d];
        ax[d] = x[d] - a[d];
        bx[d] = x[d] - b[d];
        cx[d] = x[d] - c[d];
    }
    const double d1 = hx_dot3(ab, ax), d2 = hx_dot3(ac, ax), d3 = hx_dot3(ab, bx),
                 d4 = hx_dot3(ac, bx), d5 = hx_dot3(ab, cx), d6 = hx_dot3(ac, cx);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v, w;
    if (d1 <= 0.0 && d2 <= 0.0)
        v = w = 0.0;
    else if (d3 >= 0.0 && d4 <= d3)
        v = 1.0, w = 0.0;
    else if (d6 >= 0.0 && d5 <= d6)
        v = 0.0, w = 1.0;
    else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0)
        v = d1 / (d1 - d3), w = 0.0;
    else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0)
        v = 0.0, w = d2 / (d2 - d6);
    else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0)
        w = (d4 - d3) / (d4 - d3 + d5 - d6), v = 1.0 - w;
    else
        v = vb / (va + vb + vc), w = vc / (va + vb + vc);
    share[0] = 1.0 - v - w;
    share[1] = v;
    share[2] = w;
}

typedef struct nearest {
    int32_t tri;
    double distance; /* squared */
    double share[3];
} nearest;

static void look_at_triangle(const sheet *s, int64_t t, const double *x, nearest *best)
{
    const int32_t *v = s->tri + 3 * t;
    const double *p[3];
    double share[3], sum = 0.0;
    for (int i = 0; i < 3; i++) p[i] = s->xyz + 3 * (int64_t)v[i];
    hx_triangle_nearest(p[0], p[1], p[2], x, share);
    for (int d = 0; d < 3; d++) {
        const double off = share[0] * p[0][d] + share[1] * p[1][d] + share[2] * p[2][d] - x[d];
        sum += off * off;
    }
    if (!(sum < best->distance)) return;
    *best = (nearest){(int32_t)t, sum, {share[0], share[1], share[2]}};
}

static void look_around(const sheet *s, int32_t v, const double *x, nearest *best)
{
    const int64_t first = s->corner[v];
    int64_t c = first;
    do {
        look_at_triangle(s, c / 3, x, best);
        c = hx_corner_turn(s->opposite, c);
    } while (c != first);
}

/* Starts with the fan of `start` and continues as long as a fan at a corner of the best triangle
 * has a nearer triangle. */
static void walk_sheet(const sheet *s, int32_t start, const double *x, nearest *best)
{
    nearest here = {-1, INFINITY, {0.0, 0.0, 0.0}};
    look_around(s, start, x, &here);
    for (int32_t before = -1; before != here.tri;) {
        before = here.tri;
        for (int i = 0; i < 3; i++) look_around(s, s->tri[3 * (int64_t)before + i], x, &here);
    }
    if (here.distance < best->distance) *best = here;
}

/* --- simplifying --- */

typedef struct simplifier {
    sheet old, new;    /* new: the arrays of the simplified surface, once they exist */
    int32_t *into;     /* [old.n_vertex] vertex into which each was merged, or itself */
    int32_t *number;   /* [old.n_vertex] its new number, -1: removed */
    int32_t *origin;   /* [new.n_vertex] old number */
    int turns_back[3]; /* 1: coordinates along this axis count from the other end */
    double from[3], scale;
} simplifier;

/* Finds how to scale to a box of size 1 at the origin. */
static void find_scale(simplifier *k, const hx_surface *s)
{
    double most = 0.0;
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < s->n_vertex; v++) {
            low = fmin(low, s->xyz[3 * v + d]);
            high = fmax(high, s->xyz[3 * v + d]);
        }
        k->turns_back[d] = hx_surface_turns_back(s, d);
        k->from[d] = k->turns_back[d] ? high : low;
        most = fmax(most, high - low);
    }
    k->scale = most > 0.0 ? most : 1.0;
}

static void reverse_triangles(hx_surface *s)
{
    for (int64_t t = 0; t < s->n_tri; t++) {
        const int32_t kept = s->tri[3 * t + 1];
        s->tri[3 * t + 1] = s->tri[3 * t + 2];
        s->tri[3 * t + 2] = kept;
    }
}

/* Collapses edges in an order by place, in which ties do not depend on numbers, and of which a
 * mirror image has the mirror image. */
static int collapse(simplifier *k, hx_surface *s, int64_t n_want, int64_t *n_left)
{
    hx_surface_order order = {0};
    int32_t *into = NULL;
    int rc;
    const int is_turned = (k->turns_back[0] + k->turns_back[1] + k->turns_back[2]) % 2;
    for (int64_t i = 0; i < 3 * s->n_vertex; i++) {
        const double x = s->xyz[i] - k->from[i % 3];
        s->xyz[i] = (k->turns_back[i % 3] ? -x : x) / k->scale;
    }
    if (is_turned) reverse_triangles(s);
    HX_TRY_FAIL(hx_alloc_raw(&into, (size_t)s->n_vertex, sizeof *into, "vertices"));
    HX_TRY_FAIL(hx_surface_order_create(&order, s->n_vertex, s->xyz, s->n_tri, s->tri));
    HX_TRY_FAIL(hx_surface_collapse(order.n_vertex, order.xyz, order.n_tri, order.tri, n_want, into,
                                    n_left));
    hx_surface_order_return(&order, s->xyz, s->tri);
    for (int64_t i = 0; i < s->n_vertex; i++) k->into[order.vertex[i]] = order.vertex[into[i]];
    if (is_turned) reverse_triangles(s);
fail:
    hx_surface_order_free(&order);
    free(into);
    return rc;
}

/* Renumbers without gaps in the old order; restores the scale of the coordinates. */
static int compact(simplifier *k, hx_surface *s)
{
    int64_t n_vertex = 0, n_tri = 0;
    for (int64_t v = 0; v < s->n_vertex; v++) {
        k->into[v] = hx_root(k->into, (int32_t)v); /* its root remains its own parent */
        k->number[v] = k->into[v] == v ? (int32_t)n_vertex++ : -1;
    }
    HX_TRY(hx_alloc_raw(&k->origin, (size_t)n_vertex, sizeof(int32_t), "vertices"));
    for (int64_t v = 0; v < s->n_vertex; v++) {
        const int64_t to = k->number[v];
        if (to < 0) continue;
        k->origin[to] = (int32_t)v;
        for (int d = 0; d < 3; d++) {
            const double x = k->scale * s->xyz[3 * v + d];
            s->xyz[3 * to + d] = k->turns_back[d] ? k->from[d] - x : k->from[d] + x;
        }
    }
    for (int64_t t = 0; t < s->n_tri; t++) {
        if (s->tri[3 * t] < 0) continue;
        for (int i = 0; i < 3; i++) s->tri[3 * n_tri + i] = k->number[s->tri[3 * t + i]];
        n_tri++;
    }
    s->n_vertex = n_vertex;
    s->n_tri = n_tri;
    if (s->edge) memset(s->edge, 0xff, 2 * (size_t)n_vertex * sizeof *s->edge);
    if (s->is_cap) memset(s->is_cap, 0, (size_t)n_tri);
    k->new.n_vertex = n_vertex;
    k->new.n_tri = n_tri;
    k->new.xyz = s->xyz;
    k->new.tri = s->tri;
    return HX_OK;
}

/* value := interpolated from the old surface at the point nearest to each new vertex. */
static int carry_values(const simplifier *k, size_t n_value, float *const *value)
{
    int rc;
    float *old = NULL;
    nearest *at = NULL;
    const int64_t n = k->new.n_vertex;
    HX_TRY_FAIL(hx_alloc_raw(&at, (size_t)n, sizeof *at, "nearest points"));
    HX_TRY_FAIL(hx_alloc_raw(&old, (size_t)k->old.n_vertex, sizeof *old, "values"));
#pragma omp parallel for schedule(static)
    for (int64_t v = 0; v < n; v++) {
        at[v].distance = INFINITY;
        walk_sheet(&k->old, k->origin[v], k->new.xyz + 3 * v, &at[v]);
    }
    for (size_t i = 0; i < n_value; i++) {
        memcpy(old, value[i], (size_t)k->old.n_vertex * sizeof *old);
        for (int64_t v = 0; v < n; v++) {
            double sum = 0.0;
            for (int c = 0; c < 3; c++)
                sum += at[v].share[c] * (double)old[k->old.tri[3 * (int64_t)at[v].tri + c]];
            value[i][v] = (float)sum;
        }
    }
fail:
    free(at);
    free(old);
    return rc;
}

/* --- measuring --- */

/* Squared distance of old vertex i from the new surface. */
static double old_off(const simplifier *k, int64_t i)
{
    nearest best = {-1, INFINITY, {0.0, 0.0, 0.0}};
    walk_sheet(&k->new, k->number[k->into[i]], k->old.xyz + 3 * i, &best);
    return best.distance;
}

/* Squared distance of point i of the new surface (its vertices, then its triangles' midpoints) from
 * the old surface. */
static double new_off(const simplifier *k, int64_t i)
{
    nearest best = {-1, INFINITY, {0.0, 0.0, 0.0}};
    if (i < k->new.n_vertex) {
        walk_sheet(&k->old, k->origin[i], k->new.xyz + 3 * i, &best);
        return best.distance;
    }
    const int32_t *v = k->new.tri + 3 * (i - k->new.n_vertex);
    double x[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) x[d] += k->new.xyz[3 * (int64_t)v[c] + d] / 3.0;
    for (int c = 0; c < 3; c++) walk_sheet(&k->old, k->origin[v[c]], x, &best);
    return best.distance;
}

typedef double (*off_of)(const simplifier *k, int64_t i);

/* Measures at n points or at an evenly spaced subset; the mean is summed in their order. */
static int measure_way(const simplifier *k, int64_t n, off_of off, double *sum,
                       hx_surface_simplification *r)
{
    const int64_t step = n / MAX_POINT + 1, n_point = (n + step - 1) / step;
    double *distance = NULL;
    HX_TRY(hx_alloc_raw(&distance, (size_t)n_point, sizeof *distance, "distances"));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < n_point; i++) distance[i] = sqrt(off(k, i * step));
    for (int64_t i = 0; i < n_point; i++) {
        *sum += distance[i];
        if (!(distance[i] <= r->largest)) r->largest = distance[i];
    }
    r->n_point += n_point;
    free(distance);
    return HX_OK;
}

int hx_surface_simplify(hx_surface *s, int64_t n_want, size_t n_value, float *const *value,
                        hx_surface_simplification *result)
{
    int rc = HX_OK;
    simplifier k;
    memset(&k, 0, sizeof k);
    memset(result, 0, sizeof *result);
    result->n_before = result->n_after = s->n_tri;
    if (s->n_tri <= n_want) return HX_OK;
    find_scale(&k, s);
    const size_t n_vertex = (size_t)s->n_vertex, n_tri = (size_t)s->n_tri;
    k.old.n_vertex = s->n_vertex;
    k.old.n_tri = s->n_tri;
    HX_TRY_FAIL(hx_alloc_raw(&k.old.xyz, 3 * n_vertex, sizeof(double), "vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&k.old.tri, 3 * n_tri, sizeof(int32_t), "triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&k.into, n_vertex, sizeof(int32_t), "vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&k.number, n_vertex, sizeof(int32_t), "vertices"));
    memcpy(k.old.xyz, s->xyz, 3 * n_vertex * sizeof(double));
    memcpy(k.old.tri, s->tri, 3 * n_tri * sizeof(int32_t));
    HX_TRY_FAIL(collapse(&k, s, n_want, &result->n_after));
    HX_TRY_FAIL(compact(&k, s));
    HX_TRY_FAIL(begin_sheet(&k.old));
    HX_TRY_FAIL(begin_sheet(&k.new));
    if (n_value > 0) HX_TRY_FAIL(carry_values(&k, n_value, value));
    double sum = 0.0;
    HX_TRY_FAIL(measure_way(&k, k.old.n_vertex, old_off, &sum, result));
    HX_TRY_FAIL(measure_way(&k, k.new.n_vertex + k.new.n_tri, new_off, &sum, result));
    result->mean = result->n_point > 0 ? sum / (double)result->n_point : 0.0;
fail:
    end_sheet(&k.old);
    end_sheet(&k.new);
    free(k.old.xyz);
    free(k.old.tri);
    free(k.into);
    free(k.number);
    free(k.origin);
    return rc;
}
