/* The hexahedra at one node, and which of them have a face at it in common: what hinges and
 * boundaries are told from, node by node. What it finds is so; of what is out of the ordinary it
 * says nothing, and who needs to know looks at the elements themselves. Not installed. */
#ifndef HX_NODE_STAR_H
#define HX_NODE_STAR_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_node_star {
    int is_connected; /* 1: the elements hang together by common faces at the node */
    int is_closed;    /* 1: each face at the node is of two elements */
} hx_node_star;

/* Of a mesh of hexahedra that has its incidences. Both 0 of a node of more than 16 elements or 16
 * edges: 8 and 6 of a grid. */
hx_node_star hx_node_star_of(const hx_mesh *mesh, int64_t node);

/* Its is_connected, by fewer faces inside a grid. */
int hx_node_star_is_connected(const hx_mesh *mesh, int64_t node);

#ifdef __cplusplus
}
#endif

#endif
