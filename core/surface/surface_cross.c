/* Finds intersecting triangles: candidates from the cells of a grid, then edges against
 * triangles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sum.h"
#include "surface_internal.h"

/* Tolerance relative to a triangle's size: closer to its boundary counts as touching, not as
 * intersecting. */
static const double touching = 1e-9;

typedef struct bins {
    const double *xyz;
    const int32_t *tri;
    int64_t n_tri;
    double origin[3], size; /* corner of the grid, edge length of a cell */
    int64_t n_cell[3];
    int64_t n;         /* entries: pairs of a triangle and a cell that its bounding box meets */
    int64_t *first;    /* [n_tri + 1] start of a triangle's entries before sorting (owned) */
    uint64_t *key;     /* [n] cell of each entry (owned) */
    int32_t *order;    /* [n] entries sorted by cell (owned) */
    int32_t *triangle; /* [n] triangle of each entry (owned) */
} bins;

static void triangle_box(const bins *b, int64_t t, double low[3], double high[3])
{
    for (int d = 0; d < 3; d++) {
        const double x = b->xyz[3 * (int64_t)b->tri[3 * t] + d],
                     y = b->xyz[3 * (int64_t)b->tri[3 * t + 1] + d],
                     z = b->xyz[3 * (int64_t)b->tri[3 * t + 2] + d];
        low[d] = fmin(x, fmin(y, z));
        high[d] = fmax(x, fmax(y, z));
    }
}

static int64_t cell_of(const bins *b, double x, int d)
{
    return (int64_t)((x - b->origin[d]) / b->size);
}

static void cell_range(const bins *b, int64_t t, int64_t from[3], int64_t to[3])
{
    double low[3], high[3];
    triangle_box(b, t, low, high);
    for (int d = 0; d < 3; d++) {
        from[d] = cell_of(b, low[d], d);
        to[d] = cell_of(b, high[d], d);
    }
}

static void fill_triangle(bins *b, int64_t t)
{
    int64_t from[3], to[3], at = b->first[t];
    cell_range(b, t, from, to);
    for (int64_t k = from[2]; k <= to[2]; k++)
        for (int64_t j = from[1]; j <= to[1]; j++)
            for (int64_t i = from[0]; i <= to[0]; i++) {
                b->key[at] = (uint64_t)((k * b->n_cell[1] + j) * b->n_cell[0] + i);
                b->triangle[at++] = (int32_t)t;
            }
}

static int bins_create(bins *b)
{
    const size_t n_tri = (size_t)b->n_tri;
    /* Chooses cells with the mean size of a triangle's bounding box, larger if there would be
     * too many. */
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double sum = 0.0;
    for (int64_t t = 0; t < b->n_tri; t++) {
        double from[3], to[3], extent = 0.0;
        triangle_box(b, t, from, to);
        for (int d = 0; d < 3; d++) {
            low[d] = fmin(low[d], from[d]);
            high[d] = fmax(high[d], to[d]);
            extent = fmax(extent, to[d] - from[d]);
        }
        sum += extent;
    }
    const double widest = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    b->size = fmax(fmax(sum / (double)b->n_tri, widest / 1e6), DBL_MIN);
    for (int d = 0; d < 3; d++) {
        b->origin[d] = low[d];
        b->n_cell[d] = (int64_t)((high[d] - low[d]) / b->size) + 1;
    }
    HX_TRY(hx_alloc(&b->first, n_tri + 1, sizeof *b->first, "triangles by cells"));
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < b->n_tri; t++) {
        int64_t from[3], to[3];
        cell_range(b, t, from, to);
        b->first[t + 1] = (to[0] - from[0] + 1) * (to[1] - from[1] + 1) * (to[2] - from[2] + 1);
    }
    for (size_t t = 0; t < n_tri; t++) b->first[t + 1] += b->first[t];
    b->n = b->first[n_tri];
    if (b->n > INT32_MAX)
        return HX_RAISE(
            HX_EINPUT,
            "cannot search for intersections: the sizes of the triangles differ too much");
    HX_TRY(hx_alloc_raw(&b->key, (size_t)b->n, sizeof *b->key, "triangles by cells"));
    HX_TRY(hx_alloc_raw(&b->order, (size_t)b->n, sizeof *b->order, "triangles by cells"));
    HX_TRY(hx_alloc_raw(&b->triangle, (size_t)b->n, sizeof *b->triangle, "triangles by cells"));
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < b->n_tri; t++) fill_triangle(b, t);
    const uint64_t n_cell = (uint64_t)(b->n_cell[0] * b->n_cell[1] * b->n_cell[2]);
    HX_TRY(hx_radix_sort(b->key, b->order, b->n, hx_bits(n_cell)));
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < b->n_tri; t++) fill_triangle(b, t); /* sorting destroyed the keys */
    return HX_OK;
}

