/* Sums within a radius over elements that are voxels (voxel_grid.h) as a stencil: one table of
 * weights serves all elements. */
#ifndef HX_VOXELS_H
#define HX_VOXELS_H

#include "../mesh/voxel_grid.h"

HX_C_BEGIN

/* Largest distance of a weight along an axis, in voxels; values after the last line, so that SIMD
 * lanes may read past it. */
enum { HX_VOXELS_REACH = 12, HX_VOXELS_PADDING = 32 };

/* Largest distance of a centroid from its grid point, relative to the shortest voxel edge: the
 * rounding error of coordinates. The error of a weight is at most twice that. */
#define HX_VOXELS_OFF 1e-11

typedef struct hx_voxels {
    int64_t n[3];  /* points along x, y, z; n[0] = 0: the elements are not voxels */
    int64_t line;  /* stride between lines along x: n[0] + reach[0], the last values are 0 */
    int reach[3];  /* distance of the furthest point with a weight */
    int32_t *elem; /* [n[2]][n[1]][n[0]] the element at a point, -1: none (owned, like all below) */
    /* [reach[2] + 1][reach[1] + 1] furthest point along x with a weight, -1: none */
    int32_t *width;
    double *weight; /* [reach[2] + 1][reach[1] + 1][reach[0] + 1] max(0, radius - distance) */
} hx_voxels;

/* Sets voxels->n[0] = 0 if the elements are not voxels, the grid would be mostly empty or the
 * radius reaches too far. O(n); mostly O(1) if they are not voxels. */
int hx_voxels_create(hx_voxels *voxels, const hx_mesh *mesh, double radius);

/* Device bytes of the lists and the values of one field. */
size_t hx_voxels_taken(const hx_voxels *voxels);
/* Predicts these bytes without making the lists; 0 if the elements are not voxels. O(n). */
size_t hx_voxels_bytes(const hx_mesh *mesh, double radius);
/* Upper bound of these bytes for a part of a mesh and everything within the radius around it; 0 if
 * these may not be voxels. O(n). */
size_t hx_voxels_bytes_around(const hx_mesh *part, const hx_mesh *mesh, double radius);

/* Number of values of all points, with zeros between and beyond the lines; reach[0] zeros precede
 * the first. */
int64_t hx_voxels_values(const hx_voxels *voxels);

/* Numbers of entries of `width` and `weight`. */
int64_t hx_voxels_rows(const hx_voxels *voxels);
int64_t hx_voxels_weights(const hx_voxels *voxels);

/* Accepts a zeroed struct. */
void hx_voxels_free(hx_voxels *voxels);

HX_C_END

#endif
