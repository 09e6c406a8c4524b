#include "point_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "nearest.h"

static void find_bounds(int64_t n, const double *xyz, double low[3], double high[3])
{
    for (int i = 0; i < 3; i++) {
        double least = INFINITY, most = -INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
        for (int64_t p = 0; p < n; p++) {
            least = fmin(least, xyz[3 * p + i]);
            most = fmax(most, xyz[3 * p + i]);
        }
        low[i] = n > 0 ? least : 0.0;
        high[i] = n > 0 ? most : 0.0;
    }
}

/* Edge of a cell for about one point per cell if the bounding box is full; directions without
 * extent do not count. */
static double first_size(int64_t n, const double length[3])
{
    const double longest = fmax(length[0], fmax(length[1], length[2]));
    double content = 1.0;
    int n_dim = 0;
    for (int i = 0; i < 3; i++) {
        if (!(length[i] > 1e-6 * longest)) continue;
        content *= length[i];
        n_dim++;
    }
    return n_dim == 0 ? 1.0 : pow(content / (double)n, 1.0 / n_dim);
}

static int64_t lay_grid(hx_point_grid *grid)
{
    double low[3], high[3], length[3];
    find_bounds(grid->n, grid->xyz, low, high);
    for (int i = 0; i < 3; i++) length[i] = high[i] - low[i];
    for (grid->size = first_size(grid->n, length);; grid->size *= 1.25) {
        double n_total = 1.0;
        for (int i = 0; i < 3; i++) {
            const double n = floor(length[i] / grid->size) + 1.0;
            grid->origin[i] = low[i];
            grid->n_cell[i] = n < 1e9 ? (int64_t)n : 1000000000;
            n_total *= n;
        }
        if (n_total <= (double)grid->n + 64.0) return (int64_t)n_total;
    }
}

static int64_t cell_along(const hx_point_grid *grid, int axis, double x)
{
    const double cell = (x - grid->origin[axis]) / grid->size;
    if (!(cell > 0.0)) return 0;
    return cell < (double)grid->n_cell[axis] ? (int64_t)cell : grid->n_cell[axis] - 1;
}

static int64_t cell_of(const hx_point_grid *grid, const double x[3])
{
    return (cell_along(grid, 2, x[2]) * grid->n_cell[1] + cell_along(grid, 1, x[1])) *
               grid->n_cell[0] +
           cell_along(grid, 0, x[0]);
}

static int sort_points(hx_point_grid *grid, int64_t n_cell)
{
    uint64_t *key = NULL;
    int n_bits = 1;
    while (n_cell >> n_bits) n_bits++;
    HX_TRY(hx_alloc_raw(&key, (size_t)grid->n, sizeof *key, "cells of points"));
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < grid->n; p++) key[p] = (uint64_t)cell_of(grid, grid->xyz + 3 * p);
    const int rc = hx_radix_sort(key, grid->member, grid->n, n_bits);
    free(key);
    return rc;
}

int hx_point_grid_create(hx_point_grid *grid, int64_t n, const double *xyz)
{
    int rc;
    memset(grid, 0, sizeof *grid);
    grid->n = n;
    grid->xyz = xyz;
    const int64_t n_cell = lay_grid(grid);
    HX_TRY_FAIL(hx_alloc(&grid->start, (size_t)n_cell + 1, sizeof *grid->start, "cells of points"));
    HX_TRY_FAIL(hx_alloc_raw(&grid->member, (size_t)n, sizeof *grid->member, "cells of points"));
    HX_TRY_FAIL(sort_points(grid, n_cell));
    for (int64_t p = 0; p < n; p++) grid->start[cell_of(grid, xyz + 3 * p) + 1]++;
    for (int64_t c = 0; c < n_cell; c++) grid->start[c + 1] += grid->start[c];
    return HX_OK;
fail:
    hx_point_grid_free(grid);
    return rc;
}

static void look_into_cell(const hx_point_grid *grid, int64_t cell, hx_nearest *best)
{
    for (int64_t m = grid->start[cell]; m < grid->start[cell + 1]; m++)
        hx_nearest_look(best, grid->xyz, grid->member[m]);
}

/* Visits the cells at distance `ring` from the middle one, in the maximum norm. */
static void look_into_ring(const hx_point_grid *grid, const int64_t middle[3], int64_t ring,
                           hx_nearest *best)
{
    int64_t low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = middle[i] - ring > 0 ? middle[i] - ring : 0;
        high[i] = middle[i] + ring < grid->n_cell[i] ? middle[i] + ring : grid->n_cell[i] - 1;
    }
    for (int64_t k = low[2]; k <= high[2]; k++)
        for (int64_t j = low[1]; j <= high[1]; j++) {
            const int64_t row = (k * grid->n_cell[1] + j) * grid->n_cell[0];
            const int whole = llabs(k - middle[2]) == ring || llabs(j - middle[1]) == ring;
            if (whole) {
                for (int64_t i = low[0]; i <= high[0]; i++) look_into_cell(grid, row + i, best);
                continue;
            }
            if (middle[0] - ring >= 0) look_into_cell(grid, row + middle[0] - ring, best);
            if (middle[0] + ring < grid->n_cell[0] && ring > 0)
                look_into_cell(grid, row + middle[0] + ring, best);
        }
}

int64_t hx_point_grid_nearest(const hx_point_grid *grid, const double x[3], double reach)
{
    hx_nearest best = hx_nearest_to(x, reach);
    int64_t middle[3], last = 0;
    for (int i = 0; i < 3; i++) {
        middle[i] = cell_along(grid, i, x[i]);
        const int64_t left = grid->n_cell[i] - 1 - middle[i];
        last = last > middle[i] ? last : middle[i];
        last = last > left ? last : left;
    }
    for (int64_t ring = 0; ring <= last && grid->n > 0; ring++) {
        const double nearest = (double)(ring - 1) * grid->size; /* lower bound for this ring */
        if (ring > 1 && nearest * nearest > best.square) break;
        look_into_ring(grid, middle, ring, &best);
    }
    return best.point;
}

void hx_point_grid_visit(const hx_point_grid *grid, const double x[3], double radius,
                         void (*visit)(void *context, int64_t point), void *context)
{
    int64_t low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = cell_along(grid, i, x[i] - radius);
        high[i] = cell_along(grid, i, x[i] + radius);
    }
    for (int64_t k = low[2]; k <= high[2]; k++)
        for (int64_t j = low[1]; j <= high[1]; j++) {
            const int64_t row = (k * grid->n_cell[1] + j) * grid->n_cell[0];
            for (int64_t m = grid->start[row + low[0]]; m < grid->start[row + high[0] + 1]; m++)
                visit(context, grid->member[m]);
        }
}

void hx_point_grid_free(hx_point_grid *grid)
{
    free(grid->start);
    free(grid->member);
    memset(grid, 0, sizeof *grid);
}
