/* A distributed mesh: each rank builds its part (`hx_mesh_ownership`), its own elements and ghosts,
 * which are elements of other ranks near them. No rank has the whole mesh. */
#ifndef HX_DIST_MESH_H
#define HX_DIST_MESH_H

#include "../comm/comm.h"
#include "../mesh/mesh_source.h"
#include "../partition/partition.h"

HX_C_BEGIN

typedef struct hx_dist_mesh_params {
    hx_partition_kind partition; /* HX_PARTITION_CURVE or HX_PARTITION_BISECTION */
    /* Reach of the ghosts: elements whose centroids lie within this distance of an own element's
     * centroid are ghosts, and in any case all that share a node with an own element. In units of
     * length, or of the mean element size if in_elements is 1. */
    double reach;
    int in_elements;
} hx_dist_mesh_params;

/* Makes the raw mesh with its sets; the caller calls hx_mesh_finish. Elements follow a Hilbert
 * curve within the parts of `partition`, nodes the order of first use. `reduce`, the
 * communicator behind base/reduce.h, and the communicator itself must outlive the mesh. HX_EINPUT:
 * a rank would have no element, or a node belongs to no element. Collective. O(n / size), and a few
 * bits per global element; 90 bytes per element of a rank besides the mesh. */
int hx_dist_mesh_create(hx_mesh *mesh, const hx_comm *comm, const hx_reduce *reduce,
                        const hx_mesh_source *source, const hx_dist_mesh_params *params);

/* *n_body := number of bodies of the global mesh (parts without a common node), for a raw mesh.
 * Collective. O(n / size). */
int hx_dist_mesh_bodies(const hx_mesh *mesh, const hx_comm *comm, int64_t *n_body);

/* Finds the bodies formed by the elements with is_there[n_elem] != 0, over the global mesh, raw or
 * finished; ghosts must be flagged as on their owners. body[n_node] := number of the body, the same
 * on all ranks, for nodes of own elements; -1 for nodes of no flagged element and for nodes of
 * ghosts only. Collective. O(n / size); scratch memory of 12 bytes per node and 4 bytes per body of
 * each rank. */
int hx_dist_mesh_pieces(const hx_mesh *mesh, const hx_comm *comm, const uint8_t *is_there,
                        int32_t *body, int64_t *n_body);

HX_C_END

#endif
