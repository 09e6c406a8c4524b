/* Internals of the optimizer: the first design, and the kept one. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Sets d_design to density[n_elem] if given, otherwise to a uniform density; passive elements get
 * theirs. HX_EINPUT: a density is not in [0, 1]. Not performance-critical. */
int hx_optimizer_start(hx_optimizer *opt, const double *density);

/* Keeps the analysed design if it is the best so far that meets all limits (optimizer_kept.c)
 * [2]. */
int hx_optimizer_keep(hx_optimizer *opt, const hx_iteration *record);

#endif
