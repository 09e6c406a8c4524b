/* Some elements of a mesh as a mesh of their own: the solid of a 0/1 design without its void. */
#ifndef HX_SOLID_MESH_H
#define HX_SOLID_MESH_H

#include "core/problem/problem.h"

typedef struct hx_solid_mesh {
    hx_mesh mesh;             /* finished, with what of the sets it has (owned) */
    hx_conditions conditions; /* what of the file's it has (owned) */
    int32_t *node, *elem;     /* [mesh.n_node], [mesh.n_elem] of the whole, ascending (owned) */
} hx_solid_mesh;

/* Of the elements that is_kept[n_elem] flags, at least one. Nodes and elements keep the order and
 * the numbers of their file; those of a mesh without numbers count from `first`: 0 as VTK does, 1
 * as CalculiX. A set given by faces keeps those of its elements, others their nodes. conditions may
 * be NULL. O(n_elem). */
int hx_solid_mesh_create(hx_solid_mesh *solid, const hx_mesh *mesh, const hx_conditions *conditions,
                         const uint8_t *is_kept, int64_t first);

/* Accepts a zeroed struct. */
void hx_solid_mesh_free(hx_solid_mesh *solid);

#endif
