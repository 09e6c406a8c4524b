// K of a solid spline patch by blocks that each own a few points in a row
// (core/matrix/interaction_block.h says what each thread does): gradients from the tables of each
// direction in shared memory, products on tensor cores, nothing stored of a Gauss point.
#include "core/matrix/interaction_block.h"
#include "interaction_cuda.cuh"
#include "tensor_products.cuh"

namespace
{

constexpr int WARP = 32;

// Threads of a block, and blocks of a multiprocessor that its shared memory is enough for.
template <int ORDER> struct sizes {
    static constexpr int warps = ORDER == 2 ? 4 : ORDER == 5 ? 16 : 8;
    static constexpr int threads = WARP * warps;
    static constexpr int blocks = ORDER == 2 ? 8 : ORDER == 3 ? 3 : ORDER == 4 ? 2 : 1;
    static constexpr int n_tile = (3 * ORDER * ORDER * ORDER + 7) / 8;
    static constexpr int most = (n_tile + warps - 1) / warps; // tiles of a warp
};

// All items of a stage, then all threads wait.
template <int THREADS, class F> __device__ __forceinline__ void for_items(int n, F stage)
{
#pragma unroll 1
    for (int item = static_cast<int>(threadIdx.x); item < n; item += THREADS) stage(item);
    __syncthreads();
}

// The products of a batch, on top of what there is: tiles warp, warp + warps, ...
template <int ORDER>
__device__ __forceinline__ void multiply(const double *h, const hx_gather_cell &cell,
                                         double (&d)[sizes<ORDER>::most][4])
{
    constexpr int most = sizes<ORDER>::most, warps = sizes<ORDER>::warps;
    const int stride = hx_gather_stride(ORDER), fours = hx_gather_fours(ORDER);
    const int lane = static_cast<int>(threadIdx.x % WARP),
              warp = static_cast<int>(threadIdx.x / WARP);
    const double *own[2], *other[most];
#pragma unroll
    for (int k = 0; k < 2; k++)
        own[k] = h + hx_gather_own_line(&cell, lane / 4 + 8 * k) * stride + lane % 4;
#pragma unroll
    for (int k = 0; k < most; k++)
        other[k] =
            h + hx_gather_column(&cell, 8 * (warp + warps * k) + lane / 4) * stride + lane % 4;
#pragma unroll
    for (int step = 0; step + 1 < fours; step += 2) {
        const double first[2] = {own[0][4 * step], own[1][4 * step]};
        const double then[2] = {own[0][4 * step + 4], own[1][4 * step + 4]};
#pragma unroll
        for (int k = 0; k < most; k++)
            if (8 * (warp + warps * k) < cell.n_column)
                hx_tensor_add8(d[k], first, then, other[k][4 * step], other[k][4 * step + 4]);
    }
    if (fours % 2) {
        const double last[2] = {own[0][4 * fours - 4], own[1][4 * fours - 4]};
#pragma unroll
        for (int k = 0; k < most; k++)
            if (8 * (warp + warps * k) < cell.n_column)
                hx_tensor_add4(d[k], last, other[k][4 * fours - 4]);
    }
}

template <int ORDER>
__device__ __forceinline__ void
add_products(const hx_interaction &in, const hx_gather_memory &s, const hx_gather_bundle &bundle,
             const hx_gather_cell &cell, const double (&d)[sizes<ORDER>::most][4])
{
    const int lane = static_cast<int>(threadIdx.x % WARP),
              warp = static_cast<int>(threadIdx.x / WARP);
#pragma unroll
    for (int k = 0; k < sizes<ORDER>::most; k++) {
        const int first = 8 * (warp + sizes<ORDER>::warps * k);
        if (first >= cell.n_column) break;
#pragma unroll
        for (int which = 0; which < 4; which++) {
            const int c = first + 2 * (lane % 4) + which % 2;
            if (c < cell.n_column)
                hx_gather_add(&in, ORDER, &s, &bundle, &cell, lane / 4 + 8 * (which / 2), c,
                              d[k][which]);
        }
    }
}

template <int ORDER>
__device__ __forceinline__ void run_cell(const hx_interaction &in, const hx_gather_memory &s,
                                         const hx_gather_bundle &bundle, int c0, int c1, int c2)
{
    constexpr int threads = sizes<ORDER>::threads;
    double d[sizes<ORDER>::most][4] = {};
    hx_gather_cell cell;
    hx_gather_visit(&in, ORDER, &bundle, c0, c1, c2, &cell);
    for_items<threads>(hx_gather_table_size(ORDER),
                       [&](int item) { hx_gather_load(&in, ORDER, &s, &cell, item); });
    for_items<threads>(hx_gather_cube(ORDER),
                       [&](int item) { hx_gather_map0(&in, ORDER, &s, &cell, item); });
    for_items<threads>(hx_gather_cube(ORDER), [&](int item) { hx_gather_map1(ORDER, &s, item); });
    for_items<threads>(hx_gather_cube(ORDER),
                       [&](int item) { hx_gather_frames(&in, ORDER, &s, &cell, item); });
#pragma unroll 1
    for (int batch = 0; batch < ORDER / hx_gather_layers(ORDER); batch++) {
        if (batch > 0) __syncthreads(); // all have read the last one's gradients
        for_items<threads>(4 * hx_gather_fours(ORDER) * cell.n_pair, [&](int item) {
            hx_gather_gradients(&in, ORDER, &s, &cell, batch, item);
        });
        multiply<ORDER>(s.h, cell, d);
    }
    add_products<ORDER>(in, s, bundle, cell, d);
}

// A block a bundle of rows: x along the first direction, y and z the others.
template <int ORDER>
__global__ void __launch_bounds__(sizes<ORDER>::threads, sizes<ORDER>::blocks)
    gather_kernel(const __grid_constant__ hx_interaction in, double *value)
{
    extern __shared__ __align__(128) double memory[];
    constexpr int threads = sizes<ORDER>::threads;
    const hx_gather_memory s = hx_gather_divide(ORDER, memory);
    hx_gather_bundle bundle;
    hx_gather_begin(&in, ORDER, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y),
                    static_cast<int>(blockIdx.z), &bundle);
    for_items<threads>(hx_gather_sum_size(ORDER), [&](int item) { s.sum[item] = 0.0; });
#pragma unroll 1
    for (int c2 = bundle.first[2]; c2 <= bundle.last[2]; c2++)
#pragma unroll 1
        for (int c1 = bundle.first[1]; c1 <= bundle.last[1]; c1++)
#pragma unroll 1
            for (int c0 = bundle.first[0]; c0 <= bundle.last[0]; c0++)
                run_cell<ORDER>(in, s, bundle, c0, c1, c2);
    __syncthreads();
#pragma unroll 1
    for (int row = 0; row < bundle.n_row; row++) {
        const int r[3] = {bundle.r[0] + row, bundle.r[1], bundle.r[2]};
        const int64_t *const ptr = in.row_ptr + hx_interaction_point(&in, r);
        const auto n = static_cast<int>(9 * (ptr[1] - ptr[0]));
        double *const to = value + 9 * ptr[0];
#pragma unroll 1
        for (int at = static_cast<int>(threadIdx.x); at < n; at += threads)
            __stcs(to + at, hx_gather_number(&in, ORDER, &s, row, at));
    }
}

