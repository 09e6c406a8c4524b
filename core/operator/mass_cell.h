/* The consistent mass of one linear cell, in one formula for host and device: int N_a N_b dV of a
 * hexahedron or of one that is collapsed to a wedge, pyramid or tetrahedron (mesh/cell.h).
 *
 * Rules and degrees in each reference direction: a hexahedron has the 2x2x2 points of its
 * stiffness, which are exact for a parallelepiped (degree 2) and symmetric in its corners for all
 * others; collapsed cells have 3x3x3 points, which are exact (degree 2 + 2 = 4 of 5), so that the
 * matrix does not depend on the numbering of their corners; tetrahedra have the closed form
 * V / 20 (1 + delta_ab). Quadratic cells use the rules of cell_rule.h for loads of a degree above
 * 2: tet10 is exact with straight edges (4 of 5), wedge15 too, hex20 and pyramid13 on
 * parallelepipeds (4 of 5). Every rule has at least as many points as the cell, so M is positive
 * definite. */
#ifndef HX_MASS_CELL_H
#define HX_MASS_CELL_H

#include "../problem/body_force.h"

HX_C_BEGIN

/* Number of points of the rule. */
static HX_HD int hx_mass_points(int is_collapsed)
{
    return is_collapsed ? HX_HEX20_GAUSS : 8;
}

/* Reference coordinates of point q and its weight. */
static HX_HD double hx_mass_point(int is_collapsed, int q, double at[3])
{
    if (is_collapsed) return hx_hex20_gauss(q, at);
    for (int d = 0; d < 3; d++) at[d] = hx_hex8_gauss(q, d);
    return 1.0;
}

/* 1 if the cell has four points, and therefore the mass of a tetrahedron. */
static HX_HD int hx_mass_is_tetrahedron(const int32_t conn[8])
{
    int corner[8];
    return hx_cell_distinct(conn, corner) == 4;
}

/* V / 20 of the tetrahedron of four points of x[24], in any order. */
static HX_HD double hx_mass_tetrahedron(const double *x, const int corner[4])
{
    double d[3][3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) d[k][i] = x[3 * corner[k + 1] + i] - x[3 * corner[0] + i];
    const double six = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
                       d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
                       d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    return fabs(six) / 120.0;
}

HX_C_END

#endif
