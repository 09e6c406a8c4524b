/* Coarse grids of several ranks: all have the same nodes and levels, and each rank lists the cells,
 * elements and points of its own subdomain. */
#ifndef HX_COARSE_LOCAL_H
#define HX_COARSE_LOCAL_H

#include "../problem/problem.h"
#include "coarse.h"

HX_C_BEGIN

/* `coarse` covers the space of local->whole; removes from its lists what the subdomain does not
 * have. The elements of the subdomain are a contiguous range of the whole. O(n_elem of the
 * whole). */
int hx_coarse_cut(hx_coarse *coarse, const hx_problem *local);

HX_C_END

#endif
