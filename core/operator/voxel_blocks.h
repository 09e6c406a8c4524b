/* Blocks of voxels (voxel_lists.h): tiles of node columns along z, cut into layers. */
#ifndef HX_VOXEL_BLOCKS_H
#define HX_VOXEL_BLOCKS_H

#include "voxel_lists.h"

HX_C_BEGIN

/* Block (layer * tile[1] + j) * tile[0] + i contains nodes i own[0] .. (i + 1) own[0] along x, j
 * own[1] .. (j + 1) own[1] along y, and `depth` nodes along z. */
typedef struct hx_voxel_tiling {
    int own[2];
    int tile[2]; /* number of blocks along x and y */
    int depth;
} hx_voxel_tiling;

/* (*block)[*n_block], owned by the caller: the blocks that contain nodes; first the *n_boundary
 * blocks with an interface node (interface[n_interface], of n_node nodes), then the others, both
 * ascending. O(n_elem). */
int hx_voxel_blocks_list(const hx_voxel_lists *lists, const hx_voxel_tiling *tiling, int64_t n_node,
                         int64_t n_interface, const int32_t *interface, int *n_block,
                         int *n_boundary, int32_t **block);

HX_C_END

#endif
