/* Elements that are voxels: bricks of one size along the axes, whose centroids are points of a
 * regular grid, some of which may be empty. Only coordinates are used: such a mesh is stored like
 * any unstructured mesh, in any order, with any part of the grid missing. */
#ifndef HX_VOXEL_GRID_H
#define HX_VOXEL_GRID_H

#include "../base/c_linkage.h"
#include "mesh.h"

HX_C_BEGIN

/* Maximum number of grid points per element. */
enum { HX_VOXEL_SPARSE = 3 };
/* Number of positions looked up at a time. */
enum { HX_VOXEL_BLOCK = 64 };

typedef struct hx_voxel_grid {
    double lower[3], step[3]; /* the lowest centroid; spacing of centroids: length */
    int64_t n[3];             /* number of points along x, y, z */
} hx_voxel_grid;

/* Returns 0 if a sample of the elements shows that the mesh is not made of voxels, otherwise 1.
 * O(1). */
int hx_voxel_grid_is_likely(const hx_mesh *mesh);

/* Computes the grid from the first element and the bounds of all; returns 0 if there is none, or if
 * it is mostly empty. O(n), usually O(1) if there is none. */
int hx_voxel_grid_find(hx_voxel_grid *grid, const hx_mesh *mesh);

/* Number of points of the grid. */
static inline int64_t hx_voxel_grid_size(const hx_voxel_grid *grid)
{
    return grid->n[0] * grid->n[1] * grid->n[2];
}

/* Shortest edge of a voxel. */
double hx_voxel_grid_edge(const hx_voxel_grid *grid);

/* For the first n entries: point[i] := index, x fastest, of the grid point that is within `off` of
 * (x[0][i], x[1][i], x[2][i]) along each axis; -1: none. `off` is much less than a step. The other
 * entries of x[] and point[] are overwritten. Returns 1 if all n have a grid point. */
int hx_voxel_grid_points(const hx_voxel_grid *grid, double off, int n, double x[3][HX_VOXEL_BLOCK],
                         int32_t *point);

/* (*elem)[hx_voxel_grid_size], which the caller frees: the element whose centroid is within `off`
 * of a point along each axis, -1: none, x fastest. *fits = 0: an element is at no point, or two are
 * at one. O(n). */
int hx_voxel_grid_place(const hx_voxel_grid *grid, const hx_mesh *mesh, double off, int32_t **elem,
                        int *fits);

/* Returns *fits of hx_voxel_grid_place, without detecting two elements at one point. O(n). */
int hx_voxel_grid_fits(const hx_voxel_grid *grid, const hx_mesh *mesh, double off);

HX_C_END

#endif
