// The steps of a design iteration on the GPU: element fields and optimality criteria.
#include "../device/fields_cuda.cuh"
#include "cone_cuda.cuh"
#include "core/design/groups.h"
#include "core/design/oc.h"
#include "core/design/projection.h"
#include "core/problem/simp.h"
#include "mma_cuda.cuh"
#include "sweep_cuda.cuh"

struct modulus_body {
    double least, young, penalty;
    const double *rho;
    double *modulus;
    __device__ void operator()(int64_t e) const
    {
        modulus[e] = hx_simp_between(least, young, penalty, rho[e]);
    }
};

struct materials_body {
    hx_device_materials materials;
    modulus_body law;
    __device__ void operator()(int64_t e) const
    {
        law.modulus[e] = hx_simp_between(law.least, hx_stiffness_factor(&materials, e) * law.young,
                                         law.penalty, law.rho[e]);
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

// One thread per group of linked variables.
struct tie_body {
    hx_device_groups groups;
    const double *dv;
    double *dc;
    __device__ void operator()(int64_t g) const
    {
        hx_groups_spread(groups.d_member, groups.d_start[g], groups.d_start[g + 1], dv, dc);
    }
};

struct copy_largest_body {
    hx_device_groups groups;
    double *x;
    __device__ void operator()(int64_t g) const
    {
        hx_groups_copy_largest(groups.d_member, groups.d_start[g], groups.d_start[g + 1], x);
    }
};

static int modulus(hx_device *dev, int64_t n, const hx_device_materials *materials, double least,
                   double young, double penalty, const double *d_rho, double *d_modulus)
{
    const modulus_body law{least, young, penalty, d_rho, d_modulus};
    if (materials && materials->d_number)
        return hx_for_each(dev, n, materials_body{*materials, law});
    return hx_for_each(dev, n, law);
}

static int sensitivity(hx_device *dev, int64_t n, double least, double penalty,
                       const double *d_modulus, const double *d_rho, const double *d_energy,
                       double *d_dc)
{
    return hx_for_each(dev, n, sensitivity_body{least, penalty, d_modulus, d_rho, d_energy, d_dc});
}

static int link(hx_device *dev, const hx_device_groups *groups, const double *d_dv, double *d_dc)
{
    return hx_for_each(dev, groups->n_group, tie_body{*groups, d_dv, d_dc});
}

static int copy_largest(hx_device *dev, const hx_device_groups *groups, double *d_x)
{
    return hx_for_each(dev, groups->n_group, copy_largest_body{*groups, d_x});
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

static int project_design(hx_device *dev, int64_t n, const hx_projection *law,
                          const double *d_passive, const double *d_filtered, double *d_physical)
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
    for (int64_t e = hx_grid_thread(); e < n; e += hx_all_threads()) {
        const double r = rho[e], v = volume[e];
        sum[0] += v * r;
        if (is_free(passive, e)) sum[1] += v * r * (1.0 - r);
    }
    if (hx_finish_sums(sum, partial, ticket)) {
        result[0] = sum[0];
        result[1] = sum[1];
    }
}

static int measure_design_sums(hx_device *dev, int64_t n, const double *d_rho,
                               const double *d_volume, const double *d_passive, double *mass,
                               double *grey)
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
    for (int64_t e = hx_grid_thread(); e < n; e += hx_all_threads()) {
        if (!is_free(passive, e)) continue;
        sum[0] += dc[e] > 0.0 ? dc[e] : 0.0;
        sum[1] += dv[e];
    }
    if (hx_finish_sums(sum, partial, ticket)) {
        result[0] = sum[0];
        result[1] = sum[1];
    }
}

static int sum_positive(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                        const double *d_passive, double sum[2])
{
    const hx_cuda *impl = hx_cuda_of(dev);
    positive_kernel<<<hx_field_blocks(impl, n), HX_BLOCK, 0, impl->stream>>>(
        n, d_dc, d_dv, d_passive, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("sum_positive");
    return dev->ops->download(dev, sum, impl->d_result, 2 * sizeof *sum);
}

__global__ void __launch_bounds__(HX_BLOCK)
    oc_begin_kernel(hx_device_oc oc, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    for (int64_t e = hx_grid_thread(); e < oc.n; e += hx_all_threads()) {
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
    for (int64_t e = hx_grid_thread(); e < oc.n; e += hx_all_threads()) {
        const double rho = oc.d_design[e], t = oc.d_proposal[e], dv = oc.d_dv[e];
        if (!is_free(oc.d_passive, e)) continue;
        for (int k = 0; k < HX_OC_TRIALS; k++)
            sum[k] += dv * hx_oc_clipped(trial[k] * t, rho, oc.move, oc.rho_min);
    }
    if (hx_finish_sums(sum, partial, ticket)) hx_oc_state_step(oc.d_state, sum);
}

// The largest change does not depend on the order of threads: changes are nonnegative, so they
// compare like the integers with the same bits.
__global__ void __launch_bounds__(HX_BLOCK) oc_end_kernel(hx_device_oc oc)
{
    __shared__ double of_warp[HX_BLOCK_WARPS];
    const double scale = oc.d_state->scale;
    double change = 0.0;
    for (int64_t e = hx_grid_thread(); e < oc.n; e += hx_all_threads()) {
        const double rho = oc.d_design[e];
        const double next = is_free(oc.d_passive, e)
                                ? hx_oc_clipped(scale * oc.d_proposal[e], rho, oc.move, oc.rho_min)
                                : rho;
        oc.d_proposal[e] = next;
        change = fmax(change, fabs(next - rho));
    }
    change = hx_block_reduce(change, of_warp, [](double a, double b) { return a > b ? a : b; });
    if (threadIdx.x == 0)
        atomicMax(reinterpret_cast<unsigned long long *>(&oc.d_state->change),
                  static_cast<unsigned long long>(__double_as_longlong(change)));
}

static int oc_begin(hx_device *dev, const hx_device_oc *oc)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    oc_begin_kernel<<<hx_field_blocks(impl, oc->n), HX_BLOCK, 0, impl->stream>>>(
        *oc, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("oc_begin");
}

static int oc_pass(hx_device *dev, const hx_device_oc *oc)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    oc_pass_kernel<<<hx_field_blocks(impl, oc->n), HX_BLOCK, 0, impl->stream>>>(
        *oc, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("oc_pass");
}

__global__ void oc_take_kernel(int is_begin, const hx_oc_state *sums, hx_oc_state *state)
{
    hx_oc_state_take(state, is_begin, sums);
}

static int oc_take(hx_device *dev, int is_begin, const hx_oc_state *d_sums, hx_oc_state *d_state)
{
    oc_take_kernel<<<1, 1, 0, hx_cuda_of(dev)->stream>>>(is_begin, d_sums, d_state);
    return HX_LAUNCHED("oc_take");
}

static int oc_end(hx_device *dev, const hx_device_oc *oc)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    oc_end_kernel<<<hx_field_blocks(impl, oc->n), HX_BLOCK, 0, impl->stream>>>(*oc);
    return HX_LAUNCHED("oc_end");
}

const hx_design_ops hx_cuda_design_ops = {
    .modulus = modulus,
    .sensitivity = sensitivity,
    .measure = measure_design_sums,
    .sum_positive = sum_positive,
    .project = project_design,
    .project_backward = project_backward,
    .zero_passive = zero_passive,
    .oc_begin = oc_begin,
    .oc_pass = oc_pass,
    .oc_end = oc_end,
    .oc_take = oc_take,
    .mma_begin = hx_cuda_mma_begin,
    .mma_dual = hx_cuda_mma_dual,
    .mma_end = hx_cuda_mma_end,
    .mma_measure = hx_cuda_mma_measure,
    .mma_settle = hx_cuda_mma_settle,
    .link = link,
    .copy_largest = copy_largest,
    .sweep_forward = hx_cuda_sweep_forward,
    .sweep_backward = hx_cuda_sweep_backward,
    .sweep_join = hx_cuda_sweep_join,
    .sweep_share = hx_cuda_sweep_share,
    .cone_sum = hx_cuda_cone_sum,
    .cone_rounding = HX_CONE_ROUNDING,
};
