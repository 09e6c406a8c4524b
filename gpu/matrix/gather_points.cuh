// The cells of quadratic elements in the fill `gather`, each processed by a warp: gradients of all
// points at all integration points in shared memory, and the products of all their lines.
//
// h is sqrt(weight det J modulus) times a gradient, so that the sum of h_a h_b' over the
// integration points is the complete tile. Component i of point a at integration point q is
// h[(3 a + i) K + q], where K is the number of integration points rounded up to a multiple of 4,
// padded with 0. With 3 unknowns per point, the products are those of 3 n lines of K numbers; with
// 1 unknown, those of n lines of 3 K numbers.
#ifndef HX_GATHER_POINTS_CUH
#define HX_GATHER_POINTS_CUH

#include "core/space/cell_rule.h"
#include "gather_chunks_cuda.cuh"
#include "hex8_tiles.cuh"
#include "tensor_products.cuh"

namespace hx_points
{

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;

// The rule of cell_rule.h, arranged by lanes: lane q has integration point q.
struct lane_rule {
    int n_point, n_gauss;
    double weight[WARP];
    double gradient[3][HX_RULE_POINTS][WARP];
};

// Arguments of the kernels.
struct arguments {
    hx_incidence in;
    const double *xyz, *modulus;
    double lambda, mu;
    hx_matrix m;
    hx_chunks::plan p;
    const lane_rule *rule; // [HX_N_CELL_RULE]
    int most_entries;      // maximum number for a narrow row
    int line, cell_size;   // size of a line and of a cell in the buffer, in numbers
};

// Sizes by the number of points of every cell: 20 (hex20), 10 (tet10, eight cells at a time), or 0
// for mixed kinds, at most 20 points.
template <int N> struct sizes {
    static constexpr int most_points = N ? N : static_cast<int>(HX_RULE_POINTS);
    static constexpr int batch = N == 10 ? 8 : 1; // number of cells of a warp at a time
    static constexpr int lanes = WARP / batch;    // number of lanes per cell
    // maximum number of groups of four integration points
    static constexpr int steps = N == 10 ? 1 : 7;
    static constexpr int lines = 3 * most_points * 4 * steps; // number of values per cell
};

// The cell of a lane; -1: none.
struct lane_cell {
    int64_t cell, first;
    const lane_rule *rule;
    double modulus;
    int n, steps; // number of points, and of groups of four integration points
};

template <int N> __device__ __forceinline__ lane_cell find_cell(const arguments &g, int64_t cell)
{
    lane_cell c = {cell, 0, g.rule, 0.0, N, sizes<N>::steps};
    if (cell < 0) return c;
    c.first = N ? cell * N : hx_incidence_first(&g.in, cell);
    c.rule = g.rule + (N == 20   ? static_cast<int>(HX_CELL_HEXAHEDRON)
                       : N == 10 ? static_cast<int>(HX_CELL_TETRAHEDRON)
                                 : g.in.kind[cell]);
    c.modulus = g.modulus[cell];
    if (!N) {
        c.n = c.rule->n_point;
        c.steps = (c.rule->n_gauss + 3) / 4;
    }
    return c;
}

// Computes the gradients of the warp's cells, cell by cell; `own` first contains the coordinates.
// All lanes call it. Products are fused explicitly, so that all kernels give bitwise equal results.
template <int N>
__device__ __forceinline__ void make_gradients(const arguments &g, const lane_cell &c, double *own)
{
    using size = sizes<N>;
    constexpr int unroll = N ? N : 4;
    const int lane = static_cast<int>(threadIdx.x % WARP), q = lane % size::lanes;
    double *const x = own + lane / size::lanes * (3 * c.n);
    double *const h = own + lane / size::lanes * size::lines + q;
    const int stride = 4 * c.steps;
    if (c.cell >= 0)
#pragma unroll
        for (int a = q; a < c.n; a += size::lanes) {
            const double *const from = g.xyz + 3 * static_cast<int64_t>(g.in.point[c.first + a]);
#pragma unroll
            for (int i = 0; i < 3; i++) x[3 * a + i] = from[i];
        }
    __syncwarp();
    double j[3][3] = {}, root[3][3];
    if (c.cell >= 0)
#pragma unroll unroll
        for (int a = 0; a < c.n; a++)
#pragma unroll
            for (int k = 0; k < 3; k++) {
                const double d = __ldg(&c.rule->gradient[k][a][q]);
#pragma unroll
                for (int i = 0; i < 3; i++) j[k][i] = fma(d, x[3 * a + i], j[k][i]);
            }
    __syncwarp(); // all lanes have read the coordinates
    if (c.cell < 0 || q >= stride) return;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            root[i][k] = fma(j[k1][i1], j[k2][i2], -(j[k1][i2] * j[k2][i1]));
        }
    const double det = fma(j[0][0], root[0][0], fma(j[0][1], root[1][0], j[0][2] * root[2][0]));
    const double weight = c.modulus * __ldg(&c.rule->weight[q]);
    const double f = weight > 0.0 ? sqrt(weight / det) : 0.0; // 0 beyond the last point
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) root[i][k] *= f;
#pragma unroll unroll
    for (int a = 0; a < c.n; a++) {
        double d[3];
#pragma unroll
        for (int k = 0; k < 3; k++) d[k] = __ldg(&c.rule->gradient[k][a][q]);
#pragma unroll
        for (int i = 0; i < 3; i++)
            h[(3 * a + i) * stride] =
                fma(root[i][0], d[0], fma(root[i][1], d[1], root[i][2] * d[2]));
    }
}

