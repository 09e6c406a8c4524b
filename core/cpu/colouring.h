/* Element colours: no two elements of one colour share a node, so a colour can be scattered in
 * parallel without a race and in a fixed order. */
#ifndef HX_COLOURING_H
#define HX_COLOURING_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_colouring {
    int n_colour;
    int64_t *begin; /* [n_colour + 1] elem[begin[c] .. begin[c + 1]) have colour c (owned) */
    int32_t *elem;  /* [n_elem] by colour, ascending within one (owned) */
} hx_colouring;

/* Greedy in element order, lowest free colour first: as many colours as it takes, at least the
 * elements of the node that has most. O(n_elem) for each 64 colours; 8 bytes a node and 4 an
 * element meanwhile. */
int hx_colouring_create(hx_colouring *colouring, const hx_mesh *mesh);

/* More colours it cannot take: those of the neighbours at eight nodes, and one. 64 where no node
 * has more than 8 incidences. O(n_node). */
int64_t hx_colouring_most(const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_colouring_free(hx_colouring *colouring);

#ifdef __cplusplus
}
#endif

#endif
