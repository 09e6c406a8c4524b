// A cell of a spline, processed by a thread block: its map at the Gauss points, one thread each,
// from sums over control points one direction after the other (spline_cell.h, for a GPU). The
// tables of its three directions and all intermediate numbers are in shared memory. Sums have a
// fixed order.
#ifndef HX_SPLINE_CELLS_CUH
#define HX_SPLINE_CELLS_CUH

#include "../device/cuda_device.cuh"
#include "core/matrix/pattern.h"
#include "core/spline/spline_cell.h"

namespace hx_spline_gpu
{

// maximum number of control points, and of Gauss points, of a cell
constexpr int MOST = HX_SPLINE_CELL_POINTS;
constexpr int MOST_ORDER = HX_SPLINE_MAX_ORDER;          // of one direction
constexpr int TABLE = MOST_ORDER * (1 + 2 * MOST_ORDER); // size of the table of a direction
constexpr int WORK = 7;                                  // numbers per point and field
constexpr int FRAME = 12;                                // numbers per stored frame

// A space as seen by kernels. If there are no weights, all weights are 1.
struct space {
    hx_incidence in;
    hx_spline_rule rule;
    const double *xyz;
};

struct cell {
    int64_t first; // place of its first control point
    int order[3], n;
};

// Tables of the current cell, shared by all threads of a block.
struct tables {
    double t[3][TABLE];
};

// The map at a Gauss point: the derivative of R_a with respect to x_i is weight_a
// (c[i] . slopes of N_a - g[i] N_a).
struct frame {
    double c[3][3], g[3];
    double volume, w; // volume: weight of the rule times det J; w: sum of weight_a N_a
    double x[3];
};

// The number of cells fits into 31 bits (hx_incidence).
__device__ __forceinline__ int cell_of_place(const hx_incidence &in, uint32_t place)
{
    return in.n_per_cell ? static_cast<int>(place / static_cast<uint32_t>(in.n_per_cell))
                         : in.place_cell[place];
}

// Finds a cell and loads its tables. The block must synchronize before they are read.
__device__ __forceinline__ cell load_cell(const space &s, int64_t number, tables &to)
{
    const hx_spline_rule_patch &patch =
        s.rule.patch[hx_spline_rule_find(s.rule.patch, s.rule.n_patch, number)];
    cell c;
    int span[3];
    hx_spline_rule_spans(&patch, number, span);
    c.first = hx_incidence_first(&s.in, number);
    c.n = 1;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const int n = patch.degree[d] + 1, size = n * hx_spline_stride(n - 1);
        const double *const from =
            s.rule.table + patch.at[d] + static_cast<int64_t>(span[d]) * size;
        c.order[d] = n;
        c.n *= n;
        for (int k = static_cast<int>(threadIdx.x); k < size; k += static_cast<int>(blockDim.x))
            to.t[d][k] = from[k];
    }
    return c;
}

// Values of Gauss point q in direction d (slopes: `order` entries later), preceded by its weight.
__device__ __forceinline__ const double *row(const cell &c, const tables &t, int d, int q)
{
    return t.t[d] + q * (1 + 2 * c.order[d]) + 1;
}

// work[f n + a] = component f of u[][3] at the cell's control points, times their weights; after
// n_field of them the weights themselves, if there are any. Returns the number of fields.
__device__ __forceinline__ int load_fields(const space &s, const cell &c,
                                           const double *__restrict__ u, double *work)
{
    const int32_t *const point = s.in.point + c.first;
    for (int a = static_cast<int>(threadIdx.x); a < c.n; a += static_cast<int>(blockDim.x)) {
        const int64_t p = point[a];
        const double w = s.rule.weight ? s.rule.weight[p] : 1.0;
#pragma unroll
        for (int i = 0; i < 3; i++) work[i * c.n + a] = w * u[3 * p + i];
        work[3 * c.n + a] = w;
    }
    return s.rule.weight ? 4 : 3;
}

