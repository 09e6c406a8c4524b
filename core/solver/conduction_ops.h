/* Steady heat conduction on a device (hx_device_ops.conduction): what K of one unknown a node needs
 * besides a strategy. The modulus is the conductivity. Sums are added in a fixed order. `d_` names
 * memory of the device. */
#ifndef HX_CONDUCTION_OPS_H
#define HX_CONDUCTION_OPS_H

#include "device_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hx_films of a problem on the device. */
typedef struct hx_device_films {
    int64_t n;       /* nodes */
    int32_t *d_node; /* [n] none twice (owned, like all) */
    int64_t *d_ptr;  /* [n + 1] */
    int32_t *d_col;  /* [d_ptr[n]] */
    double *d_value;
} hx_device_films;

/* All entries are required. */
typedef struct hx_conduction_ops {
    /* d_diag[n_node] = diagonal of K, convection left out. */
    int (*diagonal)(hx_device *dev, const hx_device_model *model, double *d_diag);
    /* d_energy[n_elem] = T_e' Ke T_e for unit conductivity. */
    int (*energy)(hx_device *dev, const hx_device_model *model, const double *d_t,
                  double *d_energy);
    /* y += F x; x NULL: the diagonal of F. Hot. */
    int (*film_add)(hx_device *dev, const hx_device_films *films, const double *d_x, double *d_y);
    int (*film_add_single)(hx_device *dev, const hx_device_films *films, const float *d_x,
                           float *d_y);
    const struct hx_multigrid_ops *multigrid; /* one unknown a node of the lattices */
    int quadratic, splines; /* diagonal and energy take a model with points of either */
} hx_conduction_ops;

#ifdef __cplusplus
}
#endif

#endif
