/* Joins patches: which sides coincide, and the global numbers of control points and cells. */
#ifndef HX_SPLINE_GLUE_H
#define HX_SPLINE_GLUE_H

#include "../base/c_linkage.h"
#include "../base/notes.h"
#include "spline.h"

HX_C_BEGIN

/* Tolerances: two control points coincide within this fraction of the diagonal of the bounding box;
 * two knots or weights are equal within this fraction of their range. */
#define HX_SPLINE_SAME_POINT 1e-6
#define HX_SPLINE_SAME_KNOT 1e-9
#define HX_SPLINE_SAME_WEIGHT 1e-6

/* Adds an interface for each pair of coincident sides that are in no interface yet: sides with the
 * same corners whose midpoints coincide. *n_found, which may be NULL: number of new interfaces. O(n
 * log n) in the number of sides. */
int hx_spline_find_interfaces(hx_spline *spline, int *n_found);

/* Numbers the global control points, counting those of both sides of an interface once, and the
 * cells; glued points get bitwise the position and weight of the first. HX_EINPUT, naming patch and
 * side: an interface with invalid patches or directions, a side in two interfaces, different
 * degrees, knots, control points or weights, an edge that is a point, or 2^31 control points or
 * more. O(n_point). */
int hx_spline_glue(hx_spline *spline);

HX_C_END

#endif
