// The method of moving asymptotes on the GPU (mma.h). The number of constraints of a kernel is a
// constant, so that sums and derivatives stay in registers; a problem with fewer adds zeros.
#include "../device/fields_cuda.cuh"
#include "core/design/mma.h"
#include "mma_cuda.cuh"

static_assert(HX_MMA_SUMS <= HX_MOST_SUMS && HX_MMA_SUMS <= HX_MOST_RESULTS);

__device__ __forceinline__ bool is_free(const double *passive, int64_t e)
{
    return !passive || isnan(passive[e]);
}

// Scaled derivative of function i.
__device__ __forceinline__ double derivative(const hx_device_mma &mma, int i, int64_t e)
{
    return i <= mma.m && mma.d_derivative[i] ? mma.scale[i] * mma.d_derivative[i][e] : 0.0;
}

template <int N>
__device__ void finish(double (&sum)[N], double *result, double *partial, unsigned *ticket)
{
    if (hx_finish_sums(sum, partial, ticket))
        for (int i = 0; i < N; i++) result[i] = sum[i];
}

template <int M>
__global__ void __launch_bounds__(HX_BLOCK)
    begin_kernel(hx_device_mma mma, double *result, double *partial, unsigned *ticket)
{
    double sum[2 + M] = {0.0};
    for (int64_t e = hx_grid_thread(); e < mma.n; e += hx_all_threads()) {
        if (!is_free(mma.d_passive, e)) continue;
        sum[0] += 1.0;
#pragma unroll
        for (int i = 0; i <= M; i++) sum[1 + i] += fabs(derivative(mma, i, e));
    }
    finish(sum, result, partial, ticket);
}

// b and s of the Lagrangian of an element; g: the scaled derivatives.
template <int M>
__device__ __forceinline__ void add_functions(const hx_device_mma &mma, int64_t e,
                                              double (&g)[1 + M], double *b, double *s)
{
    *b = *s = 0.0;
#pragma unroll
    for (int i = 0; i <= M; i++) {
        g[i] = derivative(mma, i, e);
        if (i > mma.m) continue;
        *b += mma.lambda[i] * g[i];
        *s += mma.lambda[i] * hx_mma_weight(g[i], mma.convexity[i]);
    }
}

template <int M>
__global__ void __launch_bounds__(HX_BLOCK)
    dual_kernel(hx_device_mma mma, double *result, double *partial, unsigned *ticket)
{
    double sum[2 + M * (M + 3) / 2] = {0.0};
    for (int64_t e = hx_grid_thread(); e < mma.n; e += hx_all_threads()) {
        if (!is_free(mma.d_passive, e)) continue;
        const hx_mma_range range = hx_mma_range_of(&mma, mma.d_design[e], mma.d_state[e]);
        double g[1 + M], slope[M], b, s;
        add_functions<M>(mma, e, g, &b, &s);
        const double best = hx_mma_minimum(b, s), t = hx_mma_clipped(&range, best);
        const double rest = 1.0 - t * t, w = range.offset * t / rest;
        sum[0] += w * (b + 2.0 * t * s);
        sum[1] += 2.0 * w * t;
#pragma unroll
        for (int i = 0; i < M; i++) {
            const double gi = g[1 + i];
            const double si = i < mma.m ? hx_mma_weight(gi, mma.convexity[1 + i]) : 0.0;
            sum[2 + i] += w * (gi + 2.0 * t * si);
            slope[i] = gi * (1.0 + t * t) + 4.0 * t * si;
        }
        if (t != best) continue;
        const double curvature = 2.0 * rest * (s * (2.0 + 6.0 * t * t) + b * t * (3.0 + t * t));
        const double factor = curvature > 0.0 ? range.offset / curvature : 0.0;
        int entry = 2 + M;
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int k = i; k < M; k++) sum[entry++] += factor * slope[i] * slope[k];
    }
    finish(sum, result, partial, ticket);
}

struct end_body {
    hx_device_mma mma;
    __device__ void operator()(int64_t e) const
    {
        const double x = mma.d_design[e];
        mma.d_proposal[e] = x;
        if (!is_free(mma.d_passive, e)) return;
        const hx_mma_range range = hx_mma_range_of(&mma, x, mma.d_state[e]);
        double b = 0.0, s = 0.0;
        for (int i = 0; i <= mma.m; i++) {
            const double g = derivative(mma, i, e);
            b += mma.lambda[i] * g;
            s += mma.lambda[i] * hx_mma_weight(g, mma.convexity[i]);
        }
        mma.d_proposal[e] =
            hx_mma_moved(&mma, &range, x, hx_mma_clipped(&range, hx_mma_minimum(b, s)));
    }
};

