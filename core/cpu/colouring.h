/* Element colours: no two elements of one colour share a node, so a colour can be scattered in
 * parallel without a race and in a fixed order. */
#ifndef HX_COLOURING_H
#define HX_COLOURING_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_MAX_COLOUR = 64 };

typedef struct hx_colouring {
    int n_colour;
    int64_t begin[HX_MAX_COLOUR + 1]; /* elem[begin[c] .. begin[c + 1]) have colour c */
    int32_t *elem;                    /* [n_elem] by colour, ascending within one (owned) */
} hx_colouring;

/* Greedy in element order, lowest free colour first. HX_EINPUT: more than
 * HX_MAX_COLOUR colours (a node shared by that many elements). O(n_elem), 8 bytes a node. */
int hx_colouring_create(hx_colouring *colouring, const hx_mesh *mesh);
void hx_colouring_free(hx_colouring *colouring);

#ifdef __cplusplus
}
#endif

#endif
