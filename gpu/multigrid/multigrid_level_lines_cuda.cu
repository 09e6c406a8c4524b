// Line smoothing on coarse grids along lines of nodes (core/multigrid/level_line.h), as in
// core/cpu/multigrid/multigrid_level_lines_cpu.c: one warp per line. The numbers of a line are
// loaded to shared memory at once. Along the line, six lanes, one per component, exchange values by
// shuffles only.
#include "core/multigrid/level_line.h"
#include "multigrid_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, BLOCK = HX_LEVEL_BLOCK, NUMBERS = HX_LEVEL_LINE_NUMBERS;
constexpr int WARP = 32, TURN = WARP / DOF * DOF; // number of lanes that cover whole places
constexpr unsigned ALL = 0xffffffffu;

// The value of lane k of the six that have a component.
__device__ __forceinline__ float of_lane(float v, int k)
{
    return __shfl_sync(ALL, v, k);
}
__device__ __forceinline__ double of_lane(double v, int k)
{
    return __shfl_sync(ALL, v, k);
}

// A := A^-1 of a symmetric matrix by sweeps, with row r in a lane; further lanes repeat the last
// row. `own`: the row's diagonal entry before other blocks of the line were eliminated.
__device__ __forceinline__ void invert(double (&a)[DOF], double own, int r)
{
    double diagonal[DOF], most = 0.0;
    unsigned is_in = 0;
#pragma unroll
    for (int p = 0; p < DOF; p++) {
        diagonal[p] = of_lane(own, p);
        most = fmax(most, diagonal[p]);
    }
#pragma unroll
    for (int p = 0; p < DOF; p++) {
        double row[DOF];
#pragma unroll
        for (int j = 0; j < DOF; j++) row[j] = of_lane(a[j], p);
        const double pivot = row[p];
        if (!(diagonal[p] > HX_LEVEL_LINE_LEAST * most &&
              pivot > HX_LEVEL_LINE_PIVOT * diagonal[p]))
            continue; // the same decision in all lanes
        is_in |= 1u << p;
        const double inverse = 1.0 / pivot, factor = a[p] * inverse;
#pragma unroll
        for (int j = 0; j < DOF; j++) {
            if (j == p)
                a[j] = r == p ? -inverse : factor;
            else
                a[j] = r == p ? row[j] * inverse : fma(-factor, row[j], a[j]);
        }
    }
#pragma unroll
    for (int j = 0; j < DOF; j++) a[j] = (is_in >> j & 1) && (is_in >> r & 1) ? -a[j] : 0.0;
}

// One warp per line.
__global__ void __launch_bounds__(WARP) factorise_kernel(hx_mg_level level)
{
    const hx_mg_level_lines lines = level.lines;
    const int lane = static_cast<int>(threadIdx.x), r = lane < DOF ? lane : DOF - 1;
    const int64_t n_row = DOF * level.n_node, line = blockIdx.x;
    const int before = HX_COARSE_OFFSETS - 1 - lines.next;
    const int32_t begin = lines.d_first[line], end = lines.d_first[line + 1];
    double d[DOF] = {}; // row r of D, then of D^-1
    for (int32_t p = begin; p < end; p++) {
        const int64_t row = DOF * static_cast<int64_t>(lines.d_node[p]) + r;
        const int64_t centre = DOF * HX_COARSE_CENTRE;
        float c[DOF] = {};
        double l[DOF] = {}, now[DOF], own = 0.0;
#pragma unroll
        for (int j = 0; j < DOF; j++) {
            if (p > begin) c[j] = level.d_matrix[(DOF * before + j) * n_row + row];
            now[j] =
                0.5 * (static_cast<double>(level.d_matrix[(centre + j) * n_row + row]) +
                       static_cast<double>(level.d_matrix[(centre + r) * n_row + row - r + j]));
            if (j != r) continue;
            own = now[j];
            now[j] *= 1.0 + HX_LEVEL_LINE_ADDED;
        }
#pragma unroll
        for (int k = 0; k < DOF; k++) // L = C D^-1 of the preceding place
#pragma unroll
            for (int j = 0; j < DOF; j++)
                l[j] = fma(static_cast<double>(c[k]), of_lane(d[j], k), l[j]);
#pragma unroll
        for (int j = 0; j < DOF; j++) // D -= L C'
#pragma unroll
            for (int k = 0; k < DOF; k++)
                now[j] = fma(-l[k], static_cast<double>(of_lane(c[k], j)), now[j]);
#pragma unroll
        for (int j = 0; j < DOF; j++) d[j] = now[j];
        invert(d, own, r);
        if (lane >= DOF) continue;
        float *const to = lines.d_factor + NUMBERS * static_cast<int64_t>(p) + DOF * r;
#pragma unroll
        for (int j = 0; j < DOF; j++) {
            to[j] = static_cast<float>(d[j]);
            to[BLOCK + j] = static_cast<float>(l[j]);
        }
    }
}

enum mode { SOLVE, STEP };

