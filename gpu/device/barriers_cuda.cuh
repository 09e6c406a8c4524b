// Barriers in shared memory (mbarrier) that count bytes in addition to threads, and bulk copies
// that complete on them, each queued by one thread. They require compute capability 9.0.
#ifndef HX_BARRIERS_CUDA_CUH
#define HX_BARRIERS_CUDA_CUH

#include <cstdint>

#include "cuda_device.cuh"

// 1 if the architecture for which this code is compiled has them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
constexpr bool HX_HAS_BULK = true;
#else
constexpr bool HX_HAS_BULK = false;
#endif

// threadIdx.x, read from its register at each call, so that values computed from it do not occupy
// registers during the computation of an element.
__device__ __forceinline__ int hx_thread()
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

namespace hx_barrier
{

// Orders this thread's writes to shared memory before later bulk copies.
__device__ __forceinline__ void fence_bulk()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ unsigned address_of(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(count));
}

// To be called after the last `init` and before a barrier of the block's threads.
__device__ __forceinline__ void publish()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

// Arrives once for the whole warp.
__device__ __forceinline__ void arrive_warp(uint64_t *barrier)
{
    __syncwarp();
    if (hx_thread() % 32 == 0) arrive(barrier);
}

__device__ __forceinline__ void arrive_expecting(uint64_t *barrier, int n_byte)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)),
        "r"(n_byte)
        : "memory");
}

// Arrives when all copies of this thread so far have completed.
__device__ __forceinline__ void arrive_after_copies(uint64_t *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address_of(barrier))
                 : "memory");
}

// Waits for the end of phase n of a barrier, counted from 0. Phase n - 1 must have ended, and phase
// n + 1 cannot have.
__device__ __forceinline__ void wait(uint64_t *barrier, int n)
{
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(address_of(barrier)),
                 "r"(n & 1)
                 : "memory");
}

__device__ __forceinline__ void copy(void *to, const void *from, int n_byte, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];" ::"r"(address_of(to)),
                 "l"(from), "r"(n_byte), "r"(address_of(barrier))
                 : "memory");
}

} // namespace hx_barrier

#endif
