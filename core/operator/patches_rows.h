/* The rows of one patch by node (patches.h): a hash table, and the rows in the order of first
 * use. */
#ifndef HX_PATCHES_ROWS_H
#define HX_PATCHES_ROWS_H

#include "patches.h"

enum {
    /* maximum number of rows, and of incidences with elements */
    HX_PATCH_INCIDENCES = 8 * HX_MAX_PATCH,
    HX_PATCH_HASH = 8192 /* a power of 2, at least twice that */
};

typedef struct hx_patch_rows {
    int32_t key[HX_PATCH_HASH]; /* node; -1: free */
    int16_t row[HX_PATCH_HASH]; /* last row of the node */
    uint32_t n_hash;            /* size of the table in use, a power of 2 */
    int n;
    int32_t node[HX_PATCH_INCIDENCES];
    uint8_t count[HX_PATCH_INCIDENCES]; /* number of incidences of each row, at most 8 */
} hx_patch_rows;

/* Empties the table, for a patch of up to `size` elements. */
void hx_patch_rows_clear(hx_patch_rows *rows, int size);

/* Finds or creates the rows of an element's corners; corners that name the same node have the same
 * row. A row holds up to 8 incidences of its node, and all those of one element; for more, a
 * further row is created. */
void hx_patch_rows_add(hx_patch_rows *rows, const hx_patch_group *group, const hx_mesh *mesh,
                       int64_t e, int16_t row[8]);

/* The element of an item; -1 marks the end of a patch. */
static inline int64_t hx_patch_item(const hx_patch_group *group, int64_t item)
{
    return group->elem ? group->elem[item] : item;
}

#endif
