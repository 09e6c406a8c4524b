/* What a run makes of an iteration: whether it is the last, failed, or worth a warning. */
#ifndef HX_OUTCOME_H
#define HX_OUTCOME_H

#include "../doubt/doubt.h"
#include "stats.h"

/* 1 if the config asks for none after it. */
int hx_outcome_is_last(const hx_session *s, const hx_iteration *it);

/* 1 if the design has converged: no density changed by change_tolerance, and penalty and beta have
 * their last values. */
int hx_outcome_is_settled(const hx_session *s, const hx_iteration *it);

/* HX_ENUMERIC if PCG failed and the run cannot, or by solver.on_failure must not, go on. */
int hx_outcome_judge(const hx_session *s, const hx_iteration *it);

/* Warns of what is doubtful after the last iteration; was_stopped: before the config's end. */
void hx_outcome_doubt(hx_session *s, const hx_stats *stats, int was_stopped, hx_doubts *doubts);

/* Logs what is new about it; stats has it already. */
void hx_outcome_warn(const hx_session *s, const hx_stats *stats, const hx_iteration *it);

#endif
