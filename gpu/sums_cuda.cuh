// Sums over many blocks, added in a fixed order by the last block to finish.
#ifndef HX_SUMS_CUDA_CUH
#define HX_SUMS_CUDA_CUH

#include <cub/block/block_reduce.cuh>

#include "cuda_device.cuh"

using hx_block_reduce = cub::BlockReduce<double, HX_BLOCK>;

// Adds the sums of all blocks; true in thread 0 of the last block, which then holds the totals.
// partial: [N][gridDim.x], N at most HX_MOST_SUMS. ticket: 0 before and after.
template <int N> __device__ bool hx_finish_sums(double (&sum)[N], double *partial, unsigned *ticket)
{
    static_assert(N <= HX_MOST_SUMS, "d_partial is too short");
    __shared__ typename hx_block_reduce::TempStorage storage;
    __shared__ bool last;
    for (int i = 0; i < N; i++) {
        sum[i] = hx_block_reduce(storage).Sum(sum[i]);
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
        sum[i] = hx_block_reduce(storage).Sum(total);
        __syncthreads();
    }
    if (threadIdx.x == 0) *ticket = 0u;
    return threadIdx.x == 0;
}

#endif
