#include "voxel_grid.h"

#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"

/* Lengths of an element's box along the axes. */
static void measure(const hx_mesh *mesh, int64_t elem, double length[3])
{
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int c = 0; c < 8; c++) {
            const double x = mesh->xyz[3 * (int64_t)mesh->conn[8 * elem + c] + d];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        length[d] = high - low;
    }
}

/* All of a sample are whole steps from the first. */
static int sample_fits(const hx_mesh *mesh, const double step[3])
{
    enum { SAMPLES = 64 };
    double first[3], x[3];
    hx_mesh_centroid(mesh, 0, first);
    for (int64_t i = 0; i < SAMPLES; i++) {
        hx_mesh_centroid(mesh, i * (mesh->n_elem - 1) / SAMPLES, x);
        for (int d = 0; d < 3; d++) {
            const double steps = (x[d] - first[d]) / step[d];
            if (!(fabs(steps - floor(steps + 0.5)) <= 1e-6)) return 0;
        }
    }
    return 1;
}

int hx_voxel_grid_is_likely(const hx_mesh *mesh)
{
    double length[3];
    if (mesh->n_elem == 0) return 0;
    measure(mesh, 0, length);
    return length[0] > 0.0 && length[1] > 0.0 && length[2] > 0.0 && sample_fits(mesh, length);
}

int hx_voxel_grid_find(hx_voxel_grid *grid, const hx_mesh *mesh)
{
    double length[3], upper[3], n_point = 1.0;
    if (!hx_voxel_grid_is_likely(mesh)) return 0;
    measure(mesh, 0, length);
    hx_mesh_centroid_bounds(mesh, grid->lower, upper);
    for (int d = 0; d < 3; d++) {
        const double steps = floor((upper[d] - grid->lower[d]) / length[d] + 0.5);
        n_point *= steps + 1.0;
        if (!(n_point <= (double)HX_VOXEL_SPARSE * (double)mesh->n_elem)) return 0;
        grid->n[d] = 1 + (int64_t)steps;
        grid->step[d] = steps > 0.0 ? (upper[d] - grid->lower[d]) / steps : length[d];
    }
    return n_point < (double)(INT32_MAX / 2); /* and so are the nodes */
}

double hx_voxel_grid_edge(const hx_voxel_grid *grid)
{
    return fmin(grid->step[0], fmin(grid->step[1], grid->step[2]));
}

/* The point of the grid that x lies on; -1: none. */
static int64_t point_of(const hx_voxel_grid *g, const double x[3], double off)
{
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        const double place = floor((x[d] - g->lower[d]) / g->step[d] + 0.5);
        if (!(place >= 0.0 && place < (double)g->n[d])) return -1;
        if (!(fabs(x[d] - (g->lower[d] + place * g->step[d])) <= off)) return -1;
        at[d] = (int64_t)place;
    }
    return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

int hx_voxel_grid_place(const hx_voxel_grid *grid, const hx_mesh *mesh, double off, int32_t **elem,
                        int *fits)
{
    const int64_t n_point = hx_voxel_grid_size(grid);
    int all = 1;
    int64_t n = 0;
    int32_t *list;
    HX_TRY(hx_alloc_raw(elem, (size_t)n_point, sizeof **elem, "a grid of voxels"));
    list = *elem;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < n_point; p++) list[p] = -1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        const int64_t p = point_of(grid, x, off);
        all = all && p >= 0;
        if (p < 0) continue;
#pragma omp atomic write
        list[p] = (int32_t)e;
    }
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t p = 0; p < n_point; p++) n += list[p] >= 0;
    *fits = all && n == mesh->n_elem;
    return HX_OK;
}

int hx_voxel_grid_fits(const hx_voxel_grid *grid, const hx_mesh *mesh, double off)
{
    int all = 1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        all = all && point_of(grid, x, off) >= 0;
    }
    return all;
}
