/* Patches as one: which sides are one, and the numbers of control points and spans of the whole. */
#ifndef HX_SPLINE_GLUE_H
#define HX_SPLINE_GLUE_H

#include "../base/notes.h"
#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two control points are one up to this share of the diagonal of the box around all, and two knots
 * or weights up to this share of their range. */
#define HX_SPLINE_SAME_POINT 1e-6
#define HX_SPLINE_SAME_KNOT 1e-9
#define HX_SPLINE_SAME_WEIGHT 1e-6

/* Adds an interface for each two sides that are one place, of sides that are in none yet: sides
 * with the same corners whose middles lie in one place, too. *n_found, which may be NULL: how many.
 * O(n log n) sides. */
int hx_spline_find_interfaces(hx_spline *spline, int *n_found);

/* Numbers the control points of the whole, those of two sides of an interface once, and its cells;
 * glued points get the place and weight of the first to the bit. HX_EINPUT, naming patch and side:
 * an interface that points nowhere or whose directions fit nothing, a side in two interfaces,
 * degrees, knots, control points or weights that are not the same, an edge that is a point; 2^31
 * control points and more. O(n_point). */
int hx_spline_glue(hx_spline *spline);

#ifdef __cplusplus
}
#endif

#endif
