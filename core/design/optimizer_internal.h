/* Inside of the optimizer: the first design; what a process does with its share of the design, or
 * the whole where it has that. Each of the latter is as the function of optimizer.h without
 * `_share`; where the design is in shares all processes call it together, and what is the leader's
 * alone (arrays of the whole, images) is NULL elsewhere. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Into d_design: density[n_elem] if given, else uniform; passive elements have theirs. HX_EINPUT: a
 * density not in [0, 1]. Cold. */
int hx_optimizer_start(hx_optimizer *opt, const double *density);

int hx_optimizer_step_share(hx_optimizer *opt, hx_iteration *record);
void hx_optimizer_advance_share(hx_optimizer *opt);
int hx_optimizer_undo_share(hx_optimizer *opt);
int hx_optimizer_energy_share(hx_optimizer *opt, double *host);
int hx_optimizer_snapshot_share(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode);

#endif
