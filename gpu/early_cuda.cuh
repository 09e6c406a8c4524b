// Kernels that begin early: on GPUs that can (9.0 on) a kernel's blocks are there before the one
// before it in the queue is done, have read what no kernel of a solve writes (lists, matrices, all
// of them written by others than the ones just before), and wait. Every such kernel calls
// hx_let_next_begin() and, before it touches a vector and before any of its blocks ends,
// hx_wait_for_last(), or both at once: then what was queued before is done, all of it. Vectors that
// kernels read which do something before they wait are not __restrict__, so that no load of theirs
// goes by the read-only path or before the wait.
#ifndef HX_EARLY_CUDA_CUH
#define HX_EARLY_CUDA_CUH

#include "cuda_device.cuh"

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

// Of a kernel that has nothing to do before.
__device__ __forceinline__ void hx_begin_early()
{
    hx_let_next_begin();
    hx_wait_for_last();
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
    cudaError_t status = HX_CUDA_FAULT();
    if (status == cudaSuccess)
        status = cudaLaunchKernelEx(&config, kernel, static_cast<Parameter>(argument)...);
    return status == cudaSuccess ? HX_OK : hx_cuda_raise(status, __FILE__, __LINE__, name);
}

template <class... Parameter, class... Argument>
int hx_launch_early(hx_device *dev, const char *name, void (*kernel)(Parameter...), dim3 grid,
                    dim3 block, size_t shared, Argument... argument)
{
    return hx_launch_early_in(hx_cuda_of(dev)->stream, dev, name, kernel, grid, block, shared,
                              argument...);
}

#endif
