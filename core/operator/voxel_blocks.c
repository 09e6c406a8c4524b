#include "voxel_blocks.h"

#include <stdlib.h>

#include "interface_points.h"

typedef enum { NONE, OWN, COMMON } content;

/* Content of one row of a block's nodes along x. is_interface = NULL: no node is an interface
 * node. */
static content look_at_row(const int32_t *node, int n, const uint8_t *is_interface)
{
    content found = NONE;
    for (int i = 0; i < n; i++) {
        if (node[i] < 0) continue;
        if (!is_interface) return OWN;
        found = OWN;
        if (is_interface[node[i]]) return COMMON;
    }
    return found;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The highest content among the rows of a block. */
static content look_at_block(const hx_voxel_lists *v, const hx_voxel_tiling *t, int64_t block,
                             const uint8_t *is_interface)
{
    const content most = is_interface ? COMMON : OWN;
    const int64_t n_tile = (int64_t)t->tile[0] * t->tile[1], tile = block % n_tile;
    const int64_t i0 = tile % t->tile[0] * t->own[0], j0 = tile / t->tile[0] * t->own[1],
                  k0 = block / n_tile * t->depth;
    const int64_t i1 = least(i0 + t->own[0], v->n[0] + 1), j1 = least(j0 + t->own[1], v->n[1] + 1),
                  k1 = least(k0 + t->depth, v->n[2] + 1);
    content found = NONE;
    for (int64_t k = k0; k < k1 && found < most; k++)
        for (int64_t j = j0; j < j1 && found < most; j++) {
            const int32_t *const row = v->node + (k * (v->n[1] + 1) + j) * (v->n[0] + 1);
            const content of_row = look_at_row(row + i0, (int)(i1 - i0), is_interface);
            if (of_row > found) found = of_row;
        }
    return found;
}

static int list_blocks(const hx_voxel_lists *v, const hx_voxel_tiling *t,
                       const uint8_t *is_interface, int *n_block, int *n_boundary, int32_t **block)
{
    const int64_t n_layer = (v->n[2] + t->depth) / t->depth,
                  n_all = (int64_t)t->tile[0] * t->tile[1] * n_layer;
    uint8_t *has = NULL;
    HX_TRY(hx_alloc_raw(&has, (size_t)n_all, sizeof *has, "voxels"));
    const int rc = hx_alloc_raw(block, (size_t)n_all, sizeof **block, "voxels");
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t b = 0; b < n_all; b++) has[b] = (uint8_t)look_at_block(v, t, b, is_interface);
    *n_block = 0;
    for (content want = COMMON; rc == HX_OK && want > NONE; want--) {
        for (int64_t b = 0; b < n_all; b++)
            if (has[b] == want) (*block)[(*n_block)++] = (int32_t)b;
        if (want == COMMON) *n_boundary = *n_block;
    }
    free(has);
    return rc;
}

int hx_voxel_blocks_list(const hx_voxel_lists *lists, const hx_voxel_tiling *tiling, int64_t n_node,
                         int64_t n_interface, const int32_t *interface, int *n_block,
                         int *n_boundary, int32_t **block)
{
    uint8_t *is_interface = NULL;
    *block = NULL;
    if (n_interface > 0) HX_TRY(hx_mark_interface(n_node, n_interface, interface, &is_interface));
    const int rc = list_blocks(lists, tiling, is_interface, n_block, n_boundary, block);
    free(is_interface);
    return rc;
}
