/* What springs to ground add to the matrix of the first lattice: P'S P, once for all designs. */
#ifndef HX_LATTICE_SPRINGS_H
#define HX_LATTICE_SPRINGS_H

#include "../problem/problem.h"
#include "lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_lattice_springs {
    int64_t n;
    int64_t *at;  /* [n] 27 node + offset, ascending (owned) */
    float *block; /* [n][6][6] (of films [n]) rows of the node, columns of its neighbour (owned) */
} hx_lattice_springs;

/* Those of problem->springs.stiffness where held[n_node] (bits 1, 2, 4: x, y, z) has none; summed
 * in a fixed order. O(n_spring) blocks of 8 x 8 a cell with springs. */
int hx_lattice_springs_create(hx_lattice_springs *springs, const hx_lattice *lattice,
                              const hx_problem *problem, const uint8_t *held);

/* The same of the films of heat: int h N N' dA, blocks of one number. O(n_node), and 64 products an
 * entry of the films. */
int hx_lattice_films_create(hx_lattice_springs *films, const hx_lattice *lattice,
                            const hx_problem *problem, const uint8_t *held);

/* Accepts a zeroed struct. */
void hx_lattice_springs_free(hx_lattice_springs *springs);

#ifdef __cplusplus
}
#endif

#endif
