/* Estimate of the number of PCG iterations, before anything is solved. */
#ifndef HX_ITERATIONS_GUESS_H
#define HX_ITERATIONS_GUESS_H

#include "session.h"

/* PCG iterations per solve: likely value and its bounds. */
typedef struct hx_iterations_guess {
    double likely, least, most;
} hx_iterations_guess;

/* For the session's preconditioner, tolerance and mesh; needs precond_kind. */
hx_iterations_guess hx_guess_iterations(const hx_session *s);

#endif
