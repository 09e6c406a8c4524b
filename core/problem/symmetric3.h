/* Eigenvalues and eigenvectors of a symmetric 3 x 3 matrix. */
#ifndef HX_SYMMETRIC3_H
#define HX_SYMMETRIC3_H

#include <math.h>

/* By Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5): accurate to rounding, cold.
 * vector[k] is the unit eigenvector of value[k], ascending; right-handed. `a` is overwritten. */
static inline void hx_symmetric3_eigen(double a[3][3], double value[3], double vector[3][3])
{
    double v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}; /* columns */
    int order[3] = {0, 1, 2};
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0.0) continue;
                const double theta = 0.5 * atan2(2.0 * a[p][q], a[p][p] - a[q][q]);
                const double c = cos(theta), s = sin(theta);
                for (int k = 0; k < 3; k++) {
                    const double akp = a[k][p], akq = a[k][q];
                    a[k][p] = c * akp + s * akq;
                    a[k][q] = -s * akp + c * akq;
                }
                for (int k = 0; k < 3; k++) {
                    const double apk = a[p][k], aqk = a[q][k], vkp = v[k][p], vkq = v[k][q];
                    a[p][k] = c * apk + s * aqk;
                    a[q][k] = -s * apk + c * aqk;
                    v[k][p] = c * vkp + s * vkq;
                    v[k][q] = -s * vkp + c * vkq;
                }
            }
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
