/* Inverses of small dense symmetric matrices on the host, by Cholesky factorization. Entries are
 * stored row by row; both triangles are read. O(n^3). */
#ifndef HX_DENSE_H
#define HX_DENSE_H

#include <stdint.h>

#include "../base/c_linkage.h"

HX_C_BEGIN

/* inverse[n][n] of a positive definite a[n][n], which is overwritten. Meant for a few dozen rows:
 * serial, in double precision throughout. NaN if a is not positive definite. */
void hx_dense_invert(int n, double *a, double *inverse);

HX_C_END

#endif
