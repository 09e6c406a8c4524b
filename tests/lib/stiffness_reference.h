/* K of 8-node hexahedra for unit modulus, in long double: dense element matrices B' D B, written
 * independently of core/mesh/hex8.h, their products, and errors relative to these. */
#ifndef HX_TEST_STIFFNESS_REFERENCE_H
#define HX_TEST_STIFFNESS_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/mesh/mesh.h"

typedef long double real;

/* Ke = sum of B' D B det J over Gauss points, by the textbook. */
static inline void reference_stiffness(const double x[24], double nu, real ke[24][24])
{
    static const int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    const real c = 1.0L / ((1.0L + nu) * (1.0L - 2.0L * nu));
    const real point = 1.0L / sqrtl(3.0L);
    real d[6][6] = {{0.0L}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) d[i][j] = i == j ? c * (1.0L - nu) : c * nu;
    for (int i = 3; i < 6; i++) d[i][i] = 0.5L / (1.0L + nu);
    memset(ke, 0, 24 * sizeof ke[0]);
    for (int q = 0; q < 8; q++) {
        const real r[3] = {corner[q][0] * point, corner[q][1] * point, corner[q][2] * point};
        real dn[8][3], j[3][3] = {{0.0L}}, inv[3][3], g[8][3], b[6][24] = {{0.0L}};
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++) {
                dn[a][i] = 0.125L * corner[a][i];
                for (int k = 0; k < 3; k++)
                    if (k != i) dn[a][i] *= 1.0L + corner[a][k] * r[k];
            }
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) j[i][k] += dn[a][i] * x[3 * a + k];
        real det = 0.0L;
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            for (int k = 0; k < 3; k++) {
                const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                inv[k][i] = j[i1][k1] * j[i2][k2] - j[i1][k2] * j[i2][k1];
            }
            det += j[0][i] *
                   (j[1][(i + 1) % 3] * j[2][(i + 2) % 3] - j[1][(i + 2) % 3] * j[2][(i + 1) % 3]);
        }
        for (int a = 0; a < 8; a++)
            for (int k = 0; k < 3; k++)
                g[a][k] =
                    (inv[k][0] * dn[a][0] + inv[k][1] * dn[a][1] + inv[k][2] * dn[a][2]) / det;
        for (int a = 0; a < 8; a++) {
            for (int i = 0; i < 3; i++) b[i][3 * a + i] = g[a][i];
            b[3][3 * a] = g[a][1], b[3][3 * a + 1] = g[a][0];
            b[4][3 * a + 1] = g[a][2], b[4][3 * a + 2] = g[a][1];
            b[5][3 * a] = g[a][2], b[5][3 * a + 2] = g[a][0];
        }
        real db[6][24] = {{0.0L}};
        for (int s = 0; s < 6; s++)
            for (int t = 0; t < 6; t++)
                for (int n = 0; n < 24 && d[s][t] != 0.0L; n++) db[s][n] += d[s][t] * b[t][n];
        for (int m = 0; m < 24; m++)
            for (int s = 0; s < 6; s++)
                for (int n = 0; n < 24 && b[s][m] != 0.0L; n++)
                    ke[m][n] += det * b[s][m] * db[s][n];
    }
}

/* Ke of every element for unit modulus; the caller frees *ke. */
static inline int make_reference(const hx_mesh *mesh, double nu, real (**ke)[24][24])
{
    HX_TRY(hx_alloc(ke, (size_t)mesh->n_elem, sizeof **ke, "reference"));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double xe[24];
        for (int m = 0; m < 24; m++) xe[m] = mesh->xyz[3 * mesh->conn[8 * e + m / 3] + m % 3];
        reference_stiffness(xe, nu, (*ke)[e]);
    }
    return HX_OK;
}

/* y = K(E) x, diag and energies, summed in long double. */
static inline void reference_product(const hx_mesh *mesh, real (*ke)[24][24], const double *modulus,
                                     const double *x, real *y, real *diag, double *energy)
{
    memset(y, 0, (size_t)mesh->n_node * 3 * sizeof *y);
    memset(diag, 0, (size_t)mesh->n_node * 3 * sizeof *diag);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        real sum_e = 0.0L;
        const int32_t *conn = mesh->conn + 8 * e;
        double xe[24];
        for (int n = 0; n < 24; n++) xe[n] = x[3 * conn[n / 3] + n % 3];
        for (int m = 0; m < 24; m++) {
            real sum = 0.0L;
            for (int n = 0; n < 24; n++) sum += ke[e][m][n] * xe[n];
            y[3 * conn[m / 3] + m % 3] += modulus[e] * sum;
            for (int n = m % 3; n < 24; n += 3) /* all corners that name the node */
                if (conn[n / 3] == conn[m / 3])
                    diag[3 * conn[m / 3] + m % 3] += modulus[e] * ke[e][m][n];
            sum_e += sum * xe[m];
        }
        energy[e] = (double)sum_e;
    }
}

/* |a - b| / |b|; NaN if a contains NaN. */
static inline double relative_error(int64_t n, const double *a, const real *b)
{
    real num = 0.0L, den = 0.0L;
    for (int64_t i = 0; i < n; i++) {
        num += ((real)a[i] - b[i]) * ((real)a[i] - b[i]);
        den += b[i] * b[i];
    }
    return (double)sqrtl(num / den);
}

#endif
