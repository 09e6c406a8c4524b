/* Eigenvalues of small dense symmetric matrices on the host, and bases from Gram matrices.
 * Matrices are stored row by row. Serial; for up to a few hundred rows. */
#ifndef HX_SYMMETRIC_EIGEN_H
#define HX_SYMMETRIC_EIGEN_H

#include "../base/c_linkage.h"

HX_C_BEGIN

/* value[n] ascending, and orthonormal vectors in the columns of vector[n][n], of a symmetric
 * a[n][n], which is overwritten. Cyclic Jacobi rotations, which compute every eigenvalue of a
 * positive definite matrix to nearly its own relative accuracy, however graded the matrix is
 * (Demmel and Veselic, SIAM J. Matrix Anal. Appl. 13, 1992). Returns 0, or -1 if a is not finite
 * or the rotations do not converge. About 40 n^3 operations. */
int hx_symmetric_eigen(int n, double *a, double *value, double *vector);

/* basis[n][*n_basis]: combinations of n vectors with Gram matrix g[n][n] that are orthonormal, in
 * the order of the vectors, as Gram and Schmidt would; by a Cholesky factorization of g scaled to a
 * unit diagonal. A vector of which less than `least` (in squared length) is left beside its
 * predecessors is left out. O(n^3). basis has room for n * n, work for n * n + n. */
void hx_gram_basis(int n, const double *g, double least, double *work, double *basis, int *n_basis);

HX_C_END

#endif
