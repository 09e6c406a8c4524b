/* A Gauss rule of degree 9 in each direction on every kind of cell and face, and shape functions
 * written independently of those of the program: references for integrals. */
#ifndef HX_TEST_CELL_GAUSS_H
#define HX_TEST_CELL_GAUSS_H

#include <math.h>
#include <string.h>

#include "core/mesh/cell.h"
#include "core/mesh/hex8.h"

enum { CELL_RULE = 5 };

static inline double cell_gauss5(int q, double *weight)
{
    const double near = sqrt(5.0 - 2.0 * sqrt(10.0 / 7.0)) / 3.0;
    const double far = sqrt(5.0 + 2.0 * sqrt(10.0 / 7.0)) / 3.0;
    const double x[CELL_RULE] = {-far, -near, 0.0, near, far}, root = 13.0 * sqrt(70.0);
    *weight = q == 2 ? 128.0 / 225.0 : q % 4 == 0 ? (322.0 - root) / 900.0 : (322.0 + root) / 900.0;
    return x[q];
}

/* Point q of 5^3 in the reference cell of a kind, with collapsed corners; returns its weight. */
static inline double cell_point(hx_cell_kind kind, int q, double x[3])
{
    double w[3], u[3], h[3];
    const int at[3] = {q % CELL_RULE, q / CELL_RULE % CELL_RULE, q / CELL_RULE / CELL_RULE};
    for (int d = 0; d < 3; d++) {
        u[d] = cell_gauss5(at[d], &w[d]);
        h[d] = 0.5 * (1.0 + u[d]);
    }
    const double weight = w[0] * w[1] * w[2];
    memcpy(x, u, 3 * sizeof *x);
    if (kind == HX_CELL_HEXAHEDRON) return weight;
    if (kind == HX_CELL_WEDGE) {
        x[0] = h[0] * (1.0 - h[1]);
        x[1] = h[1];
        return 0.25 * weight * (1.0 - h[1]);
    }
    if (kind == HX_CELL_PYRAMID) {
        for (int d = 0; d < 2; d++) x[d] = u[d] * h[2];
        x[2] = 1.0 - h[2];
        return 0.5 * weight * h[2] * h[2];
    }
    x[0] = h[0] * (1.0 - h[1]) * (1.0 - h[2]);
    x[1] = h[1] * (1.0 - h[2]);
    x[2] = h[2];
    return 0.125 * weight * (1.0 - h[1]) * (1.0 - h[2]) * (1.0 - h[2]);
}

/* Shape functions of the corners of a linear cell. */
static inline double cell_linear_shape(hx_cell_kind kind, int a, const double x[3])
{
    const double triangle[3] = {1.0 - x[0] - x[1], x[0], x[1]};
    const double c = 1.0 - x[2];
    switch (kind) {
    case HX_CELL_HEXAHEDRON:
        return hx_hex8_shape(a, x[0], x[1], x[2]);
    case HX_CELL_WEDGE:
        return 0.5 * triangle[a % 3] * (1.0 + (a < 3 ? -x[2] : x[2]));
    case HX_CELL_PYRAMID:
        return a == 4 ? x[2]
                      : 0.25 / c * (c + (a == 1 || a == 2 ? x[0] : -x[0])) *
                            (c + (a >= 2 ? x[1] : -x[1]));
    default:
        return a == 0 ? triangle[0] - x[2] : x[a - 1];
    }
}

/* Shape functions of a face with n corners at x, one for each of its points. */
static inline void cell_face_shapes(int n, int quadratic, const double x[2], double *shape)
{
    static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    const double l[3] = {1.0 - x[0] - x[1], x[0], x[1]};
    for (int a = 0; a < n && n == 3; a++) {
        shape[a] = quadratic ? l[a] * (2.0 * l[a] - 1.0) : l[a];
        if (quadratic) shape[3 + a] = 4.0 * l[a] * l[(a + 1) % 3];
    }
    for (int a = 0; a < n && n == 4; a++) {
        const double p = sign[a][0] * x[0], q = sign[a][1] * x[1];
        const double m = a % 2 ? x[1] : x[0];
        const double h = a % 2 ? (a == 1 ? x[0] : -x[0]) : (a == 0 ? -x[1] : x[1]);
        shape[a] = 0.25 * (1.0 + p) * (1.0 + q) * (quadratic ? p + q - 1.0 : 1.0);
        if (quadratic) shape[4 + a] = 0.5 * (1.0 - m * m) * (1.0 + h);
    }
}

#endif
