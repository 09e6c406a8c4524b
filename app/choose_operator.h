/* What runs when solver.operator is "auto".
 *
 * Candidates are the exact operators of the device that fit into its memory with the solver's
 * vectors, with solver.deterministic only those that are; a layout that the user wrote is kept.
 * Those that store least come first. Each is timed on the run's own mesh and the fastest is taken;
 * one that stores much is left out when it would take longer than the fastest so far just to read
 * it. With solver.deterministic nothing is timed, since two runs could then choose differently: the
 * first is taken. */
#ifndef HX_CHOOSE_OPERATOR_H
#define HX_CHOOSE_OPERATOR_H

#include "setup.h"

/* Sets s->strategy, s->layout and s->operator_note; needs the device, the problem and the kind of
 * preconditioner. If the one chosen was timed last, s->op already holds it. HX_EINPUT: no operator
 * of the device does what is asked. One that does not fit is left for hx_operator_create to refuse
 * when none does. */
int hx_choose_operator(hx_session *s);

#endif
