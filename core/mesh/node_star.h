/* The hexahedra at one node and their common faces at it, from which hinges and boundaries are
 * detected node by node. A 1 is always right; a 0 may also mean that the configuration is too
 * unusual for this test, and the caller must examine the elements. Not installed. */
#ifndef HX_NODE_STAR_H
#define HX_NODE_STAR_H

#include "mesh.h"

typedef struct hx_node_star {
    int is_connected; /* 1: the elements are connected through common faces at the node */
    int is_closed;    /* 1: each face at the node belongs to two elements */
} hx_node_star;

/* For a mesh of hexahedra with its incidences. Both are 0 for a node with more than 16 elements or
 * 16 edges; a regular grid has 8 and 6. */
hx_node_star hx_node_star_of(const hx_mesh *mesh, int64_t node);

/* Only is_connected, computed from fewer faces inside a grid. */
int hx_node_star_is_connected(const hx_mesh *mesh, int64_t node);

#endif
