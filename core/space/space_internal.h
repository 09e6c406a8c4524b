/* Shared by the space*.c files; not installed. */
#ifndef HX_SPACE_INTERNAL_H
#define HX_SPACE_INTERNAL_H

#include "space.h"

/* Moves mid-edge points to the mesh's positions and checks the resulting cells (space_curved.c).
 * HX_EINPUT: an edge with two mid-edge points, or a cell that its curved edges fold over. */
int hx_space_curve(hx_space *space);

/* Lists the cells of each point from `point` (space.c). */
int hx_space_list_cells(hx_space *space);

/* Implementations of hx_space_face_of and hx_space_set_points for a spline space
 * (space_spline.c). */
void hx_space_spline_face(const hx_space *space, int64_t face, hx_space_face *out);
int hx_space_spline_points(const hx_space *space, const hx_set *set, int64_t *n, int32_t **point);

/* Bit d: corner a of a hexahedron is at the end of its span in direction d
 * (space_spline_nodes.c). */
unsigned hx_space_corner_ends(int a);

/* Parameters of a corner (0 to 7) of a cell in its patch; the patch of a cell. */
void hx_space_corner_parameters(const hx_spline_patch *patch, int64_t cell, int a, double t[3]);
const hx_spline_patch *hx_space_patch_of(const hx_spline *spline, int64_t cell);

/* Sets the integration points of a face from all of its points, if an edge is curved or `always` is
 * 1. Corners and mid-edge points must be set. */
void hx_space_curve_face(const hx_space *space, int always, hx_space_face *face);

/* Sets six integration points of a tri3 with these nodes, which are the points first[] of the face.
 * They add nothing to other points. */
void hx_space_triangle_points(const hx_mesh *mesh, const int32_t node[3], const int first[3],
                              hx_space_face *face);

#endif
