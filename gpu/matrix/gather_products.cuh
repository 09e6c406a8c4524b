// Gradients of a cell's corners, computed by a warp, and products of two of them, for the fill
// `gather`.
#ifndef HX_GATHER_PRODUCTS_CUH
#define HX_GATHER_PRODUCTS_CUH

#include "core/mesh/hex8.h"
#include "gather_plan_cuda.cuh"

namespace hx_gather
{

enum {
    WARP_CELLS = 8, // number of cells of a warp at a time: rows of a tensor-core product
    X_LINE = 25,    // coordinates of a cell, padded to avoid bank conflicts
};

// h of each corner of a cell at all integration points. The layout avoids bank conflicts between
// corners, also for lanes that read corners of different cells.
struct alignas(128) gradients {
    double2 of[4][3][8]; // [points 2 p + {0, 1}][component][corner by its bits]
};

// Arguments of the kernels.
struct arguments {
    hx_incidence in;
    const double *xyz, *modulus;
    double lambda, mu;
    hx_matrix m;
    plan p;
};

__device__ __forceinline__ double reference_gradient(int a, int q, int k)
{
    double d[3];
    hx_hex8_shape_ref_gradient(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), d);
    return d[k];
}

// Derivatives of the shape functions in direction k, arranged by the lanes of a warp: at
// integration point lane / 4, of corners lane % 4 + 4 s.
struct lane_gradients {
    double by_point[3][2][32];
};
static __device__ lane_gradients lane_table;

static __global__ void lane_table_kernel()
{
    const int lane = threadIdx.x, row = lane / 4, column = lane % 4;
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++)
            lane_table.by_point[k][s][lane] = reference_gradient(column + 4 * s, row, k);
}

// d[8][8] += a[8][4] b[4][8]. A lane has a(lane / 4, lane % 4), b(lane % 4, lane / 4) and
// d(lane / 4, 2 (lane % 4) + {0, 1}).
__device__ __forceinline__ void multiply_add(double (&d)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
}

// d = a b for 8x8 matrices, with columns of a and rows of b in the order of the lane's two.
__device__ __forceinline__ void multiply_one(double (&d)[2], const double (&a)[2],
                                             const double (&b)[2])
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=d"(d[0]), "=d"(d[1])
        : "d"(a[0]), "d"(b[0]), "d"(0.0));
    multiply_add(d, a[1], b[1]);
}

// d0 = a0 b and d1 = a1 b.
__device__ __forceinline__ void multiply_two(double (&d0)[2], double (&d1)[2],
                                             const double (&a0)[2], const double (&a1)[2],
                                             const double (&b)[2])
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %10, %10, %10};"
        : "=d"(d0[0]), "=d"(d0[1]), "=d"(d1[0]), "=d"(d1[1])
        : "d"(a0[0]), "d"(a1[0]), "d"(a0[1]), "d"(a1[1]), "d"(b[0]), "d"(b[1]), "d"(0.0));
#else
    multiply_one(d0, a0, b);
    multiply_one(d1, a1, b);
#endif
}

// root[s][3 i + k] for the warp's cell lane / 4 at integration point q = 2 (lane % 4) + s: the
// square root of the point's weight times the modulus, times d xi_k / d x_i, halved and with the
// sign of the point's k-th coordinate. The sign of direction 0 is reversed for odd cells
// (store_gradients).
__device__ __forceinline__ void make_roots(const arguments &g, const int32_t *cells, int count,
                                           double (*x)[X_LINE], double (&root)[2][9])
{
    const int lane = threadIdx.x % 32, column = lane % 4, n = lane / 4;
    const int32_t cell = cells[n < count ? n : count - 1];
    const double e = g.modulus[cell];
    int32_t point[WARP_CELLS];
#pragma unroll
    for (int c = 0; c < WARP_CELLS; c++) {
        const int64_t of = __shfl_sync(0xffffffffu, cell, 4 * c);
        if (lane < 24) point[c] = g.in.point[8 * of + lane / 3];
    }
    if (lane < 24)
#pragma unroll
        for (int c = 0; c < WARP_CELLS; c++)
            x[c][lane] = g.xyz[3 * static_cast<int64_t>(point[c]) + lane % 3];
    __syncwarp();
    double j[9][2], d[3][2], b[3][2];
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int s = 0; s < 2; s++) {
            d[k][s] = lane_table.by_point[k][s][lane];
            b[k][s] = x[n][3 * (column + 4 * s) + k];
        }
