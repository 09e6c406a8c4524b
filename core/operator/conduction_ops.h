/* Steady heat conduction on a device (hx_device_ops.conduction): the operations that a K with one
 * unknown per node needs in addition to an operator kind. The modulus is the conductivity. Sums are
 * added in a fixed order. `d_` names device memory. */
#ifndef HX_CONDUCTION_OPS_H
#define HX_CONDUCTION_OPS_H

#include "device_mesh.h"

HX_C_BEGIN

/* hx_films (convection terms) of a problem on the device. */
typedef struct hx_device_films {
    int64_t n;       /* number of nodes */
    int32_t *d_node; /* [n] no node occurs twice (owned, like the other arrays) */
    int64_t *d_ptr;  /* [n + 1] */
    int32_t *d_col;  /* [d_ptr[n]] */
    double *d_value;
} hx_device_films;

/* All entries are required. */
typedef struct hx_conduction_ops {
    /* d_diag[n_node] = diagonal of K, without convection. */
    int (*diagonal)(hx_device *dev, const hx_device_model *model, double *d_diag);
    /* d_energy[n_elem] = T_e' Ke T_e for unit conductivity. */
    int (*energy)(hx_device *dev, const hx_device_model *model, const double *d_t,
                  double *d_energy);
    /* d_mutual[n_elem] = S_e' Ke T_e for unit conductivity; not for models with points. */
    int (*mutual)(hx_device *dev, const hx_device_model *model, const double *d_s,
                  const double *d_t, double *d_mutual);
    /* y += F x with the convection matrix F; x = NULL adds the diagonal of F. Runs in every PCG
     * iteration. */
    int (*film_add)(hx_device *dev, const hx_device_films *films, const double *d_x, double *d_y);
    int (*film_add_single)(hx_device *dev, const hx_device_films *films, const float *d_x,
                           float *d_y);
    /* multigrid operations with one unknown per coarse node */
    const struct hx_multigrid_ops *multigrid;
    /* 1: diagonal and energy accept models with points of quadratic elements; of splines */
    int quadratic, splines;
} hx_conduction_ops;

HX_C_END

#endif
