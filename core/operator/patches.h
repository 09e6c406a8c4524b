/* Patches: groups of elements whose nodal values a block of GPU threads keeps in fast memory, and
 * the lists by which forces are summed in a fixed order, without atomics.
 *
 * A patch has up to `size` elements, each in its place, and n rows. A row is a node of the patch,
 * or unused; its nodal values are stored at row_position in the patch's fast memory. corner[e].v[a]
 * is the position of corner a of the element in place e; corners that name the same node have the
 * same row. Row k sums the forces that its elements left in the slots row_slot[k].v[0..8), in that
 * order (hx_patch_slot_of; HX_NO_SLOT: none). A node with only one row is summed by that row; any
 * other node ("shared") gets one partial sum per row, and these are added in the order of
 * shared_sum.
 *
 * Rows are sorted by their number of slots, then by node, so that a warp loads, sums and writes
 * contiguous data. Positions are chosen for fast memory with 16 banks of doubles: as far as a
 * greedy choice allows, the 16 places of a half-warp find their corner a at positions that differ
 * modulo 16, and the 16 rows of a half-warp read slots of places that differ modulo 16. If elements
 * may be permuted and are part of a regular grid, colours are better (hx_patch_colour): the
 * positions of 32 places then differ modulo 32, which also suits floats. */
#ifndef HX_PATCHES_H
#define HX_PATCHES_H

#include "../base/host_device.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

enum { HX_MAX_PATCH = 384, HX_PATCH_BANK = 16, HX_PATCH_COLOURS = 32 };
#define HX_NO_SLOT 0xffffu
#define HX_SHARED_ROW INT32_MIN /* one bit of row_node */

typedef struct hx_eight {
    uint16_t v[8];
} hx_eight;

/* Slot for the force of place e at corner a. The stride of size + 1 spreads the corners of an
 * element over the banks. */
static HX_HD int hx_patch_slot(int size, int a, int e)
{
    return a * (size + 1) + e;
}

/* The colour of node i, j, k of a regular grid is i + 7 j + 12 k modulo HX_PATCH_COLOURS; here,
 * that of corner a relative to the first corner. Hence 32 elements whose first corners have
 * different colours find nodes of different colours at each of their corners. An exhaustive count
 * showed that in boxes of 8 x 8 x 4 elements, in any orientation, no other coefficients leave fewer
 * elements and rows that meet in a bank. */
static HX_HD int hx_patch_colour(int a)
{
    return (a ^ a >> 1) % 2 + 7 * (a >> 1 & 1) + 12 * (a >> 2);
}

/* Slot for the force of place e at corner a in a patch that permutes its elements: a slot in the
 * bank of the node's colour. The result is less than 8 size + HX_PATCH_COLOURS; `size` must be a
 * multiple of HX_PATCH_COLOURS. */
static HX_HD int hx_patch_coloured_slot(int size, int a, int e)
{
    return (a ^ (a >> 1 & 1)) * size + hx_patch_colour(a) + e;
}

/* A patch. It has the rows begin .. begin + n, where n is a multiple of HX_PATCH_BANK, and in its
 * places 0 .. count the items first .. first + count of its group's list. If row begin + k is
 * shared or unused, its partial sum is stored at `partial` + k; the rows before the first such row
 * have none. */
typedef struct hx_span {
    int32_t begin, partial;
    int32_t first;
    int16_t n, count;
} hx_span;

/* Patches of one size, cut from a list of elements in its order. A patch ends at the end of the
 * list, before an item -1, when it has `size` elements, when one more element would need more than
 * max_row rows, and after every 8192 items (or the largest smaller number that gives whole
 * patches). */
typedef struct hx_patch_group {
    int size, max_row; /* max_row is a multiple of HX_PATCH_BANK */
    /* 1: all elements are tetrahedra; their corners a = 0 .. 3 are the points in the order of
     * hx_cell_tetrahedron, and there are no other corners */
    int is_tetrahedral;
    /* 1: the elements of each patch may be reordered by colour, and positions go up to max_row; not
     * for tetrahedra */
    int permutes;
    int64_t n_item;
    /* [n_item] (borrowed by hx_patches_create, which reorders it if `permutes` is set); NULL: item
     * = element, which cannot be reordered */
    int32_t *elem;
    /* Set by hx_patches_create: where the group's patches, places and rows begin in the arrays of
     * hx_patches. */
    int64_t first_patch, n_patch, first_place, first_row, n_row;
} hx_patch_group;

/* Slot for the force of place e at corner a in a patch of the group. */
static inline int hx_patch_slot_of(const hx_patch_group *group, int a, int e)
{
    return group->permutes ? hx_patch_coloured_slot(group->size, a, e)
                           : hx_patch_slot(group->size, a, e);
}

typedef struct hx_patches {
    int n_group;
    hx_patch_group group[2];
    int64_t n_patch, n_place, n_row, n_shared, n_shared_row;
    int64_t n_partial;      /* number of partial sums */
    hx_span *span;          /* [n_patch] */
    hx_eight *corner;       /* [n_place] */
    int32_t *row_node;      /* [n_row] node, with the bit HX_SHARED_ROW if shared or unused */
    uint16_t *row_position; /* [n_row] */
    hx_eight *row_slot;     /* [n_row] */
    int32_t *shared_node;   /* [n_shared] ascending */
    int32_t *shared_ptr;    /* [n_shared + 1] */
    int32_t *shared_sum;    /* [n_shared_row] partial sums of each node, ascending */
} hx_patches;

/* Smallest number of elements for which an operator uses its larger patches, on a device that can
 * compute them: with few large patches some multiprocessors would be idle. Tests set it. */
int64_t hx_patches_wide_from(void);
void hx_patches_set_wide_from(int64_t n_elem);

/* Builds the patches of groups that together contain each element once. HX_EENV: more than 2^31
 * rows. O(n_elem); the result does not depend on the number of threads. */
int hx_patches_create(hx_patches *p, const hx_mesh *mesh, int n_group, const hx_patch_group *group);

/* (*elem)[n_elem], owned by the caller: the *n_other elements that are not tetrahedra, then the
 * tetrahedra, both ascending. The mesh must be finished. O(n_elem). */
int hx_patches_list_tetrahedra(const hx_mesh *mesh, int64_t *n_other, int32_t **elem);

/* Upper bound on the bytes of the arrays of groups that together contain each element once,
 * including a partial sum of three doubles and `extra` bytes for each row. O(n_elem). */
size_t hx_patches_bytes(const hx_mesh *mesh, int n_group, const hx_patch_group *group,
                        size_t extra);

/* The bytes of existing patches, counted exactly because their shared nodes are known. */
size_t hx_patches_held(const hx_patches *p, size_t extra);

/* Accepts a zeroed struct. */
void hx_patches_free(hx_patches *p);

HX_C_END

#endif
