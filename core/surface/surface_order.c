/* An order of vertices and triangles by their places, so that what is made of a surface in this
 * order does not depend on their numbers.
 *
 * Coordinates are compared on a grid of 2^21 steps along each side of the box, whose offset keeps
 * usual places away from the border between two steps: they may differ by rounding. Vertices of the
 * same place, where the surface touches itself, are told apart by the triangles around them. */
#include "surface_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "surface_internal.h"

enum { PLACE_BITS = 21 };

/* Places are rounded down after adding this fraction of a step. */
static const double offset = 0.37;

/* A third moment below this fraction of that of the distances is rounding: the surface is symmetric. */
static const double no_skew = 1e-9;

int hx_surface_turns_back(const hx_surface *s, int d)
{
    double mean = 0.0, sum = 0.0, size = 0.0;
    for (int64_t v = 0; v < s->n_vertex; v++) mean += s->xyz[3 * v + d] / (double)s->n_vertex;
    for (int64_t v = 0; v < s->n_vertex; v++) {
        const double x = s->xyz[3 * v + d] - mean;
        sum += x * x * x;
        size += fabs(x * x * x);
    }
    return sum < -no_skew * size;
}

/* x: in a box of size 1. */
static uint64_t key_of(const double x[3])
{
    const double steps = (double)(((uint64_t)1 << PLACE_BITS) - 2);
    uint64_t key = 0;
    for (int d = 0; d < 3; d++)
        key = key << PLACE_BITS | (uint64_t)(fmin(fmax(x[d], 0.0), 1.0) * steps + offset);
    return key;
}

typedef struct tie {
    uint64_t key;
    int32_t vertex;
} tie;

static int compare_ties(const void *a, const void *b)
{
    const tie *const x = a, *const y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* around[n_vertex] := key of the mean of the middles of a vertex's triangles. */
static int find_keys_around(int64_t n_vertex, const double *xyz, int64_t n_tri, const int32_t *tri,
                            uint64_t *around)
{
    double *sum = NULL;
    HX_TRY(hx_alloc(&sum, 4 * (size_t)n_vertex, sizeof *sum, "vertices of one place"));
    for (int64_t c = 0; c < 3 * n_tri; c++) {
        double *const at = sum + 4 * (int64_t)tri[c];
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < 3; d++) at[d] += xyz[3 * (int64_t)tri[3 * (c / 3) + i] + d] / 3.0;
        at[3] += 1.0;
    }
    for (int64_t v = 0; v < n_vertex; v++) {
        for (int d = 0; d < 3; d++) sum[4 * v + d] /= fmax(1.0, sum[4 * v + 3]);
        around[v] = key_of(sum + 4 * v);
    }
    free(sum);
    return HX_OK;
}

/* Orders the vertices of the same place, which follow each other in order[n_vertex]. */
static int break_ties(int64_t n_vertex, const double *xyz, int64_t n_tri, const int32_t *tri,
                      int32_t *order)
{
    uint64_t *around = NULL;
    tie *list = NULL;
    int rc = HX_OK;
    for (int64_t i = 0, end; i < n_vertex; i = end) {
        const uint64_t key = key_of(xyz + 3 * (int64_t)order[i]);
        for (end = i + 1; end < n_vertex && key_of(xyz + 3 * (int64_t)order[end]) == key; end++) {
        }
        if (end - i < 2) continue;
        if (!around) {
            HX_TRY_FAIL(hx_alloc_raw(&list, (size_t)n_vertex, sizeof *list, "vertices"));
            HX_TRY_FAIL(hx_alloc_raw(&around, (size_t)n_vertex, sizeof *around, "vertices"));
            HX_TRY_FAIL(find_keys_around(n_vertex, xyz, n_tri, tri, around));
        }
        for (int64_t k = i; k < end; k++) list[k] = (tie){around[order[k]], order[k]};
        qsort(list + i, (size_t)(end - i), sizeof *list, compare_ties);
        for (int64_t k = i; k < end; k++) order[k] = list[k].vertex;
    }
fail:
    free(around);
    free(list);
    return rc;
}

