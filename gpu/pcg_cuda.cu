// The vector side of PCG on the GPU: few, fused passes; scalars stay in hx_pcg_state on the device.
//
// Every sum runs over a fixed number of blocks and the last block to finish adds their results in
// order, so a dot product has the same bits on every run of one GPU. Vectors are read and written
// 16 bytes at a time: 2 doubles or 4 floats a thread and step.
#include "core/block3.h"
#include "vector_cuda.cuh"

// Blocks of a sum on a multiprocessor: what two or five vectors need to keep the memory busy.
constexpr int READ_PER_SM = HX_SUM_PER_SM, UPDATE_PER_SM = HX_SUM_PER_SM / 2;

template <class T>
__global__ void zero_entries_kernel(int64_t n, const int64_t *__restrict__ dof, T *y)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (k < n) y[dof[k]] = T(0);
}

// No degree of freedom is there twice: nothing to order.
template <class T>
__global__ void spring_add_kernel(int64_t n, const int64_t *__restrict__ dof,
                                  const double *__restrict__ k, const T *x, T *y)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) y[dof[i]] += static_cast<T>(k[i]) * (x ? x[dof[i]] : T(1));
}

__global__ void block_add_kernel(int64_t n, const int64_t *__restrict__ dof,
                                 const double *__restrict__ k, double *block)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const int c = static_cast<int>(dof[i] % 3);
    block[6 * (dof[i] / 3) + hx_block3_at(c, c)] += k[i];
}

__global__ void subtract_kernel(int64_t n, const double *a, const double *b, double *c)
{
    hx_for_each_pack<2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto ak = hx_load<N>(a + k), bk = hx_load<N>(b + k);
        hx_pack<double, N> ck;
        for (int i = 0; i < N; i++) ck.v[i] = ak.v[i] - bk.v[i];
        hx_store(c + k, ck);
    });
}

__global__ void subtract_single_kernel(int64_t n, double scale, const double *__restrict__ a,
                                       const double *__restrict__ b, float *__restrict__ c)
{
    hx_for_each_pack<2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        hx_pack<double, N> bk = {};
        const auto ak = hx_load<N>(a + k);
        if (b) bk = hx_load<N>(b + k);
        hx_pack<float, N> ck;
        for (int i = 0; i < N; i++) ck.v[i] = static_cast<float>(scale * (ak.v[i] - bk.v[i]));
        hx_store(c + k, ck);
    });
}

__global__ void flush_kernel(int64_t n, double scale, float *__restrict__ x, double *__restrict__ y)
{
    hx_for_each_pack<2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto xk = hx_load<N>(x + k);
        auto yk = hx_load<N>(y + k);
        for (int i = 0; i < N; i++) yk.v[i] += scale * static_cast<double>(xk.v[i]);
        hx_store(y + k, yk);
        hx_store(x + k, hx_pack<float, N>{});
    });
}

__global__ void invert_kernel(int64_t n, double *d)
{
    hx_for_each_pack<2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        auto dk = hx_load<N>(d + k);
        for (int i = 0; i < N; i++) dk.v[i] = dk.v[i] > 0.0 ? 1.0 / dk.v[i] : 1.0;
        hx_store(d + k, dk);
    });
}

// Degrees of freedom of one node write the same zeros: the order of threads does not matter.
__global__ void block_fix_kernel(int64_t n, const int64_t *__restrict__ dof, double *block)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (k < n) hx_block3_fix(block + 6 * (dof[k] / 3), static_cast<int>(dof[k] % 3));
}

// A block is three packs of 16 bytes.
__device__ __forceinline__ void load_block(const double *block, double (&b)[6])
{
    for (int i = 0; i < 6; i += 2) {
        const auto two = hx_load<2>(block + i);
        b[i] = two.v[0];
        b[i + 1] = two.v[1];
    }
}

__global__ void block_invert_kernel(int64_t n_node, double *block)
{
    const int64_t node = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    double b[6];
    if (node >= n_node) return;
    load_block(block + 6 * node, b);
    hx_block3_invert(b);
    for (int i = 0; i < 6; i++) block[6 * node + i] = b[i];
}

// A thread a node: 48 bytes of block, 24 of r, 24 of z.
__global__ void __launch_bounds__(HX_BLOCK)
    block_apply_kernel(int64_t n_node, const double *__restrict__ block,
                       const double *__restrict__ r, double *__restrict__ z)
{
    const int64_t node = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    double b[6], zn[3];
    if (node >= n_node) return;
    load_block(block + 6 * node, b);
    hx_block3_apply(b, r + 3 * node, zn);
    for (int i = 0; i < 3; i++) z[3 * node + i] = zn[i];
}

