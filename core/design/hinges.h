/* Hinges of a 0/1 design: edges and nodes of the mesh at which solid elements are joined without a
 * common face there (one-node connected hinges; Sigmund 1997). A linear model lets them turn
 * freely, and they cannot be made. On the host, not performance-critical. */
#ifndef HX_HINGES_H
#define HX_HINGES_H

#include "../mesh/mesh.h"

HX_C_BEGIN

typedef struct hx_hinges {
    /* Edges between two nodes around which solid elements form several groups, each connected by
     * faces that contain the edge. */
    int64_t n_edge;
    /* Nodes at which solid elements form several groups that are connected neither by faces that
     * contain the node nor by an edge there. */
    int64_t n_point;
    /* Places: hinges that share a node with each other are one. */
    int64_t n_place;
    /* The largest place by its edges and points (of equally large ones that with the lowest x, then
     * y, then z), and the node of it that is lowest in the same sense; -1: there are no hinges. */
    int64_t largest, node;
} hx_hinges;

/* is_solid[n_elem] != 0 marks solid elements of a finished mesh of any cells. O(n_node), with 14
 * bytes per node as scratch. The counts depend neither on the numbering nor on the number of
 * threads. */
int hx_hinges_find(const hx_mesh *mesh, const uint8_t *is_solid, hx_hinges *hinges);

HX_C_END

#endif
