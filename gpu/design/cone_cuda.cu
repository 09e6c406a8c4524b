// The filter's cone-weighted sums over the elements within a radius: for voxels a stencil
// (cone_voxels_cuda.cu); otherwise by tiles (cone_tiles.cuh), or pair by pair if the radius is
// smaller than a cell or much larger.
#include "cone_cuda.cuh"

#include "../device/fields_cuda.cuh"
#include "cone_tiles.cuh"
#include "cone_voxels_cuda.cuh"

struct gather_body {
    const int32_t *member;
    const double *value;
    double *by_place;
    __device__ void operator()(int64_t p) const
    {
        by_place[p] = value[member[p]];
    }
};

// The filter's sums, pair by pair. A warp processes a cell, at most 16 of its elements, the
// targets, at a time. Its 32 lanes are 4 groups of 8 streams: a group holds up to 4 targets in
// registers, and each of its streams processes every eighth source. Sources come from the ranges of
// places that intersect the ball around the targets' bounding box. They are contiguous for the 8
// streams and the same for all groups, so no shared memory is needed. The streams are added in a
// fixed order at the end.
constexpr int CONE_GROUPS = 4, CONE_STREAMS = 8, CONE_MOST = 4;
constexpr unsigned FULL_WARP = 0xffffffffu;

// sqrt(a) to rounding accuracy, for normal a: 5 operations after the hardware's first
// approximation, whose relative error is 2^-20; the first omitted term of the series is 2^-58.
__device__ __forceinline__ double fast_root(double a)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    const double s = a * y, e = fma(-s, y, 1.0);
    return fma(s * e, fma(e, 0.375, 0.5), s);
}

__device__ __forceinline__ int cell_along(const hx_device_bins &cells, int axis, double inverse,
                                          double x)
{
    const double cell = (x - cells.origin[axis]) * inverse;
    const double last = static_cast<double>(cells.n_cell[axis] - 1);
    return static_cast<int>(fmin(fmax(cell, 0.0), last));
}

// The squared reach minus the squared distance between a box's side [low, high] and a layer of
// cells.
__device__ __forceinline__ double reach_left(const hx_device_bins &cells, int axis, int cell,
                                             double low, double high, double square)
{
    const double begin = cells.origin[axis] + cell * cells.size;
    const double away = fmax(0.0, fmax(begin - high, low - (begin + cells.size)));
    return square - away * away;
}

template <int N>
__device__ __forceinline__ void add_range(const hx_device_bins &cells, const double *field,
                                          int begin, int end, int stream, double radius,
                                          const double (&x)[N], const double (&y)[N],
                                          const double (&z)[N], double (&sum)[N])
{
    const double square = radius * radius;
    for (int m = begin + stream; m < end; m += CONE_STREAMS) {
        const double xm = __ldg(cells.d_x + m), ym = __ldg(cells.d_y + m);
        const double zm = __ldg(cells.d_z + m), value = field[m];
        double d2[N];
        bool near = false;
#pragma unroll
        for (int t = 0; t < N; t++) {
            const double dx = xm - x[t], dy = ym - y[t], dz = zm - z[t];
            // never 0, because it is a divisor
            d2[t] = fma(dx, dx, fma(dy, dy, fma(dz, dz, 1e-300)));
            near |= d2[t] < square;
        }
        if (!near) continue;
#pragma unroll
        for (int t = 0; t < N; t++) {
            const double weight = radius - fast_root(d2[t]);
            sum[t] = fma(d2[t] < square ? weight : 0.0, value, sum[t]);
        }
    }
}

__device__ __forceinline__ double warp_min(double a)
{
    for (int lane = 16; lane > 0; lane /= 2) a = fmin(a, __shfl_xor_sync(FULL_WARP, a, lane));
    return a;
}

__device__ __forceinline__ double warp_max(double a)
{
    for (int lane = 16; lane > 0; lane /= 2) a = fmax(a, __shfl_xor_sync(FULL_WARP, a, lane));
    return a;
}

// Sums for the targets at the places [begin, end), at most N per group.
template <int N>
__device__ void sum_targets(const hx_device_bins &cells, const double *field, int begin, int end,
                            double radius, double *__restrict__ result)
{
    const int lane = threadIdx.x & 31, stream = lane % CONE_STREAMS, group = lane / CONE_STREAMS;
    const double reach = radius * (1.0 + 1e-9), inverse = 1.0 / cells.size;
    double x[N], y[N], z[N], sum[N];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
#pragma unroll
    for (int t = 0; t < N; t++) {
        const int p = min(begin + group + t * CONE_GROUPS, end - 1); // repeats the last target
        x[t] = cells.d_x[p];
        y[t] = cells.d_y[p];
        z[t] = cells.d_z[p];
        sum[t] = 0.0;
        low[0] = fmin(low[0], x[t]), high[0] = fmax(high[0], x[t]);
        low[1] = fmin(low[1], y[t]), high[1] = fmax(high[1], y[t]);
        low[2] = fmin(low[2], z[t]), high[2] = fmax(high[2], z[t]);
    }
    for (int i = 0; i < 3; i++) {
        low[i] = warp_min(low[i]);
        high[i] = warp_max(high[i]);
    }
    const int k1 = cell_along(cells, 2, inverse, high[2] + reach);
    for (int k = cell_along(cells, 2, inverse, low[2] - reach); k <= k1; k++) {
        const double left_z = reach_left(cells, 2, k, low[2], high[2], reach * reach);
        const double reach_y = left_z > 0.0 ? sqrt(left_z) : 0.0;
        const int j1 = cell_along(cells, 1, inverse, high[1] + reach_y);
        for (int j = cell_along(cells, 1, inverse, low[1] - reach_y); j <= j1; j++) {
            const double left = reach_left(cells, 1, j, low[1], high[1], left_z);
            if (left <= 0.0) continue;
            const double reach_x = sqrt(left);
            const int32_t *start = cells.d_start + (k * cells.n_cell[1] + j) * cells.n_cell[0];
            add_range<N>(cells, field, start[cell_along(cells, 0, inverse, low[0] - reach_x)],
                         start[cell_along(cells, 0, inverse, high[0] + reach_x) + 1], stream,
                         radius, x, y, z, sum);
        }
    }
#pragma unroll
    for (int t = 0; t < N; t++) {
        for (int step = CONE_STREAMS / 2; step > 0; step /= 2)
            sum[t] += __shfl_xor_sync(FULL_WARP, sum[t], step);
        const int p = begin + group + t * CONE_GROUPS;
        if (stream == 0 && p < end) result[cells.d_member[p]] = sum[t];
    }
}

