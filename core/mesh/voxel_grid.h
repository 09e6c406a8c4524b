/* Elements that are voxels: bricks of one size along the axes, whose centroids are points of a
 * regular grid, some of which may be empty. Found by coordinates alone: such a mesh is as
 * unstructured as any, in any order, with any part of the grid missing. */
#ifndef HX_VOXEL_GRID_H
#define HX_VOXEL_GRID_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points of a grid an element, at most. */
enum { HX_VOXEL_SPARSE = 3 };
/* Places that are looked up at a time. */
enum { HX_VOXEL_BLOCK = 64 };

typedef struct hx_voxel_grid {
    double lower[3], step[3]; /* the lowest centroid; from one to the next: length */
    int64_t n[3];             /* points along x, y, z */
} hx_voxel_grid;

/* 1 if a sample of the elements does not deny it. O(1). */
int hx_voxel_grid_is_likely(const hx_mesh *mesh);

/* The grid that the first element and the bounds of all name; 0: none, or one that is mostly empty.
 * O(n), mostly O(1) where there is none. */
int hx_voxel_grid_find(hx_voxel_grid *grid, const hx_mesh *mesh);

/* Points of the grid. */
static inline int64_t hx_voxel_grid_size(const hx_voxel_grid *grid)
{
    return grid->n[0] * grid->n[1] * grid->n[2];
}

/* The shortest edge of a voxel. */
double hx_voxel_grid_edge(const hx_voxel_grid *grid);

/* point[i]: the one within `off`, which is far less than a step, of (x[0][i], x[1][i], x[2][i])
 * along each axis, x fastest, -1: none; of the first n, the others of x[] and point[] are
 * overwritten. 1: there is one for each. */
int hx_voxel_grid_points(const hx_voxel_grid *grid, double off, int n, double x[3][HX_VOXEL_BLOCK],
                         int32_t *point);

/* (*elem)[hx_voxel_grid_size], the caller's: the element whose centroid is within `off` of a point
 * along each axis, -1: none, x fastest. *fits = 0: an element lies beside all points, or two at
 * one. O(n). */
int hx_voxel_grid_place(const hx_voxel_grid *grid, const hx_mesh *mesh, double off, int32_t **elem,
                        int *fits);

/* The second alone, but for two at a point. O(n). */
int hx_voxel_grid_fits(const hx_voxel_grid *grid, const hx_mesh *mesh, double off);

#ifdef __cplusplus
}
#endif

#endif
