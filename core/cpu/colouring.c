#include "colouring.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

int hx_colouring_create(hx_colouring *colouring, const hx_mesh *mesh)
{
    uint64_t *taken = NULL; /* per node: colours of its elements so far */
    uint8_t *colour = NULL;
    int64_t next[HX_MAX_COLOUR + 1] = {0};
    int rc;
    memset(colouring, 0, sizeof *colouring);
    HX_TRY_FAIL(hx_alloc(&taken, (size_t)mesh->n_node, sizeof *taken, "element colours"));
    HX_TRY_FAIL(hx_alloc(&colour, (size_t)mesh->n_elem, 1, "element colours"));
    HX_TRY_FAIL(hx_alloc_raw(&colouring->elem, (size_t)mesh->n_elem, sizeof *colouring->elem,
                             "element colours"));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *conn = mesh->conn + 8 * e;
        uint64_t used = 0;
        uint8_t c = 0;
        for (int a = 0; a < 8; a++) used |= taken[conn[a]];
        if (used == UINT64_MAX) {
            rc = HX_RAISE(HX_EINPUT, "element %lld touches elements of all %d colours",
                          (long long)hx_mesh_elem_number(mesh, e), HX_MAX_COLOUR);
            goto fail;
        }
        while (used >> c & 1u) c++;
        colour[e] = c;
        for (int a = 0; a < 8; a++) taken[conn[a]] |= (uint64_t)1 << c;
        colouring->begin[c + 1]++;
        if (c >= colouring->n_colour) colouring->n_colour = c + 1;
    }
    for (int c = 0; c < HX_MAX_COLOUR; c++) {
        colouring->begin[c + 1] += colouring->begin[c];
        next[c] = colouring->begin[c];
    }
    for (int64_t e = 0; e < mesh->n_elem; e++) colouring->elem[next[colour[e]]++] = (int32_t)e;
    free(taken);
    free(colour);
    return HX_OK;
fail:
    free(taken);
    free(colour);
    hx_colouring_free(colouring);
    return rc;
}

void hx_colouring_free(hx_colouring *colouring)
{
    free(colouring->elem);
    memset(colouring, 0, sizeof *colouring);
}
