// The cells of a range of points, from a mesh that lies on the device.
#include <thrust/iterator/counting_iterator.h>

#include <climits>
#include <cub/device/device_select.cuh>

#include "matrix_cuda.cuh"

namespace
{

// The range of points, and whether a cell has one of them.
struct touches {
    const int32_t *point;
    int n_per_cell;
    uint32_t first, n;

    __host__ __device__ bool operator()(int32_t cell) const
    {
        const int32_t *const p = point + static_cast<int64_t>(cell) * n_per_cell;
        bool found = false;
        for (int a = 0; a < n_per_cell; a++) found |= static_cast<uint32_t>(p[a]) - first < n;
        return found;
    }
};

// Of the cells of a range; from 0 on, all grow.
struct found {
    unsigned long long n_cell;
    uint32_t below; // INT32_MAX - lowest point
    uint32_t above; // highest point + 1
};

__global__ void __launch_bounds__(HX_BLOCK) find_kernel(touches is_cell, int64_t n_cell, found *to)
{
    constexpr unsigned all = 0xffffffffu;
    unsigned count = 0, below = 0, above = 0;
    for (int64_t e = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x; e < n_cell;
         e += static_cast<int64_t>(gridDim.x) * HX_BLOCK) {
        if (!is_cell(static_cast<int32_t>(e))) continue;
        const int32_t *const p = is_cell.point + e * is_cell.n_per_cell;
        for (int a = 0; a < is_cell.n_per_cell; a++) {
            below = max(below, static_cast<unsigned>(INT32_MAX - p[a]));
            above = max(above, static_cast<unsigned>(p[a]) + 1);
        }
        count++;
    }
    count = __reduce_add_sync(all, count);
    below = __reduce_max_sync(all, below);
    above = __reduce_max_sync(all, above);
    if (threadIdx.x % 32 != 0 || count == 0) return;
    atomicAdd(&to->n_cell, static_cast<unsigned long long>(count));
    atomicMax(&to->below, below);
    atomicMax(&to->above, above);
}

__global__ void __launch_bounds__(HX_BLOCK)
    copy_kernel(hx_device_cut cut, const int32_t *__restrict__ point, int n_per_cell,
                const double *__restrict__ modulus)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    if (k >= cut.n_cell * n_per_cell) return;
    const int64_t cell = cut.d_cell[k / n_per_cell];
    const int a = static_cast<int>(k % n_per_cell);
    cut.d_point[k] =
        static_cast<int32_t>(point[cell * n_per_cell + a] - static_cast<int32_t>(cut.first_point));
    if (a == 0) cut.d_modulus[k / n_per_cell] = modulus[cell];
}

template <class Number>
__global__ void __launch_bounds__(HX_BLOCK) shift_kernel(Number *number, int64_t n, Number by)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    if (k < n) number[k] += by;
}

template <class Number> int shift(hx_device *dev, Number *d_number, int64_t n, Number by)
{
    if (n == 0 || by == 0) return HX_OK;
    shift_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(d_number, n, by);
    HX_TRY_LAUNCH("numbers of a range");
    return HX_OK;
}

int find_cells(hx_device *dev, const touches &is_cell, int64_t n_cell, hx_cuda_scratch *scratch,
               hx_device_cut *cut)
{
    const hx_cuda *const impl = hx_cuda_of(dev);
    found *d_found, result;
    HX_TRY(scratch->take(&d_found, 1));
    HX_TRY(dev->ops->zero(dev, d_found, sizeof *d_found));
    find_kernel<<<static_cast<unsigned>(8 * impl->n_sm), HX_BLOCK, 0, impl->stream>>>(
        is_cell, n_cell, d_found);
    HX_TRY_LAUNCH("cells of a range");
    HX_TRY(dev->ops->download(dev, &result, d_found, sizeof result));
    cut->n_cell = static_cast<int64_t>(result.n_cell);
    cut->first_point = cut->n_cell > 0 ? INT32_MAX - static_cast<int64_t>(result.below) : 0;
    cut->n_point = static_cast<int64_t>(result.above) - cut->first_point;
    return HX_OK;
}

int list_cells(hx_device *dev, const touches &is_cell, int64_t n_cell, hx_cuda_scratch *scratch,
               const hx_device_cut *cut)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const thrust::counting_iterator<int32_t> cells(0);
    size_t bytes = 0;
    int64_t *d_n;
    char *d_work;
    HX_TRY(scratch->take(&d_n, 1));
    HX_TRY_CUDA(
        cub::DeviceSelect::If(nullptr, bytes, cells, cut->d_cell, d_n, n_cell, is_cell, stream));
    HX_TRY(scratch->take(&d_work, static_cast<int64_t>(bytes)));
    HX_TRY_CUDA(
        cub::DeviceSelect::If(d_work, bytes, cells, cut->d_cell, d_n, n_cell, is_cell, stream));
    return HX_OK;
}

} // namespace

int hx_cuda_cut(hx_device *dev, const hx_fill_input *d_whole, int64_t first, int64_t n,
                hx_device_cut *cut)
{
    const hx_incidence *const in = &d_whole->incidence;
    const touches is_cell = {in->point, in->n_per_cell, static_cast<uint32_t>(first),
                             static_cast<uint32_t>(n)};
    *cut = {};
    if (in->n_per_cell == 0)
        return HX_RAISE(HX_EINPUT, "ranges of a mixed mesh are cut on the host");
    hx_cuda_scratch scratch(dev);
    HX_TRY(find_cells(dev, is_cell, in->n_cell, &scratch, cut));
    const int64_t n_place = cut->n_cell * in->n_per_cell;
    const size_t n_cell = static_cast<size_t>(cut->n_cell);
    HX_TRY(dev->ops->alloc(dev, n_cell * sizeof(int32_t), &cut->d_cell));
    HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(n_place) * sizeof(int32_t), &cut->d_point));
    HX_TRY(dev->ops->alloc(dev, n_cell * sizeof(double), &cut->d_modulus));
    if (cut->n_cell == 0) return HX_OK;
    HX_TRY(list_cells(dev, is_cell, in->n_cell, &scratch, cut));
    copy_kernel<<<hx_blocks(n_place, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        *cut, in->point, in->n_per_cell, d_whole->d_modulus);
    HX_TRY_LAUNCH("cells of a range");
    return HX_OK;
}

int hx_cuda_shift(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                  int64_t first_entry)
{
    HX_TRY(shift(dev, pattern->d_col, pattern->n_entry, static_cast<int32_t>(first_point)));
    return shift(dev, pattern->d_row_ptr, pattern->n_row + 1, first_entry);
}
