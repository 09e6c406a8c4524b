/* A mesh of which each of several processes makes its part alone: the elements of its own, and
 * those of others near them (hx_mesh_window). None has the whole. */
#ifndef HX_WINDOW_H
#define HX_WINDOW_H

#include "../mesh/mesh_source.h"
#include "../partition/partition.h"
#include "../team/team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_window_params {
    hx_partition_kind partition; /* HX_PARTITION_CURVE or HX_PARTITION_BISECTION */
    /* Elements of others are here whose centroids lie within it of an own one's, and in any case
     * all that have a node in common with own ones: length, or mean elements. */
    double reach;
    int in_elements;
} hx_window_params;

/* The raw mesh with its sets; hx_mesh_finish is the caller's. Elements lie along a Hilbert curve,
 * in the parts of `partition`, nodes by first use. Both `all`, the team as base/all.h sees it, and
 * the team outlive it. HX_EINPUT: a process would be left without an element, a node without one.
 * Collective. O(n / size) and some bits of all; 90 bytes an element of a share besides the mesh. */
int hx_window_create(hx_mesh *mesh, const hx_team *team, const hx_all *all,
                     const hx_mesh_source *source, const hx_window_params *params);

/* *n_body := pieces of the raw window's whole mesh that have no node in common. Collective.
 * O(n / size). */
int hx_window_bodies(const hx_mesh *mesh, const hx_team *team, int64_t *n_body);

/* Pieces of the elements with is_there[n_elem] != 0 that have no node in common, of the whole mesh
 * of a raw or finished window; elements of others are flagged as by their owners. body[n_node] :=
 * the number of the piece, the same in all processes, that an own element's node belongs to, -1:
 * none, or the node is only of others' elements. Collective. O(n / size); scratch of 12 bytes a
 * node and 4 bytes for each piece of each process. */
int hx_window_pieces(const hx_mesh *mesh, const hx_team *team, const uint8_t *is_there,
                     int32_t *body, int64_t *n_body);

#ifdef __cplusplus
}
#endif

#endif
