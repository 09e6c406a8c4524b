/* Groups of connected nodes among flagged nodes of a mesh, for surface_file.c. */
#ifndef HX_NODE_GROUPS_H
#define HX_NODE_GROUPS_H

#include "core/mesh/mesh.h"

/* Two flagged nodes of one element belong to one group. group_of[n_node] := its index, in the order
 * of the groups' first nodes; -1: flag[node] is 0. The caller frees *group_of. O(n_elem).
 * HX_ENOMEM. */
int hx_node_groups_create(const hx_mesh *mesh, const uint8_t *flag, int64_t *n_group,
                          int32_t **group_of);

#endif
