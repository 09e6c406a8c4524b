/* The pyramid with 13 points (pyramid13) and rational shape functions (Bedrosian, Int. J. Numer.
 * Meth. Eng. 35, 1992): they span all polynomials of degree 2, and on the faces they equal those of
 * hex20 and tet10. Corners, then mid-edge points in the order of VTK_QUADRATIC_PYRAMID.
 *
 * The base is [-1, 1]^2 at z = 0, the apex at z = 1. With c = 1 - z, u = x / c, v = y / c the shape
 * functions and their gradients are polynomials; 3x3x3 Gauss points in (u, v, c) integrate products
 * of them exactly if the map is affine. */
#ifndef HX_PYRAMID13_H
#define HX_PYRAMID13_H

#include "hex20.h"

enum { HX_PYRAMID13_POINTS = 13, HX_PYRAMID13_GAUSS = 27 };

/* Sign of base corner a = 0..3 in a direction. */
static HX_HD double hx_pyramid13_sign(int a, int direction)
{
    return (direction == 0 ? a == 1 || a == 2 : a >= 2) ? 1.0 : -1.0;
}

/* Shape function of point a and its derivatives by (u, v, c). */
static HX_HD double hx_pyramid13_polynomial(int a, double u, double v, double c, double g[3])
{
    if (a == 4) {
        g[0] = g[1] = 0.0;
        g[2] = 4.0 * c - 3.0;
        return (1.0 - c) * (1.0 - 2.0 * c);
    }
    if (a >= 5 && a < 9) {             /* the middle of the base edge that begins at corner a - 5 */
        const int along = (a - 5) % 2; /* the direction of the edge */
        const double sign = hx_pyramid13_sign(a - 5, 1 - along);
        const double m = along == 0 ? u : v, n = along == 0 ? v : u;
        const double b = 1.0 - m * m, h = 1.0 + sign * n;
        g[along] = -m * h * c * c;
        g[1 - along] = 0.5 * b * sign * c * c;
        g[2] = b * h * c;
        return 0.5 * b * h * c * c;
    }
    const int corner = a < 4 ? a : a - 9;
    const double p = hx_pyramid13_sign(corner, 0), q = hx_pyramid13_sign(corner, 1);
    const double h = 1.0 + p * u, k = 1.0 + q * v;
    if (a >= 9) { /* the middle of an edge to the apex */
        const double b = (1.0 - c) * c;
        g[0] = b * p * k;
        g[1] = b * h * q;
        g[2] = (1.0 - 2.0 * c) * h * k;
        return b * h * k;
    }
    const double sum = (p * u + q * v) * c - 1.0;
    g[0] = 0.25 * c * p * k * (c * h + sum);
    g[1] = 0.25 * c * h * q * (c * k + sum);
    g[2] = 0.25 * h * k * (2.0 * sum + 1.0);
    return 0.25 * c * h * k * sum;
}

/* Shape function at x = (x, y, z), z < 1, and its derivatives by x, y, z. */
static HX_HD double hx_pyramid13_shape(int a, const double x[3], double d[3])
{
    const double c = 1.0 - x[2], u = x[0] / c, v = x[1] / c;
    double g[3];
    const double n = hx_pyramid13_polynomial(a, u, v, c, g);
    d[0] = g[0] / c;
    d[1] = g[1] / c;
    d[2] = (u * g[0] + v * g[1]) / c - g[2];
    return n;
}

/* Gauss point q = 0..26, and its weight. */
static HX_HD double hx_pyramid13_gauss(int q, double x[3])
{
    double u[3];
    const double w = hx_hex20_gauss(q, u), c = 0.5 * (1.0 + u[2]);
    x[0] = u[0] * c;
    x[1] = u[1] * c;
    x[2] = 1.0 - c;
    return 0.5 * w * c * c;
}

#endif
