/* More functions for the same geometry: higher degrees, more knots. */
#ifndef HX_SPLINE_REFINE_H
#define HX_SPLINE_REFINE_H

#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most parts of a span. */
#define HX_SPLINE_MAX_PARTS 10000

/* Raises every direction to `degree` (0: as it is), and then cuts every span that is not empty into
 * equal parts by single knots: part[0 .. 3) in the directions of all patches, or part[3 k + d] of
 * patch k where n_part is 3 x patches (n_part = 0: none). A direction whose count is 0 follows
 * those that it meets through interfaces, which have to be there (hx_spline_find_interfaces), and
 * is not cut if none says more. The map stays the same to rounding. Patches are not glued
 * afterwards.
 *
 * HX_EINPUT: a degree out of range or below one that the spline has, counts that are not 3 or 3 x
 * patches or out of range, two counts that meet at an interface (by sides), more spans than a mesh
 * can have. O(points (degree + 1)) a direction. Every control point comes by the blossom of the
 * polynomial of a span (Ramshaw, Blossoming, 1987), which of a higher degree is the mean over the
 * choices of as many of its arguments. */
int hx_spline_refine(hx_spline *spline, int degree, int n_part, const int *part);

#ifdef __cplusplus
}
#endif

#endif
