/* Eigenvalues and eigenvectors of small symmetric matrices. */
#ifndef HX_SYMMETRIC_H
#define HX_SYMMETRIC_H

#include <math.h>
#include <string.h>

/* Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5): accurate to rounding, not
 * performance-critical. Leaves the eigenvalues of a[n][n] on its diagonal, unordered, and their
 * unit eigenvectors in the columns of v[n][n]. */
static inline void hx_symmetric_rotate(int n, double *a, double *v)
{
    memset(v, 0, (size_t)n * (size_t)n * sizeof *v);
    for (int i = 0; i < n; i++) v[n * i + i] = 1.0;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                if (a[n * p + q] == 0.0) continue;
                const double theta = 0.5 * atan2(2.0 * a[n * p + q], a[n * p + p] - a[n * q + q]);
                const double c = cos(theta), s = sin(theta);
                for (int k = 0; k < n; k++) {
                    const double akp = a[n * k + p], akq = a[n * k + q];
                    a[n * k + p] = c * akp + s * akq;
                    a[n * k + q] = -s * akp + c * akq;
                }
                for (int k = 0; k < n; k++) {
                    const double apk = a[n * p + k], aqk = a[n * q + k];
                    const double vkp = v[n * k + p], vkq = v[n * k + q];
                    a[n * p + k] = c * apk + s * aqk;
                    a[n * q + k] = -s * apk + c * aqk;
                    v[n * k + p] = c * vkp + s * vkq;
                    v[n * k + q] = -s * vkp + c * vkq;
                }
            }
}

/* vector[k] is the unit eigenvector of value[k], ascending and right-handed. Overwrites `a`. */
static inline void hx_symmetric3_eigen(double a[3][3], double value[3], double vector[3][3])
{
    double v[3][3]; /* columns */
    int order[3] = {0, 1, 2};
    hx_symmetric_rotate(3, a[0], v[0]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (a[order[j]][order[j]] > a[order[j + 1]][order[j + 1]]) {
                const int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
    for (int k = 0; k < 3; k++) {
        value[k] = a[order[k]][order[k]];
        for (int i = 0; i < 3; i++) vector[k][i] = v[i][order[k]];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        vector[2][i] = vector[0][j] * vector[1][k] - vector[0][k] * vector[1][j];
    }
}

#endif
