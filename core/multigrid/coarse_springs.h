/* Contribution P'S P of springs to ground to the matrix of the first coarse grid, computed once for
 * all designs. */
#ifndef HX_COARSE_SPRINGS_H
#define HX_COARSE_SPRINGS_H

#include "../problem/problem.h"
#include "coarse.h"

HX_C_BEGIN

typedef struct hx_coarse_springs {
    int64_t n;
    int64_t *at;  /* [n] 27 node + offset, ascending (owned) */
    float *block; /* [n][6][6] (of films [n]) rows of the node, columns of its neighbour (owned) */
} hx_coarse_springs;

/* Contribution of problem->springs.stiffness, without the components flagged in held[n_node] (bits
 * 1, 2, 4: x, y, z); summed in a fixed order. O(n_spring), and 8 x 8 blocks per cell with
 * springs. */
int hx_coarse_springs_create(hx_coarse_springs *springs, const hx_coarse *coarse,
                             const hx_problem *problem, const uint8_t *held);

/* Contribution of the films (convection terms) of heat conduction, int h N N' dA, with 1x1 blocks.
 * O(n_node), and 64 products per entry of the films. */
int hx_coarse_films_create(hx_coarse_springs *films, const hx_coarse *coarse,
                           const hx_problem *problem, const uint8_t *held);

/* Accepts a zeroed struct. */
void hx_coarse_springs_free(hx_coarse_springs *springs);

HX_C_END

#endif
