// K of a solid spline patch line by line of cells (core/matrix/interaction_line.h says what each
// thread does): products on tensor cores, in registers until the last cell that knows both points,
// then in a buffer, from which each row of K is summed. Nothing stored of a Gauss point.
#include "core/matrix/interaction_line.h"
#include "interaction_cuda.cuh"
#include "tensor_products.cuh"

namespace
{

constexpr int WARP = 32;

// `layers` of Gauss points at a time; a block makes `strips` strips of 16 lines of a plane, all
// columns; a warp one strip, `wide` tiles of 8 columns, of all pairs of planes, `fours` fours of
// Gauss points an instruction; so many blocks a multiprocessor.
template <int ORDER> struct shape {
    static constexpr int layers = ORDER == 5 ? 1 : ORDER == 4 ? 2 : ORDER;
    static constexpr int strips = ORDER == 3 ? 2 : 1;
    static constexpr int wide = ORDER == 3 ? 2 : 1;
    static constexpr int fours = ORDER <= 3 ? 2 : 1;
    static constexpr int blocks = ORDER == 2 ? 8 : ORDER == 3 ? 3 : ORDER == 4 ? 2 : 1;
    static constexpr int lines = 3 * ORDER * ORDER;
    static constexpr int across = ((lines + 7) / 8 + wide - 1) / wide; // warps
    static constexpr int parts = ((lines + 15) / 16 + strips - 1) / strips;
    static constexpr int threads = WARP * strips * across;
    static constexpr int pairs = ORDER * (ORDER + 1) / 2; // of planes
    static constexpr int row_threads = ORDER == 2 ? 64 : ORDER == 4 ? 320 : 256;
    static constexpr int row_blocks = ORDER == 4 ? 2 : 4;
};

// The pair of the plane that is `apart` above plane `low` with that one.
template <int ORDER> __host__ __device__ constexpr int pair_of(int apart, int low)
{
    return apart * ORDER - apart * (apart - 1) / 2 + low;
}

// All items of a stage, then all threads wait.
template <int THREADS, class F> __device__ __forceinline__ void for_items(int n, F stage)
{
#pragma unroll 1
    for (int item = static_cast<int>(threadIdx.x); item < n; item += THREADS) stage(item);
    __syncthreads();
}

// Where a warp's tiles lie in a plane's square of lines.
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

// The products of FOURS fours of Gauss points, the first of them number `step`, on top of what
// there is.
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

// What is complete of the lowest plane leaves for its part of the buffer, the planes above move
// down.
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

// Tables and frames of some cells.
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

// x: the line of cells by the second direction, y: by the third, z: strips.
template <int ORDER>
__global__ void __launch_bounds__(shape<ORDER>::threads, shape<ORDER>::blocks)
    line_kernel(const __grid_constant__ hx_interaction in, double *buffer, int ring,
                int first_layer)
{
    extern __shared__ __align__(128) double memory[];
    using S = shape<ORDER>;
    const hx_line_memory s = hx_line_divide(ORDER, S::layers, memory);
    const int c1 = static_cast<int>(blockIdx.x), c2 = first_layer + static_cast<int>(blockIdx.y);
    const place<ORDER> at(static_cast<int>(blockIdx.z));
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

// x, y, z: the row's point.
template <int ORDER>
__global__ void __launch_bounds__(shape<ORDER>::row_threads, shape<ORDER>::row_blocks)
    rows_kernel(const __grid_constant__ hx_interaction in, const double *buffer, int ring,
                int first_row, double *value)
{
    extern __shared__ __align__(128) double memory[];
    constexpr int threads = shape<ORDER>::row_threads;
    const int r[3] = {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y),
                      first_row + static_cast<int>(blockIdx.z)};
    const int64_t *const ptr = in.row_ptr + hx_interaction_point(&in, r);
    const int n = static_cast<int>(9 * (ptr[1] - ptr[0]));
    const int n_sum = hx_line_sum_items(&in, ORDER, r);
    const int is_whole = hx_line_is_whole(&in, ORDER, r);
    double *const to = value + 9 * ptr[0];
    for_items<threads>(n_sum,
                       [&](int item) { hx_line_sum(&in, ORDER, buffer, ring, r, item, memory); });
#pragma unroll 1
    for (int item = static_cast<int>(threadIdx.x); item < 3 * n_sum; item += threads) {
        const int at = hx_line_in_row(&in, ORDER, r, is_whole, n, item);
        if (at >= 0) __stcs(to + at, hx_line_number(&in, memory, item));
    }
}

// Of the H100 and what came after it, all degrees.
int check_shared(size_t bytes)
{
    int device = 0, most = 0;
    HX_TRY_CUDA(cudaGetDevice(&device));
    HX_TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<size_t>(most))
        return HX_RAISE(HX_EINPUT,
                        "gather of this degree needs %zu bytes of shared memory, and this GPU has "
                        "%d; 'pairs' does without",
                        bytes, most);
    return HX_OK;
}

