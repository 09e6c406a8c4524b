/* Coarse grids of several ranks: all have the same nodes and levels, and each rank lists the cells,
 * elements and points of its own subdomain. */
#ifndef HX_LATTICE_SHARE_H
#define HX_LATTICE_SHARE_H

#include "../problem/problem.h"
#include "lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `lattice` covers the space of share->whole; removes from its lists what the subdomain does not
 * have. The elements of the subdomain are a contiguous range of the whole. O(n_elem of the
 * whole). */
int hx_lattice_cut(hx_lattice *lattice, const hx_problem *local);

#ifdef __cplusplus
}
#endif

#endif
