/* Patches: groups of elements whose nodal values a block of GPU threads keeps in fast memory, and
 * the lists by which forces are summed in a fixed order, without atomics.
 *
 * A patch has up to `size` elements, each in its place, and n rows. A row is a node of the patch,
 * or unused; its nodal values stand at row_position in the patch's fast memory, and corner[e].v[a]
 * is the position of corner a of place e; corners that name one node have one row. Row k sums the
 * forces that its places left in the slots row_slot[k].v[0..8) (hx_patch_slot_of; HX_NO_SLOT:
 * none), in that order. A node held by one row alone is summed by it; any other ("shared") gets one
 * partial sum per row, which are added in the order of shared_sum.
 *
 * Rows are ordered by their number of slots, then by node, so that what a warp loads, sums and
 * writes lies together. Positions are chosen for fast memory of 16 banks of doubles: the 16 places
 * of a half-warp find their corner a at positions that differ modulo 16 as far as a greedy choice
 * goes, and the 16 rows of a half-warp read slots of places that do. Where elements may be permuted
 * and are parts of a lattice, colours do better (hx_patch_colour): positions of 32 places differ
 * modulo 32, which is right for floats, too. */
#ifndef HX_PATCHES_H
#define HX_PATCHES_H

#include "../base/host_device.h"
#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_MAX_PATCH = 384, HX_PATCH_BANK = 16, HX_PATCH_COLOURS = 32 };
#define HX_NO_SLOT 0xffffu
#define HX_SHARED_ROW INT32_MIN /* a bit of row_node */

typedef struct hx_eight {
    uint16_t v[8];
} hx_eight;

/* Where a patch keeps the force of place e at corner a; the step of size + 1 spreads the corners of
 * an element over the banks. */
static HX_HD int hx_patch_slot(int size, int a, int e)
{
    return a * (size + 1) + e;
}

/* Of a lattice's node i, j, k the colour is i + 7 j + 12 k modulo HX_PATCH_COLOURS; of corner a
 * from the first one on. So 32 elements whose first corners have different colours find nodes of
 * different colours at each of their corners. In boxes of 8 x 8 x 4 elements, whichever way they
 * lie, no other coefficients leave fewer elements and rows that meet in a bank (counted). */
static HX_HD int hx_patch_colour(int a)
{
    return (a ^ a >> 1) % 2 + 7 * (a >> 1 & 1) + 12 * (a >> 2);
}

/* Where a patch that permutes its elements keeps the force of place e at corner a: in the bank of
 * the node's colour. Below 8 size + HX_PATCH_COLOURS; size a multiple of that. */
static HX_HD int hx_patch_coloured_slot(int size, int a, int e)
{
    return (a ^ (a >> 1 & 1)) * size + hx_patch_colour(a) + e;
}

/* A patch: rows begin .. begin + n, n a multiple of HX_PATCH_BANK; items first .. first + count of
 * its group's list, in places 0 .. count. Row begin + k that is shared, or unused, has its partial
 * sum at `partial` + k; rows before the first such one have none. */
typedef struct hx_span {
    int32_t begin, partial;
    int32_t first;
    int16_t n, count;
} hx_span;

/* Patches of one size, cut from a list of elements in its order: a patch ends with the list, before
 * a -1, with `size` elements, where an element more would need more than max_row rows, or
 * after every 8192 items, or as many fewer as leave whole patches. */
typedef struct hx_patch_group {
    int size, max_row;  /* max_row a multiple of HX_PATCH_BANK */
    int is_tetrahedral; /* its elements are tetrahedra: their corners a = 0 .. 3 are the points, as
                           hx_cell_tetrahedron has them, and there are no others */
    int permutes;       /* the elements of each patch may be put in another order, for colours; then
                           positions go up to max_row. Not of tetrahedra */
    int64_t n_item;
    int32_t *elem; /* [n_item] (borrowed during hx_patches_create, which writes it if `permutes`);
                      NULL: item = element, which cannot be permuted */
    /* Set by hx_patches_create: where its patches, places and rows begin in the arrays below. */
    int64_t first_patch, n_patch, first_place, first_row, n_row;
} hx_patch_group;

/* Where a patch of the group keeps the force of place e at corner a. */
static inline int hx_patch_slot_of(const hx_patch_group *group, int a, int e)
{
    return group->permutes ? hx_patch_coloured_slot(group->size, a, e)
                           : hx_patch_slot(group->size, a, e);
}

typedef struct hx_patches {
    int n_group;
    hx_patch_group group[2];
    int64_t n_patch, n_place, n_row, n_shared, n_shared_row;
    int64_t n_partial;      /* partial sums */
    hx_span *span;          /* [n_patch] */
    hx_eight *corner;       /* [n_place] */
    int32_t *row_node;      /* [n_row] node; with the bit HX_SHARED_ROW if shared or unused */
    uint16_t *row_position; /* [n_row] */
    hx_eight *row_slot;     /* [n_row] */
    int32_t *shared_node;   /* [n_shared] ascending */
    int32_t *shared_ptr;    /* [n_shared + 1] */
    int32_t *shared_sum;    /* [n_shared_row] their partial sums, ascending for each node */
} hx_patches;

/* From so many elements on an operator takes its larger patches, where the device has a way to
 * compute them: few of them leave multiprocessors without one. A test sets it. */
int64_t hx_patches_wide_from(void);
void hx_patches_set_wide_from(int64_t n_elem);

/* Builds the patches of groups that hold each element once. HX_EENV: more than 2^31 rows.
 * O(n_elem), the same for any number of threads. */
int hx_patches_create(hx_patches *p, const hx_mesh *mesh, int n_group, const hx_patch_group *group);

/* (*elem)[n_elem], the caller's: the *n_other elements that are no tetrahedra, then those that are,
 * both ascending. Of a finished mesh. O(n_elem). */
int hx_patches_list_tetrahedra(const hx_mesh *mesh, int64_t *n_other, int32_t **elem);

/* Bytes of the arrays of groups that hold each element once, and of a partial sum of three doubles
 * and `extra` bytes for each row; at most. O(n_elem). */
size_t hx_patches_bytes(const hx_mesh *mesh, int n_group, const hx_patch_group *group,
                        size_t extra);

/* The same of patches that are there, counted; their shared nodes are known. */
size_t hx_patches_held(const hx_patches *p, size_t extra);

/* Accepts a zeroed struct. */
void hx_patches_free(hx_patches *p);

#ifdef __cplusplus
}
#endif

#endif