// Row r of the block times the vector held by the six lanes.
__device__ __forceinline__ float product(const float (&block)[DOF], float v)
{
    float even = 0.0f, odd = 0.0f;
#pragma unroll
    for (int k = 0; k < DOF; k += 2) {
        even = fmaf(block[k], of_lane(v, k), even);
        odd = fmaf(block[k + 1], of_lane(v, k + 1), odd);
    }
    return even + odd;
}

// y := M^-1 y, or step `step` from x to y, where y contains b - A x or, if x is nullptr, anything.
template <mode MODE>
__global__ void __launch_bounds__(WARP)
    solve_kernel(hx_mg_level level, int step, const float *x, float *y)
{
    extern __shared__ float4 shared[];
    const hx_mg_level_lines lines = level.lines;
    const int lane = static_cast<int>(threadIdx.x), r = lane < DOF ? lane : DOF - 1;
    const int32_t begin = lines.d_first[blockIdx.x], n = lines.d_first[blockIdx.x + 1] - begin;
    float *const factor = reinterpret_cast<float *>(shared); // [n][NUMBERS]
    float *const value = factor + NUMBERS * lines.most;      // [n][DOF]
    int32_t *const node = reinterpret_cast<int32_t *>(value + DOF * lines.most);
    hx_let_next_begin();
    for (int k = lane; k < n; k += WARP) node[k] = __ldg(lines.d_node + begin + k);
    const auto *const from = reinterpret_cast<const float4 *>(lines.d_factor) +
                             NUMBERS / 4 * static_cast<int64_t>(begin);
    for (int k = lane; k < NUMBERS / 4 * n; k += WARP) shared[k] = __ldg(from + k);
    __syncwarp();
    hx_wait_for_last();
    const float *const right = MODE == STEP && !x ? level.d_b : y;
    for (int k = lane; k < DOF * n; k += WARP)
        value[k] = right[DOF * static_cast<int64_t>(node[k / DOF]) + k % DOF];
    __syncwarp();
    float v = value[r], block[DOF];
    for (int p = 1; p < n; p++) { // (I + L)^-1
#pragma unroll
        for (int k = 0; k < DOF; k++) block[k] = factor[NUMBERS * p + BLOCK + DOF * r + k];
        v = value[DOF * p + r] - product(block, v);
        if (lane < DOF) value[DOF * p + r] = v;
    }
    __syncwarp();
    for (int k = 0; k < DOF * n; k += TURN) { // D^-1, whole places at a time
        const int at = k + lane;
        const bool is_in = lane < TURN && at < DOF * n;
        const float *const row = factor + NUMBERS * (at / DOF) + DOF * (at % DOF);
        float sum = 0.0f;
        if (is_in)
#pragma unroll
            for (int j = 0; j < DOF; j++) sum = fmaf(row[j], value[at - at % DOF + j], sum);
        __syncwarp();
        if (is_in) value[at] = sum;
    }
    __syncwarp();
    v = value[DOF * (n - 1) + r];
    for (int p = n - 2; p >= 0; p--) { // (I + L')^-1
#pragma unroll
        for (int k = 0; k < DOF; k++) block[k] = factor[NUMBERS * (p + 1) + BLOCK + DOF * k + r];
        v = value[DOF * p + r] - product(block, v);
        if (lane < DOF) value[DOF * p + r] = v;
    }
    __syncwarp();
    const float alpha = MODE == STEP && step > 0 ? level.d_smoother->a[step] : 0.0f;
    const float beta = MODE == STEP ? level.d_smoother->b[step] : 1.0f;
    for (int k = lane; k < DOF * n; k += WARP) {
        const int64_t at = DOF * static_cast<int64_t>(node[k / DOF]) + k % DOF;
        float d = beta * value[k];
        if (MODE == STEP) {
            if (step > 0) d += alpha * level.d_d[at];
            level.d_d[at] = d;
        }
        y[at] = MODE == STEP && x ? x[at] + d : d;
    }
}

template <mode MODE>
int launch(hx_device *dev, const hx_mg_level *level, int step, const float *d_x, float *d_y)
{
    const size_t place = (NUMBERS + DOF) * sizeof(float) + sizeof(int32_t);
    if (level->lines.n == 0) return HX_OK;
    return hx_launch_early(dev, "multigrid lines on a coarse grid", solve_kernel<MODE>,
                           static_cast<unsigned>(level->lines.n), WARP,
                           place * static_cast<size_t>(level->lines.most), *level, step, d_x, d_y);
}

} // namespace

int hx_cuda_mg_level_factorise(hx_device *dev, const hx_mg_level *level)
{
    if (level->lines.n > 0)
        factorise_kernel<<<static_cast<unsigned>(level->lines.n), WARP, 0, hx_stream_of(dev)>>>(
            *level);
    HX_TRY_LAUNCH("multigrid lines on a coarse grid");
    return hx_cuda_mg_unit(dev, DOF * level->n_node, level->d_m);
}

int hx_cuda_mg_level_solve(hx_device *dev, const hx_mg_level *level, float *d_t)
{
    return launch<SOLVE>(dev, level, 0, nullptr, d_t);
}

int hx_cuda_mg_level_step(hx_device *dev, const hx_mg_level *level, int i, const float *d_x,
                          float *d_y)
{
    return launch<STEP>(dev, level, i, d_x, d_y);
}
