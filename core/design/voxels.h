/* Sums within a radius over elements that are voxels (voxel_grid.h): those of a stencil, with one
 * table of weights for all elements. */
#ifndef HX_VOXELS_H
#define HX_VOXELS_H

#include "../mesh/voxel_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Along an axis: voxels that a weight may be away, at most. Values after the last line, so that
 * lanes may reach beyond it. */
enum { HX_VOXELS_REACH = 12, HX_VOXELS_PADDING = 32 };

/* Largest distance of a centroid from its point, of a voxel's shortest edge: what rounding leaves
 * of coordinates. A weight is off by twice that at most. */
#define HX_VOXELS_OFF 1e-11

typedef struct hx_voxels {
    int64_t n[3];   /* points along x, y, z; 0: the elements are none */
    int64_t line;   /* values from a line along x to the next: n[0] + reach[0], the last ones 0 */
    int reach[3];   /* the furthest point with a weight */
    int32_t *elem;  /* [n[2]][n[1]][n[0]] the element there, -1: none (owned, like all below) */
    int32_t *width; /* [reach[2] + 1][reach[1] + 1] furthest point along x with one, -1: none */
    double *weight; /* [reach[2] + 1][reach[1] + 1][reach[0] + 1] max(0, radius - distance) */
} hx_voxels;

/* voxels->n[0] = 0 where the elements are no voxels, the grid would be mostly empty, or the radius
 * reaches too far. O(n); where they are none, mostly O(1). */
int hx_voxels_create(hx_voxels *voxels, const hx_mesh *mesh, double radius);

/* Bytes that lists and values of one field take on a device. */
size_t hx_voxels_taken(const hx_voxels *voxels);
/* The same before they are made, 0 where elements are no voxels: nothing is made. O(n). */
size_t hx_voxels_bytes(const hx_mesh *mesh, double radius);
/* The same of a part of a mesh and all of it that is within the radius of the part, at most; 0
 * where that is not sure to be voxels. O(n). */
size_t hx_voxels_bytes_around(const hx_mesh *part, const hx_mesh *mesh, double radius);

/* Values of all points, of lines with zeros between and beyond: reach[0] of them before the first.
 */
int64_t hx_voxels_values(const hx_voxels *voxels);

/* Entries of width and of weight. */
int64_t hx_voxels_rows(const hx_voxels *voxels);
int64_t hx_voxels_weights(const hx_voxels *voxels);

/* Accepts a zeroed struct. */
void hx_voxels_free(hx_voxels *voxels);

#ifdef __cplusplus
}
#endif

#endif
