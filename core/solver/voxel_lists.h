/* A mesh whose elements are voxels (voxel_grid.h), each with the eight nodes of its corners and of
 * nothing else there: what products run over that know all neighbours by their places. */
#ifndef HX_VOXEL_LISTS_H
#define HX_VOXEL_LISTS_H

#include "../mesh/voxel_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a coordinate may be from its plane, of a voxel's shortest edge: what a product is off by
 * then is rounding. */
#define HX_VOXEL_LISTS_OFF 1e-12

typedef struct hx_voxel_lists {
    int64_t n[3];   /* elements along x, y, z; 0: not such a mesh */
    double edge[3]; /* of an element */
    int32_t *elem;  /* [n[2]][n[1]][n[0]] the element there, -1: none (owned, like the next) */
    int32_t *node;  /* [n[2] + 1][n[1] + 1][n[0] + 1] the node there, -1: none */
} hx_voxel_lists;

/* lists->n[0] = 0 where elements are no voxels, or two nodes lie at one place. O(n_elem); where
 * they are none mostly O(1). */
int hx_voxel_lists_create(hx_voxel_lists *lists, const hx_mesh *mesh);

/* Places of elements and of nodes. */
int64_t hx_voxel_lists_elems(const hx_voxel_lists *lists);
int64_t hx_voxel_lists_nodes(const hx_voxel_lists *lists);

/* Accepts a zeroed struct. */
void hx_voxel_lists_free(hx_voxel_lists *lists);

#ifdef __cplusplus
}
#endif

#endif
