// Products of a cell's corners by a warp, on double-precision tensor cores: of the fill `gather`.
#ifndef HX_GATHER_PRODUCTS_CUH
#define HX_GATHER_PRODUCTS_CUH

#include "core/mesh/hex8.h"
#include "gather_plan_cuda.cuh"

namespace hx_gather
{

enum {
    WARP_CELLS = 8, // rows of a tensor-core product
    X_LINE = 25,    // coordinates of a cell, padded against bank conflicts
};

// A line of shared memory holds the products of a place (cell, a) with its 8 corners b: number t of
// those pairs side by side, by class in pairs, and the even b first, as tensor cores leave them.
// Lines of odd corners a start in other banks.
template <int C> struct line {
    static constexpr int size = C == 3 ? 80 : 10;
};

// Of number 0 of the pair of class c in the line of the corner with these bits.
template <int C> __device__ __forceinline__ int line_offset(int bits, int c)
{
    const int other = bits ^ c;
    return (C == 3 ? (bits ^ bits >> 1) % 2 * 8 : 0) + (c & 6) + (other ^ other >> 1) % 2;
}

// What the kernels see.
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

// Derivatives of the shape functions by direction k, for the lanes of a warp: by_point at
// integration point lane / 4 of corners lane % 4 + 4 s, by_corner of corner lane / 4 at points
// 2 (lane % 4) + s.
struct lane_gradients {
    double by_point[3][2][32], by_corner[3][2][32];
};
static __device__ lane_gradients lane_table;

__device__ __forceinline__ void load_by_corner(double (&d)[3][2])
{
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int s = 0; s < 2; s++) d[k][s] = lane_table.by_corner[k][s][threadIdx.x % 32];
}

static __global__ void lane_table_kernel()
{
    const int lane = threadIdx.x, row = lane / 4, column = lane % 4;
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++) {
            lane_table.by_point[k][s][lane] = reference_gradient(column + 4 * s, row, k);
            lane_table.by_corner[k][s][lane] = reference_gradient(row, 2 * column + s, k);
        }
}

// d[8][8] += a[8][4] b[4][8]: a lane has a(lane / 4, lane % 4), b(lane % 4, lane / 4) and d(lane /
// 4, 2 (lane % 4) + {0, 1}).
__device__ __forceinline__ void multiply_add(double (&d)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
}

// d = a b, of 8x8 each: columns of a and rows of b in the order of the lane's two.
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

// root[i][k] of this warp's cell lane / 4 at integration points 2 (lane % 4) + s.
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
        // the root of modulus / det, with one special function
        const double f = e > 0.0 ? e * rsqrt(e * det) : 0.0;
#pragma unroll
        for (int t = 0; t < 9; t++) root[s][t] *= f;
    }
}

// h[i][s] of corner lane / 4 of the warp's cell c at integration points 2 (lane % 4) + s.
__device__ __forceinline__ void make_gradients(const double (&root)[2][9], int c,
                                               const double (&d)[3][2], double (&h)[3][2])
{
    const int from = 4 * c + threadIdx.x % 4;
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            h[i][s] = __shfl_sync(0xffffffffu, root[s][3 * i], from) * d[0][s];
#pragma unroll
            for (int k = 1; k < 3; k++)
                h[i][s] += __shfl_sync(0xffffffffu, root[s][3 * i + k], from) * d[k][s];
        }
}

// The products of a cell's corners with each other: those of corner lane / 4 into its line, at the
// lane's offset.
template <int C>
__device__ __forceinline__ void make_products(const double (&h)[3][2], double *line, int offset,
                                              bool is_used)
{
    auto *to = reinterpret_cast<double2 *>(line + offset);
    if constexpr (C == 3) {
        double m[9][2];
#pragma unroll
        for (int j = 0; j < 3; j++) {
            multiply_two(m[j], m[3 + j], h[0], h[1], h[j]);
            multiply_one(m[6 + j], h[2], h[j]);
        }
        if (is_used)
#pragma unroll
            for (int t = 0; t < 9; t++) to[4 * t] = make_double2(m[t][0], m[t][1]);
    } else {
        double m[2];
        multiply_one(m, h[0], h[0]);
        multiply_add(m, h[1][0], h[1][0]);
        multiply_add(m, h[1][1], h[1][1]);
        multiply_add(m, h[2][0], h[2][0]);
        multiply_add(m, h[2][1], h[2][1]);
        if (is_used) to[0] = make_double2(m[0], m[1]);
    }
}

// The numbers of a pair, from its offset in a line on.
template <int C> __device__ __forceinline__ void load_tile(const double *from, double (&v)[C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) v[t] = from[8 * t];
}

} // namespace hx_gather

#endif
