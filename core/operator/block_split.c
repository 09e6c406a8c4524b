#include "block_split.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "interface_points.h"

static const char what[] = "blocks of a product";

int hx_block_split_elements(hx_block_split *split, const hx_mesh *mesh, int64_t n_interface,
                            const int32_t *interface, int64_t each)
{
    const int64_t n_elem = mesh->n_elem, n_block = (n_elem + each - 1) / each;
    uint8_t *is_interface = NULL, *is_boundary = NULL;
    int rc;
    memset(split, 0, sizeof *split);
    HX_TRY_FAIL(hx_mark_interface(mesh->n_node, n_interface, interface, &is_interface));
    HX_TRY_FAIL(hx_alloc_raw(&is_boundary, (size_t)n_block, sizeof *is_boundary, what));
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < n_block; b++) {
        const int64_t whole = (b + 1) * each, end = whole < n_elem ? whole : n_elem;
        is_boundary[b] = 0;
        for (int64_t i = 8 * b * each; i < 8 * end && !is_boundary[b]; i++)
            is_boundary[b] = is_interface[mesh->conn[i]];
    }
    rc = hx_block_split_marked(split, n_block, is_boundary);
fail:
    free(is_interface);
    free(is_boundary);
    return rc;
}

int hx_block_split_rows(hx_block_split *split, int64_t n_point, int64_t n_interface,
                        const int32_t *interface, int components, int64_t each)
{
    const int64_t n_block = (components * n_point + each - 1) / each;
    uint8_t *is_boundary;
    memset(split, 0, sizeof *split);
    HX_TRY(hx_alloc(&is_boundary, (size_t)n_block, sizeof *is_boundary, what));
    for (int64_t i = 0; i < n_interface; i++) /* the rows of a point may lie in two blocks */
        for (int c = 0; c < components; c++)
            is_boundary[(components * (int64_t)interface[i] + c) / each] = 1;
    const int rc = hx_block_split_marked(split, n_block, is_boundary);
    free(is_boundary);
    return rc;
}

int hx_block_split_marked(hx_block_split *split, int64_t n_block, const uint8_t *is_boundary)
{
    int64_t n = 0;
    memset(split, 0, sizeof *split);
    HX_TRY(hx_alloc_raw(&split->block, (size_t)n_block, sizeof *split->block, what));
    split->n_block = n_block;
    for (int want = 1; want >= 0; want--) {
        for (int64_t b = 0; b < n_block; b++)
            if (is_boundary[b] == want) split->block[n++] = (int32_t)b;
        if (want == 1) split->n_boundary = n;
    }
    return HX_OK;
}

void hx_block_split_free(hx_block_split *split)
{
    free(split->block);
    memset(split, 0, sizeof *split);
}
