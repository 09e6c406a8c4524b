/* Inverses of small dense symmetric matrices on the host, by Cholesky factors. Entries row by row;
 * both triangles are read. O(n^3). */
#ifndef HX_DENSE_H
#define HX_DENSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* inverse[n][n] of a positive definite a[n][n] (destroyed). For a few dozen rows: serial, and the
 * inverse in the working precision. NaN where a is not positive definite. */
void hx_dense_invert(int n, double *a, double *inverse);

#ifdef __cplusplus
}
#endif

#endif