// Products of a cell's lines c0 .. n_column - 1, at most 16, with the lines from 16 FIRST on. A
// lane has columns in strips of 8, two per strip, at distance four.
template <int C, int N, int FIRST> struct product {
    static constexpr int n_strip = (C * sizes<N>::most_points + 15) / 16 - FIRST;
    double d[2][n_strip][4];

    __device__ __forceinline__ void make(const double *h, int n_line, int n_step, int c0,
                                         int n_column)
    {
        const int lane = static_cast<int>(threadIdx.x % WARP), line = lane / 4;
        const int stride = 4 * n_step;
        const double *b[2], *a[n_strip][2];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            const int c = c0 + 8 * s + 4 * (line % 2) + line / 2;
            b[s] = h + (c < n_column ? c : n_column - 1) * stride + lane % 4;
        }
#pragma unroll
        for (int t = 0; t < n_strip; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = 16 * (FIRST + t) + 8 * half + line;
                a[t][half] = h + (row < n_line ? row : n_line - 1) * stride + lane % 4;
#pragma unroll
                for (int s = 0; s < 2; s++) d[s][t][2 * half] = d[s][t][2 * half + 1] = 0.0;
            }
        const bool both = c0 + 8 < n_column;
        int step = 0;
#pragma unroll 1
        for (; step + 1 < n_step; step += 2) {
            const double b0[2] = {b[0][4 * step], b[1][4 * step]};
            const double b1[2] = {b[0][4 * step + 4], b[1][4 * step + 4]};
#pragma unroll
            for (int t = 0; t < n_strip; t++) {
                if (16 * (FIRST + t) >= n_line) break;
                const double first[2] = {a[t][0][4 * step], a[t][1][4 * step]};
                const double then[2] = {a[t][0][4 * step + 4], a[t][1][4 * step + 4]};
                hx_tensor_add8(d[0][t], first, then, b0[0], b1[0]);
                if (both) hx_tensor_add8(d[1][t], first, then, b0[1], b1[1]);
            }
        }
        if (step == n_step) return;
#pragma unroll
        for (int t = 0; t < n_strip; t++) {
            if (16 * (FIRST + t) >= n_line) break;
            const double last[2] = {a[t][0][4 * step], a[t][1][4 * step]};
            hx_tensor_add4(d[0][t], last, b[0][4 * step]);
            if (both) hx_tensor_add4(d[1][t], last, b[1][4 * step]);
        }
    }

    // Calls see(column, line, strip, number) for each product of the lane.
    template <class F>
    __device__ __forceinline__ void visit(int n_line, int c0, int n_column, F see) const
    {
        const int lane = static_cast<int>(threadIdx.x % WARP);
#pragma unroll
        for (int s = 0; s < 2; s++)
#pragma unroll
            for (int which = 0; which < 2; which++) {
                const int c = c0 + 8 * s + 4 * which + lane % 4;
                if (c >= n_column) continue;
#pragma unroll
                for (int t = 0; t < n_strip; t++)
#pragma unroll
                    for (int half = 0; half < 2; half++) {
                        const int row = 16 * (FIRST + t) + 8 * half + lane / 4;
                        if (row < n_line) see(c, row, t, d[s][t][2 * half + which]);
                    }
            }
    }
};

// The products of all pairs of lines of a cell, number (r, s) at k[r line + s]. The products on and
// above the diagonal are computed, and stored twice.
template <int C, int N, int FIRST = 0>
__device__ __forceinline__ void multiply_lines(const double *h, int n_line, int n_step, int line,
                                               double *k)
{
    constexpr int c0 = 16 * FIRST;
    if constexpr (c0 < C * sizes<N>::most_points) {
        if (c0 >= n_line) return;
        const int n_column = n_line < c0 + 16 ? n_line : c0 + 16;
        product<C, N, FIRST> p;
        p.make(h, n_line, n_step, c0, n_column);
        p.visit(n_line, c0, n_column, [k, line](int c, int row, int strip, double v) {
            k[c * line + row] = v;
            if (strip > 0) k[row * line + c] = v;
        });
        multiply_lines<C, N, FIRST + 1>(h, n_line, n_step, line, k);
    }
}

// Computes the blocks of n entries from their sums, by the lanes of a warp.
template <int C>
__device__ __forceinline__ void finish_blocks(const arguments &g, int n, double *sum)
{
    if constexpr (C == 3)
        for (int e = static_cast<int>(threadIdx.x % WARP); e < n; e += WARP) {
            double m[3][3], k[3][3];
#pragma unroll
            for (int t = 0; t < 9; t++) m[t / 3][t % 3] = sum[9 * e + t];
            hx_form_elasticity(1.0, g.lambda, g.mu, m, k);
#pragma unroll
            for (int t = 0; t < 9; t++) sum[9 * e + t] = k[t / 3][t % 3];
        }
    __syncwarp();
}

// Writes entries first .. first + count - 1 of a row of n to the matrix. For bsr, streaming stores
// keep the buffer in the L2 cache.
template <int C>
__device__ __forceinline__ void store_entries(const arguments &g, int64_t row, int n, int first,
                                              int count, const double *value)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    if (g.m.spec.format == HX_FORMAT_BSR) {
        const int64_t at = C * C * (g.m.pattern.d_row_ptr[row] + first);
        if (g.m.spec.single)
            for (int t = lane; t < C * C * count; t += WARP)
                __stcs(static_cast<float *>(g.m.d_value) + at + t, static_cast<float>(value[t]));
        else
            for (int t = lane; t < C * C * count; t += WARP)
                __stcs(static_cast<double *>(g.m.d_value) + at + t, value[t]);
        return;
    }
    for (int t = lane; t < C * C * count; t += WARP) {
        const int e = t / (C * C), in = t % (C * C);
        const int64_t at = hx_matrix_place(&g.m, row, n, first + e, in / C, in % C);
        if (at >= 0) hx_matrix_store(g.m, at, value[t]);
    }
}

} // namespace hx_points

#endif
