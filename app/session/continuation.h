/* Continuation schedules of a config: how penalty and beta rise from design to design. */
#ifndef HX_APP_CONTINUATION_H
#define HX_APP_CONTINUATION_H

#include "../config/config.h"
#include "core/design/design_params.h"

/* Schedules of penalty and beta; constant without optimization.continuation or
 * optimization.projection. */
hx_schedule hx_penalty_schedule(const hx_config *cfg);
hx_schedule hx_beta_schedule(const hx_config *cfg);

/* The settings of the design. */
hx_design_params hx_design_of(const hx_config *cfg);

/* "penalty 1 to 3 by 0.5 every 10 iterations, beta ..."; "" if nothing rises. Returns text. */
const char *hx_continuation_text(const hx_config *cfg, char *text, size_t n_text);

/* Number of design iterations before those with the final values. */
int hx_continuation_iterations(const hx_config *cfg);

#endif