// Of the H100 and what came after it, all degrees; of an A100 degree 4 is too large.
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

template <int ORDER> int launch(const hx_cuda_patch *p)
{
    const size_t bytes = static_cast<size_t>(hx_gather_size(ORDER)) * sizeof(double);
    const hx_interaction_axis *const axis = p->host->axis;
    const dim3 blocks(hx_blocks(axis[0].n, hx_gather_rows(ORDER)), static_cast<unsigned>(axis[1].n),
                      static_cast<unsigned>(axis[2].n));
    HX_TRY(check_shared(bytes));
    HX_TRY_CUDA(cudaFuncSetAttribute(gather_kernel<ORDER>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)));
    HX_TRY(p->dev->ops->mark(p->dev, 0));
    gather_kernel<ORDER>
        <<<blocks, sizes<ORDER>::threads, bytes, hx_cuda_of(p->dev)->stream>>>(p->in, p->d_value);
    HX_TRY_LAUNCH("gather of a patch");
    return p->dev->ops->mark(p->dev, 1);
}

} // namespace

int hx_cuda_patch_gather(const hx_cuda_patch *p, hx_interaction_time *time)
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
        HX_TRY(launch<2>(p));
        break;
    case 2:
        HX_TRY(launch<3>(p));
        break;
    case 3:
        HX_TRY(launch<4>(p));
        break;
    default:
        HX_TRY(launch<5>(p));
    }
    return hx_cuda_patch_elapsed(p, 0, 1, &time->pairs);
}
