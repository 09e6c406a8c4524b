/* Assigns the tetrahedra inside a surface to its closed shells. Pieces are thus counted on the
 * surface, as `hextop surface` does, and not on the mesh made from it. */
#ifndef HX_SURFACE_SHELLS_H
#define HX_SURFACE_SHELLS_H

#include "core/mesh/mesh.h"
#include "core/surface/surface.h"

typedef struct hx_shell_count {
    int64_t n_left;     /* pieces of the surface without held tetrahedra */
    double left;        /* their volume */
    int64_t n_fragment; /* number of separate groups of tetrahedra that belong to a held piece */
} hx_shell_count;

/* piece[raw->n_elem]: index among n_piece pieces of tetrahedra, largest first; is_held[n_piece].
 * Considers the 200 largest pieces that are not held. O(triangles * pieces). HX_ENOMEM. */
int hx_count_shells(const hx_surface *surface, const hx_mesh *raw, const int32_t *piece,
                    int64_t n_piece, const uint8_t *is_held, hx_shell_count *count);

#endif
