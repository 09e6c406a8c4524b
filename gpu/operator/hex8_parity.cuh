// The product of a parallelepiped in the modes of the trilinear map
// (the parity basis of its corners), in which its stiffness matrix is block diagonal: the constant
// parts of the derivatives (R, S, T), the linear ones (RS, RT, ST) and RST do not couple. 171
// multiplications; 45 for a box along the axes.
//
// With a = J^-1 (a[k] = gradient of xi_k), the stress power of derivative k of u_i against
// derivative l of u_j is
//
//     D_kl[i][j] = det J (lambda a_k[i] a_l[j] + mu (a_k[j] a_l[i] + (a_k . a_l) [i = j])),
//
// and, summed over the Gauss points (r^2 = s^2 = t^2 = 1/3), for modes that are 8 times too large:
//
//     (R, S, T):    blocks D_kl / 8
//     (RS, RT, ST): [[D_rr + D_ss, D_st, D_rt], [., D_rr + D_tt, D_rs], [., ., D_ss + D_tt]] / 24
//     RST:          (D_rr + D_ss + D_tt) / 72
#ifndef HX_HEX8_PARITY_CUH
#define HX_HEX8_PARITY_CUH

#include "hex8_otf.cuh"

// Upper triangles by rows: 9 x 9, 9 x 9, 3 x 3.
enum { HX_PARITY_LINEAR = 45, HX_PARITY_CUBIC = 90, HX_N_PARITY = 96 };

__host__ __device__ constexpr int hx_triangle(int n, int a, int b)
{
    const int row = a < b ? a : b, column = a < b ? b : a;
    return row * n - row * (row - 1) / 2 + column - row;
}

// The directions (k, l) whose D_kl couples two linear modes p < q of RS, RT, ST.
__host__ __device__ constexpr int hx_parity_k(int p, int q)
{
    return p == 0 && q == 1 ? 1 : 0;
}
__host__ __device__ constexpr int hx_parity_l(int p, int)
{
    return p == 1 ? 1 : 2;
}

// Nonzero entries D_kl[i][j] for a box along the axes: those in which each direction is paired with
// itself.
__host__ __device__ constexpr bool hx_in_box(int k, int l, int i, int j)
{
    return (k == i && l == j) || (k == j && l == i) || (k == l && i == j);
}

// Nonzero entries of the three matrices for a box.
__host__ __device__ constexpr bool hx_box_constant(int a, int b)
{
    return hx_in_box(a / 3, b / 3, a % 3, b % 3);
}
__host__ __device__ constexpr bool hx_box_linear(int a, int b)
{
    const int row = a < b ? a : b, column = a < b ? b : a, p = row / 3, q = column / 3;
    return p == q ? a == b : hx_in_box(hx_parity_k(p, q), hx_parity_l(p, q), row % 3, column % 3);
}

// The three matrices for a Jacobian j[k][i] = dx_i / dxi_k and unit modulus.
inline void hx_parity_matrices(const double j[3][3], double lambda, double mu,
                               double matrix[HX_N_PARITY])
{
    double a[3][3], d[3][3][3][3]; // a[k][i] = dxi_k / dx_i; d[k][l][i][j]
    for (int k = 0; k < 3; k++) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            a[k][i] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    }
    const double det = j[0][0] * a[0][0] + j[0][1] * a[0][1] + j[0][2] * a[0][2];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) a[k][i] /= det;
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            for (int i = 0; i < 3; i++)
                for (int m = 0; m < 3; m++) {
                    const double dot = a[k][0] * a[l][0] + a[k][1] * a[l][1] + a[k][2] * a[l][2];
                    d[k][l][i][m] = det * (lambda * a[k][i] * a[l][m] + mu * a[k][m] * a[l][i] +
                                           (i == m ? mu * dot : 0.0));
                }
    for (int row = 0; row < 9; row++)
        for (int column = row; column < 9; column++) {
            const int p = row / 3, q = column / 3, i = row % 3, m = column % 3;
            const int k = hx_parity_k(p, q), l = hx_parity_l(p, q);
            // RS, RT, ST combine the directions (r, s), (r, t), (s, t)
            const int first = p == 2 ? 1 : 0, second = p == 0 ? 1 : 2;
            matrix[hx_triangle(9, row, column)] = d[p][q][i][m] / 8.0;
            matrix[HX_PARITY_LINEAR + hx_triangle(9, row, column)] =
                (p == q ? d[first][first][i][m] + d[second][second][i][m] : d[k][l][i][m]) / 24.0;
        }
    for (int i = 0; i < 3; i++)
        for (int m = i; m < 3; m++)
            matrix[HX_PARITY_CUBIC + hx_triangle(3, i, m)] =
                (d[0][0][i][m] + d[1][1][i][m] + d[2][2][i][m]) / 72.0;
}

// Forces f[mode] in direction i from the displacement modes u[mode][3], for unit modulus.
// hx_from_modes with g = 1 transforms them to the corners.
template <bool BOX, class T>
HX_HD void hx_parity_product(const T *matrix, const T u[HX_N_MODE][3], int i, T f[HX_N_MODE])
{
    constexpr int constant[3] = {HX_R, HX_S, HX_T}, linear[3] = {HX_RS, HX_RT, HX_ST};
#pragma unroll
    for (int p = 0; p < 3; p++) {
        T sum = 0, sum_linear = 0;
#pragma unroll
        for (int b = 0; b < 9; b++) {
            const int a = 3 * p + i;
            if (!BOX || hx_box_constant(a, b))
                sum = fma(matrix[hx_triangle(9, a, b)], u[constant[b / 3]][b % 3], sum);
            if (!BOX || hx_box_linear(a, b))
                sum_linear = fma(matrix[HX_PARITY_LINEAR + hx_triangle(9, a, b)],
                                 u[linear[b / 3]][b % 3], sum_linear);
        }
        f[constant[p]] = sum;
        f[linear[p]] = sum_linear;
    }
    T sum = 0;
#pragma unroll
    for (int m = 0; m < 3; m++)
        if (!BOX || m == i)
            sum = fma(matrix[HX_PARITY_CUBIC + hx_triangle(3, i, m)], u[HX_RST][m], sum);
    f[HX_RST] = sum;
}

#endif
