/* Internals of the optimizer: the first design. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Sets d_design to density[n_elem] if given, otherwise to a uniform density; passive elements get
 * theirs. HX_EINPUT: a density is not in [0, 1]. Not performance-critical. */
int hx_optimizer_start(hx_optimizer *opt, const double *density);

#endif
