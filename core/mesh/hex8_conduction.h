/* The trilinear hexahedron (hex8.h) of steady heat conduction: one unknown per corner, 2x2x2 Gauss
 * points, per unit conductivity. Coordinates x[3 a + i], temperatures t[a]. Header only, so that
 * host and device share one formula. */
#ifndef HX_HEX8_CONDUCTION_H
#define HX_HEX8_CONDUCTION_H

#include <stdint.h>

#include "hex8.h"

/* Gradient of the temperature at (r, s, t). Returns det J. */
static HX_HD double hx_hex8_temperature_gradient(const double *x, const double *temperature,
                                                 double r, double s, double t, double gradient[3])
{
    double inv[3][3];
    const double det = hx_hex8_jacobian(x, r, s, t, inv);
    gradient[0] = gradient[1] = gradient[2] = 0.0;
    for (int a = 0; a < 8; a++) {
        double g[3];
        hx_hex8_gradient(a, r, s, t, inv, g);
        for (int i = 0; i < 3; i++) gradient[i] += temperature[a] * g[i];
    }
    return det;
}

/* T' Ke T. */
static HX_HD double hx_hex8_conduction_energy(const double *x, const double *temperature)
{
    double energy = 0.0;
    for (int q = 0; q < 8; q++) {
        double g[3];
        const double det = hx_hex8_temperature_gradient(
            x, temperature, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), g);
        energy += det * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    return energy;
}

/* S' Ke T. */
static HX_HD double hx_hex8_conduction_mutual(const double *x, const double *a, const double *b)
{
    double mutual = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double ga[3], gb[3];
        const double det = hx_hex8_temperature_gradient(x, a, r, s, t, ga);
        hx_hex8_temperature_gradient(x, b, r, s, t, gb);
        mutual += det * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
    }
    return mutual;
}

/* Diagonal entry of Ke at the node of corner a; 0 where an earlier corner of a collapsed cell names
 * the same node, whose row they share. */
static HX_HD double hx_hex8_conduction_diagonal(const double *x, const int32_t conn[8], int a)
{
    double sum = 0.0;
    for (int b = 0; b < a; b++)
        if (conn[b] == conn[a]) return 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], g[3] = {0.0, 0.0, 0.0};
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int b = a; b < 8; b++) {
            double d[3];
            if (conn[b] != conn[a]) continue;
            hx_hex8_gradient(b, r, s, t, inv, d);
            for (int i = 0; i < 3; i++) g[i] += d[i];
        }
        sum += det * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    return sum;
}

/* The diagonal entries of all nodes; each Jacobian is computed only once. first[a]: first corner
 * with the node of corner a. d[a] is 0 unless a is such a first corner. */
static HX_HD void hx_hex8_conduction_diagonals(const double *x, const int first[8], double d[8])
{
    for (int a = 0; a < 8; a++) d[a] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) {
            double g[3];
            if (first[a] != a) continue;
            hx_hex8_gradient(a, r, s, t, inv, g);
            for (int b = a + 1; b < 8; b++) {
                double h[3];
                if (first[b] != a) continue;
                hx_hex8_gradient(b, r, s, t, inv, h);
                for (int i = 0; i < 3; i++) g[i] += h[i];
            }
            d[a] += det * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        }
    }
}

#endif
