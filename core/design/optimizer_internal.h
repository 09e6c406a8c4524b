/* Internals of the optimizer: the first design, and the work of one process on its part of the
 * design, or on the whole if the design is not distributed. Each function `_local` matches the one
 * of optimizer.h without the suffix. If the design is distributed, all processes call it together;
 * arguments that only the root uses (arrays of the whole, images) are NULL elsewhere. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Sets d_design to density[n_elem] if given, otherwise to a uniform density; passive elements get
 * theirs. HX_EINPUT: a density is not in [0, 1]. Not performance-critical. */
int hx_optimizer_start(hx_optimizer *opt, const double *density);

int hx_optimizer_step_local(hx_optimizer *opt, hx_iteration *record);
void hx_optimizer_advance_local(hx_optimizer *opt);
int hx_optimizer_undo_local(hx_optimizer *opt);
int hx_optimizer_energy_local(hx_optimizer *opt, double *host);
int hx_optimizer_snapshot_local(hx_optimizer *opt, hx_snapshot *image);

#endif
