/* The serendipity hexahedron with 20 points (hex20): corners like VTK_HEXAHEDRON, then mid-edge
 * points in the order of VTK_QUADRATIC_HEXAHEDRON. 3x3x3 Gauss points. The shape functions span all
 * polynomials of degree 2, and the trilinear map of the hexahedron if all edges are straight
 * (Zienkiewicz and Taylor, The Finite Element Method 1, 8.7). */
#ifndef HX_HEX20_H
#define HX_HEX20_H

#include "../base/host_device.h"

enum { HX_HEX20_POINTS = 20, HX_HEX20_GAUSS = 27 };

/* Reference coordinate of point a, -1, 0 or 1, packed in two bits each (0 for -1). */
static HX_HD double hx_hex20_place(int a, int direction)
{
    const unsigned long long place[3] = {0x2819192828ull, 0xa06464a0a0ull, 0x55aa00aa00ull};
    return (double)((int)(place[direction] >> (2 * a) & 3u) - 1);
}

/* Factor of a direction: 1 + x p at the ends, 1 - x^2 at the middle. */
static HX_HD double hx_hex20_factor(double p, double x)
{
    return p < 0.0 ? 1.0 - x : p > 0.0 ? 1.0 + x : 1.0 - x * x;
}

static HX_HD double hx_hex20_slope(double p, double x)
{
    return p < 0.0 ? -1.0 : p > 0.0 ? 1.0 : -2.0 * x;
}

/* Shape function of point a at x = (r, s, t) in [-1, 1]^3, and its derivatives by r, s, t. */
static HX_HD double hx_hex20_shape(int a, const double x[3], double d[3])
{
    double p[3], f[3], g[3];
    for (int i = 0; i < 3; i++) {
        p[i] = hx_hex20_place(a, i);
        f[i] = hx_hex20_factor(p[i], x[i]);
        g[i] = hx_hex20_slope(p[i], x[i]);
    }
    if (a >= 8) {
        for (int i = 0; i < 3; i++) d[i] = 0.25 * g[i] * f[(i + 1) % 3] * f[(i + 2) % 3];
        return 0.25 * f[0] * f[1] * f[2];
    }
    const double sum = p[0] * x[0] + p[1] * x[1] + p[2] * x[2] - 2.0;
    for (int i = 0; i < 3; i++)
        d[i] = 0.125 * f[(i + 1) % 3] * f[(i + 2) % 3] * (g[i] * sum + f[i] * p[i]);
    return 0.125 * f[0] * f[1] * f[2] * sum;
}

/* Gauss point q of three in one direction, in [-1, 1], and its weight. */
static HX_HD double hx_gauss3(int q, double *weight)
{
    *weight = q == 1 ? 8.0 / 9.0 : 5.0 / 9.0;
    return (q - 1) * 0.77459666924148337704;
}

/* Gauss point q = 0..26, and its weight. */
static HX_HD double hx_hex20_gauss(int q, double x[3])
{
    double w[3];
    x[0] = hx_gauss3(q % 3, &w[0]);
    x[1] = hx_gauss3(q / 3 % 3, &w[1]);
    x[2] = hx_gauss3(q / 9, &w[2]);
    return w[0] * w[1] * w[2];
}

#endif
