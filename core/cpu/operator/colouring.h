/* Element colours: no two elements of one colour share a node, so the elements of a colour can
 * scatter to nodes in parallel, without a race and in a fixed order. */
#ifndef HX_COLOURING_H
#define HX_COLOURING_H

#include "../../mesh/mesh.h"

typedef struct hx_colouring {
    int n_colour;
    int64_t *begin; /* [n_colour + 1] elem[begin[c] .. begin[c + 1]) have colour c (owned) */
    int32_t *elem;  /* [n_elem] sorted by colour, ascending within a colour (owned) */
} hx_colouring;

/* Greedy in element order, lowest free colour first. The number of colours is not limited; it is at
 * least the largest number of elements at a node. O(n_elem) for each 64 colours; temporary memory
 * of 8 bytes per node and 4 per element. */
int hx_colouring_create(hx_colouring *colouring, const hx_mesh *mesh);

/* Upper bound on the number of colours: one more than the neighbours at eight nodes. It is 64 if no
 * node has more than 8 incidences. O(n_node). */
int64_t hx_colouring_most(const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_colouring_free(hx_colouring *colouring);

#endif
