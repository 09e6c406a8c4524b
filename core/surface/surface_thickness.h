/* The least thickness of the members of a part: struts, plates and walls. */
#ifndef HX_SURFACE_THICKNESS_H
#define HX_SURFACE_THICKNESS_H

#include "surface.h"

HX_C_BEGIN

typedef struct hx_thickness {
    double value;    /* length; NAN: no member */
    double place[3]; /* the middle between both sides */
} hx_thickness;

typedef enum { HX_THICKNESS_OF_MEMBERS, HX_THICKNESS_OF_GAPS } hx_thickness_of;

/* The least thickness of members, or least width of gaps between them. Spans lead from the middle of
 * a triangle, along its normal, to an opposite one whose normal differs by at least 120 degrees. A
 * span is the thickness of a member if the surface in a shell around a ball around its middle is in
 * two parts or more, like both sides of a wall or both ends of a strut, and if it does not become
 * thinner by a quarter within that shell. The ball is one to three and a half lengths of the span
 * wide, so that it covers flat struts, and at least a triangle, the shell two lengths or one and a
 * half triangles thick. So the thickness of wedges, feather edges, rims, corners, bumps and the ends
 * of spurs is not that of a member, however small; that of a neck is. The value is the diameter of
 * the largest ball that touches both sides within 0.9 of the ball, at most the length of the span,
 * so that the steps of a 0/1 design do not make a member thicker that is oblique to them.
 *
 * With is_cap, spans between two caps do not count, because there the body ends and not the design,
 * as on both sides of a plate, and those of gaps at a cap. About O(n log n), 150 bytes per triangle;
 * the result does not depend on the number of threads. */
int hx_surface_thickness(const hx_surface *surface, hx_thickness_of of, hx_thickness *least);

/* The boundary of the elements with solid[n_elem] != 0 of a finished mesh, two triangles per
 * quadrilateral, whose vertices are nodes of the mesh. Caps are on the mesh's boundary and on
 * elements with forced[n_elem] != 0; forced may be NULL. Without `edge`. HX_EINPUT: more than 2^31
 * corners. Freed by hx_surface_free. O(n). */
int hx_surface_of_elements(const hx_mesh *mesh, const uint8_t *solid, const uint8_t *forced,
                           hx_surface *surface);

/* A surface becomes that of the whole part of which it is the half on one side of a plane of symmetry
 * at `at` along an axis: triangles in the plane are dropped, the others get images with common
 * vertices there. Frees `edge`. O(n). */
int hx_surface_mirror_at(hx_surface *surface, int axis, double at, double tolerance);

HX_C_END

#endif
