/* Tiles of a hexahedron on the CPU: first the Jacobians of its 8 integration points in vector
 * lanes, then the tiles of a corner with all 8 corners. */
#include <math.h>
#include <string.h>

#include "../../base/vectorised.h"
#include "../../mesh/hex8.h"
#include "matrix_cpu.h"

enum { N = HX_CELL_LANES };

/* Derivatives of the shape functions with respect to (r, s, t): by_point[a][k][q],
 * by_corner[q][k][a]. */
typedef struct gradients {
    double by_point[8][3][N], by_corner[8][3][N];
} gradients;

/* A derivative is 0.125 times the sign of its direction, times, for each of the other two
 * directions, 1 + 1/sqrt(3) or 1 - 1/sqrt(3). */
#define SIGN(a, d)                                                                                 \
    ((d) == 0 ? ((((a) + 1) >> 1) & 1) : (d) == 1 ? (((a) >> 1) & 1) : (((a) >> 2) & 1))
#define UNIT(bit) ((bit) ? 1.0 : -1.0)
#define FACTOR(a, q, d) (1.0 + UNIT(SIGN(a, d)) * UNIT(((q) >> (d)) & 1) * 0.57735026918962576451)
#define VALUE(a, k, q)                                                                             \
    (0.125 * UNIT(SIGN(a, k)) * FACTOR(a, q, ((k) + 1) % 3) * FACTOR(a, q, ((k) + 2) % 3))
#define POINTS(a, k)                                                                               \
    {                                                                                              \
        VALUE(a, k, 0), VALUE(a, k, 1), VALUE(a, k, 2), VALUE(a, k, 3), VALUE(a, k, 4),            \
            VALUE(a, k, 5), VALUE(a, k, 6), VALUE(a, k, 7)                                         \
    }
#define CORNERS(q, k)                                                                              \
    {                                                                                              \
        VALUE(0, k, q), VALUE(1, k, q), VALUE(2, k, q), VALUE(3, k, q), VALUE(4, k, q),            \
            VALUE(5, k, q), VALUE(6, k, q), VALUE(7, k, q)                                         \
    }
#define THREE(each, n)                                                                             \
    {                                                                                              \
        each(n, 0), each(n, 1), each(n, 2)                                                         \
    }
#define ALL(each)                                                                                  \
    {                                                                                              \
        THREE(each, 0), THREE(each, 1), THREE(each, 2), THREE(each, 3), THREE(each, 4),            \
            THREE(each, 5), THREE(each, 6), THREE(each, 7)                                         \
    }

static const gradients reference = {ALL(POINTS), ALL(CORNERS)};

/* root[i][k][q] = sqrt(det J) d xi_k / d x_i at each point. */
HX_INLINED void root_jacobians(const double x[24], double root[3][3][N])
{
    double j[3][3][N];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            double sum[N] = {0.0};
            for (int a = 0; a < 8; a++)
                for (int q = 0; q < N; q++) sum[q] += reference.by_point[a][k][q] * x[3 * a + i];
            memcpy(j[k][i], sum, sizeof sum);
        }
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int k = 0; k < 3; k++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            for (int q = 0; q < N; q++)
                root[i][k][q] = j[k1][i1][q] * j[k2][i2][q] - j[k1][i2][q] * j[k2][i1][q];
        }
    }
    double f[N];
    for (int q = 0; q < N; q++)
        f[q] = 1.0 / sqrt(j[0][0][q] * root[0][0][q] + j[0][1][q] * root[1][0][q] +
                          j[0][2][q] * root[2][0][q]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int q = 0; q < N; q++) root[i][k][q] *= f[q];
}

/* h[q][i][a] = sqrt(det J) times the gradient of corner a. */
HX_INLINED void root_gradients(const double x[24], double h[8][3][N])
{
    double root[3][3][N];
    root_jacobians(x, root);
    for (int q = 0; q < 8; q++)
        for (int i = 0; i < 3; i++)
            for (int a = 0; a < N; a++)
                h[q][i][a] = root[i][0][q] * reference.by_corner[q][0][a] +
                             root[i][1][q] * reference.by_corner[q][1][a] +
                             root[i][2][q] * reference.by_corner[q][2][a];
}

/* m[i][j][b] = sum of h_a[i] h_b[j] over the points. The products commute, so K is bitwise
 * symmetric. */
#define PRODUCT(i, j)                                                                              \
    do {                                                                                           \
        double sum[N] = {0.0};                                                                     \
        for (int q = 0; q < 8; q++)                                                                \
            for (int b = 0; b < N; b++) sum[b] += h[q][i][a] * h[q][j][b];                         \
        memcpy(m[i][j], sum, sizeof sum);                                                          \
    } while (0)

HX_INLINED void elasticity_lanes(const double x[24], double l, double u, unsigned corners,
                                 hx_cpu_tiles *rows)
{
    double h[8][3][N], m[3][3][N];
    root_gradients(x, h);
    for (int a = 0; a < 8; a++) {
        if (!(corners >> a & 1)) continue;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) PRODUCT(i, j);
        double(*const tile)[N] = rows[a].tile;
        for (int b = 0; b < N; b++) {
            const double trace = u * (m[0][0][b] + m[1][1][b] + m[2][2][b]);
            for (int i = 0; i < 3; i++) tile[4 * i][b] = (l + u) * m[i][i][b] + trace;
            tile[1][b] = l * m[0][1][b] + u * m[1][0][b];
            tile[2][b] = l * m[0][2][b] + u * m[2][0][b];
            tile[3][b] = l * m[1][0][b] + u * m[0][1][b];
            tile[5][b] = l * m[1][2][b] + u * m[2][1][b];
            tile[6][b] = l * m[2][0][b] + u * m[0][2][b];
            tile[7][b] = l * m[2][1][b] + u * m[1][2][b];
        }
    }
}
HX_VERSIONS(elasticity,
            (const double x[24], double l, double u, unsigned corners, hx_cpu_tiles *rows),
            (x, l, u, corners, rows))

HX_INLINED void conduction_lanes(const double x[24], double modulus, unsigned corners,
                                 hx_cpu_tiles *rows)
{
    double h[8][3][N];
    root_gradients(x, h);
    for (int a = 0; a < 8; a++) {
        if (!(corners >> a & 1)) continue;
        double sum[N] = {0.0};
        for (int q = 0; q < 8; q++)
            for (int i = 0; i < 3; i++)
                for (int b = 0; b < N; b++) sum[b] += h[q][i][a] * h[q][i][b];
        for (int b = 0; b < N; b++) rows[a].tile[0][b] = modulus * sum[b];
    }
}
HX_VERSIONS(conduction, (const double x[24], double modulus, unsigned corners, hx_cpu_tiles *rows),
            (x, modulus, corners, rows))

void hx_cpu_cell_tiles(const hx_form *form, const double x[24], double modulus, unsigned corners,
                       hx_cpu_tiles rows[8])
{
    if (form->kind == HX_FORM_ELASTICITY)
        elasticity(x, modulus * form->lambda, modulus * form->mu, corners, rows);
    else
        conduction(x, modulus, corners, rows);
}
