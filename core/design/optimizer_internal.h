/* Inside of the optimizer: designs that take up the volume allowed where the physical density is
 * not the design. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Optimality criteria with the target for which the physical density of the proposal takes up the
 * volume allowed, as near as the move limits let it. The volume of the analysed design is in the
 * record; the proposal's change goes there. */
int hx_optimizer_meet_volume(hx_optimizer *opt, const hx_device_oc *oc, hx_iteration *record);

/* A uniform first design whose physical density takes up the volume allowed. Cold. */
int hx_optimizer_fit_initial(hx_optimizer *opt);

#endif
