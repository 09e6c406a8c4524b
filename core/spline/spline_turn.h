/* Makes left-handed patches right-handed. */
#ifndef HX_SPLINE_TURN_H
#define HX_SPLINE_TURN_H

#include "../base/c_linkage.h"
#include "spline.h"

HX_C_BEGIN

/* Reverses the third direction of every patch with negative volume, and adapts interfaces and named
 * sides, which must be valid (hx_spline_find_interfaces checks them). The part is unchanged, and
 * det J is then positive. hx_spline_side_name keeps the file's names of its sides. *n_turned:
 * number of reversed patches; may be NULL. Not for glued splines. O(points). */
int hx_spline_turn(hx_spline *spline, int *n_turned);

HX_C_END

#endif
