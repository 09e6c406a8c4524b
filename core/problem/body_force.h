/* Loads by the part's own mass: gravity and rotation, whose force follows the density.
 *
 *     f_a = sum over elements e of node a of  m(rho_e) density int N_a b(x) dV,   2x2x2 Gauss
 * points
 *
 * The acceleration of every gravity and rotation is affine in x, and so is their sum: one
 * hx_body_field a load case, density included. One formula for host and device. */
#ifndef HX_BODY_FORCE_H
#define HX_BODY_FORCE_H

#include "../base/host_device.h"
#include "../mesh/hex8.h"
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The mass of a density: rho, but 0.1 (6 r^6 - 5 r^7), r = rho / 0.1, below 0.1. With mass ~ rho
 * and stiffness ~ rho^p, void of vanishing density would sag without bound under its own weight
 * (Bruyneel and Duysinx, Struct. Multidisc. Optim. 29, 2005). The law below the threshold is that
 * of Du and Olhoff (Struct. Multidisc. Optim. 34, 2007): 6e5 rho^6 - 5e6 rho^7. Value and slope are
 * continuous; mass over stiffness stays bounded for p <= 6. */
#define HX_MASS_THRESHOLD 0.1

static HX_HD double hx_mass_of(double rho)
{
    const double r = rho / HX_MASS_THRESHOLD, r3 = r * r * r;
    return r < 1.0 ? HX_MASS_THRESHOLD * r3 * r3 * (6.0 - 5.0 * r) : rho;
}

/* Its derivative by rho. */
static HX_HD double hx_mass_slope(double rho)
{
    const double r = rho / HX_MASS_THRESHOLD, r2 = r * r;
    return r < 1.0 ? r2 * r2 * r * (36.0 - 35.0 * r) : 1.0;
}

static HX_HD void hx_body_at(const hx_body_field *field, const double x[3], double b[3])
{
    for (int i = 0; i < 3; i++)
        b[i] = field->at_origin[i] + field->gradient[i][0] * x[0] + field->gradient[i][1] * x[1] +
               field->gradient[i][2] * x[2];
}

/* Values of a nodal field v[3 a + i] at (r, s, t). */
static HX_HD void hx_hex8_interpolate(const double *v, double r, double s, double t, double at[3])
{
    at[0] = at[1] = at[2] = 0.0;
    for (int a = 0; a < 8; a++) {
        const double n = hx_hex8_shape(a, r, s, t);
        for (int i = 0; i < 3; i++) at[i] += n * v[3 * a + i];
    }
}

/* f = int N_a b dV of corner a of a solid element with corners x[24]. */
static HX_HD void hx_hex8_body_force(const double *x, int a, const hx_body_field *field,
                                     double f[3])
{
    f[0] = f[1] = f[2] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], at[3], b[3];
        const double n = hx_hex8_shape(a, r, s, t) * hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_interpolate(x, r, s, t, at);
        hx_body_at(field, at, b);
        for (int i = 0; i < 3; i++) f[i] += n * b[i];
    }
}

/* int u . b dV of a solid element. */
static HX_HD double hx_hex8_body_work(const double *x, const double *u, const hx_body_field *field)
{
    double work = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], at[3], b[3], v[3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_interpolate(x, r, s, t, at);
        hx_hex8_interpolate(u, r, s, t, v);
        hx_body_at(field, at, b);
        work += det * (v[0] * b[0] + v[1] * b[1] + v[2] * b[2]);
    }
    return work;
}

#ifdef __cplusplus
}
#endif

#endif
