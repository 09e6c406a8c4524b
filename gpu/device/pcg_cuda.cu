// The steps of PCG on the GPU, in few fused passes. Scalars stay in hx_pcg_state in device memory.
// Packs and sums are as in vector_cuda.cuh.
#include "core/krylov/pcg_ops.h"
#include "vector_cuda.cuh"

// Number of blocks of a sum per multiprocessor that five vectors need to saturate the memory
// bandwidth.
constexpr int UPDATE_PER_SM = HX_SUM_PER_SM / 2;

// Start with z in single precision. The sums and p are bitwise equal to those of the same z in
// double precision. (In start_kernel below, z is m r, or given.)
__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    start_rounded_kernel(int64_t n, const float *__restrict__ z, const double *__restrict__ r,
                         hx_pcg_state *state, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    hx_for_each_pack<HX_WIDTH<double>, 2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k);
        const auto zk = hx_load<N>(z + k);
        for (int i = 0; i < N; i++) {
            sum[0] += rk.v[i] * static_cast<double>(zk.v[i]);
            sum[1] += rk.v[i] * rk.v[i];
        }
    });
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_start(state, sum[0], sum[1]);
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    start_kernel(int64_t n, const T *__restrict__ m, const T *__restrict__ z,
                 const T *__restrict__ r, hx_pcg_state *state, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    hx_for_each_pack<HX_WIDTH<T>, 2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k), other = hx_load<N>((m ? m : z) + k);
        for (int i = 0; i < N; i++) {
            const double ri = static_cast<double>(rk.v[i]), oi = static_cast<double>(other.v[i]);
            sum[0] += m ? ri * oi * ri : ri * oi;
            sum[1] += ri * ri;
        }
    });
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_start(state, sum[0], sum[1]);
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    alpha_kernel(int64_t n, const T *__restrict__ p, const T *__restrict__ q, hx_pcg_state *state,
                 double *partial, unsigned *ticket)
{
    if (state->reason != HX_PCG_RUNNING) return;
    double sum[1] = {hx_sum_products(n, p, q)};
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_alpha(state, sum[0]);
}

__global__ void alpha_from_kernel(const double *sum, hx_pcg_state *state)
{
    if (state->reason == HX_PCG_RUNNING) hx_pcg_state_alpha(state, *sum);
}

__global__ void take_kernel(hx_pcg_step step, const hx_pcg_state *sums, hx_pcg_state *state)
{
    hx_pcg_state_take(state, step, sums);
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK, UPDATE_PER_SM)
    update_kernel(int64_t n, int64_t n_sum, const T *__restrict__ m, const T *__restrict__ p,
                  const T *__restrict__ q, T *__restrict__ u, T *__restrict__ r,
                  hx_pcg_state *state, double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    if (state->reason != HX_PCG_RUNNING) return;
    const T alpha = static_cast<T>(state->alpha);
    hx_for_each_pack<HX_WIDTH<T>>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto pk = hx_load<N>(p + k), qk = hx_load<N>(q + k);
        auto uk = hx_load<N>(u + k), rk = hx_load<N>(r + k);
        hx_pack<T, N> mk = {};
        if (m) mk = hx_load<N>(m + k);
        for (int i = 0; i < N; i++) {
            uk.v[i] += alpha * pk.v[i];
            rk.v[i] -= alpha * qk.v[i];
            const double ri = k + i < n_sum ? static_cast<double>(rk.v[i]) : 0.0;
            sum[0] += ri * ri;
            sum[1] += ri * static_cast<double>(mk.v[i]) * ri;
        }
        hx_store(u + k, uk);
        hx_store(r + k, rk);
    });
    if (hx_finish_sums(sum, partial, ticket)) {
        hx_pcg_state_update(state, sum[0]);
        if (m) hx_pcg_state_beta(state, sum[1]);
    }
}

__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    beta_kernel(int64_t n, const double *__restrict__ r, const double *__restrict__ z,
                hx_pcg_state *state, double *partial, unsigned *ticket)
{
    if (state->reason != HX_PCG_RUNNING) return;
    double sum[1] = {hx_sum_products(n, r, z)};
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_beta(state, sum[0]);
}

template <class Z>
__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    beta_flexible_kernel(int64_t n, const double *__restrict__ r, const Z *__restrict__ z,
                         const double *__restrict__ q, hx_pcg_state *state, double *partial,
                         unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    if (state->reason != HX_PCG_RUNNING) return;
    hx_for_each_pack<HX_WIDTH<double>, 2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k), qk = hx_load<N>(q + k);
        const auto zk = hx_load<N>(z + k);
        for (int i = 0; i < N; i++) {
            const double zi = static_cast<double>(zk.v[i]);
            sum[0] += rk.v[i] * zi;
            sum[1] += zi * qk.v[i];
        }
    });
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_beta_flexible(state, sum[0], sum[1]);
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    direction_kernel(int64_t n, const T *__restrict__ m, const T *__restrict__ z,
                     const T *__restrict__ r, T *__restrict__ p, const hx_pcg_state *state)
{
    if (state->reason != HX_PCG_RUNNING) return;
    const T beta = static_cast<T>(state->beta);
    hx_for_each_pack<HX_WIDTH<T>>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        auto pk = hx_load<N>(p + k);
        auto zk = hx_load<N>((m ? r : z) + k);
        if (m) {
            const auto mk = hx_load<N>(m + k);
            for (int i = 0; i < N; i++) zk.v[i] *= mk.v[i];
        }
        for (int i = 0; i < N; i++) pk.v[i] = zk.v[i] + beta * pk.v[i];
        hx_store(p + k, pk);
    });
}

