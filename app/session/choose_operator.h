/* What runs when solver.operator is "auto".
 *
 * Candidates are the exact operators of the device that fit into its memory with the solver's
 * vectors, with solver.deterministic only those that are; a layout that the user wrote is kept.
 * Left out is what cannot be the fastest: what by its own promise gains nothing on the mesh or
 * loses to one that surely wins there, and what stores more than eight times as much as the one
 * that stores least, unless that is small enough for a cache. The others are timed on the run's own
 * mesh, those that store most first, so that the most promising one is set up last and then at
 * hand; the fastest is taken. With solver.deterministic nothing is timed, since two runs could then
 * choose differently: of what is left the one that stores least is taken. */
#ifndef HX_CHOOSE_OPERATOR_H
#define HX_CHOOSE_OPERATOR_H

#include "setup.h"

/* Sets s->strategy, s->layout and s->operator_note; needs the device, the problem and the kind of
 * preconditioner. If the one chosen was timed last, s->op already holds it. HX_EINPUT: no operator
 * of the device does what is asked. One that does not fit is left for hx_operator_create to refuse
 * when none does. */
int hx_choose_operator(hx_session *s);

#endif
