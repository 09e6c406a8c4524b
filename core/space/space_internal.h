/* Shared by the space*.c files; not installed. */
#ifndef HX_SPACE_INTERNAL_H
#define HX_SPACE_INTERNAL_H

#include "space.h"

/* Moves the points of edges to where the mesh has their middles, and checks what becomes of the
 * cells (space_curved.c). HX_EINPUT: an edge with two of them, a cell that its edges fold over. */
int hx_space_curve(hx_space *space);

/* Integration points of a face by all of its points, where an edge is curved or `always`; corners
 * and middles are set. */
void hx_space_curve_face(const hx_space *space, int always, hx_space_face *face);

#endif