constexpr int CONE_BLOCK = 128;

__global__ void __launch_bounds__(CONE_BLOCK, 5)
    cone_kernel(hx_device_bins cells, const double *field, int64_t n_cell, double radius,
                double *__restrict__ result)
{
    const int64_t cell = hx_grid_thread() / 32;
    if (cell >= n_cell) return;
    const int end = cells.d_start[cell + 1];
    for (int p = cells.d_start[cell]; p < end; p += CONE_GROUPS * CONE_MOST) {
        const int last = min(end, p + CONE_GROUPS * CONE_MOST);
        switch ((last - p + CONE_GROUPS - 1) / CONE_GROUPS) {
        case 1:
            sum_targets<1>(cells, field, p, last, radius, result);
            break;
        case 2:
            sum_targets<2>(cells, field, p, last, radius, result);
            break;
        case 3:
            sum_targets<3>(cells, field, p, last, radius, result);
            break;
        default:
            sum_targets<4>(cells, field, p, last, radius, result);
            break;
        }
    }
}

// Tiles are used if they are accurate enough. |t|^2 must not be much larger than the squared
// radius, because their difference would lose digits; and neighbours must not be closer than 1.3e-3
// of the radius, because roots are inaccurate below that.
static bool takes_tiles(const hx_device_bins &cells, double radius)
{
    return radius >= 0.75 * cells.size && radius <= 50.0 * cells.size && cells.n < CONE_MOST_ELEMS;
}

constexpr int TILE_WARPS = 4;
static_assert(sizeof(hx_bin_row) == sizeof(uint2), "cone_row reads one in one load");

// FIELDS fields at a time, and BLOCKS blocks per multiprocessor, chosen by measurement.
template <class Law, int FIELDS, int BLOCKS>
static int sum_tiles(const hx_cuda *impl, const hx_device_bins &cells, double radius,
                     double *const d_sum[])
{
    cone_grid grid = {};
    grid.start = cells.d_start;
    grid.row = reinterpret_cast<const uint2 *>(cells.d_row);
    for (int i = 0; i < 3; i++) grid.n_cell[i] = static_cast<int>(cells.n_cell[i]);
    grid.reach = static_cast<float>(radius / cells.size);
    grid.scale = radius / Law::UNIT;
    grid.nothing = 8u * static_cast<unsigned>(cells.n);
    for (int i = 0; i < FIELDS; i++) {
        grid.value[i] = cells.d_value[i];
        grid.sum[i] = d_sum[i];
    }
    Law law = {};
    law.x = cells.d_x;
    law.y = cells.d_y;
    law.z = cells.d_z;
    law.member = cells.d_member;
    for (int i = 0; i < 3; i++) law.corner[i] = cells.origin[i];
    law.size = cells.size;
    law.inverse = 1.0 / cells.size;
    law.factor = Law::RADIUS / radius;
    const int64_t n_tile =
        (cells.n_cell[0] + CONE_CELLS - 1) / CONE_CELLS * cells.n_cell[1] * cells.n_cell[2];
    cone_tile_kernel<Law, FIELDS, TILE_WARPS, BLOCKS>
        <<<hx_blocks(n_tile, TILE_WARPS), 32 * TILE_WARPS, 0, impl->stream>>>(
            grid, law, static_cast<unsigned>(n_tile));
    return HX_LAUNCHED("cone_sum");
}

int hx_cuda_cone_sum(hx_device *dev, const hx_device_bins *cells, double radius, int n_field,
                     const double *const d_value[], double *const d_sum[])
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (cells->voxels.n[0] > 0) {
        for (int i = 0; i < n_field; i++)
            HX_TRY(hx_cuda_voxel_sum(dev, cells, d_value[i], d_sum[i]));
        return HX_OK;
    }
    const int64_t n_cell = cells->n_cell[0] * cells->n_cell[1] * cells->n_cell[2];
    for (int i = 0; i < n_field; i++)
        HX_TRY(hx_for_each(dev, cells->n,
                           gather_body{cells->d_member, d_value[i], cells->d_value[i]}));
    if (takes_tiles(*cells, radius)) {
        if (n_field == 2) return sum_tiles<cone_double, 2, 6>(impl, *cells, radius, d_sum);
        if (cells->single) return sum_tiles<cone_single, 1, 8>(impl, *cells, radius, d_sum);
        return sum_tiles<cone_double, 1, 8>(impl, *cells, radius, d_sum);
    }
    for (int i = 0; i < n_field; i++) {
        cone_kernel<<<hx_blocks(32 * n_cell, CONE_BLOCK), CONE_BLOCK, 0, impl->stream>>>(
            *cells, cells->d_value[i], n_cell, radius, d_sum[i]);
        HX_TRY_LAUNCH("cone_sum");
    }
    return HX_OK;
}
