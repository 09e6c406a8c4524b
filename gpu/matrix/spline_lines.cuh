// Lines of cells of a solid spline patch, each processed by a thread block
// (core/matrix/interaction_line.h describes the work of each thread): products on tensor cores are
// kept in registers until the last cell that contains both control points, and then written to a
// buffer. Nothing is stored per Gauss point.
#ifndef HX_SPLINE_LINES_CUH
#define HX_SPLINE_LINES_CUH

#include "../device/cuda_device.cuh"
#include "core/matrix/interaction_line.h"
#include "tensor_products.cuh"

namespace hx_spline_lines
{

constexpr int WARP = 32;

// `layers`: layers of Gauss points at a time. A block computes `strips` strips of 16 lines of a
// plane, with all columns. A warp computes one strip and `wide` tiles of 8 columns, for all pairs
// of planes, with `fours` groups of four Gauss points per instruction. `blocks`: blocks per
// multiprocessor.
template <int ORDER> struct shape {
    static constexpr int layers = ORDER == 5 ? 1 : ORDER == 4 ? 2 : ORDER;
    static constexpr int strips = ORDER == 3 ? 2 : 1;
    static constexpr int wide = ORDER == 3 ? 2 : 1;
    static constexpr int fours = ORDER == 2 ? 2 : 1;
    static constexpr int blocks = ORDER == 2 ? 8 : ORDER == 3 ? 4 : ORDER == 4 ? 2 : 1;
    static constexpr int lines = 3 * ORDER * ORDER;
    static constexpr int across = ((lines + 7) / 8 + wide - 1) / wide; // number of warps
    static constexpr int parts = ((lines + 15) / 16 + strips - 1) / strips;
    static constexpr int threads = WARP * strips * across;
    static constexpr int pairs = ORDER * (ORDER + 1) / 2; // number of pairs of planes
    static constexpr int row_threads = ORDER == 2 ? 64 : ORDER == 4 ? 320 : 256;
    static constexpr int row_blocks = ORDER == 4 ? 2 : 4;
};

// Index of the pair of plane `low` with the plane `apart` above it.
template <int ORDER> __host__ __device__ constexpr int pair_of(int apart, int low)
{
    return apart * ORDER - apart * (apart - 1) / 2 + low;
}

// Executes all items of a stage; then all threads wait.
template <int THREADS, class F> __device__ __forceinline__ void for_items(int n, F stage)
{
#pragma unroll 1
    for (int item = static_cast<int>(threadIdx.x); item < n; item += THREADS) stage(item);
    __syncthreads();
}

// Position of a warp's tiles in a plane's square of lines.
template <int ORDER> struct place {
    int row, column, lane;
    __device__ __forceinline__ explicit place(int part)
        : row(16 * (part * shape<ORDER>::strips +
                    static_cast<int>(threadIdx.x) / WARP / shape<ORDER>::across)),
          column(8 * shape<ORDER>::wide *
                 (static_cast<int>(threadIdx.x) / WARP % shape<ORDER>::across)),
          lane(static_cast<int>(threadIdx.x) % WARP)
    {
    }
    // Whether a tile has products of the lower half of a plane with itself.
    __device__ __forceinline__ bool is_low(int tile) const
    {
        return column + 8 * tile <= row + 15;
    }
};

template <int ORDER> using sums = double[shape<ORDER>::wide][shape<ORDER>::pairs][4];

// Adds the products of FOURS groups of four Gauss points, from group `step` on.
template <int ORDER, int FOURS>
__device__ __forceinline__ void multiply_fours(const double *const (&own)[2],
                                               const double *const (&other)[shape<ORDER>::wide],
                                               int step, const place<ORDER> &at, sums<ORDER> &d)
{
    using S = shape<ORDER>;
    const int plane = S::lines * hx_line_stride(ORDER, S::layers);
    double b[ORDER][S::wide][2];
#pragma unroll
    for (int p = 0; p < ORDER; p++) {
        const int to = p * plane + 4 * step;
        const double first[2] = {own[0][to], own[1][to]};
        const double then[2] = {FOURS == 2 ? own[0][to + 4] : 0.0,
                                FOURS == 2 ? own[1][to + 4] : 0.0};
#pragma unroll
        for (int k = 0; k < S::wide; k++) {
            b[p][k][0] = other[k][to];
            b[p][k][1] = FOURS == 2 ? other[k][to + 4] : 0.0;
        }
#pragma unroll
        for (int k = 0; k < S::wide; k++)
#pragma unroll
            for (int q = 0; q <= p; q++) {
                if (q == p && !at.is_low(k)) continue;
                double(&sum)[4] = d[k][pair_of<ORDER>(p - q, q)];
                if (FOURS == 2)
                    hx_tensor_add8(sum, first, then, b[q][k][0], b[q][k][1]);
                else
                    hx_tensor_add4(sum, first, b[q][k][0]);
            }
    }
}

// The products of a batch of Gauss points.
template <int ORDER>
__device__ __forceinline__ void multiply(const double *h, const place<ORDER> &at, sums<ORDER> &d)
{
    using S = shape<ORDER>;
    const int stride = hx_line_stride(ORDER, S::layers), fours = hx_line_fours(ORDER, S::layers);
    const double *own[2], *other[S::wide];
#pragma unroll
    for (int k = 0; k < 2; k++)
        own[k] = h + hx_line_clamp(ORDER, at.row + at.lane / 4 + 8 * k) * stride + at.lane % 4;
#pragma unroll
    for (int k = 0; k < S::wide; k++)
        other[k] = h + hx_line_clamp(ORDER, at.column + 8 * k + at.lane / 4) * stride + at.lane % 4;
#pragma unroll
    for (int step = 0; step + S::fours <= fours; step += S::fours)
        multiply_fours<ORDER, S::fours>(own, other, step, at, d);
    if (S::fours == 2 && fours % 2) multiply_fours<ORDER, 1>(own, other, fours - 1, at, d);
}

// Writes the completed sums of the lowest plane to its part of the buffer, and moves the planes
// above down.
template <int ORDER>
__device__ __forceinline__ void leave(double *to, const place<ORDER> &at, sums<ORDER> &d)
{
    using S = shape<ORDER>;
    constexpr int width = (S::lines + 1) / 2 * 2;
#pragma unroll
    for (int k = 0; k < S::wide; k++) {
        const int c = at.column + 8 * k + 2 * (at.lane % 4);
#pragma unroll
        for (int apart = 0; apart < ORDER; apart++) {
            const double(&out)[4] = d[k][pair_of<ORDER>(apart, 0)];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int l = at.row + at.lane / 4 + 8 * half;
                if (l < S::lines && c < width && (apart > 0 || at.is_low(k)))
                    *reinterpret_cast<double2 *>(to + (apart * S::lines + l) * width + c) =
                        make_double2(out[2 * half], out[2 * half + 1]);
            }
#pragma unroll
            for (int low = 0; low + apart < ORDER; low++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    d[k][pair_of<ORDER>(apart, low)][i] =
                        low + apart + 1 < ORDER ? d[k][pair_of<ORDER>(apart, low + 1)][i] : 0.0;
        }
    }
}

// Computes tables and frames of some cells.
template <int ORDER>
__device__ __forceinline__ void make_frames(const hx_interaction &in, const hx_line_memory &s,
                                            const hx_line_cells &cells)
{
    constexpr int threads = shape<ORDER>::threads;
    const int n = cells.n * hx_line_cube(ORDER);
    for_items<threads>(hx_line_load_items(ORDER),
                       [&](int item) { hx_line_load(&in, ORDER, &s, &cells, item); });
    for_items<threads>(n, [&](int item) { hx_line_map0(&in, ORDER, &s, &cells, item); });
    for_items<threads>(n, [&](int item) { hx_line_map1(ORDER, &s, item); });
    for_items<threads>(n, [&](int item) { hx_line_frames(&in, ORDER, &s, &cells, item); });
}

// Processes all cells of the line (c1, c2), for strips number `part` of the planes' lines.
template <int ORDER>
__device__ __forceinline__ void run_line(const hx_interaction &in, double *buffer, int ring, int c1,
                                         int c2, int part, double *memory)
{
    using S = shape<ORDER>;
    const hx_line_memory s = hx_line_divide(ORDER, S::layers, memory);
    const place<ORDER> at(part);
    sums<ORDER> d = {};
    double *const line = buffer + hx_line_place(&in, ORDER, ring, 0, c1, c2);
#pragma unroll 1
    for (int c0 = 0; c0 < in.axis[0].n_cell; c0 += hx_line_group(ORDER)) {
        const int left = in.axis[0].n_cell - c0;
        const hx_line_cells cells = {{c0, c1, c2},
                                     left < hx_line_group(ORDER) ? left : hx_line_group(ORDER)};
        make_frames<ORDER>(in, s, cells);
#pragma unroll 1
        for (int g = 0; g < cells.n; g++) {
#pragma unroll 1
            for (int batch = 0; batch < ORDER / S::layers; batch++) {
                for_items<S::threads>(hx_line_gradient_items(ORDER, S::layers), [&](int item) {
                    hx_line_gradients(&in, ORDER, S::layers, &s, g, batch, item);
                });
                multiply<ORDER>(s.h, at, d);
                __syncthreads();
            }
            const int f = in.axis[0].first[c0 + g], n = hx_line_left(&in, ORDER, c0 + g);
#pragma unroll 1
            for (int k = 0; k < n; k++)
                leave<ORDER>(line + static_cast<int64_t>(f + k) * hx_line_part(ORDER), at, d);
        }
    }
}

// Size of a row's box in shared memory, with all its layers.
template <int ORDER> constexpr int row_size()
{
    constexpr int wide = 2 * ORDER - 1;
    return 9 * wide * wide * wide;
}

// All degrees fit on the H100 and later GPUs.
inline int check_shared(size_t bytes)
{
    int device = 0, most = 0;
    HX_TRY_CUDA(cudaGetDevice(&device));
    HX_TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<size_t>(most))
        return HX_RAISE(HX_EINPUT,
                        "method 'gather' needs %zu bytes of shared memory for this degree, but "
                        "this GPU has %d; 'pairs' needs none",
                        bytes, most);
    return HX_OK;
}

} // namespace hx_spline_lines

#endif
