/* The trilinear hexahedron (hex8) for isotropic elasticity with 2x2x2 Gauss points (P1, section 2).
 *
 * Everything is per unit Young's modulus; lambda and mu are Lame's constants for E = 1. Corners are
 * in VTK_HEXAHEDRON order; coordinates and displacements are flat, x[3 a + i], u[3 a + i]. Header
 * only, so that host and device share one formula. Valid for any hexahedron whose Jacobian is
 * positive at the Gauss points. */
#ifndef HX_HEX8_H
#define HX_HEX8_H

#include <math.h>
#include <stdint.h>

#include "../base/host_device.h"

/* Sign of the reference coordinate (r, s, t) of corner a. */
static HX_HD double hx_hex8_sign(int a, int direction)
{
    const int bit = direction == 0   ? ((a + 1) >> 1) & 1
                    : direction == 1 ? (a >> 1) & 1
                                     : (a >> 2) & 1;
    return bit ? 1.0 : -1.0;
}

/* Gauss point g = 0..7 in one direction: +-1/sqrt(3); all weights are 1. */
static HX_HD double hx_hex8_gauss(int g, int direction)
{
    return ((g >> direction) & 1) ? 0.57735026918962576451 : -0.57735026918962576451;
}

/* Values at the corners of an element, from three per node. */
static HX_HD void hx_hex8_gather(const int32_t conn[8], const double *nodal, double at[24])
{
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) at[3 * a + i] = nodal[3 * (int64_t)conn[a] + i];
}

/* Shape function of corner a at (r, s, t). */
static HX_HD double hx_hex8_shape(int a, double r, double s, double t)
{
    return 0.125 * (1.0 + hx_hex8_sign(a, 0) * r) * (1.0 + hx_hex8_sign(a, 1) * s) *
           (1.0 + hx_hex8_sign(a, 2) * t);
}

/* Derivatives of the shape function of corner a by (r, s, t). */
static HX_HD void hx_hex8_shape_ref_gradient(int a, double r, double s, double t, double d[3])
{
    const double sr = hx_hex8_sign(a, 0), ss = hx_hex8_sign(a, 1), st = hx_hex8_sign(a, 2);
    d[0] = 0.125 * sr * (1.0 + ss * s) * (1.0 + st * t);
    d[1] = 0.125 * ss * (1.0 + sr * r) * (1.0 + st * t);
    d[2] = 0.125 * st * (1.0 + sr * r) * (1.0 + ss * s);
}

/* Inverse transposed Jacobian at (r, s, t): inv[i][j] = d xi_j / d x_i. Returns det J. */
static HX_HD double hx_hex8_jacobian(const double *x, double r, double s, double t,
                                     double inv[3][3])
{
    double j[3][3] = {{0.0}};
    for (int a = 0; a < 8; a++) {
        double d[3];
        hx_hex8_shape_ref_gradient(a, r, s, t, d);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) j[k][i] += d[k] * x[3 * a + i];
    }
    const double c00 = j[1][1] * j[2][2] - j[1][2] * j[2][1];
    const double c01 = j[1][2] * j[2][0] - j[1][0] * j[2][2];
    const double c02 = j[1][0] * j[2][1] - j[1][1] * j[2][0];
    const double det = j[0][0] * c00 + j[0][1] * c01 + j[0][2] * c02;
    const double f = 1.0 / det;
    inv[0][0] = f * c00;
    inv[1][0] = f * c01;
    inv[2][0] = f * c02;
    inv[0][1] = f * (j[0][2] * j[2][1] - j[0][1] * j[2][2]);
    inv[1][1] = f * (j[0][0] * j[2][2] - j[0][2] * j[2][0]);
    inv[2][1] = f * (j[0][1] * j[2][0] - j[0][0] * j[2][1]);
    inv[0][2] = f * (j[0][1] * j[1][2] - j[0][2] * j[1][1]);
    inv[1][2] = f * (j[0][2] * j[1][0] - j[0][0] * j[1][2]);
    inv[2][2] = f * (j[0][0] * j[1][1] - j[0][1] * j[1][0]);
    return det;
}

/* Gradient by x of corner a's shape function, from the inverse Jacobian at the same point. */
static HX_HD void hx_hex8_gradient(int a, double r, double s, double t, double inv[3][3],
                                   double g[3])
{
    double d[3];
    hx_hex8_shape_ref_gradient(a, r, s, t, d);
    for (int i = 0; i < 3; i++) g[i] = inv[i][0] * d[0] + inv[i][1] * d[1] + inv[i][2] * d[2];
}

static HX_HD double hx_hex8_volume(const double *x)
{
    double volume = 0.0, inv[3][3];
    for (int q = 0; q < 8; q++)
        volume +=
            hx_hex8_jacobian(x, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), inv);
    return volume;
}

/* The 3x3 tile of the element stiffness that couples corners a (rows) and b (columns):
 * sum over Gauss points of det J (lambda ga gb' + mu gb ga' + mu (ga . gb) I). */
static HX_HD void hx_hex8_tile(const double *x, int a, int b, double lambda, double mu,
                               double k[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) k[i][j] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], ga[3], gb[3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_gradient(a, r, s, t, inv, ga);
        hx_hex8_gradient(b, r, s, t, inv, gb);
        const double dot = det * mu * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                k[i][j] += det * (lambda * ga[i] * gb[j] + mu * gb[i] * ga[j]);
            k[i][i] += dot;
        }
    }
}

/* A sum, and the rounding errors of its additions. */
typedef struct hx_hex8_sum {
    double sum, rest;
} hx_hex8_sum;

static HX_HD void hx_hex8_sum_add(hx_hex8_sum *to, double x)
{
    const double sum = to->sum + x, part = sum - to->sum;
    to->rest += (to->sum - (sum - part)) + (x - part);
    to->sum = sum;
}