static int order_vertices(int64_t n_vertex, const double *xyz, int64_t n_tri, const int32_t *tri,
                          int32_t *order)
{
    uint64_t *key = NULL;
    HX_TRY(hx_alloc_raw(&key, (size_t)n_vertex, sizeof *key, "vertices"));
    for (int64_t v = 0; v < n_vertex; v++) key[v] = key_of(xyz + 3 * v);
    int rc = hx_radix_sort(key, order, n_vertex, 3 * PLACE_BITS);
    free(key);
    if (rc == HX_OK) rc = break_ties(n_vertex, xyz, n_tri, tri, order);
    return rc;
}

/* The corner at which a triangle begins: that of its first vertex. */
static int first_corner(const int32_t *rank, const int32_t *v)
{
    const int first = rank[v[1]] < rank[v[0]];
    return rank[v[2]] < rank[v[first]] ? 2 : first;
}

/* order[n_tri]: by the first vertex and the next one, which two triangles of a closed surface do not
 * have in common. */
static int order_triangles(int64_t n_tri, const int32_t *tri, const int32_t *rank, int64_t n_vertex,
                           int32_t *order)
{
    uint64_t *key = NULL;
    HX_TRY(hx_alloc_raw(&key, (size_t)n_tri, sizeof *key, "triangles"));
    for (int64_t t = 0; t < n_tri; t++) {
        const int32_t *const v = tri + 3 * t;
        const int first = first_corner(rank, v);
        key[t] = (uint64_t)(uint32_t)rank[v[first]] << 32 | (uint32_t)rank[v[(first + 1) % 3]];
    }
    const int rc = hx_radix_sort(key, order, n_tri, 32 + hx_bits((uint64_t)n_vertex));
    free(key);
    return rc;
}

int hx_surface_order_create(hx_surface_order *o, int64_t n_vertex, const double *xyz, int64_t n_tri,
                            const int32_t *tri)
{
    int rc;
    int32_t *rank = NULL;
    memset(o, 0, sizeof *o);
    o->n_vertex = n_vertex;
    o->n_tri = n_tri;
    HX_TRY_FAIL(hx_alloc_raw(&o->vertex, (size_t)n_vertex, sizeof *o->vertex, "vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&o->triangle, (size_t)n_tri, sizeof *o->triangle, "triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&o->xyz, 3 * (size_t)n_vertex, sizeof *o->xyz, "vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&o->tri, 3 * (size_t)n_tri, sizeof *o->tri, "triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&rank, (size_t)n_vertex, sizeof *rank, "vertices"));
    HX_TRY_FAIL(order_vertices(n_vertex, xyz, n_tri, tri, o->vertex));
    for (int64_t i = 0; i < n_vertex; i++) {
        rank[o->vertex[i]] = (int32_t)i;
        memcpy(o->xyz + 3 * i, xyz + 3 * (int64_t)o->vertex[i], 3 * sizeof *xyz);
    }
    HX_TRY_FAIL(order_triangles(n_tri, tri, rank, n_vertex, o->triangle));
    for (int64_t i = 0; i < n_tri; i++) {
        const int32_t *const v = tri + 3 * (int64_t)o->triangle[i];
        const int first = first_corner(rank, v);
        for (int c = 0; c < 3; c++) o->tri[3 * i + c] = rank[v[(first + c) % 3]];
    }
fail:
    free(rank);
    if (rc != HX_OK) hx_surface_order_free(o);
    return rc;
}

void hx_surface_order_return(const hx_surface_order *o, double *xyz, int32_t *tri)
{
    for (int64_t i = 0; i < o->n_vertex; i++)
        memcpy(xyz + 3 * (int64_t)o->vertex[i], o->xyz + 3 * i, 3 * sizeof *xyz);
    for (int64_t i = 0; i < o->n_tri; i++)
        for (int c = 0; c < 3; c++) {
            const int32_t v = o->tri[3 * i + c];
            tri[3 * (int64_t)o->triangle[i] + c] = v < 0 ? v : o->vertex[v];
        }
}

void hx_surface_order_free(hx_surface_order *o)
{
    free(o->vertex);
    free(o->triangle);
    free(o->xyz);
    free(o->tri);
    memset(o, 0, sizeof *o);
}
