/* The least thickness of the members of a part: struts, plates and walls. */
#ifndef HX_SURFACE_THICKNESS_H
#define HX_SURFACE_THICKNESS_H

#include "surface.h"

HX_C_BEGIN

typedef struct hx_thickness {
    double value;    /* length; NAN: no member */
    double place[3]; /* the middle between both sides */
} hx_thickness;

/* The least distance from the middle of a triangle, along its inward normal, to an opposite one
 * whose normal differs by at least 120 degrees, in a member: in a shell of one to three thicknesses
 * around the middle of both sides, the surface is in two parts or more. So rims and corners of more
 * than 20 degrees, bumps and the ends of spurs are not members, however thin. About O(n log n), 130
 * bytes per triangle; the result does not depend on the number of threads. */
int hx_surface_thickness(const hx_surface *surface, hx_thickness *least);

/* The boundary of the elements with solid[n_elem] != 0 of a finished mesh, two triangles per
 * quadrilateral, whose vertices are nodes of the mesh. Without is_cap and edge. HX_EINPUT: more than
 * 2^31 corners. Freed by hx_surface_free. O(n). */
int hx_surface_of_elements(const hx_mesh *mesh, const uint8_t *solid, hx_surface *surface);

HX_C_END

#endif
