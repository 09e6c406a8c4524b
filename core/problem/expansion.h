/* Loads by thermal expansion. An element whose material would expand freely by the strain
 * s = coefficient times temperature change, equal in all directions, loads its nodes by
 *
 *     f_a = E(rho) (3 lambda + 2 mu) s int grad N_a dV,
 *
 * with lambda and mu for unit modulus, and its stress is E(rho) (D eps(u) - (3 lambda + 2 mu) s I).
 * The load follows the stiffness, with the same exponent of the density, so that an element of any
 * density expands by s if nothing holds it. Host and device use one formula.
 *
 * The points of the stiffness matrix integrate the load, so that the displacement s x, of which a
 * space contains every linear function, is the solution of a free part up to rounding. */
#ifndef HX_EXPANSION_H
#define HX_EXPANSION_H

#include "../base/host_device.h"
#include "../mesh/hex8.h"
#include "problem.h"

HX_C_BEGIN

/* Stress of a held expansion, per strain and modulus. */
static HX_HD double hx_expansion_stiffness(double lambda, double mu)
{
    return 3.0 * lambda + 2.0 * mu;
}

/* g = int grad N_a dV for corner a of a linear element with corners x[24]. */
static HX_HD void hx_hex8_gradient_integral(const double *x, int a, double g[3])
{
    g[0] = g[1] = g[2] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], at[3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_gradient(a, r, s, t, inv, at);
        for (int i = 0; i < 3; i++) g[i] += det * at[i];
    }
}

/* int div u dV over a linear element. */
static HX_HD double hx_hex8_divergence_integral(const double *x, const double *u)
{
    double sum = 0.0;
    for (int q = 0; q < 8; q++) {
        double h[3][3];
        const double det = hx_hex8_displacement_gradient(
            x, u, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), h);
        sum += det * (h[0][0] + h[1][1] + h[2][2]);
    }
    return sum;
}

HX_C_END

#endif
