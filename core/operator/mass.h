/* The mass matrix M(rho) of a problem on one device: the consistent mass of the elements
 * (mass_ops.h). Rows of fixed degrees of freedom are 0, and vectors are
 * projected if there are rigid sets, like those of the operator K. */
#ifndef HX_MASS_H
#define HX_MASS_H

#include "mass_ops.h"
#include "operator.h"

HX_C_BEGIN

typedef struct hx_mass {
    const hx_operator *op; /* (borrowed) */
    hx_device_mass elements;
} hx_mass;

/* For an operator of elasticity, which must outlive it. HX_EINPUT: the problem has no density; it is one of heat or of a spline; the device has no such
 * products. O(n_elem). */
int hx_mass_create(hx_mass *mass, hx_operator *op);

/* The densities of later products: d_rho[n_elem] (borrowed). */
void hx_mass_set_density(hx_mass *mass, const double *d_rho);

/* y[k] = P M x[k] with 0 at fixed degrees of freedom, for k < n_vector, each of [linear.n]; x must
 * satisfy x = P x. */
int hx_mass_apply(const hx_mass *mass, int n_vector, const double *const d_x[],
                  double *const d_y[]);
/* y[k] = M x[k] on all rows. */
int hx_mass_apply_all(const hx_mass *mass, int n_vector, const double *const d_x[],
                      double *const d_y[]);

/* Accepts a zeroed struct. */
void hx_mass_free(hx_mass *mass);

HX_C_END

#endif
