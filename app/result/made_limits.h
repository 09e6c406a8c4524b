/* Surfaces that keep to the overhang, draw or milling limit of their config. */
#ifndef HX_MADE_LIMITS_H
#define HX_MADE_LIMITS_H

#include "core/surface/surface_hidden.h"
#include "core/surface/surface_overhang.h"
#include "surface_source.h"

/* base[2] := heights along `up` between which the base plate touches the part: of the lowest node,
 * or of the nodes of the set `name`. */
void hx_find_base_plate(const hx_mesh *mesh, const double up[3], const char *name, double base[2]);

/* direction[] := those that may reach the part of `draw` or `milling`; returns their number. */
int hx_reach_directions(const hx_session *s, double direction[HX_SWEEP_DIRECTIONS][3]);

/* Moves vertices of a finished surface of the source as hx_surface_hold_overhang or
 * hx_surface_fill_hidden does; without these limits, sets *held to zero and changes nothing. */
int hx_surface_hold_limits(hx_surface *surface, const hx_surface_source *source,
                           hx_surface_held *held);

/* Changes the nodal densities of a source with `draw` or `milling` as hx_surface_cast_shadows
 * does. */
int hx_surface_cast_limits(hx_surface_field *field, const hx_surface_source *source);

#endif
