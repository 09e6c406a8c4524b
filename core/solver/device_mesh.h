/* The mesh in device memory: one copy for all that work on it, the operator and the filter. */
#ifndef HX_DEVICE_MESH_H
#define HX_DEVICE_MESH_H

#include "../base/account.h"
#include "../device/device.h"
#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_device_mesh {
    int64_t n_node, n_elem;
    int has_collapsed;        /* some cell names a point twice (mesh/cell.h) */
    double *d_xyz;            /* [n_node][3] (owned, like the next three) */
    int32_t *d_conn;          /* [n_elem][8] */
    int64_t *d_node_elem_ptr; /* [n_node + 1]; NULL until somebody needs the lists, like the next */
    uint32_t *d_node_elem;    /* [8 n_elem], element * 8 + local node */
    const hx_mesh *mesh;      /* of which it is the copy (borrowed) */
    int n_holder;
    struct hx_device_mesh *next; /* of the device's list */
} hx_device_mesh;

/* The copy of a finished mesh on the device: uploaded by the first who takes it, shared with all
 * others until the last one has dropped it. The mesh must neither change nor move meanwhile. */
int hx_device_mesh_take(const hx_device_mesh **d_mesh, hx_device *dev, const hx_mesh *mesh);
/* Uploads the elements of each node too, 40 bytes per element that most operators do without; they
 * stay as long as the copy. A mesh that has freed its own lists (hx_mesh_forget_lists) builds them
 * for the upload. O(n_elem). */
int hx_device_mesh_need_lists(hx_device *dev, const hx_device_mesh *d_mesh);
/* Adds the items of a copy, with or without them. */
void hx_device_mesh_account(hx_account *account, const hx_mesh *mesh, int has_lists);
/* Their bytes. */
size_t hx_device_mesh_list_bytes(const hx_mesh *mesh);
/* Accepts NULL. */
void hx_device_mesh_drop(hx_device *dev, const hx_device_mesh *d_mesh);
/* The copy that somebody holds, or NULL. */
const hx_device_mesh *hx_device_mesh_find(const hx_device *dev, const hx_mesh *mesh);

struct hx_incidence; /* ../matrix/pattern.h */
struct hx_cell_rule; /* ../space/cell_rule.h */

/* What kernels see of the mesh and material. Its holder keeps the mesh. */
typedef struct hx_device_model {
    int64_t n_node, n_elem;
    int has_collapsed;   /* some cell names a point twice */
    double lambda, mu;   /* for unit modulus; not of heat */
    const double *d_xyz; /* of the hx_device_mesh, like the next three (borrowed) */
    const int32_t *d_conn;
    const int64_t *d_node_elem_ptr; /* NULL, like the next, where nobody asked for them */
    const uint32_t *d_node_elem;
    double *d_modulus; /* [n_elem] E * rho^p */

    /* Points that other processes have too, in host memory (borrowed from the device's share). */
    int64_t n_common;
    const int32_t *common;

    const void *lists; /* of hx_strategy.plan, during setup; NULL: none (borrowed) */

    /* Of a quadratic space (borrowed from the operator and the problem); both NULL: a linear one.
     * d_xyz then has the points' coordinates, the mesh's nodes first. The incidence itself is in
     * host memory, its arrays are the device's. */
    int64_t n_point; /* n_node of a linear space */
    const struct hx_incidence *points;
    const struct hx_cell_rule *rule;
} hx_device_model;

#ifdef __cplusplus
}
#endif

#endif