#pragma unroll
    for (int k = 0; k < 3; k++) {
        multiply_two(j[3 * k], j[3 * k + 1], b[0], b[1], d[k]);
        multiply_one(j[3 * k + 2], b[2], d[k]);
    }
#pragma unroll
    for (int s = 0; s < 2; s++) {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
#pragma unroll
            for (int k = 0; k < 3; k++) {
                const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                root[s][3 * i + k] =
                    j[3 * k1 + i1][s] * j[3 * k2 + i2][s] - j[3 * k1 + i2][s] * j[3 * k2 + i1][s];
            }
        }
        const double det = j[0][s] * root[s][0] + j[1][s] * root[s][3] + j[2][s] * root[s][6];
        // sqrt(modulus / det) with one special function
        const double f = e > 0.0 ? 0.5 * e * rsqrt(e * det) : 0.0;
        const double sign[3] = {(s + n) % 2 ? f : -f, column & 1 ? f : -f, column & 2 ? f : -f};
#pragma unroll
        for (int t = 0; t < 9; t++) root[s][t] *= sign[t % 3];
    }
}

// Stores h of all corners of the warp's cell lane / 4 at the lane's two points. A derivative of a
// shape function is half a sign for its own direction, times `near` or `far` for each other
// direction, depending on whether the corner and the point have the same bit. Odd cells process the
// corners in another order, so that a quarter of the warp writes to all banks.
__device__ __forceinline__ void store_gradients(const double (&root)[2][9], gradients &cell)
{
    constexpr double near = 0.5 + 0.5 * 0.57735026918962576451, far = 1.0 - near;
    const int lane = threadIdx.x % 32, p = lane % 4, odd = lane / 4 % 2, first = 2 * p ^ odd;
    const double along[2] = {odd ? far : near, odd ? near : far};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        double h[2][8]; // corner k ^ first
#pragma unroll
        for (int s = 0; s < 2; s++) {
            const double u0 = root[s][3 * i], u1 = root[s][3 * i + 1], u2 = root[s][3 * i + 2];
            const double v0 = near * u2, v1 = far * u2;
            const double across[4] = {near * u1 + v0, v1 - near * u1, far * u1 - v0,
                                      -(far * u1) - v1};
            const double up[4] = {near * near * u0, near * far * u0, near * far * u0,
                                  far * far * u0};
#pragma unroll
            for (int k = 0; k < 8; k++) {
                const int turned = (k ^ s) & 1;
                h[s][k] = along[turned] * across[k / 2] + (turned ? -up[k / 2] : up[k / 2]);
            }
        }
#pragma unroll
        for (int k = 0; k < 8; k++) cell.of[p][i][k ^ first] = make_double2(h[0][k], h[1][k]);
    }
}

// Sums of h_a[i] h_b[j], or of their scalar product, over the integration points. For (b, a) the
// result is bitwise the transpose.
template <int C>
__device__ __forceinline__ void multiply_corners(const gradients &cell, int a, int b,
                                                 double (&m)[C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) m[t] = 0.0;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        double2 ha[3], hb[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            ha[i] = cell.of[p][i][a];
            hb[i] = cell.of[p][i][b];
        }
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int j = C == 3 ? 0 : i; j < (C == 3 ? 3 : i + 1); j++)
                m[C == 3 ? 3 * i + j : 0] += ha[i].x * hb[j].x;
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int j = C == 3 ? 0 : i; j < (C == 3 ? 3 : i + 1); j++)
                m[C == 3 ? 3 * i + j : 0] += ha[i].y * hb[j].y;
    }
}

} // namespace hx_gather

#endif
