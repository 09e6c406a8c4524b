// Vector operations on the GPU (core/linalg/vector_ops.h).
//
// Every sum runs over a fixed number of blocks, and the last block to finish adds their results in
// order, so a dot product is bitwise reproducible on a given GPU. Vectors are read and written 16
// bytes at a time: 2 doubles or 4 floats per thread and step.
#include "core/linalg/vector_ops.h"
#include "fields_cuda.cuh"
#include "vector_cuda.cuh"

template <class T>
__global__ void zero_entries_kernel(int64_t n, const int64_t *__restrict__ dof, T *y)
{
    const int64_t k = hx_grid_thread();
    if (k < n) y[dof[k]] = T(0);
}

template <class T>
__global__ void put_entries_kernel(int64_t n, const int64_t *__restrict__ at,
                                   const T *__restrict__ value, T *__restrict__ y)
{
    const int64_t k = hx_grid_thread();
    if (k < n) y[at[k]] = value[k];
}

template <class T>
__global__ void take_entries_kernel(int64_t n, const int64_t *__restrict__ at,
                                    const T *__restrict__ x, T *__restrict__ value)
{
    const int64_t k = hx_grid_thread();
    if (k < n) value[k] = x[at[k]];
}

// No degree of freedom occurs twice, so the order does not matter.
template <class T>
__global__ void spring_add_kernel(int64_t n, const int64_t *__restrict__ dof,
                                  const double *__restrict__ k, const T *x, T *y)
{
    const int64_t i = hx_grid_thread();
    if (i < n) y[dof[i]] += static_cast<T>(k[i]) * (x ? x[dof[i]] : T(1));
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

__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    dot_kernel(int64_t n, const double *__restrict__ a, const double *__restrict__ b,
               double *result, double *partial, unsigned *ticket)
{
    double sum[1] = {hx_sum_products(n, a, b)};
    if (hx_finish_sums(sum, partial, ticket)) *result = sum[0];
}

static_assert(HX_MOST_DOTS <= HX_MOST_RESULTS && HX_MOST_DOTS <= HX_MOST_SUMS);
struct dot_pairs {
    const double *a[HX_MOST_DOTS], *b[HX_MOST_DOTS];
};

// K dot products in one pass; each sums its terms in the order of dot_kernel.
template <int K>
__global__ void __launch_bounds__(HX_BLOCK, HX_READ_PER_SM)
    dots_kernel(int64_t n, dot_pairs p, double *result, double *partial, unsigned *ticket)
{
    double sum[K] = {};
    hx_for_each_pack<HX_WIDTH<double>, 2>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        hx_pack<double, N> ak[K], bk[K];
#pragma unroll
        for (int j = 0; j < K; j++) {
            ak[j] = hx_load<N>(p.a[j] + k);
            bk[j] = hx_load<N>(p.b[j] + k);
        }
#pragma unroll
        for (int j = 0; j < K; j++)
            for (int i = 0; i < N; i++) sum[j] += ak[j].v[i] * bk[j].v[i];
    });
    if (!hx_finish_sums(sum, partial, ticket)) return;
    for (int j = 0; j < K; j++) result[j] = sum[j];
}

struct fill_body {
    double value, *y;
    __device__ void operator()(int64_t e) const
    {
        y[e] = value;
    }
};

struct product_body {
    const double *a, *b;
    double *c;
    __device__ void operator()(int64_t e) const
    {
        c[e] = a[e] * b[e];
    }
};

struct quotient_body {
    const double *a, *b;
    double *c;
    __device__ void operator()(int64_t e) const
    {
        c[e] = a[e] / b[e];
    }
};

struct axpy_body {
    double a;
    const double *x;
    double *y;
    __device__ void operator()(int64_t e) const
    {
        y[e] += a * x[e];
    }
};

__global__ void __launch_bounds__(HX_BLOCK)
    sum_kernel(int64_t n, const double *a, double *result, double *partial, unsigned *ticket)
{
    double sum[1] = {0.0};
    for (int64_t e = hx_grid_thread(); e < n; e += hx_all_threads()) sum[0] += a[e];
    if (hx_finish_sums(sum, partial, ticket)) result[0] = sum[0];
}

