/* Refinement that preserves the geometry: higher degrees, more knots. */
#ifndef HX_SPLINE_REFINE_H
#define HX_SPLINE_REFINE_H

#include "../base/c_linkage.h"
#include "spline.h"

HX_C_BEGIN

/* Largest number of parts of a span. */
#define HX_SPLINE_MAX_PARTS 10000

/* Raises every direction to `degree` (0: unchanged), then divides every non-empty span into equal
 * parts by single knots. The number of parts per direction is part[0 .. 3) in all patches, or
 * part[3 k + d] in patch k if n_part is 3 x patches; n_part = 0 divides nothing. A direction with
 * count 0 takes the count of the directions that it meets at interfaces, which must exist
 * (hx_spline_find_interfaces); if none of them has a count, it is not divided. The map is unchanged
 * up to rounding. The patches are not glued afterwards.
 *
 * HX_EINPUT: a degree out of range or below one of the spline; counts that are out of range, or
 * whose number is neither 3 nor 3 x patches; two different counts that meet at an interface (the
 * message names the sides); more spans than a mesh can have. O(points (degree + 1)) per direction.
 * Every control point is computed by the blossom of a span's polynomial (Ramshaw, Blossoming,
 * 1987). For a higher degree, the blossom is the mean over all choices of old-degree many of its
 * arguments. */
int hx_spline_refine(hx_spline *spline, int degree, int n_part, const int *part);

HX_C_END

#endif
