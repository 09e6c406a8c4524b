/* Vertices that a limit moves, and triangles that it splits (surface_split.c); not installed. */
#ifndef HX_SURFACE_SETTLE_H
#define HX_SURFACE_SETTLE_H

#include "surface.h"

/* Value of is_back for a vertex that was put back. */
enum { HX_SETTLE_BACK = 2 };

/* Moves the vertices to place[n_vertex][3], except those of triangles that would flip, get thin or
 * intersect others: these stay, and is_back[v] becomes HX_SETTLE_BACK. *n_back: their number.
 * Changes place. O(n) times the number of passes that put something back. */
int hx_surface_settle(hx_surface *surface, double *place, uint8_t *is_back, int64_t *n_back);

/* Splits all edges of the triangles with is_split[n_tri] that are longer than `shortest` at their
 * middles. O(n). */
int hx_surface_split(hx_surface *surface, const uint8_t *is_split, double shortest);

/* Volume inside a closed surface. */
double hx_surface_enclosed(const hx_surface *surface);

#endif
