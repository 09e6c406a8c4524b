/* Which closed shells of a surface the tetrahedra inside it stand for: pieces are counted by the
 * surface, as `hextop surface` counts them, and not by the mesh that is made of it. */
#ifndef HX_SURFACE_SHELLS_H
#define HX_SURFACE_SHELLS_H

#include "core/mesh/mesh.h"
#include "core/surface/surface.h"

typedef struct hx_shell_count {
    int64_t n_left;     /* pieces of the surface of which no held tetrahedra are */
    double left;        /* their volume */
    int64_t n_fragment; /* loose tetrahedra that belong to a piece which is held */
} hx_shell_count;

/* piece[raw->n_elem] of n_piece pieces of tetrahedra, largest first; is_held[n_piece]. O(triangles
 * * pieces), of pieces that are not held the 200 largest are looked at. HX_ENOMEM. */
int hx_count_shells(const hx_surface *surface, const hx_mesh *raw, const int32_t *piece,
                    int64_t n_piece, const uint8_t *is_held, hx_shell_count *count);

#endif
