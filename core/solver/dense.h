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

/* A generalised inverse of a positive semidefinite a[n][n] (destroyed), rounded to single
 * precision: the inverse on a largest set of independent rows, 0 on the others. With a scaled to
 * unit diagonal, a pivot below 3e-6 is what rounding of the entries to single precision left of 0.
 * work[n + 2][n]. For some thousand rows: on all threads, the same bits for any number of them. */
void hx_dense_invert_semidefinite(int64_t n, double *a, double *work, float *inverse);

#ifdef __cplusplus
}
#endif

#endif
