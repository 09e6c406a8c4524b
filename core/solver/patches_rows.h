/* Rows of one patch by node (patches.h): a hash table, and the rows in order of first use. */
#ifndef HX_PATCHES_ROWS_H
#define HX_PATCHES_ROWS_H

#include "patches.h"

enum {
    HX_PATCH_INCIDENCES = 8 * HX_MAX_PATCH, /* rows at most, and incidences of elements with them */
    HX_PATCH_HASH = 8192                    /* a power of 2, of at least twice as many */
};

typedef struct hx_patch_rows {
    int32_t key[HX_PATCH_HASH]; /* node, -1: free */
    int16_t row[HX_PATCH_HASH]; /* its last row */
    uint32_t n_hash;            /* entries in use, a power of 2 */
    int n;
    int32_t node[HX_PATCH_INCIDENCES];
    uint8_t count[HX_PATCH_INCIDENCES]; /* incidences of each row, at most 8 */
} hx_patch_rows;

/* Empty, for a patch of up to `size` elements. */
void hx_patch_rows_clear(hx_patch_rows *rows, int size);

/* The rows of an element's corners: those that name one node have one. A row takes 8 incidences of
 * its node and all of an element; a further one is opened for more. */
void hx_patch_rows_add(hx_patch_rows *rows, const hx_patch_group *group, const hx_mesh *mesh,
                       int64_t e, int16_t row[8]);

/* The element of an item, or -1. */
static inline int64_t hx_patch_item(const hx_patch_group *group, int64_t item)
{
    return group->elem ? group->elem[item] : item;
}

#endif
