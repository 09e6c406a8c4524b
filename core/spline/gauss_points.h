/* Gauss-Legendre points and weights on [-1, 1]; not installed. */
#ifndef HX_GAUSS_POINTS_H
#define HX_GAUSS_POINTS_H

enum { HX_GAUSS_MAX = 8 };

/* Rule with n = 1 to HX_GAUSS_MAX points, ascending, exact for polynomials of degree 2 n - 1.
 * Bitwise symmetric; otherwise accurate to one or two ulps. O(n^2). */
void hx_gauss_points(int n, double point[HX_GAUSS_MAX], double weight[HX_GAUSS_MAX]);

#endif
