/* The lattice of several processes: all have the same nodes and levels, each lists the cells, the
 * elements and the points of its share. */
#ifndef HX_LATTICE_SHARE_H
#define HX_LATTICE_SHARE_H

#include "../problem/problem.h"
#include "lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* lattice: under the space of share->whole; what a share lacks is taken off its lists. Elements of
 * the share are a run of the whole's. O(n_elem of the whole). */
int hx_lattice_cut(hx_lattice *lattice, const hx_problem *share);

#ifdef __cplusplus
}
#endif

#endif