// Evaluates the fields in work at the Gauss points q: value and slopes at work[(4 f + k) n + q].
// work has WORK 4 n numbers. The block must synchronize before and after.
__device__ __forceinline__ void evaluate(const cell &c, const tables &t, int n_field, double *work)
{
    const int n0 = c.order[0], n1 = c.order[1], n2 = c.order[2], n01 = n0 * n1;
    const int all = n_field * c.n, step = static_cast<int>(blockDim.x);
    double *const first = work + all, *const second = work + 4 * all;
    for (int i = static_cast<int>(threadIdx.x); i < all; i += step) {
        const int a = i % n01, rest = i / n01, q = rest % n2, f = rest / n2;
        const double *const v = row(c, t, 2, q), *const from = work + f * c.n + a;
        double value = 0.0, slope = 0.0;
        for (int k = 0; k < n2; k++) {
            value += v[k] * from[k * n01];
            slope += v[n2 + k] * from[k * n01];
        }
        first[i] = value;
        first[all + i] = slope;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < all; i += step) {
        const int a = i % n0, rest = i / n0, q = rest % n1;
        const double *const v = row(c, t, 1, q), *const from = first + rest / n1 * n01 + a;
        double value = 0.0, slope = 0.0, other = 0.0;
        for (int k = 0; k < n1; k++) {
            value += v[k] * from[k * n0];
            slope += v[n1 + k] * from[k * n0];
            other += v[k] * from[all + k * n0];
        }
        second[i] = value;
        second[all + i] = slope;
        second[2 * all + i] = other;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < all; i += step) {
        const double *const v = row(c, t, 0, i % n0), *const from = second + i / n0 * n0;
        double sum[4] = {0.0, 0.0, 0.0, 0.0};
        for (int k = 0; k < n0; k++) {
            sum[0] += v[k] * from[k];
            sum[1] += v[n0 + k] * from[k];
            sum[2] += v[k] * from[all + k];
            sum[3] += v[k] * from[2 * all + k];
        }
        double *const to = work + 4 * (i / c.n) * c.n + i % c.n;
#pragma unroll
        for (int k = 0; k < 4; k++) to[k * c.n] = sum[k];
    }
    __syncthreads();
}

// The frame at Gauss point q, from the coordinates as evaluated by `evaluate`.
__device__ __forceinline__ frame make_frame(const cell &c, const tables &t, int n_field,
                                            const double *at, int q)
{
    const int n = c.n;
    double dw[3] = {0.0, 0.0, 0.0}, j[3][3], adjoint[3][3];
    frame f;
    f.w = 1.0;
    if (n_field == 4) {
        f.w = at[12 * n + q];
#pragma unroll
        for (int k = 0; k < 3; k++) dw[k] = at[(13 + k) * n + q];
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        f.x[i] = at[4 * i * n + q] / f.w;
#pragma unroll
        for (int k = 0; k < 3; k++) j[k][i] = (at[(4 * i + 1 + k) * n + q] - dw[k] * f.x[i]) / f.w;
    }
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            adjoint[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    const double det = j[0][0] * adjoint[0][0] + j[0][1] * adjoint[1][0] + j[0][2] * adjoint[2][0];
    const double scale = 1.0 / (det * f.w);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        f.g[i] = 0.0;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            f.c[i][k] = scale * adjoint[i][k];
            f.g[i] += f.c[i][k] * dw[k];
        }
        f.g[i] /= f.w;
    }
    f.volume = det * row(c, t, 0, q % c.order[0])[-1] *
               row(c, t, 1, q / c.order[0] % c.order[1])[-1] *
               row(c, t, 2, q / c.order[0] / c.order[1])[-1];
    return f;
}

// The map of a cell whose tables are being loaded; work has WORK 4 n numbers. Threads q < n get
// their frame. The function synchronizes the block, but not after the frames.
__device__ __forceinline__ void map_cell(const space &s, const cell &c, const tables &t,
                                         double *work, frame &f)
{
    const int n_field = load_fields(s, c, s.xyz, work), q = static_cast<int>(threadIdx.x);
    __syncthreads();
    evaluate(c, t, n_field, work);
    if (q < c.n) f = make_frame(c, t, n_field, work, q);
}

// N_a and its slopes at Gauss point q, times the weight of the control point.
struct shape {
    double value, slope[3];
};

__device__ __forceinline__ shape shape_at(const space &s, const cell &c, const tables &t, int q,
                                          int a)
{
    const int n0 = c.order[0], n1 = c.order[1], n2 = c.order[2];
    const double *const u = row(c, t, 0, q % n0) + a % n0;
    const double *const v = row(c, t, 1, q / n0 % n1) + a / n0 % n1;
    const double *const w = row(c, t, 2, q / n0 / n1) + a / n0 / n1;
    const double weight = s.rule.weight ? s.rule.weight[s.in.point[c.first + a]] : 1.0;
    return {
        weight * u[0] * v[0] * w[0],
        {weight * u[n0] * v[0] * w[0], weight * u[0] * v[n1] * w[0], weight * u[0] * v[0] * w[n2]}};
}

__device__ __forceinline__ void gradient(const frame &f, const shape &s, double g[3])
{
#pragma unroll
    for (int i = 0; i < 3; i++)
        g[i] = f.c[i][0] * s.slope[0] + f.c[i][1] * s.slope[1] + f.c[i][2] * s.slope[2] -
               f.g[i] * s.value;
}

inline space space_of(const hx_incidence *in, const double *d_xyz)
{
    return {*in, *in->spline, d_xyz};
}

} // namespace hx_spline_gpu

#endif
