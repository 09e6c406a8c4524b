/* The mesh in device memory: one copy, shared by the operator and the filter. */
#ifndef HX_DEVICE_MESH_H
#define HX_DEVICE_MESH_H

#include "../base/account.h"
#include "../base/host_device.h"
#include "../device/device.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

typedef struct hx_device_mesh {
    int64_t n_node, n_elem;
    int has_collapsed; /* 1: some cells name a point more than once (mesh/cell.h) */
    double *d_xyz;     /* [n_node][3] (owned, like the next three) */
    int32_t *d_conn;   /* [n_elem][8] */
    /* [n_node + 1]; NULL, like the next, until hx_device_mesh_need_lists */
    int64_t *d_node_elem_ptr;
    uint32_t *d_node_elem; /* [8 n_elem], element * 8 + local node */
    const hx_mesh *mesh;   /* the host mesh (borrowed) */
    int n_holder;
    struct hx_device_mesh *next; /* next copy in the device's list */
} hx_device_mesh;

/* Takes a reference to the device copy of a finished mesh. The first caller uploads it; it is freed
 * when the last reference is dropped. The mesh must neither change nor move meanwhile. */
int hx_device_mesh_take(const hx_device_mesh **d_mesh, hx_device *dev, const hx_mesh *mesh);
/* Also uploads the elements of each node: 40 bytes per element that most operators do not need.
 * They stay as long as the copy. If the mesh has freed its own lists (hx_mesh_free_lists), they are
 * built for the upload. O(n_elem). */
int hx_device_mesh_need_lists(hx_device *dev, const hx_device_mesh *d_mesh);
/* Adds the memory of a device copy to the account. has_lists = 1: includes the lists of elements
 * per node. */
void hx_device_mesh_account(hx_account *account, const hx_mesh *mesh, int has_lists);
/* Bytes of the lists of elements per node. */
size_t hx_device_mesh_list_bytes(const hx_mesh *mesh);
/* Accepts NULL. */
void hx_device_mesh_drop(hx_device *dev, const hx_device_mesh *d_mesh);
/* The existing copy of the mesh, or NULL. */
const hx_device_mesh *hx_device_mesh_find(const hx_device *dev, const hx_mesh *mesh);

/* Materials of the elements (hx_problem.materials) as kernels see them. */
typedef struct hx_device_materials {
    const uint8_t *d_number;            /* [n_elem] (borrowed); NULL: all factors are 1 */
    const double *d_stiffness, *d_mass; /* [number of materials] (borrowed) */
} hx_device_materials;

/* factor: d_stiffness or d_mass. */
static HX_HD double hx_material_factor(const hx_device_materials *materials, const double *factor,
                                       int64_t e)
{
    return materials->d_number ? factor[materials->d_number[e]] : 1.0;
}

static HX_HD double hx_stiffness_factor(const hx_device_materials *materials, int64_t e)
{
    return hx_material_factor(materials, materials->d_stiffness, e);
}

static HX_HD double hx_mass_factor(const hx_device_materials *materials, int64_t e)
{
    return hx_material_factor(materials, materials->d_mass, e);
}

struct hx_incidence; /* ../matrix/pattern.h */
struct hx_cell_rule; /* ../space/cell_rule.h */

/* The mesh and material as kernels see them. The holder of a model must also hold a reference to
 * the mesh. */
typedef struct hx_device_model {
    int64_t n_node, n_elem;
    int has_collapsed;   /* 1: some cells name a point more than once */
    double lambda, mu;   /* for unit modulus; unused for heat conduction */
    const double *d_xyz; /* from the hx_device_mesh, like the next three (borrowed) */
    const int32_t *d_conn;
    const int64_t *d_node_elem_ptr; /* NULL, like the next, unless the lists were requested */
    const uint32_t *d_node_elem;
    double *d_modulus;             /* [n_elem] E * rho^p */
    hx_device_materials materials; /* borrowed from the operator */

    /* Interface points, which other ranks share, in host memory (borrowed from the device's
     * subdomain). */
    int64_t n_interface;
    const int32_t *interface;

    /* lists that hx_operator_kind.plan made, during `setup`; NULL: none (borrowed) */
    const void *lists;

    /* For a quadratic or spline space (borrowed from the operator and the problem); both pointers
     * are NULL for a linear one. d_xyz then has the coordinates of all points, starting with the
     * nodes of the mesh. The incidence struct is in host memory, and its arrays are in device
     * memory. */
    int64_t n_point; /* number of points; n_node for a linear space */
    const struct hx_incidence *points;
    const struct hx_cell_rule *rule;
} hx_device_model;

HX_C_END

#endif