template <class T> static int zero_entries(hx_device *dev, int64_t n, const int64_t *d_dof, T *d_y)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (n == 0) return HX_OK;
    zero_entries_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(n, d_dof, d_y);
    return HX_LAUNCHED("zero_entries");
}

template <class T>
static int put_entries(hx_device *dev, int64_t n, const int64_t *d_at, const T *d_value, T *d_y)
{
    return hx_launch(dev, "put_entries", n, put_entries_kernel<T>, n, d_at, d_value, d_y);
}

template <class T>
static int take_entries(hx_device *dev, int64_t n, const int64_t *d_at, const T *d_x, T *d_value)
{
    return hx_launch(dev, "take_entries", n, take_entries_kernel<T>, n, d_at, d_x, d_value);
}

template <class T>
static int spring_add(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                      const T *d_x, T *d_y)
{
    return hx_launch(dev, "spring_add", n, spring_add_kernel<T>, n, d_dof, d_k, d_x, d_y);
}

static int fill_vector(hx_device *dev, int64_t n, double value, double *d_y)
{
    return hx_for_each(dev, n, fill_body{value, d_y});
}

static int multiply_entries(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                            double *d_c)
{
    return hx_for_each(dev, n, product_body{d_a, d_b, d_c});
}

static int divide(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c)
{
    return hx_for_each(dev, n, quotient_body{d_a, d_b, d_c});
}

static int axpy(hx_device *dev, int64_t n, double a, const double *d_x, double *d_y)
{
    return hx_for_each(dev, n, axpy_body{a, d_x, d_y});
}

static int subtract(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c)
{
    subtract_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, d_a,
                                                                                         d_b, d_c);
    return HX_LAUNCHED("subtract");
}

static int subtract_single(hx_device *dev, int64_t n, double scale, const double *d_a,
                           const double *d_b, float *d_c)
{
    subtract_single_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        n, scale, d_a, d_b, d_c);
    return HX_LAUNCHED("subtract_single");
}

static int flush_single(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y)
{
    flush_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, scale, d_x,
                                                                                      d_y);
    return HX_LAUNCHED("flush_single");
}

static int invert_entries(hx_device *dev, int64_t n, double *d_d)
{
    invert_kernel<<<hx_pack_blocks<double>(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(n, d_d);
    return HX_LAUNCHED("invert");
}

static int dot_cuda(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    dot_kernel<<<hx_sum_blocks<double>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_a, d_b, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("dot");
    return dev->ops->download(dev, result, impl->d_result, sizeof *result);
}

static int dots(hx_device *dev, int64_t n, int n_dot, const double *const d_a[],
                const double *const d_b[], double *result)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const auto kernel = n_dot == 1   ? dots_kernel<1>
                        : n_dot == 2 ? dots_kernel<2>
                                     : dots_kernel<HX_MOST_DOTS>;
    dot_pairs p = {};
    for (int k = 0; k < n_dot; k++) {
        p.a[k] = d_a[k];
        p.b[k] = d_b[k];
    }
    kernel<<<hx_sum_blocks<double>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, p, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("dots");
    return dev->ops->download(dev, result, impl->d_result,
                              static_cast<size_t>(n_dot) * sizeof *result);
}

static int sum(hx_device *dev, int64_t n, const double *d_a, double *result)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    sum_kernel<<<hx_field_blocks(impl, n), HX_BLOCK, 0, impl->stream>>>(
        n, d_a, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("sum");
    return dev->ops->download(dev, result, impl->d_result, sizeof *result);
}

const hx_vector_ops hx_cuda_vector_ops = {
    .zero_entries = zero_entries<double>,
    .zero_entries_single = zero_entries<float>,
    .put_entries = put_entries<double>,
    .put_entries_single = put_entries<float>,
    .take_entries = take_entries<double>,
    .take_entries_single = take_entries<float>,
    .spring_add = spring_add<double>,
    .spring_add_single = spring_add<float>,
    .fill = fill_vector,
    .multiply = multiply_entries,
    .divide = divide,
    .axpy = axpy,
    .subtract = subtract,
    .subtract_single = subtract_single,
    .flush_single = flush_single,
    .invert = invert_entries,
    .field_dot = dot_cuda,
    .dot = dot_cuda,
    .dots = dots,
    .sum = sum,
};
