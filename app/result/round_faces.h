/* Round faces of a part, onto which `hextop surface` moves vertices from the chords of the mesh. */
#ifndef HX_ROUND_FACES_H
#define HX_ROUND_FACES_H

#include "core/surface/surface.h"

/* Improves the triangles of a surface cut from `field` and smooths its rims by n_step steps (see
 * hx_surface_improve), with the seats of `mesh`, whose sets are those of the part. chord: see hx_surface_limit_chords; 0: as they are.
 * Returns the number of seats in *n_seat, which may be NULL. */
int hx_surface_finish(hx_surface *surface, const hx_surface_field *field, const hx_mesh *mesh,
                      int n_step, double chord, int64_t *n_seat);

/* (*seat)[*n] := cylinders and spheres of the mesh's sets of faces, which the caller frees. The
 * nodes of such a set are on it to 1e-6 of its radius. O(nodes of sets of faces). */
int hx_surface_find_seats(const hx_mesh *mesh, int64_t *n, hx_surface_seat **seat);

#endif
