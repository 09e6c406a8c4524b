/* The points and weights of Gauss and Legendre on [-1, 1]; not installed. */
#ifndef HX_GAUSS_POINTS_H
#define HX_GAUSS_POINTS_H

enum { HX_GAUSS_MAX = 8 };

/* Of n = 1 to HX_GAUSS_MAX points, ascending, exact for polynomials of degree 2 n - 1: symmetric to
 * the bit, to an ulp or two otherwise. O(n^2). */
void hx_gauss_points(int n, double point[HX_GAUSS_MAX], double weight[HX_GAUSS_MAX]);

#endif