/* 1 if the segment from p to q passes through the interior of a triangle. */
static int pierces(const double *p, const double *q, const double *const x[3])
{
    double n[3], from = 0.0, to = 0.0, nn = 0.0, at[3], side[3];
    hx_triangle_normal2(x[0], x[1], x[2], n);
    for (int d = 0; d < 3; d++) {
        from += n[d] * (p[d] - x[0][d]);
        to += n[d] * (q[d] - x[0][d]);
        nn += n[d] * n[d];
    }
    if (!(from < 0.0 ? to > 0.0 : from > 0.0 && to < 0.0)) return 0;
    for (int d = 0; d < 3; d++) at[d] = p[d] + from / (from - to) * (q[d] - p[d]);
    for (int i = 0; i < 3; i++) {
        hx_triangle_normal2(x[i], x[(i + 1) % 3], at, side);
        if (hx_dot3(side, n) <= touching * nn) return 0;
    }
    return 1;
}

static int are_neighbours(const int32_t *s, const int32_t *t)
{
    for (int k = 0; k < 3; k++)
        if (s[k] == t[0] || s[k] == t[1] || s[k] == t[2]) return 1;
    return 0;
}

static int cross(const bins *b, int64_t s, int64_t t)
{
    const double *x[2][3];
    for (int k = 0; k < 3; k++) {
        x[0][k] = b->xyz + 3 * (int64_t)b->tri[3 * s + k];
        x[1][k] = b->xyz + 3 * (int64_t)b->tri[3 * t + k];
    }
    for (int k = 0; k < 3; k++)
        if (pierces(x[0][k], x[0][(k + 1) % 3], x[1]) || pierces(x[1][k], x[1][(k + 1) % 3], x[0]))
            return 1;
    return 0;
}

/* 1 if the bounding boxes intersect and this cell contains the lower corner of their intersection,
 * so that each pair is tested in one cell only. */
static int is_candidate(const bins *b, int64_t s, int64_t t, uint64_t cell)
{
    double low[2][3], high[2][3];
    int64_t at[3];
    triangle_box(b, s, low[0], high[0]);
    triangle_box(b, t, low[1], high[1]);
    for (int d = 0; d < 3; d++) {
        const double from = fmax(low[0][d], low[1][d]);
        if (from > fmin(high[0][d], high[1][d])) return 0;
        at[d] = cell_of(b, from, d);
    }
    return cell == (uint64_t)((at[2] * b->n_cell[1] + at[1]) * b->n_cell[0] + at[0]);
}

static void mark(uint8_t *crosses, int64_t t)
{
    if (!crosses) return;
#pragma omp atomic write
    crosses[t] = 1;
}

/* Tests the pairs among the entries begin .. end, which are all in one cell. */
static int64_t look_in_cell(const bins *b, int64_t begin, int64_t end, uint8_t *crosses)
{
    int64_t n = 0;
    const uint64_t cell = b->key[b->order[begin]];
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = i + 1; k < end; k++) {
            const int64_t s = b->triangle[b->order[i]], t = b->triangle[b->order[k]];
            if (are_neighbours(b->tri + 3 * s, b->tri + 3 * t)) continue; /* true for most pairs */
            if (!is_candidate(b, s, t, cell) || !cross(b, s, t)) continue;
            mark(crosses, s);
            mark(crosses, t);
            n++;
        }
    return n;
}

int hx_surface_find_crossings(const double *xyz, int64_t n_tri, const int32_t *tri,
                              uint8_t *crosses, int64_t *n_crossing)
{
    int rc;
    int64_t n = 0;
    bins b = {.xyz = xyz, .tri = tri, .n_tri = n_tri};
    HX_TRY_FAIL(bins_create(&b));
#pragma omp parallel for schedule(dynamic) reduction(+ : n)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t i = hx_part_begin(b.n, part);
        const int64_t stop = hx_part_begin(b.n, part + 1);
        while (i > 0 && i < stop && b.key[b.order[i]] == b.key[b.order[i - 1]]) i++;
        for (int64_t end; i < stop; i = end) { /* cells that begin in this part */
            for (end = i + 1; end < b.n && b.key[b.order[end]] == b.key[b.order[i]]; end++) {
            }
            n += look_in_cell(&b, i, end, crosses);
        }
    }
    *n_crossing = n;
fail:
    free(b.first);
    free(b.key);
    free(b.order);
    free(b.triangle);
    return rc;
}
