/* Decisions of a run after an iteration: whether it is the last one, has failed, or needs a
 * warning. */
#ifndef HX_OUTCOME_H
#define HX_OUTCOME_H

#include "../diag/diag.h"
#include "stats.h"

/* Returns 1 if, according to the config, the run ends after this iteration. */
int hx_outcome_is_last(const hx_session *s, const hx_iteration *it);

/* 1 if the design has converged: no density changed by more than change_tolerance, and penalty and
 * beta have their final values. */
int hx_outcome_has_converged(const hx_session *s, const hx_iteration *it);

/* HX_ENUMERIC if PCG failed and the run cannot continue, or must not continue according to
 * solver.on_failure. */
int hx_outcome_judge(const hx_session *s, const hx_iteration *it);

/* Prints the warnings about the result after the last iteration. was_stopped: the run ended before
 * the config's number of iterations. has_checkpoint: --resume can continue the run. */
void hx_outcome_diag(hx_session *s, const hx_stats *stats, int was_stopped, int has_checkpoint,
                     hx_diags *diags);

/* Logs warnings about this iteration, which stats already contains. */
void hx_outcome_warn(const hx_session *s, const hx_stats *stats, const hx_iteration *it);

#endif
