/* What kernels see of the mesh and material. */
#ifndef HX_DEVICE_MESH_H
#define HX_DEVICE_MESH_H

#include "../device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_device_model {
    int64_t n_node, n_elem;
    double lambda, mu;        /* for unit modulus */
    double *d_xyz;            /* [n_node][3] */
    int32_t *d_conn;          /* [n_elem][8] */
    int64_t *d_node_elem_ptr; /* [n_node + 1] */
    uint32_t *d_node_elem;    /* [8 n_elem], element * 8 + local node */
    double *d_modulus;        /* [n_elem] E * rho^p */
} hx_device_model;

#ifdef __cplusplus
}
#endif

#endif
