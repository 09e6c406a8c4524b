// The cells of a range of points, from a mesh in device memory. Cells are in groups of GROUP; most
// groups are excluded by their lowest and highest point.
#include <climits>
#include <cstdlib>

#include "../device/scan_cuda.cuh"
#include "core/base/memory.h"
#include "matrix_cuda.cuh"

namespace
{

constexpr int GROUP = 1024;
constexpr unsigned ALL = 0xffffffffu;

// Lowest and highest point of a group's cells.
struct extent {
    int32_t low, high;
};

struct cutter {
    hx_device *dev; // (borrowed)
    hx_fill_input whole;
    int64_t n_group;
    extent *d_extent; // [n_group] (owned, like d_begin)
    int64_t *d_begin; // [n_group + 1] number of cells of the range in preceding groups
};

// A range of points in a mesh.
struct range {
    const int32_t *point;
    int n_per_cell;
    int64_t n_cell;
    int32_t first;
    uint32_t n;

    __device__ bool has_cell(int64_t cell) const
    {
        const int32_t *const p = point + cell * n_per_cell;
        bool found = false;
        if (cell >= n_cell) return false;
        for (int a = 0; a < n_per_cell; a++) found |= static_cast<uint32_t>(p[a] - first) < n;
        return found;
    }

    __device__ bool may_have(const extent &e) const
    {
        return e.high >= first && e.low < static_cast<int64_t>(first) + n;
    }
};

// Extent of the points of the range's cells; both numbers start at 0 and only grow.
struct found {
    uint32_t below; // INT32_MAX - lowest point
    uint32_t above; // highest point + 1
};

__device__ void widen(extent *to, const int32_t *point, int n)
{
    for (int a = 0; a < n; a++) {
        to->low = min(to->low, point[a]);
        to->high = max(to->high, point[a]);
    }
}

__global__ void __launch_bounds__(HX_BLOCK)
    extent_kernel(hx_incidence in, extent *__restrict__ of_group)
{
    __shared__ extent all;
    extent mine = {INT32_MAX, -1};
    if (threadIdx.x == 0) all = mine;
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < GROUP; k += HX_BLOCK) {
        const int64_t cell = blockIdx.x * static_cast<int64_t>(GROUP) + k;
        if (cell < in.n_cell) widen(&mine, in.point + cell * in.n_per_cell, in.n_per_cell);
    }
    atomicMin(&all.low, __reduce_min_sync(ALL, mine.low));
    atomicMax(&all.high, __reduce_max_sync(ALL, mine.high));
    __syncthreads();
    if (threadIdx.x == 0) of_group[blockIdx.x] = all;
}

// begin[group] = number of its cells in the range; the entry n_group is not used.
__global__ void __launch_bounds__(HX_BLOCK)
    count_kernel(range r, const extent *__restrict__ of_group, int64_t *__restrict__ begin,
                 found *to)
{
    extent mine = {INT32_MAX, -1};
    int count = 0;
    if (!r.may_have(of_group[blockIdx.x])) {
        if (threadIdx.x == 0) begin[blockIdx.x] = 0;
        return;
    }
    for (int k = static_cast<int>(threadIdx.x); k < GROUP; k += HX_BLOCK) {
        const int64_t cell = blockIdx.x * static_cast<int64_t>(GROUP) + k;
        const bool has = r.has_cell(cell);
        if (has) widen(&mine, r.point + cell * r.n_per_cell, r.n_per_cell);
        count += __syncthreads_count(has);
    }
    const int32_t low = __reduce_min_sync(ALL, mine.low), high = __reduce_max_sync(ALL, mine.high);
    if (threadIdx.x % 32 == 0 && high >= 0) {
        atomicMax(&to->below, static_cast<uint32_t>(INT32_MAX - low));
        atomicMax(&to->above, static_cast<uint32_t>(high) + 1);
    }
    if (threadIdx.x == 0) begin[blockIdx.x] = count;
}

