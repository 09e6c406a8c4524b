// Line smoothing for stretched meshes, along lines of points (core/multigrid/multigrid.h), as in
// core/cpu/multigrid/multigrid_lines_cpu.c: one thread walks along a line. The data of the next
// point is loaded while it computes one.
#include "../device/vector_cuda.cuh"
#include "../operator/hex8_cuda.cuh"
#include "core/multigrid/line_block.h"
#include "multigrid_cuda.cuh"

namespace
{

constexpr int THREADS = 64;

// The block of K that couples each point with the preceding one in its line, stored where its L
// will be; one thread per place. The beginning of the line is found by a search in lines.d_first.
__global__ void __launch_bounds__(128) couple_kernel(hx_device_model model, hx_mg_lines lines)
{
    const int64_t p = hx_grid_thread();
    double k[3][3] = {};
    if (p >= lines.n_point) return;
    int64_t low = 0, high = lines.n; // the line that contains p
    while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        if (lines.d_first[middle] <= p)
            low = middle;
        else
            high = middle;
    }
    if (p > lines.d_first[low]) {
        const int32_t a = lines.d_point[p], b = lines.d_point[p - 1];
        int64_t last = -1;
        for (int64_t q = model.d_node_elem_ptr[a]; q < model.d_node_elem_ptr[a + 1]; q++) {
            const int64_t e = model.d_node_elem[q] >> 3;
            double x[24];
            if (e == last) continue; // it names the point twice
            last = e;
            hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
            hx_line_couple(model.d_conn + 8 * e, x, a, b, model.lambda, model.mu,
                           model.d_modulus[e], k);
        }
    }
    float *const to = lines.d_factor + HX_LINE_NUMBERS * p + 6;
    for (int i = 0; i < 9; i++) to[i] = static_cast<float>(k[i / 3][i % 3]);
}

__global__ void __launch_bounds__(THREADS)
    factorise_kernel(hx_mg_lines lines, const float *__restrict__ m)
{
    const int64_t line = hx_grid_thread();
    double before[6] = {};
    int64_t b = -1;
    if (line >= lines.n) return;
    for (int32_t p = lines.d_first[line]; p < lines.d_first[line + 1]; p++) {
        const int64_t a = lines.d_point[p];
        hx_line_factorise(lines.d_block + 6 * a, m + 3 * a, b < 0 ? nullptr : m + 3 * b, before,
                          lines.d_factor + HX_LINE_NUMBERS * static_cast<int64_t>(p));
        b = a;
    }
}

__global__ void unit_kernel(int64_t n, float *m)
{
    const int64_t k = hx_grid_thread();
    if (k < n) m[k] = m[k] > 0.0f ? 1.0f : 0.0f;
}

// The numbers and values of a point, loaded in advance.
struct point_data {
    int64_t at;
    float factor[HX_LINE_NUMBERS], value[3];
};

__device__ __forceinline__ void read_point(const hx_mg_lines &lines, int32_t p, const float *t,
                                           point_data &to)
{
    const auto *const from =
        reinterpret_cast<const float4 *>(lines.d_factor) + (HX_LINE_NUMBERS / 4) * int64_t{p};
    to.at = 3 * static_cast<int64_t>(__ldg(lines.d_point + p));
#pragma unroll
    for (int i = 0; i < HX_LINE_NUMBERS / 4; i++) {
        const float4 four = __ldg(from + i);
        to.factor[4 * i] = four.x;
        to.factor[4 * i + 1] = four.y;
        to.factor[4 * i + 2] = four.z;
        to.factor[4 * i + 3] = four.w;
    }
    for (int i = 0; i < 3; i++) to.value[i] = t[to.at + i];
}

__global__ void __launch_bounds__(THREADS)
    solve_kernel(hx_mg_lines lines, const double *__restrict__ r, float *t)
{
    const int64_t line = hx_grid_thread();
    float before[3] = {}, carry[3] = {};
    point_data here, next;
    if (line >= lines.n) return;
    const int32_t begin = lines.d_first[line], end = lines.d_first[line + 1];
    read_point(lines, begin, t, next);
    for (int32_t p = begin; p < end; p++) {
        here = next;
        if (p + 1 < end) read_point(lines, p + 1, t, next);
        for (int i = 0; i < 3; i++)
            if (r) here.value[i] -= static_cast<float>(r[here.at + i]);
        hx_line_forward(here.factor, before, here.value);
        for (int i = 0; i < 3; i++) t[here.at + i] = before[i] = here.value[i];
    }
    read_point(lines, end - 1, t, next);
    for (int32_t p = end; p-- > begin;) {
        float z[3];
        here = next;
        if (p > begin) read_point(lines, p - 1, t, next);
        hx_line_backward(here.factor, here.value, carry, z);
        for (int i = 0; i < 3; i++) t[here.at + i] = z[i];
    }
}

} // namespace

int hx_cuda_mg_lines_couple(hx_device *dev, const hx_device_model *model, const hx_mg_lines *lines)
{
    return hx_launch<128>(dev, "multigrid lines", lines->n_point, couple_kernel, *model, *lines);
}

int hx_cuda_mg_lines_factorise(hx_device *dev, const hx_mg_splitting *splitting)
{
    const hx_mg_lines *const lines = splitting->lines;
    factorise_kernel<<<hx_blocks(lines->n, THREADS), THREADS, 0, hx_stream_of(dev)>>>(
        *lines, splitting->d_m);
    HX_TRY_LAUNCH("multigrid lines");
    return hx_cuda_mg_unit(dev, 3 * lines->n_point, splitting->d_m);
}

int hx_cuda_mg_unit(hx_device *dev, int64_t n, float *d_m)
{
    return hx_launch(dev, "multigrid unit", n, unit_kernel, n, d_m);
}

int hx_cuda_mg_lines_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                           float *d_t)
{
    const hx_mg_lines *const lines = splitting->lines;
    solve_kernel<<<hx_blocks(lines->n, THREADS), THREADS, 0, hx_stream_of(dev)>>>(*lines, d_r, d_t);
    return HX_LAUNCHED("multigrid lines");
}
