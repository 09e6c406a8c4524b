/* What no tool or mould half reaches of a surface is filled. */
#ifndef HX_SURFACE_HIDDEN_H
#define HX_SURFACE_HIDDEN_H

#include "surface_overhang.h"

HX_C_BEGIN

/* Moves vertices along their normals to the end of the space from which every ray along
 * direction[n], of length 1, meets the part, and splits triangles in it, such as the chamfer
 * of an edge between two faces that turn away from all directions, which gets sharp. size: of an
 * element; no vertex moves further, and those that would have to stay where they were. Vertices of
 * caps stay in the planes of these. Triangles that would flip, get thin or intersect others keep their places. The
 * surface stays closed; its volume increases. O(n log n). The result does not depend on the number
 * of threads. */
int hx_surface_fill_hidden(hx_surface *surface, int n, const double (*direction)[3], double size,
                           hx_surface_held *held);

HX_C_END

#endif
