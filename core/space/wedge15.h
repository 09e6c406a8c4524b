/* The serendipity wedge with 15 points (wedge15): corners, then mid-edge points in the order of
 * VTK_QUADRATIC_WEDGE. 6 x 3 Gauss points are exact to degree 4 in the triangle (Dunavant, Int. J.
 * Numer. Meth. Eng. 21, 1985) and to degree 5 across it. The common 9-point rule fails a patch test
 * with linear stress. */
#ifndef HX_WEDGE15_H
#define HX_WEDGE15_H

#include <math.h>

#include "hex20.h"

enum { HX_WEDGE15_POINTS = 15, HX_WEDGE15_GAUSS = 18 };

/* Derivative of barycentric coordinate i of the triangle by r or s. */
static HX_HD double hx_wedge15_slope(int i, int direction)
{
    return i == 0 ? -1.0 : i == direction + 1 ? 1.0 : 0.0;
}

/* Shape function of point a at x = (r, s, t), r, s >= 0, r + s <= 1, t in [-1, 1], and its
 * derivatives. */
static HX_HD double hx_wedge15_shape(int a, const double x[3], double d[3])
{
    const double l[3] = {1.0 - x[0] - x[1], x[0], x[1]}, t = x[2];
    const int i = a % 3, j = (i + 1) % 3;
    const double sign = a < 3 || (a >= 6 && a < 9) ? -1.0 : 1.0;
    if (a < 6) {
        const double h = 1.0 + sign * t, b = 1.0 - t * t;
        for (int k = 0; k < 2; k++)
            d[k] = 0.5 * hx_wedge15_slope(i, k) * ((4.0 * l[i] - 1.0) * h - b);
        d[2] = 0.5 * l[i] * ((2.0 * l[i] - 1.0) * sign + 2.0 * t);
        return 0.5 * l[i] * ((2.0 * l[i] - 1.0) * h - b);
    }
    if (a < 12) {
        const double h = 1.0 + sign * t;
        for (int k = 0; k < 2; k++)
            d[k] = 2.0 * h * (hx_wedge15_slope(i, k) * l[j] + hx_wedge15_slope(j, k) * l[i]);
        d[2] = 2.0 * sign * l[i] * l[j];
        return 2.0 * l[i] * l[j] * h;
    }
    for (int k = 0; k < 2; k++) d[k] = hx_wedge15_slope(i, k) * (1.0 - t * t);
    d[2] = -2.0 * l[i] * t;
    return l[i] * (1.0 - t * t);
}

/* Gauss point q = 0..17, and its weight. */
static HX_HD double hx_wedge15_gauss(int q, double x[3])
{
    const double root = sqrt(10.0), sign = q / 3 % 2 ? 1.0 : -1.0;
    const double side = (8.0 - root + sign * sqrt(38.0 - 44.0 * sqrt(0.4))) / 18.0;
    const double area = (620.0 + sign * sqrt(213125.0 - 53320.0 * root)) / 7440.0;
    double w;
    x[0] = q % 3 == 1 ? 1.0 - 2.0 * side : side;
    x[1] = q % 3 == 2 ? 1.0 - 2.0 * side : side;
    x[2] = hx_gauss3(q / 6, &w);
    return area * w;
}

#endif
