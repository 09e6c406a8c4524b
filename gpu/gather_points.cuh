// A warp and the cells of quadratic elements: gradients of all points at all integration points in
// shared memory, and products of some of the cell's points with all of them, for the fill `gather`.
//
// h is sqrt(weight det J modulus) times a gradient, so that the sum of h_a h_b' over the
// integration points is all of a tile. Number (a, i) of point q stands at h[(3 a + i) K + q], K the
// integration points to the next multiple of 4, 0 in those: of 3 unknowns a point the products are
// those of 3 n lines of K numbers, of 1 unknown those of n lines of 3 K.
#ifndef HX_GATHER_POINTS_CUH
#define HX_GATHER_POINTS_CUH

#include "core/space/cell_rule.h"
#include "gather_windows_cuda.cuh"
#include "hex8_tiles.cuh"
#include "tensor_products.cuh"

namespace hx_points
{

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;
constexpr int NO_OFFSET = 0xffff; // of a pair that has no entry

// A cell_rule.h by lanes: lane q has integration point q.
struct lane_rule {
    int n_point, n_gauss;
    double weight[WARP];
    double gradient[3][HX_RULE_POINTS][WARP];
};

// What the kernels see.
struct arguments {
    hx_incidence in;
    const double *xyz, *modulus;
    double lambda, mu;
    hx_matrix m;
    hx_windows::plan p;
    const lane_rule *rule; // [HX_N_CELL_RULE]
    int capacity;          // entries of a window
};

// Sizes by the points of every cell: 20 (hex20), 10 (tet10, eight cells at a time), 0 where kinds
// are mixed, up to 20.
template <int N> struct sizes {
    static constexpr int most_points = N ? N : static_cast<int>(HX_RULE_POINTS);
    static constexpr int batch = N == 10 ? 8 : 1; // cells of a warp at a time
    static constexpr int lanes = WARP / batch;    // of a cell
    static constexpr int steps = N == 10 ? 1 : 7; // fours of integration points, at most
    static constexpr int most_own = batch * most_points;
    static constexpr int most_offsets = most_own * most_points;
    static constexpr int lines = 3 * most_points * 4 * steps; // numbers of a cell
};

// Of a warp in shared memory.
template <int N> struct warp_memory {
    double h[sizes<N>::batch * sizes<N>::lines]; // coordinates before there are gradients
    uint32_t own[sizes<N>::most_own];            // codes of the plan
    uint16_t offset[sizes<N>::most_offsets];     // entry of (own, b), window's first 0
};

// The cell of a lane, -1: none.
struct lane_cell {
    int64_t cell, first;
    const lane_rule *rule;
    double modulus;
    int n, steps; // points; fours of integration points
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

// Gradients of the warp's cells, in s->h, cell after cell. All lanes call it. Products are fused as
// written, so that all kernels have the same bits.
template <int N>
__device__ __forceinline__ void make_gradients(const arguments &g, const lane_cell &c,
                                               warp_memory<N> *s)
{
    using size = sizes<N>;
    constexpr int unroll = N ? N : 4;
    const int lane = static_cast<int>(threadIdx.x % WARP), q = lane % size::lanes;
    double *const x = s->h + lane / size::lanes * (3 * c.n);
    double *const h = s->h + lane / size::lanes * size::lines + q;
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
    __syncwarp(); // coordinates have been read
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
    const double f = weight > 0.0 ? sqrt(weight / det) : 0.0; // 0 past the last point
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

// Where a lane's numbers of a product of up to 16 columns stand: strips of 8 columns, in each of
// which a lane has two, four apart: half a warp then has most of a tile, in banks of their own.
__device__ __forceinline__ int strip_column(int strip, int which)
{
    return 8 * strip + 4 * which + static_cast<int>(threadIdx.x % 4);
}

// Products of a cell's own points in columns c0 .. c0 + 15 with all of its points. C unknowns a
// point: column 3 k + i is component i of own point k, row 3 b + j likewise (C 1: k and b).
template <int C, int N> struct product {
    static constexpr int n_strip =
        (C == 3 ? 3 * sizes<N>::most_points + 15 : sizes<N>::most_points + 15) / 16;
    double d[2][n_strip][4];

    __device__ __forceinline__ void make(const double *h, const uint32_t *own, int n, int steps,
                                         int n_column, int c0)
    {
        const int lane = static_cast<int>(threadIdx.x % WARP), line = lane / 4;
        const int n_step = C == 3 ? steps : 3 * steps, stride = 4 * n_step;
        const int n_row = C == 3 ? 3 * n : n;
        const double *b[2], *a[n_strip][2];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            const int c = c0 + 8 * s + 4 * (line % 2) + line / 2;
            const int in = c < n_column ? c : n_column - 1;
            const int k = C == 3 ? in / 3 : in, i = C == 3 ? in % 3 : 0;
            b[s] = h + (C * hx_windows::point_of(own[k]) + i) * stride + lane % 4;
        }
#pragma unroll
        for (int t = 0; t < n_strip; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = 16 * t + 8 * half + line;
                a[t][half] = h + (row < n_row ? row : n_row - 1) * stride + lane % 4;
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
                if (16 * t >= n_row) break;
                const double first[2] = {a[t][0][4 * step], a[t][1][4 * step]};
                const double then[2] = {a[t][0][4 * step + 4], a[t][1][4 * step + 4]};
                hx_tensor_add8(d[0][t], first, then, b0[0], b1[0]);
                if (both) hx_tensor_add8(d[1][t], first, then, b0[1], b1[1]);
            }
        }
        if (step == n_step) return;
#pragma unroll
        for (int t = 0; t < n_strip; t++) {
            if (16 * t >= n_row) break;
            const double last[2] = {a[t][0][4 * step], a[t][1][4 * step]};
            hx_tensor_add4(d[0][t], last, b[0][4 * step]);
            if (both) hx_tensor_add4(d[1][t], last, b[1][4 * step]);
        }
    }

    // sum[offset[k n + b]][i][j] += each of them.
    __device__ __forceinline__ void add(const uint16_t *offset, int n, int n_column, int c0,
                                        double *sum) const
    {
        const int lane = static_cast<int>(threadIdx.x % WARP), n_row = C == 3 ? 3 * n : n;
#pragma unroll
        for (int s = 0; s < 2; s++)
#pragma unroll
            for (int which = 0; which < 2; which++) {
                const int c = c0 + strip_column(s, which);
                if (c >= n_column) continue;
                const int k = C == 3 ? c / 3 : c, i = C == 3 ? c % 3 : 0;
#pragma unroll
                for (int t = 0; t < n_strip; t++)
#pragma unroll
                    for (int half = 0; half < 2; half++) {
                        const int row = 16 * t + 8 * half + lane / 4;
                        if (row >= n_row) continue;
                        const int b = C == 3 ? row / 3 : row, j = C == 3 ? row % 3 : 0;
                        const int entry = offset[k * n + b];
                        if (entry != NO_OFFSET)
                            sum[C * C * entry + C * i + j] += d[s][t][2 * half + which];
                    }
            }
    }
};

// Blocks of n entries from their sums, by the lanes of a warp.
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

// Entries first .. first + count - 1 of a row of n to the matrix.
template <int C>
__device__ __forceinline__ void store_entries(const arguments &g, int64_t row, int n, int first,
                                              int count, const double *value)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    if (g.m.spec.format == HX_FORMAT_BSR) {
        const int64_t at = C * C * (g.m.pattern.d_row_ptr[row] + first);
        for (int t = lane; t < C * C * count; t += WARP) hx_matrix_store(g.m, at + t, value[t]);
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
