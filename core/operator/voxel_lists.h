/* A mesh whose elements are voxels (voxel_grid.h), each with exactly the eight nodes of its
 * corners. Products over such a mesh find all neighbours by position. */
#ifndef HX_VOXEL_LISTS_H
#define HX_VOXEL_LISTS_H

#include "../mesh/voxel_grid.h"

HX_C_BEGIN

/* Largest distance of a coordinate from its grid plane, relative to the shortest voxel edge. The
 * resulting error of a product is of the order of rounding. */
#define HX_VOXEL_LISTS_OFF 1e-12

typedef struct hx_voxel_lists {
    int64_t n[3];   /* number of elements along x, y, z; n[0] = 0: not such a mesh */
    double edge[3]; /* edges of an element */
    int32_t *elem;  /* [n[2]][n[1]][n[0]] element at each place, -1: none (owned, like the next) */
    int32_t *node;  /* [n[2] + 1][n[1] + 1][n[0] + 1] node at each place, -1: none */
} hx_voxel_lists;

/* Sets lists->n[0] = 0 if the elements are not voxels or two nodes lie at the same place.
 * O(n_elem); mostly O(1) if the elements are not voxels. */
int hx_voxel_lists_create(hx_voxel_lists *lists, const hx_mesh *mesh);

/* Number of places for elements and for nodes. */
int64_t hx_voxel_lists_elems(const hx_voxel_lists *lists);
int64_t hx_voxel_lists_nodes(const hx_voxel_lists *lists);

/* Accepts a zeroed struct. */
void hx_voxel_lists_free(hx_voxel_lists *lists);

HX_C_END

#endif
