// Launches of kernels that start before the preceding one has finished.
#ifndef HX_EARLY_CUDA_CUH
#define HX_EARLY_CUDA_CUH

#include "cuda_device.cuh"

inline cudaStream_t hx_stream_of(hx_device *dev)
{
    return hx_cuda_of(dev)->stream;
}

// Kernels that start early (programmatic dependent launch): on GPUs from compute capability 9.0 on,
// a kernel's blocks may start before the preceding kernel in the queue has finished. They read data
// that no kernel of the cycle writes (the coarse matrix and lists, all of them written by kernels
// other than the immediately preceding one), and then wait. Every such kernel calls
// hx_let_next_begin() and, before it accesses a vector, hx_wait_for_last(). Vectors are not
// __restrict__, so that no load of them uses the read-only path or is moved before the wait.
__device__ __forceinline__ void hx_let_next_begin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ __forceinline__ void hx_wait_for_last()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

template <class... Parameter, class... Argument>
int hx_launch_early_in(cudaStream_t stream, hx_device *dev, const char *name,
                       void (*kernel)(Parameter...), dim3 grid, dim3 block, size_t shared,
                       Argument... argument)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = hx_cuda_of(dev)->can_begin_early ? 1 : 0;
    return hx_cuda_try(__FILE__, __LINE__, name, [&] {
        return cudaLaunchKernelEx(&config, kernel, static_cast<Parameter>(argument)...);
    });
}

template <class... Parameter, class... Argument>
int hx_launch_early(hx_device *dev, const char *name, void (*kernel)(Parameter...), dim3 grid,
                    dim3 block, size_t shared, Argument... argument)
{
    return hx_launch_early_in(hx_stream_of(dev), dev, name, kernel, grid, block, shared,
                              argument...);
}

#endif