struct settle_body {
    hx_device_mma mma;
    __device__ void operator()(int64_t e) const
    {
        if (is_free(mma.d_passive, e))
            mma.d_state[e] =
                hx_mma_state_after(&mma, mma.d_state[e], mma.d_proposal[e] - mma.d_design[e]);
    }
};

// The largest values, which compare like the integers with their bits because none is negative.
__global__ void __launch_bounds__(HX_BLOCK) mma_measure_kernel(hx_device_mma mma, double *result)
{
    __shared__ double of_warp[HX_BLOCK_WARPS];
    double largest[HX_MMA_MEASURED] = {0.0};
    for (int64_t e = hx_grid_thread(); e < mma.n; e += hx_all_threads()) {
        if (!is_free(mma.d_passive, e)) continue;
        const double x = mma.d_design[e], moved = mma.d_proposal[e] - x;
        const double size = hx_mma_free_change(&mma, mma.d_state[e], moved);
        largest[HX_MMA_CHANGE] = fmax(largest[HX_MMA_CHANGE], fabs(moved));
        largest[HX_MMA_FREE_CHANGE] = fmax(largest[HX_MMA_FREE_CHANGE], size);
        largest[HX_MMA_KKT] = fmax(largest[HX_MMA_KKT], hx_mma_kkt(&mma, x, e));
    }
    for (int i = 0; i < HX_MMA_MEASURED; i++) {
        const double of_block =
            hx_block_reduce(largest[i], of_warp, [](double a, double b) { return a > b ? a : b; });
        if (threadIdx.x == 0)
            atomicMax(reinterpret_cast<unsigned long long *>(&result[i]),
                      static_cast<unsigned long long>(__double_as_longlong(of_block)));
        __syncthreads();
    }
}

// Queues one of the sums for at least m constraints, and returns their number in the kernel.
template <int M> static int queue_begin(const hx_cuda *impl, const hx_device_mma *mma)
{
    begin_kernel<M><<<hx_field_blocks(impl, mma->n), HX_BLOCK, 0, impl->stream>>>(
        *mma, impl->d_result, impl->d_partial, impl->d_ticket);
    return M;
}

template <int M> static int queue_dual(const hx_cuda *impl, const hx_device_mma *mma)
{
    dual_kernel<M><<<hx_field_blocks(impl, mma->n), HX_BLOCK, 0, impl->stream>>>(
        *mma, impl->d_result, impl->d_partial, impl->d_ticket);
    return M;
}

int hx_cuda_mma_begin(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (mma->m <= 2)
        queue_begin<2>(impl, mma);
    else
        queue_begin<HX_MMA_MOST>(impl, mma);
    HX_TRY_LAUNCH("mma_begin");
    return dev->ops->download(dev, sum, impl->d_result, (2 + mma->m) * sizeof *sum);
}

static int queue_any_dual(const hx_cuda *impl, const hx_device_mma *mma)
{
    switch (mma->m) {
    case 0:
    case 1:
        return queue_dual<1>(impl, mma);
    case 2:
        return queue_dual<2>(impl, mma);
    case 3:
        return queue_dual<3>(impl, mma);
    case 4:
        return queue_dual<4>(impl, mma);
    case 5:
    case 6:
        return queue_dual<6>(impl, mma);
    case 7:
    case 8:
        return queue_dual<8>(impl, mma);
    default:
        return queue_dual<HX_MMA_MOST>(impl, mma);
    }
}

int hx_cuda_mma_dual(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    double all[HX_MMA_SUMS];
    const int m = mma->m, most = queue_any_dual(impl, mma);
    HX_TRY_LAUNCH("mma_dual");
    HX_TRY(dev->ops->download(dev, all, impl->d_result,
                              static_cast<size_t>(2 + most * (most + 3) / 2) * sizeof *all));
    for (int i = 0; i < 2 + m; i++) sum[i] = all[i];
    for (int i = 0; i < m; i++)
        for (int k = i; k < m; k++) sum[hx_mma_entry(m, i, k)] = all[hx_mma_entry(most, i, k)];
    return HX_OK;
}

int hx_cuda_mma_end(hx_device *dev, const hx_device_mma *mma)
{
    return hx_for_each(dev, mma->n, end_body{*mma});
}

int hx_cuda_mma_measure(hx_device *dev, const hx_device_mma *mma, double *largest)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const size_t bytes = HX_MMA_MEASURED * sizeof *largest;
    HX_TRY(dev->ops->zero(dev, impl->d_result, bytes));
    mma_measure_kernel<<<hx_field_blocks(impl, mma->n), HX_BLOCK, 0, impl->stream>>>(
        *mma, impl->d_result);
    HX_TRY_LAUNCH("mma_measure");
    return dev->ops->download(dev, largest, impl->d_result, bytes);
}

int hx_cuda_mma_settle(hx_device *dev, const hx_device_mma *mma)
{
    return hx_for_each(dev, mma->n, settle_body{*mma});
}
