#include "colouring.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"

enum { ROUND = 64 }; /* number of colours per round, one bit of a word each */

static const int32_t NONE = -1;

/* Colours elements that have no colour yet with one of the colours first .. first + ROUND - 1. An
 * element gets the lowest of them that no preceding element at one of its nodes has. Elements for
 * which all of them are taken are left to the next round. Returns their number. */
static int64_t run_round(const hx_mesh *mesh, int32_t first, uint64_t *taken, int32_t *colour)
{
    int64_t n_left = 0;
    memset(taken, 0, (size_t)mesh->n_node * sizeof *taken);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *conn = mesh->conn + 8 * e;
        uint64_t used = 0;
        int c = 0;
        if (colour[e] != NONE) continue;
        for (int a = 0; a < 8; a++) used |= taken[conn[a]];
        if (used == UINT64_MAX) {
            n_left++;
            continue;
        }
        while (used >> c & 1u) c++;
        colour[e] = first + c;
        for (int a = 0; a < 8; a++) taken[conn[a]] |= (uint64_t)1 << c;
    }
    return n_left;
}

/* Sorts the elements by colour. */
static int list_elements(hx_colouring *colouring, const hx_mesh *mesh, const int32_t *colour)
{
    int64_t *next;
    const size_t n = (size_t)colouring->n_colour;
    HX_TRY(hx_alloc(&colouring->begin, n + 1, sizeof *next, "element colours"));
    HX_TRY(hx_alloc_raw(&colouring->elem, (size_t)mesh->n_elem, sizeof *colouring->elem,
                        "element colours"));
    HX_TRY(hx_alloc_raw(&next, n + 1, sizeof *next, "element colours"));
    for (int64_t e = 0; e < mesh->n_elem; e++) colouring->begin[colour[e] + 1]++;
    for (size_t c = 0; c < n; c++) colouring->begin[c + 1] += colouring->begin[c];
    memcpy(next, colouring->begin, (n + 1) * sizeof *next);
    for (int64_t e = 0; e < mesh->n_elem; e++) colouring->elem[next[colour[e]]++] = (int32_t)e;
    free(next);
    return HX_OK;
}

int hx_colouring_create(hx_colouring *colouring, const hx_mesh *mesh)
{
    int32_t *colour = NULL, first = 0, last = 0;
    uint64_t *taken = NULL; /* [n_node] bits of the colours of a node's elements in this round */
    int rc;
    memset(colouring, 0, sizeof *colouring);
    HX_TRY_FAIL(hx_alloc_raw(&colour, (size_t)mesh->n_elem, sizeof *colour, "element colours"));
    HX_TRY_FAIL(hx_alloc_raw(&taken, (size_t)mesh->n_node, sizeof *taken, "element colours"));
    for (int64_t e = 0; e < mesh->n_elem; e++) colour[e] = NONE;
    while (run_round(mesh, first, taken, colour) > 0) first += ROUND;
    for (int64_t e = 0; e < mesh->n_elem; e++) last = colour[e] > last ? colour[e] : last;
    colouring->n_colour = last + 1;
    HX_TRY_FAIL(list_elements(colouring, mesh, colour));
fail:
    free(taken);
    free(colour);
    if (rc < 0) hx_colouring_free(colouring);
    return rc;
}

int64_t hx_colouring_most(const hx_mesh *mesh)
{
    int64_t most = 8;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t n = mesh->node_elem_ptr[a + 1] - mesh->node_elem_ptr[a];
        most = n > most ? n : most;
    }
    return 8 * most;
}

void hx_colouring_free(hx_colouring *colouring)
{
    free(colouring->begin);
    free(colouring->elem);
    memset(colouring, 0, sizeof *colouring);
}