/* Rounded tiles exert forces under translations, with equal errors in equal elements. Rounding of
 * 4e-16 relative to the stiffness changed the displacements of a body connected only by void of
 * 1e-9 by 1e-4. So the stored tile of a corner with itself is minus the sum of the other tiles in
 * its three rows, [3][24]. */
static HX_HD void hx_hex8_balance(int a, double *rows)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            hx_hex8_sum others = {0.0, 0.0};
            for (int b = 0; b < 8; b++)
                if (b != a) hx_hex8_sum_add(&others, rows[24 * i + 3 * b + j]);
            rows[24 * i + 3 * a + j] = -(others.sum + others.rest);
        }
}

/* The whole element stiffness, row-major [24][24]; row 3 a + i. Balanced by hx_hex8_balance. */
static HX_HD void hx_hex8_stiffness(const double *x, double lambda, double mu, double *ke)
{
    for (int i = 0; i < 576; i++) ke[i] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], g[8][3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) hx_hex8_gradient(a, r, s, t, inv, g[a]);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                const double dot = mu * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
                for (int i = 0; i < 3; i++) {
                    double *row = ke + (3 * a + i) * 24 + 3 * b;
                    for (int j = 0; j < 3; j++)
                        row[j] += det * (lambda * g[a][i] * g[b][j] + mu * g[b][i] * g[a][j] +
                                         (i == j ? dot : 0.0));
                }
            }
    }
    for (int a = 0; a < 8; a++) hx_hex8_balance(a, ke + 72 * a);
}

/* Displacement gradient h[i][j] = du_i / dx_j at (r, s, t). Returns det J. */
static HX_HD double hx_hex8_displacement_gradient(const double *x, const double *u, double r,
                                                  double s, double t, double h[3][3])
{
    double inv[3][3];
    const double det = hx_hex8_jacobian(x, r, s, t, inv);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) h[i][j] = 0.0;
    for (int a = 0; a < 8; a++) {
        double g[3];
        hx_hex8_gradient(a, r, s, t, inv, g);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) h[i][j] += u[3 * a + i] * g[j];
    }
    return det;
}

/* u' Ke u: twice the strain energy per unit modulus. */
static HX_HD double hx_hex8_energy(const double *x, const double *u, double lambda, double mu)
{
    double energy = 0.0;
    for (int q = 0; q < 8; q++) {
        double h[3][3];
        const double det = hx_hex8_displacement_gradient(
            x, u, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), h);
        const double trace = h[0][0] + h[1][1] + h[2][2];
        const double xy = h[0][1] + h[1][0], yz = h[1][2] + h[2][1], xz = h[0][2] + h[2][0];
        energy += det * (lambda * trace * trace + mu * (xy * xy + yz * yz + xz * xz) +
                         2.0 * mu * (h[0][0] * h[0][0] + h[1][1] * h[1][1] + h[2][2] * h[2][2]));
    }
    return energy;
}

/* Diagonal entries of Ke that belong to corner a. */
static HX_HD void hx_hex8_diagonal(const double *x, int a, double lambda, double mu, double d[3])
{
    d[0] = d[1] = d[2] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], g[3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_gradient(a, r, s, t, inv, g);
        const double dot = mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int i = 0; i < 3; i++) d[i] += det * ((lambda + mu) * g[i] * g[i] + dot);
    }
}

/* Gradient of the sum of the shape functions of some corners (bits): the shape function of a point
 * that a collapsed cell names at several corners. */
static HX_HD void hx_hex8_point_gradient(unsigned corners, double r, double s, double t,
                                         double inv[3][3], double g[3])
{
    g[0] = g[1] = g[2] = 0.0;
    for (int a = 0; a < 8; a++) {
        double ga[3];
        if (!(corners >> a & 1u)) continue;
        hx_hex8_gradient(a, r, s, t, inv, ga);
        for (int i = 0; i < 3; i++) g[i] += ga[i];
    }
}

/* Diagonal 3x3 tile of K for such a point: the sum of the tiles of all pairs of its corners. */
static HX_HD void hx_hex8_point_tile(const double *x, unsigned corners, double lambda, double mu,
                                     double k[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) k[i][j] = 0.0;
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], g[3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_point_gradient(corners, r, s, t, inv, g);
        const double dot = det * mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) k[i][j] += det * (lambda + mu) * g[i] * g[j];
            k[i][i] += dot;
        }
    }
}

/* Von Mises stress of a displacement gradient for unit modulus. */
static HX_HD double hx_hex8_stress_of(double h[3][3], double lambda, double mu)
{
    const double p = lambda * (h[0][0] + h[1][1] + h[2][2]);
    const double sx = p + 2.0 * mu * h[0][0], sy = p + 2.0 * mu * h[1][1];
    const double sz = p + 2.0 * mu * h[2][2];
    const double xy = mu * (h[0][1] + h[1][0]), yz = mu * (h[1][2] + h[2][1]);
    const double xz = mu * (h[0][2] + h[2][0]);
    return sqrt(0.5 * ((sx - sy) * (sx - sy) + (sy - sz) * (sy - sz) + (sz - sx) * (sz - sx)) +
                3.0 * (xy * xy + yz * yz + xz * xz));
}

/* Von Mises stress of displacements at the corners, at reference coordinates `at`. */
static HX_HD double hx_hex8_von_mises(const double *x, const double *u, double lambda, double mu,
                                      const double at[3])
{
    double h[3][3];
    hx_hex8_displacement_gradient(x, u, at[0], at[1], at[2], h);
    return hx_hex8_stress_of(h, lambda, mu);
}

#endif
