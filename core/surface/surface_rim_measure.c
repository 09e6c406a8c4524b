/* Raggedness of the rims of a surface: the lines at which its free part meets its caps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/quantile.h"
#include "surface_rims.h"

/* Samples per element size, and turns that are compared: within two elements. */
enum { PER_SIZE = 4, WINDOW = 8 };

static const double high_share = 0.99;

/* The rims of a surface, cut into chains at their corners. */
typedef struct chains {
    const hx_surface *surface;
    const hx_mesh *mesh;
    int32_t *next;    /* [n_vertex] next vertex on the rim, -1: none or several (owned) */
    uint8_t *is_end;  /* [n_vertex] 1: a chain ends here; 2: visited (owned) */
    int32_t *vertex;  /* [n] vertices of the chain at hand (owned) */
    double *at;       /* [n + 1] their distances along the chain (owned) */
    int64_t n, n_rim; /* n_rim: number of edges of all rims */
    int is_closed;
    double size;    /* mean length of the mesh edges that the chain crosses */
    double *normal; /* [n_vertex][3] of the cap at the edge to the next vertex (owned) */
    double *back;   /* [n_back] degrees (owned) */
    size_t n_back, capacity;
} chains;

/* --- corners --- */

static void cap_normal(const hx_surface *s, int64_t t, double n[3])
{
    const double *x[3];
    hx_triangle_corners(s, s->xyz, t, x);
    hx_triangle_normal2(x[0], x[1], x[2], n);
}

int hx_rim_is_corner(const hx_surface *s, int64_t n_corner, const int32_t *corner, int32_t v)
{
    double normal[2][3];
    if (s->edge[2 * (int64_t)v] >= 0 && s->edge[2 * (int64_t)v] == s->edge[2 * (int64_t)v + 1])
        return 1;
    for (int64_t i = 0; i < n_corner; i++)
        for (int64_t k = 0; s->is_cap[corner[i] / 3] && k < i; k++) {
            if (!s->is_cap[corner[k] / 3]) continue;
            cap_normal(s, corner[i] / 3, normal[0]);
            cap_normal(s, corner[k] / 3, normal[1]);
            if (hx_dot3(normal[0], normal[1]) <
                HX_RIM_SHARP * hx_norm3(normal[0]) * hx_norm3(normal[1]))
                return 1;
        }
    return 0;
}

/* Fills next, is_end and normal, and counts the edges of rims. */
static int link_rims(chains *c)
{
    int rc;
    const hx_surface *const s = c->surface;
    const size_t n_vertex = (size_t)s->n_vertex, n_corner = 3 * (size_t)s->n_tri;
    int32_t *opposite = NULL, *first = NULL, *corner = NULL;
    int64_t n_bad;
    HX_TRY_FAIL(hx_alloc_raw(&c->next, n_vertex, sizeof *c->next, "rims"));
    HX_TRY_FAIL(hx_alloc(&c->is_end, n_vertex, 1, "rims"));
    HX_TRY_FAIL(hx_alloc(&c->normal, 3 * n_vertex, sizeof *c->normal, "rims"));
    HX_TRY_FAIL(hx_alloc_raw(&opposite, n_corner, sizeof *opposite, "half-edges"));
    HX_TRY_FAIL(hx_alloc_raw(&first, n_vertex + 1, sizeof *first, "rims"));
    HX_TRY_FAIL(hx_alloc_raw(&corner, n_corner, sizeof *corner, "rims"));
    HX_TRY_FAIL(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, opposite, NULL, &n_bad));
    hx_surface_list_corners(s, first, corner);
    for (int64_t v = 0; v < s->n_vertex; v++) c->next[v] = -1;
    for (int64_t k = 0; k < 3 * s->n_tri; k++) {
        const int32_t v = s->tri[k];
        if (opposite[k] < 0 || !s->is_cap[k / 3] || s->is_cap[opposite[k] / 3]) continue;
        if (c->next[v] >= 0) c->is_end[v] = 1;
        c->next[v] = s->tri[hx_corner_next(k)];
        cap_normal(s, k / 3, c->normal + 3 * (int64_t)v);
        c->n_rim++;
    }
    for (int32_t v = 0; v < s->n_vertex; v++)
        if (c->next[v] >= 0 && hx_rim_is_corner(s, first[v + 1] - first[v], corner + first[v], v))
            c->is_end[v] = 1;
fail:
    free(opposite);
    free(first);
    free(corner);
    return rc;
}

/* --- samples --- */

static double length_of_edge(const chains *c, int32_t v)
{
    const int32_t *const edge = c->surface->edge + 2 * (int64_t)v;
    double e[3];
    if (edge[0] < 0 || edge[0] == edge[1]) return 0.0;
    for (int d = 0; d < 3; d++)
        e[d] = c->mesh->xyz[3 * (int64_t)edge[1] + d] - c->mesh->xyz[3 * (int64_t)edge[0] + d];
    return hx_norm3(e);
}

static int64_t n_edge_of(const chains *c)
{
    return c->is_closed ? c->n : c->n - 1;
}

/* Distances along the chain, and the element size. */
static void measure_chain(chains *c)
{
    double sum = 0.0;
    int64_t n_length = 0;
    c->at[0] = 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        const double *const x = c->surface->xyz + 3 * (int64_t)c->vertex[i];
        const double *const y = c->surface->xyz + 3 * (int64_t)c->vertex[(i + 1) % c->n];
        const double by[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        const double length = length_of_edge(c, c->vertex[i]);
        c->at[i + 1] = c->at[i] + hx_norm3(by);
        sum += length;
        n_length += length > 0.0;
    }
    c->size = n_length > 0 ? sum / (double)n_length : 0.0;
}

