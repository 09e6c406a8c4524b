/* The thread blocks of a product, each with some elements or rows, reordered for products in parts
 * (product_part.h): first the blocks with interface points, then the others, both in ascending
 * order. */
#ifndef HX_BLOCK_SPLIT_H
#define HX_BLOCK_SPLIT_H

#include "../mesh/mesh.h"

HX_C_BEGIN

typedef struct hx_block_split {
    int64_t n_block, n_boundary;
    int32_t *block; /* [n_block] (owned) */
} hx_block_split;

/* For blocks of `each` consecutive elements; interface[n_interface]: the interface nodes.
 * O(n_elem). */
int hx_block_split_elements(hx_block_split *split, const hx_mesh *mesh, int64_t n_interface,
                            const int32_t *interface, int64_t each);

/* For blocks of `each` consecutive rows, with `components` rows per point and n_point points.
 * O(n_block + n_interface). */
int hx_block_split_rows(hx_block_split *split, int64_t n_point, int64_t n_interface,
                        const int32_t *interface, int components, int64_t each);

/* For blocks that are given by their flags is_boundary[n_block]. */
int hx_block_split_marked(hx_block_split *split, int64_t n_block, const uint8_t *is_boundary);

/* Accepts a zeroed struct. */
void hx_block_split_free(hx_block_split *split);

HX_C_END

#endif
