/* What of a surface cannot be printed without supports, or is reached by no tool or mould half. */
#ifndef HX_SURFACE_REACH_H
#define HX_SURFACE_REACH_H

#include "surface.h"

HX_C_BEGIN

/* Degrees by which a triangle may miss the angle, or turn away from a direction that reaches it,
 * because triangles follow elements. */
#define HX_REACH_TOLERANCE 5.0

/* Share of the area of triangles that face down at an angle to the base plate more than
 * HX_REACH_TOLERANCE below `angle` (degrees). up[3]: of length 1. Triangles that face down with all
 * corners between base[0] and base[1], heights along `up`, lie on the plate and count nowhere.
 * O(n). */
double hx_surface_overhang_share(const hx_surface *surface, const double up[3], double angle,
                                 const double base[2]);

/* *share := share of the area of triangles that no direction[n], of length 1, reaches: those that
 * turn away from all of them by more than HX_REACH_TOLERANCE, or from which every ray along the
 * directions that they face meets the part. Rays begin `offset` outside the middle of a triangle.
 * Triangles on the boundary of the mesh (is_cap) that turn away from all directions count nowhere:
 * they are faces of the blank or of the base. O(n log n). */
int hx_surface_unreached_share(const hx_surface *surface, int n, const double (*direction)[3],
                               double offset, double *share);

/* Like hx_surface_unreached_share; is_hidden[n_tri] := 1 for the triangles that are not reached. */
int hx_surface_find_unreached(const hx_surface *surface, int n, const double (*direction)[3],
                              double offset, uint8_t *is_hidden, double *share);

HX_C_END

#endif