// a'b of this thread's entries.
template <class T>
__device__ double sum_products(int64_t n, const T *__restrict__ a, const T *__restrict__ b)
{
    double sum = 0.0;
    hx_for_each_pack<HX_WIDTH<T>, 2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto ak = hx_load<N>(a + k), bk = hx_load<N>(b + k);
        for (int i = 0; i < N; i++)
            sum += static_cast<double>(ak.v[i]) * static_cast<double>(bk.v[i]);
    });
    return sum;
}

__global__ void __launch_bounds__(HX_BLOCK, READ_PER_SM)
    dot_kernel(int64_t n, const double *__restrict__ a, const double *__restrict__ b,
               double *result, double *partial, unsigned *ticket)
{
    double sum[1] = {sum_products(n, a, b)};
    if (hx_finish_sums(sum, partial, ticket)) *result = sum[0];
}

// z is m r, or given.
template <class T>
__global__ void __launch_bounds__(HX_BLOCK, READ_PER_SM)
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
__global__ void __launch_bounds__(HX_BLOCK, READ_PER_SM)
    alpha_kernel(int64_t n, const T *__restrict__ p, const T *__restrict__ q, hx_pcg_state *state,
                 double *partial, unsigned *ticket)
{
    if (state->reason != HX_PCG_RUNNING) return;
    double sum[1] = {sum_products(n, p, q)};
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_alpha(state, sum[0]);
}

__global__ void alpha_from_kernel(const double *sum, hx_pcg_state *state)
{
    if (state->reason == HX_PCG_RUNNING) hx_pcg_state_alpha(state, *sum);
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK, UPDATE_PER_SM)
    update_kernel(int64_t n, const T *__restrict__ m, const T *__restrict__ p,
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
            const double ri = static_cast<double>(rk.v[i]);
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

__global__ void __launch_bounds__(HX_BLOCK, READ_PER_SM)
    beta_kernel(int64_t n, const double *__restrict__ r, const double *__restrict__ z,
                hx_pcg_state *state, double *partial, unsigned *ticket)
{
    if (state->reason != HX_PCG_RUNNING) return;
    double sum[1] = {sum_products(n, r, z)};
    if (hx_finish_sums(sum, partial, ticket)) hx_pcg_state_beta(state, sum[0]);
}

__global__ void __launch_bounds__(HX_BLOCK, READ_PER_SM)
    beta_flexible_kernel(int64_t n, const double *__restrict__ r, const double *__restrict__ z,
                         const double *__restrict__ q, hx_pcg_state *state, double *partial,
                         unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    if (state->reason != HX_PCG_RUNNING) return;
    hx_for_each_pack<HX_WIDTH<double>, 2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k), zk = hx_load<N>(z + k), qk = hx_load<N>(q + k);
        for (int i = 0; i < N; i++) {
            sum[0] += rk.v[i] * zk.v[i];
            sum[1] += zk.v[i] * qk.v[i];
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

template <class T> static int zero_entries(hx_device *dev, int64_t n, const int64_t *d_dof, T *d_y)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (n == 0) return HX_OK;
    zero_entries_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(n, d_dof, d_y);
    HX_TRY_LAUNCH("zero_entries");
    return HX_OK;
}

template <class T>
static int spring_add(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                      const T *d_x, T *d_y)
{
    if (n == 0) return HX_OK;
    spring_add_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        n, d_dof, d_k, d_x, d_y);
    HX_TRY_LAUNCH("spring_add");
    return HX_OK;
}

