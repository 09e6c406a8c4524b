/* The tetrahedron with 10 points (tet10), which spans all polynomials of degree 2: corners, then
 * mid-edge points in the order of VTK_QUADRATIC_TETRA. Four Gauss points are exact to degree 2,
 * which is the degree of the stiffness and of mass and source loads on straight cells. Centrifugal
 * loads have degree 3 and use 14 points, exact to degree 5 (Walkington 2000). In a space with
 * curved edges all volume loads use the 14 points, because N_a det J has degree 5. */
#ifndef HX_TET10_H
#define HX_TET10_H

#include "../base/host_device.h"

enum { HX_TET10_POINTS = 10, HX_TET10_GAUSS = 4, HX_TET10_FINE_GAUSS = 14 };

/* Ends of the edge whose middle is point a = 4..9. */
static HX_HD int hx_tet10_end(int a, int end)
{
    const int first = a < 7 ? a - 4 : a - 7, second = a < 6 ? a - 3 : a == 6 ? 0 : 3;
    return end ? second : first;
}

/* Shape function of point a at x = (r, s, t) >= 0, r + s + t <= 1, and its derivatives. */
static HX_HD double hx_tet10_shape(int a, const double x[3], double d[3])
{
    const double l[4] = {1.0 - x[0] - x[1] - x[2], x[0], x[1], x[2]};
    if (a < 4) {
        const double slope = 4.0 * l[a] - 1.0;
        for (int i = 0; i < 3; i++) d[i] = slope * (a == 0 ? -1.0 : a == i + 1 ? 1.0 : 0.0);
        return l[a] * (2.0 * l[a] - 1.0);
    }
    const int b = hx_tet10_end(a, 0), c = hx_tet10_end(a, 1);
    for (int i = 0; i < 3; i++)
        d[i] = 4.0 * ((b == 0       ? -1.0
                       : b == i + 1 ? 1.0
                                    : 0.0) *
                          l[c] +
                      (c == 0       ? -1.0
                       : c == i + 1 ? 1.0
                                    : 0.0) *
                          l[b]);
    return 4.0 * l[b] * l[c];
}

/* Gauss point q = 0..3, and its weight. */
static HX_HD double hx_tet10_gauss(int q, double x[3])
{
    for (int i = 0; i < 3; i++) x[i] = q == i + 1 ? 0.58541019662496845446 : 0.13819660112501051518;
    return 1.0 / 24.0;
}

/* Point q = 0..13 of the finer rule, and its weight: two sets of four points on the lines from the
 * corners to the centroid, and six on the lines from the mid-edge points to it. */
static HX_HD double hx_tet10_fine_gauss(int q, double x[3])
{
    const double side = q < 4 ? 0.31088591926330060980 : 0.09273525031089122640;
    /* for the two barycentric coordinates of the opposite edge */
    const double near = 0.04550370412564964949;
    if (q < 8) {
        for (int i = 0; i < 3; i++) x[i] = q % 4 == i + 1 ? 1.0 - 3.0 * side : side;
        return (q < 4 ? 0.11268792571801585080 : 0.07349304311636194954) / 6.0;
    }
    const int first = hx_tet10_end(q - 4, 0), second = hx_tet10_end(q - 4, 1);
    for (int i = 0; i < 3; i++) x[i] = i + 1 == first || i + 1 == second ? 0.5 - near : near;
    return 0.04254602077708146644 / 6.0;
}

#endif
