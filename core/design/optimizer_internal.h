/* Inside of the optimizer: the first design. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Into d_design: density[n_elem] if given, else uniform; passive elements have theirs. HX_EINPUT: a
 * density not in [0, 1]. Cold. */
int hx_optimizer_start(hx_optimizer *opt, const double *density);

#endif
