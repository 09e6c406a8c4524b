/* Undersides of a surface that would need supports: vertices are raised until each of them rests on
 * a point of a triangle around it, within the cone that a printer can bridge. */
#ifndef HX_SURFACE_OVERHANG_H
#define HX_SURFACE_OVERHANG_H

#include "surface.h"

HX_C_BEGIN

/* Degrees under the angle of the limit to which the surface is held, the same by which the cone of
 * a sweep (design/sweep.h) is opened. */
#define HX_OVERHANG_SLACK 1.0

typedef struct hx_overhang_limit {
    double up[3];   /* of length 1, from the base plate upwards */
    double angle;   /* least angle of a surface that faces down, degrees */
    double base[2]; /* heights along `up` between which the base plate touches the part */
    double size;    /* of an element; no vertex is raised by more than 1.5 of it */
} hx_overhang_limit;

/* What a limit changed of a surface. */
typedef struct hx_surface_held {
    int64_t n_moved; /* vertices that were moved */
    int64_t n_kept;  /* vertices that would have to be moved too far, and were left */
    double volume_before, volume_after;
} hx_surface_held;

/* Raises vertices along limit->up, and splits triangles that face down at less than the angle
 * between vertices that all rest on something, such as the roof of a hole, which becomes a ridge.
 * Vertices on the base plate and of caps in planes that are not parallel to `up` stay. A vertex
 * is raised by at most 1.5 elements, and by 0.4 of the material above it; if that does not
 * suffice, as under a wide roof, or if a triangle would flip, get thin or intersect another one, it
 * is left where it was. The surface stays closed and gains no intersections; its volume decreases.
 * O(n) times the number of passes, at most 100. The result does not depend on the number of threads. */
int hx_surface_hold_overhang(hx_surface *surface, const hx_overhang_limit *limit,
                             hx_surface_held *held);

HX_C_END

#endif
