// Sums over many blocks, added in a fixed order by the last block to finish.
#ifndef HX_SUMS_CUDA_CUH
#define HX_SUMS_CUDA_CUH

#include "cuda_device.cuh"

constexpr int HX_BLOCK_WARPS = HX_BLOCK / 32;

// Reduces one value of each thread of a block of HX_BLOCK; thread 0 has the result. The order is
// that of cub::BlockReduce, without its headers, which take eight seconds of every file's
// compilation.
template <class Join>
__device__ __forceinline__ double hx_block_reduce(double value, double (&of_warp)[HX_BLOCK_WARPS],
                                                  Join join)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
        value = join(value, __shfl_down_sync(0xffffffffu, value, step));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
#pragma unroll
        for (int warp = 1; warp < HX_BLOCK_WARPS; warp++) value = join(value, of_warp[warp]);
    return value;
}

// Adds the sums of all blocks. Returns true in thread 0 of the last block, which then has the
// totals. partial: [N][gridDim.x], N at most HX_MOST_SUMS. ticket: 0 before and after.
template <int N> __device__ bool hx_finish_sums(double (&sum)[N], double *partial, unsigned *ticket)
{
    static_assert(N <= HX_MOST_SUMS, "d_partial is too short");
    __shared__ double of_warp[HX_BLOCK_WARPS];
    __shared__ bool last;
    const auto add = [](double a, double b) { return a + b; };
    for (int i = 0; i < N; i++) {
        sum[i] = hx_block_reduce(sum[i], of_warp, add);
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
        sum[i] = hx_block_reduce(total, of_warp, add);
        __syncthreads();
    }
    if (threadIdx.x == 0) *ticket = 0u;
    return threadIdx.x == 0;
}

#endif
