/* Left-handed patches, made right-handed. */
#ifndef HX_SPLINE_TURN_H
#define HX_SPLINE_TURN_H

#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turns the third direction of every patch round whose volume is below 0, with interfaces and named
 * sides, which have to point somewhere (hx_spline_find_interfaces checks it): the same part with
 * det J above 0. hx_spline_side_name goes on to call its sides as before. *n_turned: how many; may
 * be NULL. Not for glued splines. O(points). */
int hx_spline_turn(hx_spline *spline, int *n_turned);

#ifdef __cplusplus
}
#endif

#endif
