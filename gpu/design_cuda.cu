// The design's steps on the GPU: element fields, optimality criteria, and the filter's sums over
// the elements within a radius.
#include "core/design/cells.h"
#include "core/design/oc.h"
#include "core/design/projection.h"
#include "core/design/ties.h"
#include "core/problem/simp.h"
#include "fields_cuda.cuh"

struct modulus_body {
    double least, young, penalty;
    const double *rho;
    double *modulus;
    __device__ void operator()(int64_t e) const
    {
        modulus[e] = hx_simp_between(least, young, penalty, rho[e]);
    }
};

struct sensitivity_body {
    double least, penalty;
    const double *modulus, *rho, *energy;
    double *dc;
    __device__ void operator()(int64_t e) const
    {
        dc[e] = -penalty * (modulus[e] - least) / rho[e] * energy[e];
    }
};

struct gather_body {
    const int32_t *member;
    const double *value;
    double *by_place;
    __device__ void operator()(int64_t p) const
    {
        by_place[p] = value[member[p]];
    }
};

// Of a group of tied elements, a thread each.
struct tie_body {
    hx_device_ties ties;
    const double *dv;
    double *dc;
    __device__ void operator()(int64_t g) const
    {
        hx_ties_spread(ties.d_member, ties.d_start[g], ties.d_start[g + 1], dv, dc);
    }
};

struct copy_largest_body {
    hx_device_ties ties;
    double *x;
    __device__ void operator()(int64_t g) const
    {
        hx_ties_copy_largest(ties.d_member, ties.d_start[g], ties.d_start[g + 1], x);
    }
};

static int modulus(hx_device *dev, int64_t n, double least, double young, double penalty,
                   const double *d_rho, double *d_modulus)
{
    return hx_for_each(dev, n, modulus_body{least, young, penalty, d_rho, d_modulus});
}

static int sensitivity(hx_device *dev, int64_t n, double least, double penalty,
                       const double *d_modulus, const double *d_rho, const double *d_energy,
                       double *d_dc)
{
    return hx_for_each(dev, n, sensitivity_body{least, penalty, d_modulus, d_rho, d_energy, d_dc});
}

static int tie(hx_device *dev, const hx_device_ties *ties, const double *d_dv, double *d_dc)
{
    return hx_for_each(dev, ties->n_group, tie_body{*ties, d_dv, d_dc});
}

static int copy_largest(hx_device *dev, const hx_device_ties *ties, double *d_x)
{
    return hx_for_each(dev, ties->n_group, copy_largest_body{*ties, d_x});
}

__device__ __forceinline__ bool is_free(const double *passive, int64_t e)
{
    return !passive || isnan(passive[e]);
}

struct project_body {
    hx_projection law;
    const double *passive, *filtered;
    double *physical;
    __device__ void operator()(int64_t e) const
    {
        physical[e] = is_free(passive, e) ? hx_projection_value(&law, filtered[e]) : passive[e];
    }
};

struct project_backward_body {
    hx_projection law;
    const double *passive, *filtered;
    double *a;
    __device__ void operator()(int64_t e) const
    {
        a[e] = is_free(passive, e) ? a[e] * hx_projection_slope(&law, filtered[e]) : 0.0;
    }
};

struct zero_passive_body {
    const double *passive;
    double *a;
    __device__ void operator()(int64_t e) const
    {
        if (!is_free(passive, e)) a[e] = 0.0;
    }
};

static int project(hx_device *dev, int64_t n, const hx_projection *law, const double *d_passive,
                   const double *d_filtered, double *d_physical)
{
    return hx_for_each(dev, n, project_body{*law, d_passive, d_filtered, d_physical});
}

static int project_backward(hx_device *dev, int64_t n, const hx_projection *law,
                            const double *d_passive, const double *d_filtered, double *d_a)
{
    return hx_for_each(dev, n, project_backward_body{*law, d_passive, d_filtered, d_a});
}

static int zero_passive(hx_device *dev, int64_t n, const double *d_passive, double *d_a)
{
    return hx_for_each(dev, n, zero_passive_body{d_passive, d_a});
}

__global__ void __launch_bounds__(HX_BLOCK)
    measure_kernel(int64_t n, const double *rho, const double *volume, const double *passive,
                   double *result, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    for (int64_t e = hx_first_of_thread(); e < n; e += hx_all_threads()) {
        const double r = rho[e], v = volume[e];
        sum[0] += v * r;
        if (is_free(passive, e)) sum[1] += v * r * (1.0 - r);
    }
    if (hx_finish_sums(sum, partial, ticket)) {
        result[0] = sum[0];
        result[1] = sum[1];
    }
}

static int measure(hx_device *dev, int64_t n, const double *d_rho, const double *d_volume,
                   const double *d_passive, double *mass, double *grey)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    double result[2];
    measure_kernel<<<hx_field_blocks(impl, n), HX_BLOCK, 0, impl->stream>>>(
        n, d_rho, d_volume, d_passive, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("measure");
    HX_TRY(dev->ops->download(dev, result, impl->d_result, sizeof result));
    *mass = result[0];
    *grey = result[1];
    return HX_OK;
}

