/* Loads by the part's own mass, which depend on the density: gravity and rotation.
 *
 *     f_a = sum over elements e of node a of  m(rho_e) density int N_a b(x) dV
 *
 * The acceleration of gravity and of a rotation is affine in x, and so is the sum of several: one
 * hx_body_field per load case, which includes the material's density. Host and device use one
 * formula.
 *
 * Every integral is exact for straight edges, so it does not depend on the numbering of an
 * element's corners. Degree of the integrand, and of the rule, in each reference direction:
 *
 *                      uniform b              b affine in x
 *     parallelepiped   1 + 0 = 1, 2x2x2: 3    1 + 1 + 0 = 2, 2x2x2: 3
 *     hex8, collapsed  1 + 2 = 3, 2x2x2: 3    1 + 1 + 2 = 4, 3x3x3: 5
 *     hex20            2 + 2 = 4, 3x3x3: 5    2 + 1 + 2 = 5, 3x3x3: 5
 *     pyramid13        2 + 2 = 4, 3x3x3: 5    2 + 1 + 2 = 5, 3x3x3: 5 (in collapsed coordinates)
 *     wedge15, plane   2 + 1 = 3, 6: 4        2 + 1 + 1 = 4, 6: 4
 *     wedge15, across  2 + 2 = 4, 3: 5        2 + 1 + 2 = 5, 3: 5
 *     tet10            2, 4 points: 2         2 + 1 = 3, 14 points: 5
 *
 * In a space with curved edges a kind of cell has one rule for every field, so that the loads of a
 * case add up to those of its parts: tet10 uses 14 points, exact for a uniform b (2 + 3 = 5).
 *
 * The addends are the degrees of N_a, of b and of det J. In the linear space a wedge, pyramid or
 * tetrahedron is a hexahedron with coincident corners, whose shape functions are sums of those of
 * hex8. */
#ifndef HX_BODY_FORCE_H
#define HX_BODY_FORCE_H

#include "../base/host_device.h"
#include "../mesh/hex8.h"
#include "../space/cell_rule.h"
#include "../space/hex20.h"
#include "problem.h"

HX_C_BEGIN

/* Mass of a density: rho above the threshold 0.1, 0.1 (6 r^6 - 5 r^7) with r = rho / 0.1 below it.
 * With mass ~ rho and stiffness ~ rho^p, void of vanishing density would sag without bound under
 * its own weight (Bruyneel and Duysinx, Struct. Multidisc. Optim. 29, 2005). The law below the
 * threshold is that of Du and Olhoff (Struct. Multidisc. Optim. 34, 2007): 6e5 rho^6 - 5e6 rho^7.
 * Value and slope are continuous, and mass over stiffness stays bounded for p <= 6. */
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

/* Interpolates a nodal field v[3 a + i] at (r, s, t). */
static HX_HD void hx_hex8_interpolate(const double *v, double r, double s, double t, double at[3])
{
    at[0] = at[1] = at[2] = 0.0;
    for (int a = 0; a < 8; a++) {
        const double n = hx_hex8_shape(a, r, s, t);
        for (int i = 0; i < 3; i++) at[i] += n * v[3 * a + i];
    }
}

/* 1 if the acceleration is uniform: gravity without rotation. */
static HX_HD int hx_body_is_uniform(const hx_body_field *field)
{
    int varies = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) varies |= field->gradient[i][j] != 0.0;
    return !varies;
}

/* Index of the rule that integrates the load over a quadratic cell of a kind (cell_rule.h). */
static HX_HD int hx_body_rule(const hx_body_field *field, int kind)
{
    return hx_cell_load_rule(kind, field->is_fine);
}

/* Coefficients c[8][3] of the trilinear field with the values v[3 a + i] at the corners, in the
 * basis 1, r, s, t, rs, st, tr, rst. */
static HX_HD void hx_hex8_coefficients(const double *v, double c[8][3])
{
    for (int k = 0; k < 8; k++) c[k][0] = c[k][1] = c[k][2] = 0.0;
    for (int a = 0; a < 8; a++) {
        const double r = hx_hex8_sign(a, 0), s = hx_hex8_sign(a, 1), t = hx_hex8_sign(a, 2);
        const double sign[8] = {1.0, r, s, t, r * s, s * t, t * r, r * s * t};
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < 3; i++) c[k][i] += 0.125 * sign[k] * v[3 * a + i];
    }
}

static HX_HD void hx_hex8_evaluate(double c[8][3], const double at[3], double v[3])
{
    const double r = at[0], s = at[1], t = at[2];
    for (int i = 0; i < 3; i++)
        v[i] = c[0][i] + r * (c[1][i] + s * c[4][i]) + s * (c[2][i] + t * c[5][i]) +
               t * (c[3][i] + r * (c[6][i] + s * c[7][i]));
}

