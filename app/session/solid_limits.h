/* The limits of the config on the solid part, judged before the first design. */
#ifndef HX_SOLID_LIMITS_H
#define HX_SOLID_LIMITS_H

#include "session.h"

/* Analyses the part with all material, keeps the values of the limits (hx_limits.solid), and warns of
 * limits that it misses. prints = 1: also prints a table of them and of the compliance. For a session
 * with a solver. With several ranks all call it.
 * HX_EINPUT: it misses a limit that no design with less material can meet. A solve per load case;
 * its memory is released on return. */
int hx_session_judge_solid(hx_session *s, int prints);

#endif
