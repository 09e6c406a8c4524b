#include "voxel_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vectorised.h"

/* Lengths of an element's bounding box along the axes. */
static void measure_box(const hx_mesh *mesh, int64_t elem, double length[3])
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

/* Returns 1 if all elements of a sample are a whole number of steps from the first. */
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
    measure_box(mesh, 0, length);
    return length[0] > 0.0 && length[1] > 0.0 && length[2] > 0.0 && sample_fits(mesh, length);
}

int hx_voxel_grid_find(hx_voxel_grid *grid, const hx_mesh *mesh)
{
    double length[3], upper[3], n_point = 1.0, n_node = 1.0;
    if (!hx_voxel_grid_is_likely(mesh)) return 0;
    measure_box(mesh, 0, length);
    hx_mesh_centroid_bounds(mesh, grid->lower, upper);
    for (int d = 0; d < 3; d++) {
        const double steps = floor((upper[d] - grid->lower[d]) / length[d] + 0.5);
        n_point *= steps + 1.0;
        n_node *= steps + 2.0;
        if (!(n_point <= (double)HX_VOXEL_SPARSE * (double)mesh->n_elem)) return 0;
        grid->n[d] = 1 + (int64_t)steps;
        grid->step[d] = steps > 0.0 ? (upper[d] - grid->lower[d]) / steps : length[d];
    }
    return n_point < (double)(INT32_MAX / 2) && n_node < (double)INT32_MAX;
}

double hx_voxel_grid_edge(const hx_voxel_grid *grid)
{
    return fmin(grid->step[0], fmin(grid->step[1], grid->step[2]));
}

/* Between this value and twice it, doubles represent exactly the whole numbers. */
static const double WHOLE = 6755399441055744.0; /* 3 * 2^51 */

/* Along one axis: adds stride * position to point[], exactly, and to miss[] where x is at no grid
 * position. Rounds without floor, which is a function call, and only in doubles, so that vector
 * lanes have one width. */
HX_INLINED void find_along(double first, double step, double n, double stride, double off,
                           const double *x, double *point, double *miss)
{
#pragma omp simd
    for (int i = 0; i < HX_VOXEL_BLOCK; i++) {
        const double at = (x[i] - first) / step + WHOLE - WHOLE;
        miss[i] += fabs(x[i] - (first + at * step)) <= off ? 0.0 : 1.0;
        miss[i] += at >= 0.0 ? 0.0 : 1.0;
        miss[i] += at < n ? 0.0 : 1.0;
        point[i] += stride * at;
    }
}

HX_INLINED void find_points_lanes(const hx_voxel_grid *g, double off, double x[3][HX_VOXEL_BLOCK],
                                  int32_t *point)
{
    double at[HX_VOXEL_BLOCK] = {0.0}, miss[HX_VOXEL_BLOCK] = {0.0}, stride = 1.0;
    for (int d = 0; d < 3; d++) {
        find_along(g->lower[d], g->step[d], (double)g->n[d], stride, off, x[d], at, miss);
        stride *= (double)g->n[d];
    }
    for (int i = 0; i < HX_VOXEL_BLOCK; i++) point[i] = (int32_t)(miss[i] == 0.0 ? at[i] : -1.0);
}

HX_VERSIONS_UNFUSED(find_points,
                    (const hx_voxel_grid *g, double off, double x[3][HX_VOXEL_BLOCK],
                     int32_t *point),
                    (g, off, x, point))

int hx_voxel_grid_points(const hx_voxel_grid *grid, double off, int n, double x[3][HX_VOXEL_BLOCK],
                         int32_t *point)
{
    int all = 1;
    for (int d = 0; d < 3; d++)
        for (int i = n; i < HX_VOXEL_BLOCK; i++) x[d][i] = grid->lower[d];
    find_points(grid, off, x, point);
    for (int i = 0; i < n; i++) all &= point[i] >= 0;
    return all;
}

/* Finds the grid points of the centroids of elements from `begin`; *n: their number. */
static int find_elements(const hx_voxel_grid *g, const hx_mesh *mesh, double off, int64_t begin,
                         int *n, int32_t *point)
{
    const int64_t rest = mesh->n_elem - begin;
    double x[3][HX_VOXEL_BLOCK];
    *n = rest < HX_VOXEL_BLOCK ? (int)rest : HX_VOXEL_BLOCK;
    hx_mesh_centroids(mesh, begin, *n, (double *const[3]){x[0], x[1], x[2]});
    return hx_voxel_grid_points(g, off, *n, x, point);
}

int hx_voxel_grid_place(const hx_voxel_grid *grid, const hx_mesh *mesh, double off, int32_t **elem,
                        int *fits)
{
    const int64_t n_point = hx_voxel_grid_size(grid);
    int all = 1;
    int64_t n_placed = 0;
    int32_t *list;
    HX_TRY(hx_alloc_raw(elem, (size_t)n_point, sizeof **elem, "a grid of voxels"));
    list = *elem;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < n_point; p++) list[p] = -1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t begin = 0; begin < mesh->n_elem; begin += HX_VOXEL_BLOCK) {
        int32_t point[HX_VOXEL_BLOCK];
        int n;
        all = find_elements(grid, mesh, off, begin, &n, point) && all;
        for (int i = 0; i < n; i++) {
            if (point[i] < 0) continue;
#pragma omp atomic write
            list[point[i]] = (int32_t)(begin + i);
        }
    }
#pragma omp parallel for schedule(static) reduction(+ : n_placed)
    for (int64_t p = 0; p < n_point; p++) n_placed += list[p] >= 0;
    *fits = all && n_placed == mesh->n_elem;
    return HX_OK;
}

int hx_voxel_grid_fits(const hx_voxel_grid *grid, const hx_mesh *mesh, double off)
{
    int all = 1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t begin = 0; begin < mesh->n_elem; begin += HX_VOXEL_BLOCK) {
        int32_t point[HX_VOXEL_BLOCK];
        int n;
        if (all) all = find_elements(grid, mesh, off, begin, &n, point);
    }
    return all;
}
