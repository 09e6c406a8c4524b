/* Limits of volume and mass against the least and the greatest amounts of material that a design can
 * have, before anything is solved. */
#ifndef HX_AMOUNT_LIMITS_H
#define HX_AMOUNT_LIMITS_H

#include "session.h"

/* HX_EINPUT: no design meets the limits of volume and mass together, with passive elements and
 * rho_min; the message has the nearest amount that is possible. Warns if a least compliance has no such limit.
 * Needs the limits and least_volume of
 * the session. Collective if the mesh is distributed. */
int hx_limits_check_amounts(const hx_session *s);

#endif
