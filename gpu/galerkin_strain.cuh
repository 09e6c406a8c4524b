// Strains of a cell's motions at a point of an element, and products of halves on tensor cores:
// what galerkin_mesh_cuda.cu sums.
#ifndef HX_GALERKIN_STRAIN_CUH
#define HX_GALERKIN_STRAIN_CUH

#include <cuda_fp16.h>

#include "core/solver/multigrid.h"

constexpr int HX_STRAINS = 6; // rows of strain: xx, yy, zz, xy, yz, zx

__device__ __forceinline__ float hx_corner_sign(int a, int direction)
{
    const int bit = direction == 0   ? ((a + 1) >> 1) & 1
                    : direction == 1 ? (a >> 1) & 1
                                     : (a >> 2) & 1;
    return bit ? 1.0f : -1.0f;
}

// Gradients of the corners' shape functions at a point, times the root of
// modulus and det J; returns the largest.
__device__ __forceinline__ float hx_scaled_gradients(const float at[3], float modulus,
                                                     const float coordinate[3][8], float g[3][8])
{
    float d[3][8], j[3][3], inverse[3][3];
#pragma unroll
    for (int a = 0; a < 8; a++) {
        const float s0 = hx_corner_sign(a, 0), s1 = hx_corner_sign(a, 1), s2 = hx_corner_sign(a, 2);
        const float f0 = 1.0f + s0 * at[0], f1 = 1.0f + s1 * at[1], f2 = 1.0f + s2 * at[2];
        d[0][a] = 0.125f * s0 * (f1 * f2);
        d[1][a] = 0.125f * s1 * (f0 * f2);
        d[2][a] = 0.125f * s2 * (f0 * f1);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float x[8];
#pragma unroll
        for (int a = 0; a < 8; a++) x[a] = coordinate[i][a];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            j[k][i] = d[k][1] * (x[1] - x[0]);
#pragma unroll
            for (int a = 2; a < 8; a++) j[k][i] = fmaf(d[k][a], x[a] - x[0], j[k][i]);
        }
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            inverse[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    const float det = j[0][0] * inverse[0][0] + j[0][1] * inverse[1][0] + j[0][2] * inverse[2][0];
    const float f = sqrtf(fmaxf(modulus * det, 0.0f)) / det;
    float most = 0.0f;
#pragma unroll
    for (int a = 0; a < 8; a++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            g[i][a] =
                f * (inverse[i][0] * d[0][a] + inverse[i][1] * d[1][a] + inverse[i][2] * d[2][a]);
            most = fmaxf(most, fabsf(g[i][a]));
        }
    return most;
}

// Rows of strain by the components of a corner: K is the sum of their squares.
__device__ __forceinline__ void hx_strain_rows(const float g[3], const float h[3][3], float alpha,
                                               float beta, float row[HX_STRAINS][HX_MG_DOF])
{
    const float tr[3] = {h[2][1] - h[1][2], h[0][2] - h[2][0], h[1][0] - h[0][1]};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3; // theta_j x has u_i = x_l, theta_l x u_i = -x_j
#pragma unroll
        for (int c = 0; c < 3; c++) {
            row[i][c] = beta * g[c];
            row[i][3 + c] = beta * tr[c];
        }
        row[i][i] = fmaf(alpha, g[i], row[i][i]);
        row[i][3 + j] = fmaf(alpha, h[i][l], row[i][3 + j]);
        row[i][3 + l] = fmaf(-alpha, h[i][j], row[i][3 + l]);
        // shear of i and j: d_j u_i + d_i u_j
        row[3 + i][i] = g[j];
        row[3 + i][j] = g[i];
        row[3 + i][l] = 0.0f;
        row[3 + i][3 + i] = -h[i][l];
        row[3 + i][3 + j] = h[j][l];
        row[3 + i][3 + l] = h[i][i] - h[j][j];
    }
}

// The same of the displacement u_i alone, added: where components are fixed one by one.
__device__ __forceinline__ void hx_add_strain_rows(int i, const float g[3], const float h[3][3],
                                                   float alpha, float beta,
                                                   float row[HX_STRAINS][HX_MG_DOF])
{
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    // d_k u_i of the components: g[k] of u_i, h[k][l] of theta_j, -h[k][j] of theta_l
#pragma unroll
    for (int k = 0; k < 3; k++) {
        row[k][i] += (k == i ? alpha + beta : beta) * g[i];
        row[k][3 + j] += (k == i ? alpha + beta : beta) * h[i][l];
        row[k][3 + l] -= (k == i ? alpha + beta : beta) * h[i][j];
    }
    row[3 + i][i] += g[j];
    row[3 + i][3 + j] += h[j][l];
    row[3 + i][3 + l] -= h[j][j];
    row[3 + l][i] += g[l];
    row[3 + l][3 + j] += h[l][l];
    row[3 + l][3 + l] -= h[l][j];
}

__device__ __forceinline__ unsigned hx_to_halves(float a, float b)
{
    const __half2 v = __floats2half2_rn(a, b);
    return *reinterpret_cast<const unsigned *>(&v);
}

// c += a b, 16 x 16 by 16 x 8 of halves.
__device__ __forceinline__ void hx_multiply_halves(float c[4], unsigned a0, unsigned a1,
                                                   unsigned a2, unsigned a3, unsigned b0,
                                                   unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
                 "%7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

#endif
