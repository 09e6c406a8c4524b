/* Rims: the lines at which the free part of a surface meets its caps; not installed. */
#ifndef HX_SURFACE_RIMS_H
#define HX_SURFACE_RIMS_H

#include "surface_edit.h"

/* Caps that meet at a larger angle than 30 degrees, here its cosine, are separated by an edge of
 * the part. */
#define HX_RIM_SHARP 0.866

/* 1 if a rim ends at v: at an edge of the part or a node of the mesh. corner[n_corner]: corners of
 * the triangles at v. */
int hx_rim_is_corner(const hx_surface *surface, int64_t n_corner, const int32_t *corner, int32_t v);

/* Smooths the rims of a surface that is being improved: vertices move in the planes of their caps,
 * within the faces of the mesh that the rim crosses, or along mesh edges between curved faces. No
 * triangle turns, or gets worse to a quality below `least`. field: what the surface was cut from;
 * cut: the surface before any edit. O(n) per step. Images of vertices move with them. */
int hx_surface_smooth_rims(hx_surface_editor *m, const hx_surface_field *field,
                           const hx_surface *cut, int n_step, double least);

#endif