// Layers of lines of cells, by the third direction: those that the buffer holds, and how many are
// new at a time.
struct buffer_layers {
    size_t bytes; // of one
    int ring, step;
};

buffer_layers choose_layers(const hx_interaction *host, int order, size_t budget)
{
    const hx_interaction_axis *const axis = host->axis;
    buffer_layers l = {};
    l.bytes = static_cast<size_t>(axis[1].n_cell) * static_cast<size_t>(axis[0].n) *
              static_cast<size_t>(hx_line_part(order)) * sizeof(double);
    const size_t most = budget / l.bytes;
    l.ring = most < static_cast<size_t>(axis[2].n_cell) ? static_cast<int>(most) : axis[2].n_cell;
    if (l.ring < order) l.ring = order;
    l.step = l.ring < axis[2].n_cell ? l.ring - order + 1 : axis[2].n_cell;
    return l;
}

// The layers first .. end - 1, then the rows from *row on that they complete.
template <int ORDER>
int run_layers(const hx_cuda_patch *p, int ring, double *d_buffer, int first, int end, int *row)
{
    using S = shape<ORDER>;
    const hx_interaction_axis *const axis = p->host->axis;
    const size_t bytes = static_cast<size_t>(hx_line_size(ORDER, S::layers)) * sizeof(double);
    const size_t row_bytes = static_cast<size_t>(hx_line_most(ORDER)) * sizeof(double);
    const cudaStream_t stream = hx_cuda_of(p->dev)->stream;
    const dim3 lines(static_cast<unsigned>(axis[1].n_cell), static_cast<unsigned>(end - first),
                     static_cast<unsigned>(S::parts));
    line_kernel<ORDER><<<lines, S::threads, bytes, stream>>>(p->in, d_buffer, ring, first);
    HX_TRY_LAUNCH("lines of a patch");
    int row_end = *row;
    while (row_end < axis[2].n && axis[2].cells[2 * row_end + 1] <= end) row_end++;
    if (row_end == *row) return HX_OK;
    const dim3 rows(static_cast<unsigned>(axis[0].n), static_cast<unsigned>(axis[1].n),
                    static_cast<unsigned>(row_end - *row));
    rows_kernel<ORDER>
        <<<rows, S::row_threads, row_bytes, stream>>>(p->in, d_buffer, ring, *row, p->d_value);
    HX_TRY_LAUNCH("rows of a patch");
    *row = row_end;
    return HX_OK;
}

template <int ORDER> int run_all(const hx_cuda_patch *p, const buffer_layers *l, double *d_buffer)
{
    const int n = p->host->axis[2].n_cell;
    int row = 0;
    HX_TRY(p->dev->ops->mark(p->dev, 0));
    for (int first = 0; first < n; first += l->step) {
        const int end = n - first < l->step ? n : first + l->step;
        HX_TRY(run_layers<ORDER>(p, l->ring, d_buffer, first, end, &row));
    }
    return p->dev->ops->mark(p->dev, 1);
}

template <int ORDER> int run_lines(const hx_cuda_patch *p, size_t budget, hx_interaction_time *time)
{
    const int bytes = hx_line_size(ORDER, shape<ORDER>::layers) * static_cast<int>(sizeof(double));
    const buffer_layers l = choose_layers(p->host, ORDER, budget);
    double *d_buffer = nullptr;
    HX_TRY(check_shared(static_cast<size_t>(bytes)));
    HX_TRY_CUDA(cudaFuncSetAttribute(line_kernel<ORDER>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    int rc = p->dev->ops->alloc(p->dev, l.bytes * static_cast<size_t>(l.ring), &d_buffer);
    if (rc == HX_OK) rc = run_all<ORDER>(p, &l, d_buffer);
    if (rc == HX_OK) rc = hx_cuda_patch_elapsed(p, 0, 1, &time->pairs);
    p->dev->ops->release(p->dev, d_buffer);
    return rc;
}

} // namespace

int hx_cuda_patch_gather(const hx_cuda_patch *p, size_t budget, hx_interaction_time *time)
{
    const hx_interaction_axis *const axis = p->host->axis;
    const int degree = axis[0].degree;
    if (p->host->dim != 3 || axis[1].degree != degree || axis[2].degree != degree)
        return HX_RAISE(HX_EINPUT,
                        "the GPU's gather takes solid patches of one degree, not %d, %d, %d; "
                        "elevate the degrees (mesh.degree)",
                        degree, axis[1].degree, axis[2].degree);
    if (axis[1].n > 65535 || axis[2].n > 65535)
        return HX_RAISE(HX_EINPUT, "more than 65535 control points in a direction");
    switch (degree) {
    case 1:
        return run_lines<2>(p, budget, time);
    case 2:
        return run_lines<3>(p, budget, time);
    case 3:
        return run_lines<4>(p, budget, time);
    default:
        return run_lines<5>(p, budget, time);
    }
}