/* det J of the map with these coefficients. */
static HX_HD double hx_hex8_determinant(double c[8][3], const double at[3])
{
    const double r = at[0], s = at[1], t = at[2];
    double j[3][3];
    for (int i = 0; i < 3; i++) {
        j[0][i] = c[1][i] + s * c[4][i] + t * (c[6][i] + s * c[7][i]);
        j[1][i] = c[2][i] + t * c[5][i] + r * (c[4][i] + t * c[7][i]);
        j[2][i] = c[3][i] + r * c[6][i] + s * (c[5][i] + r * c[7][i]);
    }
    return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) +
           j[0][1] * (j[1][2] * j[2][0] - j[1][0] * j[2][2]) +
           j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
}

/* Number of integration points of an affine field on a hexahedron with this map: 8 if the map is
 * affine up to rounding, because det J is then constant and the degree is 2 in each direction;
 * otherwise 27. */
static HX_HD int hx_hex8_body_points(double map[8][3])
{
    double linear = 0.0, mixed = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int k = 1; k < 4; k++) linear = fmax(linear, fabs(map[k][i]));
        for (int k = 4; k < 8; k++) mixed = fmax(mixed, fabs(map[k][i]));
    }
    return mixed > 1e-15 * linear ? HX_HEX20_GAUSS : 8;
}

/* b times weight and det J at point q of n; returns its reference coordinates in at[]. */
static HX_HD void hx_hex8_body_at(double map[8][3], int n, int q, const hx_body_field *field,
                                  double at[3], double b[3])
{
    double x[3], weight = 1.0;
    if (n == 8)
        for (int d = 0; d < 3; d++) at[d] = hx_hex8_gauss(q, d);
    else
        weight = hx_hex20_gauss(q, at);
    const double volume = weight * hx_hex8_determinant(map, at);
    hx_hex8_evaluate(map, at, x);
    hx_body_at(field, x, b);
    for (int i = 0; i < 3; i++) b[i] *= volume;
}

/* Force of hx_hex8_body_force for a field that is not uniform. */
static HX_HD void hx_hex8_affine_force(const double *x, int a, const hx_body_field *field,
                                       double f[3])
{
    double map[8][3];
    hx_hex8_coefficients(x, map);
    const int n_point = hx_hex8_body_points(map);
    for (int q = 0; q < n_point; q++) {
        double at[3], b[3];
        hx_hex8_body_at(map, n_point, q, field, at, b);
        const double n = hx_hex8_shape(a, at[0], at[1], at[2]);
        for (int i = 0; i < 3; i++) f[i] += n * b[i];
    }
}

/* f = int N_a b dV for corner a of a solid element with corners x[24]. The degree is 3 for a
 * uniform field (2x2x2 points are exact), otherwise 4 (3x3x3), or 2 on a parallelepiped (2x2x2). */
static HX_HD void hx_hex8_body_force(const double *x, int a, const hx_body_field *field,
                                     double f[3])
{
    f[0] = f[1] = f[2] = 0.0;
    if (!hx_body_is_uniform(field)) {
        hx_hex8_affine_force(x, a, field, f);
        return;
    }
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], at[3], b[3];
        const double n = hx_hex8_shape(a, r, s, t) * hx_hex8_jacobian(x, r, s, t, inv);
        hx_hex8_interpolate(x, r, s, t, at);
        hx_body_at(field, at, b);
        for (int i = 0; i < 3; i++) f[i] += n * b[i];
    }
}

/* Work of hx_hex8_body_work for a field that is not uniform. */
static HX_HD double hx_hex8_affine_work(const double *x, const double *u,
                                        const hx_body_field *field)
{
    double map[8][3], moved[8][3], work = 0.0;
    hx_hex8_coefficients(x, map);
    hx_hex8_coefficients(u, moved);
    const int n_point = hx_hex8_body_points(map);
    for (int q = 0; q < n_point; q++) {
        double at[3], b[3], v[3];
        hx_hex8_body_at(map, n_point, q, field, at, b);
        hx_hex8_evaluate(moved, at, v);
        work += v[0] * b[0] + v[1] * b[1] + v[2] * b[2];
    }
    return work;
}

/* int u . b dV over a solid element, with the points of hx_hex8_body_force. */
static HX_HD double hx_hex8_body_work(const double *x, const double *u, const hx_body_field *field)
{
    double work = 0.0;
    if (!hx_body_is_uniform(field)) return hx_hex8_affine_work(x, u, field);
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

HX_C_END

#endif
