/* Thread blocks of a product, each with some elements or rows, in another order: first those with
 * points that other processes have too (product_part.h), then the others, both ascending. */
#ifndef HX_BLOCK_SPLIT_H
#define HX_BLOCK_SPLIT_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_block_split {
    int64_t n_block, n_boundary;
    int32_t *block; /* [n_block] (owned) */
} hx_block_split;

/* Blocks of `each` elements, one after the other, that have nodes of common[n_common]. O(n_elem).
 */
int hx_block_split_elements(hx_block_split *split, const hx_mesh *mesh, int64_t n_common,
                            const int32_t *common, int64_t each);

/* Blocks of `each` rows of numbers, `components` a point of n_point. O(n_block + n_common). */
int hx_block_split_rows(hx_block_split *split, int64_t n_point, int64_t n_common,
                        const int32_t *common, int components, int64_t each);

/* Blocks that are marked: is_boundary[n_block]. */
int hx_block_split_marked(hx_block_split *split, int64_t n_block, const uint8_t *is_boundary);

/* Accepts a zeroed struct. */
void hx_block_split_free(hx_block_split *split);

#ifdef __cplusplus
}
#endif

#endif