// Copies the range's cells, with their points and moduli, in the mesh's order.
__global__ void __launch_bounds__(HX_BLOCK)
    copy_kernel(range r, const int64_t *__restrict__ begin, const double *__restrict__ modulus,
                hx_device_cut cut)
{
    __shared__ int before[HX_BLOCK / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    int64_t at = begin[blockIdx.x];
    if (begin[blockIdx.x + 1] == at) return;
    for (int k = static_cast<int>(threadIdx.x); k < GROUP; k += HX_BLOCK) {
        const int64_t cell = blockIdx.x * static_cast<int64_t>(GROUP) + k;
        const bool has = r.has_cell(cell);
        const unsigned mask = __ballot_sync(ALL, has);
        if (lane == 0) before[warp] = __popc(mask);
        const int n = __syncthreads_count(has);
        int64_t place = at + __popc(mask & ((1u << lane) - 1));
        for (int w = 0; w < warp; w++) place += before[w];
        at += n;
        if (has) {
            cut.d_cell[place] = static_cast<int32_t>(cell);
            cut.d_modulus[place] = modulus[cell];
            for (int a = 0; a < r.n_per_cell; a++)
                cut.d_point[place * r.n_per_cell + a] =
                    r.point[cell * r.n_per_cell + a] - static_cast<int32_t>(cut.first_point);
        }
        __syncthreads(); // the next cells overwrite `before`
    }
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
    return hx_launch(dev, "numbers of a range", n, shift_kernel<Number>, d_number, n, by);
}

// Counts the cells of the range, before each group and in total, and finds the points that they
// span.
int count_cells(const cutter *c, const range &r, hx_device_cut *cut)
{
    hx_device *const dev = c->dev;
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    hx_cuda_scratch scratch(dev);
    found *d_found, result;
    HX_TRY(scratch.take(&d_found, 1));
    HX_TRY(dev->ops->zero(dev, d_found, sizeof *d_found));
    count_kernel<<<static_cast<unsigned>(c->n_group), HX_BLOCK, 0, stream>>>(r, c->d_extent,
                                                                             c->d_begin, d_found);
    HX_TRY_LAUNCH("cells of a range");
    HX_TRY(hx_sum_before(dev, c->d_begin, c->n_group + 1));
    HX_TRY(dev->ops->download(dev, &cut->n_cell, c->d_begin + c->n_group, sizeof cut->n_cell));
    HX_TRY(dev->ops->download(dev, &result, d_found, sizeof result));
    cut->first_point = cut->n_cell > 0 ? INT32_MAX - static_cast<int64_t>(result.below) : 0;
    cut->n_point = static_cast<int64_t>(result.above) - cut->first_point;
    return HX_OK;
}

int alloc_cut(hx_device *dev, int n_per_cell, hx_device_cut *cut)
{
    const size_t n = static_cast<size_t>(cut->n_cell);
    HX_TRY(dev->ops->alloc(dev, n * sizeof(int32_t), &cut->d_cell));
    HX_TRY(
        dev->ops->alloc(dev, n * static_cast<size_t>(n_per_cell) * sizeof(int32_t), &cut->d_point));
    return dev->ops->alloc(dev, n * sizeof(double), &cut->d_modulus);
}

int make_cutter(cutter *c)
{
    hx_device *const dev = c->dev;
    const hx_incidence *const in = &c->whole.incidence;
    const size_t n = static_cast<size_t>(c->n_group);
    HX_TRY(dev->ops->alloc(dev, n * sizeof *c->d_extent, &c->d_extent));
    HX_TRY(dev->ops->alloc(dev, (n + 1) * sizeof *c->d_begin, &c->d_begin));
    HX_TRY(dev->ops->zero(dev, c->d_begin, (n + 1) * sizeof *c->d_begin));
    if (n == 0) return HX_OK;
    extent_kernel<<<static_cast<unsigned>(c->n_group), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        *in, c->d_extent);
    HX_TRY_LAUNCH("points of groups of cells");
    return dev->ops->sync(dev);
}

} // namespace

int hx_cuda_cutter_create(void **out, hx_device *dev, const hx_fill_input *d_whole)
{
    cutter *c;
    *out = nullptr;
    if (d_whole->incidence.n_per_cell == 0)
        return HX_RAISE(HX_EINPUT,
                        "a mesh of mixed cell types must be cut into ranges on the host");
    HX_TRY(hx_alloc(&c, 1, sizeof *c, "ranges of a mesh"));
    c->dev = dev;
    c->whole = *d_whole;
    c->n_group = (d_whole->incidence.n_cell + GROUP - 1) / GROUP;
    *out = c;
    const int rc = make_cutter(c);
    if (rc == HX_OK) return HX_OK;
    hx_cuda_cutter_free(c);
    *out = nullptr;
    return rc;
}

int hx_cuda_cut(void *of_cutter, int64_t first, int64_t n, hx_device_cut *cut)
{
    const auto *c = static_cast<const cutter *>(of_cutter);
    const hx_incidence *const in = &c->whole.incidence;
    const range r = {in->point, in->n_per_cell, in->n_cell, static_cast<int32_t>(first),
                     static_cast<uint32_t>(n)};
    *cut = {};
    if (c->n_group > 0) HX_TRY(count_cells(c, r, cut));
    HX_TRY(alloc_cut(c->dev, in->n_per_cell, cut));
    if (cut->n_cell == 0) return HX_OK;
    copy_kernel<<<static_cast<unsigned>(c->n_group), HX_BLOCK, 0, hx_cuda_of(c->dev)->stream>>>(
        r, c->d_begin, c->whole.d_modulus, *cut);
    return HX_LAUNCHED("cells of a range");
}

void hx_cuda_cutter_free(void *of_cutter)
{
    auto *c = static_cast<cutter *>(of_cutter);
    if (!c) return;
    c->dev->ops->release(c->dev, c->d_extent);
    c->dev->ops->release(c->dev, c->d_begin);
    free(c);
}

int hx_cuda_shift(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                  int64_t first_entry)
{
    HX_TRY(shift(dev, pattern->d_col, pattern->n_entry, static_cast<int32_t>(first_point)));
    return shift(dev, pattern->d_row_ptr, pattern->n_row + 1, first_entry);
}
