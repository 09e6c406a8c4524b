// Kernels with one thread per entry, or with strided loops over the entries, and the number of
// their blocks. For operations that do not need packed loads.
#ifndef HX_FIELDS_CUDA_CUH
#define HX_FIELDS_CUDA_CUH

#include "sums_cuda.cuh"

__device__ __forceinline__ int64_t hx_all_threads()
{
    return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

// Calls body(e) for every element, one thread each.
template <class Body>
__global__ void __launch_bounds__(HX_BLOCK) hx_each_kernel(int64_t n, Body body)
{
    const int64_t e = hx_grid_thread();
    if (e < n) body(e);
}

template <class Body> int hx_for_each(hx_device *dev, int64_t n, const Body &body)
{
    return hx_launch(dev, "element field", n, hx_each_kernel<Body>, n, body);
}

// Number of blocks of a sum. It depends only on n and the GPU, so that the order of the sum is
// fixed.
inline unsigned hx_field_blocks(const hx_cuda *impl, int64_t n)
{
    const unsigned most = static_cast<unsigned>(impl->n_sum_block), all = hx_blocks(n, HX_BLOCK);
    return all < most ? all : most;
}

#endif
