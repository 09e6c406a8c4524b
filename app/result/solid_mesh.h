/* A mesh of some elements of another mesh: the solid of a 0/1 design without its void. */
#ifndef HX_SOLID_MESH_H
#define HX_SOLID_MESH_H

#include "core/problem/problem.h"

typedef struct hx_solid_mesh {
    hx_mesh mesh;             /* finished mesh, with its part of the sets (owned) */
    hx_conditions conditions; /* its part of the file's conditions (owned) */
    /* [mesh.n_node], [mesh.n_elem] numbers in the whole mesh, ascending (owned) */
    int32_t *node, *elem;
} hx_solid_mesh;

/* Takes the elements flagged in is_kept[n_elem], at least one. Nodes and elements keep the order
 * and numbers of their file; a mesh without numbers is numbered from `first`: 0 as in VTK, 1 as in
 * CalculiX. A set defined by faces keeps the faces of the remaining elements; other sets keep their
 * nodes. conditions may be NULL. O(n_elem). */
int hx_solid_mesh_create(hx_solid_mesh *solid, const hx_mesh *mesh, const hx_conditions *conditions,
                         const uint8_t *is_kept, int64_t first);

/* Accepts a zeroed struct. */
void hx_solid_mesh_free(hx_solid_mesh *solid);

#endif