__global__ void __launch_bounds__(HX_BLOCK)
    positive_kernel(int64_t n, const double *dc, const double *dv, const double *passive,
                    double *result, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    for (int64_t e = hx_first_of_thread(); e < n; e += hx_all_threads()) {
        if (!is_free(passive, e)) continue;
        sum[0] += dc[e] > 0.0 ? dc[e] : 0.0;
        sum[1] += dv[e];
    }
    if (hx_finish_sums(sum, partial, ticket)) {
        result[0] = sum[0];
        result[1] = sum[1];
    }
}

static int mean_positive(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                         const double *d_passive, double *mean)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    double result[2];
    positive_kernel<<<hx_field_blocks(impl, n), HX_BLOCK, 0, impl->stream>>>(
        n, d_dc, d_dv, d_passive, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("mean_positive");
    HX_TRY(dev->ops->download(dev, result, impl->d_result, sizeof result));
    *mean = result[0] / result[1];
    return HX_OK;
}

__global__ void __launch_bounds__(HX_BLOCK)
    oc_begin_kernel(hx_device_oc oc, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    for (int64_t e = hx_first_of_thread(); e < oc.n; e += hx_all_threads()) {
        const double rho = oc.d_design[e], dv = oc.d_dv[e];
        const double b = fmax(0.0, oc.shift - oc.d_dc[e] / dv);
        const double t = rho * (oc.damping == 0.5 ? sqrt(b) : pow(b, oc.damping));
        oc.d_proposal[e] = t;
        if (!is_free(oc.d_passive, e)) continue;
        sum[0] += dv * t;
        sum[1] += dv * rho;
    }
    if (hx_finish_sums(sum, partial, ticket)) hx_oc_state_begin(oc.d_state, sum[0], sum[1]);
}

__global__ void __launch_bounds__(HX_BLOCK)
    oc_pass_kernel(hx_device_oc oc, double *partial, unsigned *ticket)
{
    double trial[HX_OC_TRIALS], sum[HX_OC_TRIALS];
    if (oc.d_state->done) return;
    for (int k = 0; k < HX_OC_TRIALS; k++) {
        trial[k] = oc.d_state->trial[k];
        sum[k] = 0.0;
    }
    for (int64_t e = hx_first_of_thread(); e < oc.n; e += hx_all_threads()) {
        const double rho = oc.d_design[e], t = oc.d_proposal[e], dv = oc.d_dv[e];
        if (!is_free(oc.d_passive, e)) continue;
        for (int k = 0; k < HX_OC_TRIALS; k++)
            sum[k] += dv * hx_oc_clipped(trial[k] * t, rho, oc.move, oc.rho_min);
    }
    if (hx_finish_sums(sum, partial, ticket)) hx_oc_state_step(oc.d_state, sum);
}

// The largest change needs no order: changes are not negative, and compare as their bits do.
__global__ void __launch_bounds__(HX_BLOCK) oc_end_kernel(hx_device_oc oc)
{
    __shared__ typename hx_block_reduce::TempStorage storage;
    const double scale = oc.d_state->scale;
    double change = 0.0;
    for (int64_t e = hx_first_of_thread(); e < oc.n; e += hx_all_threads()) {
        const double rho = oc.d_design[e];
        const double next = is_free(oc.d_passive, e)
                                ? hx_oc_clipped(scale * oc.d_proposal[e], rho, oc.move, oc.rho_min)
                                : rho;
        oc.d_proposal[e] = next;
        change = fmax(change, fabs(next - rho));
    }
    change =
        hx_block_reduce(storage).Reduce(change, [](double a, double b) { return a > b ? a : b; });
    if (threadIdx.x == 0)
        atomicMax(reinterpret_cast<unsigned long long *>(&oc.d_state->change),
                  static_cast<unsigned long long>(__double_as_longlong(change)));
}

static int oc_begin(hx_device *dev, const hx_device_oc *oc)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    oc_begin_kernel<<<hx_field_blocks(impl, oc->n), HX_BLOCK, 0, impl->stream>>>(
        *oc, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("oc_begin");
    return HX_OK;
}

static int oc_pass(hx_device *dev, const hx_device_oc *oc)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    oc_pass_kernel<<<hx_field_blocks(impl, oc->n), HX_BLOCK, 0, impl->stream>>>(
        *oc, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("oc_pass");
    return HX_OK;
}

static int oc_end(hx_device *dev, const hx_device_oc *oc)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    oc_end_kernel<<<hx_field_blocks(impl, oc->n), HX_BLOCK, 0, impl->stream>>>(*oc);
    HX_TRY_LAUNCH("oc_end");
    return HX_OK;
}

// The filter's sums. A warp takes a cell, in turns of up to 16 of its elements, the targets. Its 32
// lanes are 4 groups of 8 streams: a group holds up to 4 targets in registers, its streams take
// every eighth source. Sources come from the ranges of places that the ball around the targets'
// bounding box touches, neighbours in memory for the 8 streams and the same for all groups, so no
// shared memory is needed. Streams are added in a fixed order at the end.
constexpr int CONE_GROUPS = 4, CONE_STREAMS = 8, CONE_MOST = 4;
constexpr unsigned FULL_WARP = 0xffffffffu;