template <class T>
static int start(hx_device *dev, int64_t n, const T *d_m, const T *d_z, const T *d_r,
                 hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    start_kernel<<<hx_sum_blocks<T>(impl, n, READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_z, d_r, d_state, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_start");
    return HX_OK;
}

template <class T>
static int alpha(hx_device *dev, int64_t n, const T *d_p, const T *d_q, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    alpha_kernel<<<hx_sum_blocks<T>(impl, n, READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_p, d_q, d_state, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_alpha");
    return HX_OK;
}

template <class T>
static int update(hx_device *dev, int64_t n, const T *d_m, const T *d_p, const T *d_q, T *d_u,
                  T *d_r, hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    update_kernel<<<hx_sum_blocks<T>(impl, n, UPDATE_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_p, d_q, d_u, d_r, d_state, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("pcg_update");
    return HX_OK;
}

template <class T>
static int direction(hx_device *dev, int64_t n, const T *d_m, const T *d_z, const T *d_r, T *d_p,
                     hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    direction_kernel<<<hx_pack_blocks<T>(n), HX_BLOCK, 0, impl->stream>>>(n, d_m, d_z, d_r, d_p,
                                                                          d_state);
    HX_TRY_LAUNCH("pcg_direction");
    return HX_OK;
}

static int subtract(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c)
{
    subtract_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, d_a,
                                                                                         d_b, d_c);
    HX_TRY_LAUNCH("subtract");
    return HX_OK;
}

static int subtract_single(hx_device *dev, int64_t n, double scale, const double *d_a,
                           const double *d_b, float *d_c)
{
    subtract_single_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        n, scale, d_a, d_b, d_c);
    HX_TRY_LAUNCH("subtract_single");
    return HX_OK;
}

static int flush_single(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y)
{
    flush_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, scale, d_x,
                                                                                      d_y);
    HX_TRY_LAUNCH("flush_single");
    return HX_OK;
}

static int invert(hx_device *dev, int64_t n, double *d_d)
{
    invert_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, d_d);
    HX_TRY_LAUNCH("invert");
    return HX_OK;
}

static int block_fix(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_block)
{
    if (n == 0) return HX_OK;
    block_fix_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, d_dof,
                                                                                       d_block);
    HX_TRY_LAUNCH("block_fix");
    return HX_OK;
}

static int block_add(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                     double *d_block)
{
    if (n == 0) return HX_OK;
    block_add_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        n, d_dof, d_k, d_block);
    HX_TRY_LAUNCH("block_add");
    return HX_OK;
}

static int block_invert(hx_device *dev, int64_t n_node, double *d_block)
{
    block_invert_kernel<<<hx_blocks(n_node, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        n_node, d_block);
    HX_TRY_LAUNCH("block_invert");
    return HX_OK;
}

static int block_apply(hx_device *dev, int64_t n_node, const double *d_block, const double *d_r,
                       double *d_z)
{
    block_apply_kernel<<<hx_blocks(n_node, HX_BLOCK), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        n_node, d_block, d_r, d_z);
    HX_TRY_LAUNCH("block_apply");
    return HX_OK;
}

static int dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    dot_kernel<<<hx_sum_blocks<double>(impl, n, READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_a, d_b, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("dot");
    return dev->ops->download(dev, result, impl->d_result, sizeof *result);
}

static int alpha_from(hx_device *dev, const double *d_sum, hx_pcg_state *d_state)
{
    alpha_from_kernel<<<1, 1, 0, hx_cuda_of(dev)->stream>>>(d_sum, d_state);
    HX_TRY_LAUNCH("pcg_alpha_from");
    return HX_OK;
}

static int beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const unsigned n_block = hx_sum_blocks<double>(impl, n, READ_PER_SM);
    if (d_q)
        beta_flexible_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(
            n, d_r, d_z, d_q, d_state, impl->d_partial, impl->d_ticket);
    else
        beta_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(n, d_r, d_z, d_state, impl->d_partial,
                                                            impl->d_ticket);
    HX_TRY_LAUNCH("pcg_beta");
    return HX_OK;
}

static int start_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                        hx_pcg_state *d_state)
{
    return start<float>(dev, n, d_m, nullptr, d_r, d_state);
}

static int direction_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                            float *d_p, hx_pcg_state *d_state)
{
    return direction<float>(dev, n, d_m, nullptr, d_r, d_p, d_state);
}

void hx_cuda_vector_ops(hx_device_ops *ops)
{
    ops->zero_entries = zero_entries<double>;
    ops->zero_entries_single = zero_entries<float>;
    ops->spring_add = spring_add<double>;
    ops->spring_add_single = spring_add<float>;
    ops->subtract = subtract;
    ops->subtract_single = subtract_single;
    ops->flush_single = flush_single;
    ops->dot = dot;
    ops->invert = invert;
    ops->block_fix = block_fix;
    ops->block_add = block_add;
    ops->block_invert = block_invert;
    ops->block_apply = block_apply;
    ops->pcg_start = start<double>;
    ops->pcg_direction = direction<double>;
    ops->pcg_alpha = alpha<double>;
    ops->pcg_alpha_from = alpha_from;
    ops->pcg_update = update<double>;
    ops->pcg_beta = beta;
    ops->pcg_start_single = start_single;
    ops->pcg_direction_single = direction_single;
    ops->pcg_alpha_single = alpha<float>;
    ops->pcg_update_single = update<float>;
}