__global__ void __launch_bounds__(HX_BLOCK)
    direction_rounded_kernel(int64_t n, const float *__restrict__ z, double *__restrict__ p,
                             const hx_pcg_state *state)
{
    if (state->reason != HX_PCG_RUNNING) return;
    const double beta = state->beta;
    hx_for_each_pack<HX_WIDTH<double>>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        auto pk = hx_load<N>(p + k);
        const auto zk = hx_load<N>(z + k);
        for (int i = 0; i < N; i++) pk.v[i] = static_cast<double>(zk.v[i]) + beta * pk.v[i];
        hx_store(p + k, pk);
    });
}

template <class T>
static int start_pcg(hx_device *dev, int64_t n, const T *d_m, const T *d_z, const T *d_r,
                     hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    start_kernel<<<hx_sum_blocks<T>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_z, d_r, d_state, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("pcg_start");
}

template <class T>
static int alpha(hx_device *dev, int64_t n, const T *d_p, const T *d_q, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    alpha_kernel<<<hx_sum_blocks<T>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_p, d_q, d_state, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("pcg_alpha");
}

template <class T>
static int update(hx_device *dev, int64_t n, int64_t n_sum, const T *d_m, const T *d_p,
                  const T *d_q, T *d_u, T *d_r, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    update_kernel<<<hx_sum_blocks<T>(impl, n, UPDATE_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, n_sum, d_m, d_p, d_q, d_u, d_r, d_state, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("pcg_update");
}

template <class T>
static int direction(hx_device *dev, int64_t n, const T *d_m, const T *d_z, const T *d_r, T *d_p,
                     hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    direction_kernel<<<hx_pack_blocks<T>(n), HX_BLOCK, 0, impl->stream>>>(n, d_m, d_z, d_r, d_p,
                                                                          d_state);
    return HX_LAUNCHED("pcg_direction");
}

static int alpha_from(hx_device *dev, const double *d_sum, hx_pcg_state *d_state)
{
    alpha_from_kernel<<<1, 1, 0, hx_cuda_of(dev)->stream>>>(d_sum, d_state);
    return HX_LAUNCHED("pcg_alpha_from");
}

static int take_pcg_step(hx_device *dev, hx_pcg_step step, const hx_pcg_state *d_sums,
                         hx_pcg_state *d_state)
{
    take_kernel<<<1, 1, 0, hx_cuda_of(dev)->stream>>>(step, d_sums, d_state);
    return HX_LAUNCHED("pcg_take");
}

static int beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const unsigned n_block = hx_sum_blocks<double>(impl, n, HX_READ_PER_SM);
    if (d_q)
        beta_flexible_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(
            n, d_r, d_z, d_q, d_state, impl->d_partial, impl->d_ticket);
    else
        beta_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(n, d_r, d_z, d_state, impl->d_partial,
                                                            impl->d_ticket);
    return HX_LAUNCHED("pcg_beta");
}

static int start_rounded(hx_device *dev, int64_t n, const float *d_z, const double *d_r,
                         hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    start_rounded_kernel<<<hx_sum_blocks<double>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0,
                           impl->stream>>>(n, d_z, d_r, d_state, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("pcg_start");
}

static int direction_rounded(hx_device *dev, int64_t n, const float *d_z, double *d_p,
                             hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    direction_rounded_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, impl->stream>>>(n, d_z, d_p,
                                                                                       d_state);
    return HX_LAUNCHED("pcg_direction");
}

static int beta_rounded(hx_device *dev, int64_t n, const double *d_r, const float *d_z,
                        const double *d_q, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    beta_flexible_kernel<<<hx_sum_blocks<double>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0,
                           impl->stream>>>(n, d_r, d_z, d_q, d_state, impl->d_partial,
                                           impl->d_ticket);
    return HX_LAUNCHED("pcg_beta");
}

static int start_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                        hx_pcg_state *d_state)
{
    return start_pcg<float>(dev, n, d_m, nullptr, d_r, d_state);
}

static int direction_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                            float *d_p, hx_pcg_state *d_state)
{
    return direction<float>(dev, n, d_m, nullptr, d_r, d_p, d_state);
}

const hx_pcg_ops hx_cuda_pcg_ops = {
    .start = start_pcg<double>,
    .direction = direction<double>,
    .alpha = alpha<double>,
    .alpha_from = alpha_from,
    .take = take_pcg_step,
    .update = update<double>,
    .beta = beta,
    .start_rounded = start_rounded,
    .direction_rounded = direction_rounded,
    .beta_rounded = beta_rounded,
    .start_single = start_single,
    .direction_single = direction_single,
    .alpha_single = alpha<float>,
    .update_single = update<float>,
};