/* Point at a distance along the chain; returns the vertex before it. */
static int32_t find_point(const chains *c, double at, double x[3])
{
    int64_t low = 0, high = n_edge_of(c);
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (c->at[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    const double *const a = c->surface->xyz + 3 * (int64_t)c->vertex[low];
    const double *const b = c->surface->xyz + 3 * (int64_t)c->vertex[(low + 1) % c->n];
    const double span = c->at[low + 1] - c->at[low];
    const double part = span > 0.0 ? fmin((at - c->at[low]) / span, 1.0) : 0.0;
    for (int d = 0; d < 3; d++) x[d] = a[d] + part * (b[d] - a[d]);
    return c->vertex[low];
}

/* Angle by which the chain turns at point b between a and c, about the normal of the cap. */
static double turn_at(const double a[3], const double b[3], const double c[3],
                      const double normal[3])
{
    double e[3], f[3], cross[3];
    for (int d = 0; d < 3; d++) {
        e[d] = b[d] - a[d];
        f[d] = c[d] - b[d];
    }
    hx_cross3(e, f, cross);
    return atan2(hx_dot3(cross, normal) / hx_norm3(normal), hx_dot3(e, f));
}

/* The angles at n + 1 points of the chain at equal distances, in degrees; 0 at its ends. */
static void find_turns(const chains *c, int64_t n, double *turn)
{
    const double degree = 180.0 / acos(-1.0), step = c->at[n_edge_of(c)] / (double)n;
    for (int64_t i = 0; i <= n; i++) {
        double x[3][3];
        turn[i] = 0.0;
        if (!c->is_closed && (i == 0 || i == n)) continue;
        find_point(c, (double)((i + n - 1) % n) * step, x[0]);
        const int32_t v = find_point(c, (double)i * step, x[1]);
        find_point(c, (double)(c->is_closed ? (i + 1) % n : i + 1) * step, x[2]);
        turn[i] = degree * turn_at(x[0], x[1], x[2], c->normal + 3 * (int64_t)v);
    }
}

/* Samples the chain at hand. */
static int add_chain(chains *c, double *length)
{
    int rc;
    double *turn = NULL;
    measure_chain(c);
    const double whole = c->at[n_edge_of(c)];
    *length += whole;
    if (!(c->size > 0.0) || !(whole > 0.0)) return HX_OK;
    const int64_t n = (int64_t)ceil(PER_SIZE * whole / c->size);
    HX_TRY_FAIL(hx_alloc_raw(&turn, (size_t)n + 1, sizeof *turn, "samples of rims"));
    find_turns(c, n, turn);
    for (int64_t i = 0; i < n; i++) {
        double way[2] = {0.0, 0.0};
        if (!c->is_closed && i > 0 && i + WINDOW > n) break;
        for (int64_t k = 0; k < WINDOW && k < n; k++) {
            const double here = turn[(i + k) % n];
            way[here < 0.0] += fabs(here);
        }
        HX_TRY_FAIL(hx_grow(&c->back, c->n_back, &c->capacity, sizeof *c->back, "samples of rims"));
        c->back[c->n_back++] = fmin(way[0], way[1]);
    }
fail:
    free(turn);
    return rc;
}

/* Lists the chain that begins at v, and samples it. */
static int walk(chains *c, int32_t v, double *length)
{
    const int32_t begin = v;
    c->n = 0;
    do {
        c->vertex[c->n++] = v;
        if (c->n > 1 && c->is_end[v] == 1) break;
        if (c->is_end[v] == 0) c->is_end[v] = 2;
        v = c->next[v];
    } while (v != begin && v >= 0 && c->n <= c->n_rim);
    c->is_closed = v == begin && c->is_end[begin] != 1;
    if (v == begin && !c->is_closed) c->vertex[c->n++] = v;
    return add_chain(c, length);
}

int hx_surface_measure_rims(const hx_surface *surface, const hx_mesh *mesh, hx_surface_rims *rims)
{
    int rc;
    chains c = {.surface = surface, .mesh = mesh};
    memset(rims, 0, sizeof *rims);
    HX_TRY_FAIL(link_rims(&c));
    HX_TRY_FAIL(hx_alloc_raw(&c.vertex, (size_t)c.n_rim + 2, sizeof *c.vertex, "rims"));
    HX_TRY_FAIL(hx_alloc_raw(&c.at, (size_t)c.n_rim + 3, sizeof *c.at, "rims"));
    /* chains between corners first, then closed rims without corners */
    for (int pass = 1; pass >= 0; pass--)
        for (int32_t v = 0; v < surface->n_vertex; v++)
            if (c.next[v] >= 0 && c.is_end[v] == pass) HX_TRY_FAIL(walk(&c, v, &rims->length));
    if (c.n_back > 0) {
        hx_sort_values(c.back, c.n_back);
        rims->high = hx_quantile(c.back, c.n_back, high_share);
        rims->worst = c.back[c.n_back - 1];
    }
    rims->n_sample = (int64_t)c.n_back;
fail:
    free(c.next);
    free(c.is_end);
    free(c.normal);
    free(c.vertex);
    free(c.at);
    free(c.back);
    return rc;
}
