/* The next elements in the column of each element. A column is a cell of a grid across the
 * direction as wide as an element on average, so that the shadow of an element keeps its direction
 * over any number of elements, and neither widens nor drifts with the shapes of the cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/vec3.h"
#include "sweep.h"

/* Elements of a column whose heights differ by less, relative to the mean height of an element, are
 * side by side. */
static const double SAME_HEIGHT = 1e-3;

typedef struct columns {
    const hx_mesh *mesh;
    double axis[3][3];   /* two across, the direction */
    double low[3];       /* least coordinates of centroids along them */
    double width[3];     /* mean extents of an element */
    int64_t n_across[2]; /* columns */
} columns;

/* The coordinate axis that is farthest from the direction gives the first axis across. */
static void choose_axes(columns *c, const double direction[3])
{
    int far = 0;
    for (int d = 1; d < 3; d++)
        if (fabs(direction[d]) < fabs(direction[far])) far = d;
    for (int d = 0; d < 3; d++) c->axis[0][d] = (d == far) - direction[far] * direction[d];
    const double length = hx_norm3(c->axis[0]);
    for (int d = 0; d < 3; d++) c->axis[0][d] /= length;
    memcpy(c->axis[2], direction, sizeof c->axis[2]);
    hx_cross3(c->axis[2], c->axis[0], c->axis[1]);
}

static int measure_axes(columns *c)
{
    const hx_mesh *const mesh = c->mesh;
    for (int d = 0; d < 3; d++) {
        double sum = 0.0, low = INFINITY, high = -INFINITY;
        for (int64_t e = 0; e < mesh->n_elem; e++) { /* in order: the same for all threads */
            double extent;
            const double x = hx_sweep_height(mesh, e, c->axis[d], &extent);
            sum += extent;
            low = fmin(low, x);
            high = fmax(high, x);
        }
        c->width[d] = sum / (double)mesh->n_elem;
        c->low[d] = low;
        const double n = floor((high - low) / c->width[d] + 0.5) + 1.0;
        if (d < 2) c->n_across[d] = n < 1e9 ? (int64_t)n : 1000000000;
    }
    if ((double)c->n_across[0] * (double)c->n_across[1] < 4e9) return HX_OK;
    return HX_RAISE(HX_EINPUT, "the mesh is more than %g elements wide across the direction", 4e9);
}

static uint64_t column_of(const columns *c, int64_t e)
{
    int64_t at[2];
    for (int d = 0; d < 2; d++) {
        double extent;
        const double x = hx_sweep_height(c->mesh, e, c->axis[d], &extent);
        const int64_t cell = (int64_t)floor((x - c->low[d]) / c->width[d] + 0.5);
        at[d] = cell < 0 ? 0 : cell < c->n_across[d] ? cell : c->n_across[d] - 1;
    }
    return (uint64_t)(at[1] * c->n_across[0] + at[0]);
}

/* by_column[n]: elements by column, and within it from the farthest to the nearest, by ascending
 * key. With a parting plane the two sides are two columns. */
static int sort_columns(const columns *c, const double *key, const uint8_t *side,
                        int32_t *by_column, uint64_t *column)
{
    const int64_t n = c->mesh->n_elem;
    HX_TRY(hx_sweep_sort(n, key, by_column));
    for (int64_t k = 0; k < n; k++) { /* 2^33 columns of 2^29 elements at most */
        const int32_t e = by_column[k];
        column[e] = (2 * column_of(c, e) + side[e]) << 30 | (uint64_t)k;
    }
    uint64_t *work;
    HX_TRY(hx_alloc_raw(&work, (size_t)n, sizeof *work, "columns"));
    memcpy(work, column, (size_t)n * sizeof *work);
    const int rc = hx_radix_sort(work, by_column, n, 64);
    for (int64_t e = 0; e < n; e++) column[e] >>= 30;
    free(work);
    return rc;
}

/* End of the run of places from `begin` that lie side by side in one column. */
static int64_t end_of_run(int64_t n, const int32_t *by_column, const uint64_t *column,
                          const double *key, double same, int64_t begin)
{
    const int32_t first = by_column[begin];
    int64_t end = begin + 1;
    while (end < n && column[by_column[end]] == column[first] &&
           key[by_column[end]] - key[first] <= same)
        end++;
    return end;
}

/* Every element has as inputs the elements of the run before its own in its column. With input
 * NULL, only counts them in start. */
static void link_runs(int64_t n, const int32_t *by_column, const uint64_t *column,
                      const double *key, double same, int64_t *start, int32_t *input)
{
    int64_t before = 0, begin = 0;
    while (begin < n) {
        const int64_t end = end_of_run(n, by_column, column, key, same, begin);
        const int has = begin > 0 && column[by_column[before]] == column[by_column[begin]];
        for (int64_t k = begin; k < end && has; k++) {
            const int32_t e = by_column[k];
            if (input)
                memcpy(input + start[e], by_column + before,
                       (size_t)(begin - before) * sizeof *input);
            else
                start[e + 1] = begin - before;
        }
        before = begin;
        begin = end;
    }
}

int hx_sweep_columns(hx_sweep_inputs *inputs, const hx_mesh *mesh, const double direction[3],
                     const double *parting)
{
    const int64_t n = mesh->n_elem;
    const double plane = parting ? hx_dot3(parting, direction) : 0.0;
    columns c = {.mesh = mesh};
    int32_t *by_column = NULL;
    uint64_t *column = NULL;
    uint8_t *side = NULL;
    int rc;
    choose_axes(&c, direction);
    HX_TRY(measure_axes(&c));
    HX_TRY_FAIL(hx_alloc(&inputs->start, (size_t)n + 1, sizeof *inputs->start, "columns"));
    HX_TRY_FAIL(hx_alloc_raw(&inputs->key, (size_t)n, sizeof *inputs->key, "heights"));
    HX_TRY_FAIL(hx_alloc(&side, (size_t)n, sizeof *side, "sides of the parting plane"));
    HX_TRY_FAIL(hx_alloc_raw(&by_column, (size_t)n, sizeof *by_column, "columns"));
    HX_TRY_FAIL(hx_alloc_raw(&column, (size_t)n, sizeof *column, "columns"));
    for (int64_t e = 0; e < n; e++) {
        double extent;
        const double height = hx_sweep_height(mesh, e, direction, &extent) - plane;
        side[e] = parting && height < 0.0;
        inputs->key[e] = side[e] ? height : -height;
    }
    HX_TRY_FAIL(sort_columns(&c, inputs->key, side, by_column, column));
    const double same = SAME_HEIGHT * c.width[2];
    link_runs(n, by_column, column, inputs->key, same, inputs->start, NULL);
    for (int64_t e = 0; e < n; e++) inputs->start[e + 1] += inputs->start[e];
    HX_TRY_FAIL(
        hx_alloc_raw(&inputs->input, (size_t)inputs->start[n], sizeof *inputs->input, "columns"));
    link_runs(n, by_column, column, inputs->key, same, inputs->start, inputs->input);
fail:
    free(side);
    free(by_column);
    free(column);
    return rc;
}
