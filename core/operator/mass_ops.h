/* The consistent mass matrix on a device (hx_device_ops.mass), computed from the coordinates of the
 * elements in every product. Sums are added in a fixed order. `d_` names device memory. */
#ifndef HX_MASS_OPS_H
#define HX_MASS_OPS_H

#include "device_mesh.h"

HX_C_BEGIN

/* M of densities d_rho[n_elem]: the sum over the elements of
 *
 *     density  mass factor  m(rho)  int N_a N_b dV   for each component,
 *
 * with the mass law m of body_force.h and the mass factor of the element's material. */
typedef struct hx_device_mass {
    double density; /* of solid material 0: mass per volume */
    const double *d_rho;
    void *state; /* of `setup` */
} hx_device_mass;

/* All entries are required, and accept models with points, but not those of splines. */
typedef struct hx_mass_ops {
    /* Makes what the product needs; the caller passes *state to `teardown`, also after an error.
     * The model must have its lists of elements. O(n_elem). */
    int (*setup)(hx_device *dev, const hx_device_model *model, const hx_mesh *mesh, void **state);
    /* y[k][n_point][3] = M x[k] for k < n_vector, on all rows. The geometry of an element is
     * computed once for several vectors. */
    int (*apply)(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                 int n_vector, const double *const d_x[], double *const d_y[]);
    /* d_dg[n_elem] += factor v' (dM/drho_e) v: with the slope of the mass law. Linear and
     * quadratic cells. */
    int (*work)(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                double factor, const double *d_v, double *d_dg);
    void (*teardown)(hx_device *dev, void *state); /* accepts NULL */
} hx_mass_ops;

HX_C_END

#endif
