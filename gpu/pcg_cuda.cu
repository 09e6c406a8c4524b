// The vector side of PCG on the GPU: few, fused passes; scalars stay in hx_pcg_state on the device.
//
// Every sum runs over a fixed number of blocks and the last block to finish adds their results in
// order, so a dot product has the same bits on every run of one GPU.
#include <cub/block/block_reduce.cuh>

#include "cuda_device.cuh"

using block_reduce = cub::BlockReduce<double, HX_BLOCK>;

// Adds the sums of all blocks; true in thread 0 of the last block, which then holds the totals.
template <int N> __device__ bool finish_sums(double (&sum)[N], double *partial, unsigned *ticket)
{
    __shared__ typename block_reduce::TempStorage storage;
    __shared__ bool last;
    for (int i = 0; i < N; i++) {
        sum[i] = block_reduce(storage).Sum(sum[i]);
        __syncthreads();
        if (threadIdx.x == 0) partial[i * gridDim.x + blockIdx.x] = sum[i];
    }
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
    for (int i = 0; i < N; i++) {
        double total = 0.0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            total += static_cast<volatile double *>(partial)[i * gridDim.x + b];
        sum[i] = block_reduce(storage).Sum(total);
        __syncthreads();
    }
    if (threadIdx.x == 0) *ticket = 0u;
    return threadIdx.x == 0;
}

#define HX_FOR_EACH(k, n)                                                                          \
    for (int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; k < (n);         \
         k += static_cast<int64_t>(gridDim.x) * blockDim.x)

__global__ void zero_entries_kernel(int64_t n, const int64_t *__restrict__ dof, double *y)
{
    HX_FOR_EACH(k, n) y[dof[k]] = 0.0;
}

__global__ void subtract_kernel(int64_t n, const double *a, const double *b, double *c)
{
    HX_FOR_EACH(k, n) c[k] = a[k] - b[k];
}

__global__ void invert_kernel(int64_t n, double *d)
{
    HX_FOR_EACH(k, n) d[k] = d[k] > 0.0 ? 1.0 / d[k] : 1.0;
}

__global__ void __launch_bounds__(HX_BLOCK)
    dot_kernel(int64_t n, const double *__restrict__ a, const double *__restrict__ b,
               double *result, double *partial, unsigned *ticket)
{
    double sum[1] = {0.0};
    HX_FOR_EACH(k, n) sum[0] += a[k] * b[k];
    if (finish_sums(sum, partial, ticket)) *result = sum[0];
}

__global__ void __launch_bounds__(HX_BLOCK)
    start_kernel(int64_t n, const double *__restrict__ m, const double *__restrict__ z,
                 const double *__restrict__ r, double *__restrict__ p, hx_pcg_state *state,
                 double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    HX_FOR_EACH(k, n)
    {
        const double rk = r[k], zk = m ? m[k] * rk : z[k];
        p[k] = zk;
        sum[0] += rk * zk;
        sum[1] += rk * rk;
    }
    if (finish_sums(sum, partial, ticket)) hx_pcg_state_start(state, sum[0], sum[1]);
}

__global__ void __launch_bounds__(HX_BLOCK)
    alpha_kernel(int64_t n, const double *__restrict__ p, const double *__restrict__ q,
                 hx_pcg_state *state, double *partial, unsigned *ticket)
{
    double sum[1] = {0.0};
    if (state->reason != HX_PCG_RUNNING) return;
    HX_FOR_EACH(k, n) sum[0] += p[k] * q[k];
    if (finish_sums(sum, partial, ticket)) hx_pcg_state_alpha(state, sum[0]);
}

__global__ void __launch_bounds__(HX_BLOCK)
    update_kernel(int64_t n, const double *__restrict__ m, const double *__restrict__ p,
                  const double *__restrict__ q, double *__restrict__ u, double *__restrict__ r,
                  hx_pcg_state *state, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    if (state->reason != HX_PCG_RUNNING) return;
    const double alpha = state->alpha;
    HX_FOR_EACH(k, n)
    {
        u[k] += alpha * p[k];
        const double rk = r[k] - alpha * q[k];
        r[k] = rk;
        sum[0] += rk * rk;
        if (m) sum[1] += rk * m[k] * rk;
    }
    if (finish_sums(sum, partial, ticket)) {
        hx_pcg_state_update(state, sum[0]);
        if (m) hx_pcg_state_beta(state, sum[1]);
    }
}

__global__ void __launch_bounds__(HX_BLOCK)
    beta_kernel(int64_t n, const double *__restrict__ r, const double *__restrict__ z,
                hx_pcg_state *state, double *partial, unsigned *ticket)
{
    double sum[1] = {0.0};
    if (state->reason != HX_PCG_RUNNING) return;
    HX_FOR_EACH(k, n) sum[0] += r[k] * z[k];
    if (finish_sums(sum, partial, ticket)) hx_pcg_state_beta(state, sum[0]);
}

__global__ void direction_kernel(int64_t n, const double *__restrict__ m,
                                 const double *__restrict__ z, const double *__restrict__ r,
                                 double *__restrict__ p, const hx_pcg_state *state)
{
    if (state->reason != HX_PCG_RUNNING) return;
    const double beta = state->beta;
    HX_FOR_EACH(k, n) p[k] = (m ? m[k] * r[k] : z[k]) + beta * p[k];
}

int hx_cuda_zero_entries(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_y)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (n == 0) return HX_OK;
    zero_entries_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(n, d_dof, d_y);
    HX_TRY_LAUNCH("zero_entries");
    return HX_OK;
}

int hx_cuda_subtract(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    subtract_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(n, d_a, d_b, d_c);
    HX_TRY_LAUNCH("subtract");
    return HX_OK;
}

int hx_cuda_invert(hx_device *dev, int64_t n, double *d_d)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    invert_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(n, d_d);
    HX_TRY_LAUNCH("invert");
    return HX_OK;
}

int hx_cuda_dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    dot_kernel<<<impl->n_sum_block, HX_BLOCK, 0, impl->stream>>>(n, d_a, d_b, impl->d_result,
                                                                 impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("dot");
    return dev->ops->download(dev, result, impl->d_result, sizeof *result);
}

int hx_cuda_pcg_start(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                      const double *d_r, double *d_p, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    start_kernel<<<impl->n_sum_block, HX_BLOCK, 0, impl->stream>>>(n, d_m, d_z, d_r, d_p, d_state,
                                                                   impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_start");
    return HX_OK;
}

int hx_cuda_pcg_alpha(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                      hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    alpha_kernel<<<impl->n_sum_block, HX_BLOCK, 0, impl->stream>>>(n, d_p, d_q, d_state,
                                                                   impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_alpha");
    return HX_OK;
}

int hx_cuda_pcg_update(hx_device *dev, int64_t n, const double *d_m, const double *d_p,
                       const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    update_kernel<<<impl->n_sum_block, HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_p, d_q, d_u, d_r, d_state, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_update");
    return HX_OK;
}

int hx_cuda_pcg_beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z,
                     hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    beta_kernel<<<impl->n_sum_block, HX_BLOCK, 0, impl->stream>>>(n, d_r, d_z, d_state,
                                                                  impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_beta");
    return HX_OK;
}

int hx_cuda_pcg_direction(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                          const double *d_r, double *d_p, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    direction_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(n, d_m, d_z, d_r, d_p,
                                                                            d_state);
    HX_TRY_LAUNCH("pcg_direction");
    return HX_OK;
}
