/* The void outside a mesh, as a filter by cones sees it: without it a member along the border of the
 * mesh is held by the half that lies inside. */
#ifndef HX_PAD_H
#define HX_PAD_H

#include "../problem/problem.h"

HX_C_BEGIN

/* missing[n_elem] := sum over points of void outside the faces of the mesh of R - |x_e - x| times
 * their volume (by_volume), or their volume in mean elements. Layers lie outside each boundary face
 * along its normal. Faces that are held, loaded, on springs or rigid sets, on passive elements or
 * within a radius of these are not padded, because the part goes on there, nor are those across a
 * direction in which the mesh is at most a radius thick, like both sides of a single layer: no
 * member can be thinner there. problem: whole, or a subdomain of one that each process has.
 * HX_EINPUT: the mesh is distributed. O(n_elem + faces R / h (R / h)^3) with elements of size h. */
int hx_pad_weights(const hx_problem *problem, double radius, int by_volume, double *missing);

HX_C_END

#endif
