// Vectors in kernels: packs of 16 bytes, and the number of blocks for them.
#ifndef HX_VECTOR_CUDA_CUH
#define HX_VECTOR_CUDA_CUH

#include "sums_cuda.cuh"

// N consecutive entries of a vector, aligned so that they are loaded and stored at once.
template <class T, int N> struct alignas(N * sizeof(T)) hx_pack {
    T v[N];
};

template <int N, class T> __device__ __forceinline__ hx_pack<T, N> hx_load(const T *p)
{
    return *reinterpret_cast<const hx_pack<T, N> *>(p);
}

template <int N, class T> __device__ __forceinline__ void hx_store(T *p, const hx_pack<T, N> &value)
{
    *reinterpret_cast<hx_pack<T, N> *>(p) = value;
}

template <int N> struct hx_width {
    static constexpr int value = N;
};

template <class T> constexpr int HX_WIDTH = 16 / sizeof(T);

// Calls body(hx_width<N>, k) for packs of N entries from k on, and then for single entries at the
// end. If the body does not store, the loads of AT_ONCE packs are in flight at the same time.
template <int N, int AT_ONCE = 1, class Body>
__device__ __forceinline__ void hx_for_each_pack(int64_t n, Body body)
{
    const int64_t thread = hx_grid_thread();
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x, n_pack = n / N;
    int64_t i = thread;
    if constexpr (AT_ONCE > 1)
        for (; i + (AT_ONCE - 1) * stride < n_pack; i += AT_ONCE * stride)
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) body(hx_width<N>{}, N * (i + j * stride));
#pragma unroll 1
    for (; i < n_pack; i += stride) body(hx_width<N>{}, N * i);
    if (thread < n - N * n_pack) body(hx_width<1>{}, N * n_pack + thread);
}

// Number of blocks for packs of 16 bytes of T, one pack per thread.
template <class T> unsigned hx_pack_blocks(int64_t n)
{
    return hx_blocks(n / HX_WIDTH<T> + 1, HX_BLOCK);
}

// Number of blocks of a sum. It depends only on n and the GPU, so that the order of the sum is
// fixed.
template <class T> unsigned hx_sum_blocks(const hx_cuda *impl, int64_t n, int per_sm)
{
    const unsigned most = static_cast<unsigned>(per_sm * impl->n_sm), all = hx_pack_blocks<T>(n);
    return all < most ? all : most;
}

// Number of blocks per multiprocessor that a sum of two vectors needs to saturate the memory
// bandwidth.
constexpr int HX_READ_PER_SM = HX_SUM_PER_SM;

// a'b over this thread's entries.
template <class T>
__device__ double hx_sum_products(int64_t n, const T *__restrict__ a, const T *__restrict__ b)
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

#endif