// sqrt(a) to rounding, for normal a: 5 operations after the hardware's first guess, which errs by
// 2^-20; the last term left out is 2^-58.
__device__ __forceinline__ double fast_root(double a)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    const double s = a * y, e = fma(-s, y, 1.0);
    return fma(s * e, fma(e, 0.375, 0.5), s);
}

__device__ __forceinline__ int cell_along(const hx_device_cells &cells, int axis, double inverse,
                                          double x)
{
    const double cell = (x - cells.origin[axis]) * inverse;
    const double last = static_cast<double>(cells.n_cell[axis] - 1);
    return static_cast<int>(fmin(fmax(cell, 0.0), last));
}

// What is left of a squared reach between a box's side [low, high] and a layer of cells.
__device__ __forceinline__ double reach_left(const hx_device_cells &cells, int axis, int cell,
                                             double low, double high, double square)
{
    const double begin = cells.origin[axis] + cell * cells.size;
    const double away = fmax(0.0, fmax(begin - high, low - (begin + cells.size)));
    return square - away * away;
}

template <int N>
__device__ __forceinline__ void
add_range(const hx_device_cells &cells, int begin, int end, int stream, double radius,
          const double (&x)[N], const double (&y)[N], const double (&z)[N], double (&sum)[N])
{
    const double square = radius * radius;
    for (int m = begin + stream; m < end; m += CONE_STREAMS) {
        const double xm = __ldg(cells.d_x + m), ym = __ldg(cells.d_y + m);
        const double zm = __ldg(cells.d_z + m), value = cells.d_value[m];
        double d2[N];
        bool near = false;
#pragma unroll
        for (int t = 0; t < N; t++) {
            const double dx = xm - x[t], dy = ym - y[t], dz = zm - z[t];
            d2[t] = fma(dx, dx, fma(dy, dy, fma(dz, dz, 1e-300))); // never 0: it is divided by
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

// The targets at the places [begin, end), N or fewer for each group.
template <int N>
__device__ void sum_targets(const hx_device_cells &cells, int begin, int end, double radius,
                            double *__restrict__ result)
{
    const int lane = threadIdx.x & 31, stream = lane % CONE_STREAMS, group = lane / CONE_STREAMS;
    const double reach = radius * (1.0 + 1e-9), inverse = 1.0 / cells.size;
    double x[N], y[N], z[N], sum[N];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
#pragma unroll
    for (int t = 0; t < N; t++) {
        const int p = min(begin + group + t * CONE_GROUPS, end - 1); // the last one again
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
            add_range<N>(cells, start[cell_along(cells, 0, inverse, low[0] - reach_x)],
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
    cone_kernel(hx_device_cells cells, int64_t n_cell, double radius, double *__restrict__ result)
{
    const int64_t cell = hx_first_of_thread() / 32;
    if (cell >= n_cell) return;
    const int end = cells.d_start[cell + 1];
    for (int p = cells.d_start[cell]; p < end; p += CONE_GROUPS * CONE_MOST) {
        const int last = min(end, p + CONE_GROUPS * CONE_MOST);
        switch ((last - p + CONE_GROUPS - 1) / CONE_GROUPS) {
        case 1:
            sum_targets<1>(cells, p, last, radius, result);
            break;
        case 2:
            sum_targets<2>(cells, p, last, radius, result);
            break;
        case 3:
            sum_targets<3>(cells, p, last, radius, result);
            break;
        default:
            sum_targets<4>(cells, p, last, radius, result);
            break;
        }
    }
}

static int cone_sum(hx_device *dev, const hx_device_cells *cells, double radius,
                    const double *d_value, double *d_sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const int64_t n_cell = cells->n_cell[0] * cells->n_cell[1] * cells->n_cell[2];
    HX_TRY(hx_for_each(dev, cells->n, gather_body{cells->d_member, d_value, cells->d_value}));
    cone_kernel<<<hx_blocks(32 * n_cell, CONE_BLOCK), CONE_BLOCK, 0, impl->stream>>>(*cells, n_cell,
                                                                                     radius, d_sum);
    HX_TRY_LAUNCH("cone_sum");
    return HX_OK;
}

static hx_design_ops make_ops()
{
    hx_design_ops ops = {};
    ops.modulus = modulus;
    ops.sensitivity = sensitivity;
    ops.measure = measure;
    ops.mean_positive = mean_positive;
    ops.project = project;
    ops.project_backward = project_backward;
    ops.zero_passive = zero_passive;
    ops.oc_begin = oc_begin;
    ops.oc_pass = oc_pass;
    ops.oc_end = oc_end;
    ops.tie = tie;
    ops.copy_largest = copy_largest;
    ops.cone_sum = cone_sum;
    return ops;
}

const hx_design_ops hx_cuda_design_ops = make_ops();
