// Time marks of the GPU: a thread writes the time at which the stream reaches the mark to a ring
// buffer in device memory.
#include <cstdlib>
#include <cstring>

#include "core/base/memory.h"
#include "core/device/timeline_ops.h"
#include "cuda_device.cuh"

struct marks {
    int64_t n;
    hx_mark *d_ring; // [n] (owned)
    // number of marks so far, and space for a reading of the clock (owned)
    unsigned long long *d_count;
};

static __device__ uint64_t clock_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void mark_kernel(hx_mark mark, uint64_t mask, unsigned long long *count,
                                   hx_mark *ring)
{
    mark.time = clock_ns();
    ring[atomicAdd(count, 1ull) & mask] = mark; // several streams may mark at the same time
}

static __global__ void clock_kernel(unsigned long long *now)
{
    *now = clock_ns();
}

static void close_marks(hx_device *, void *impl)
{
    marks *m = static_cast<marks *>(impl);
    cudaFree(m->d_ring);
    cudaFree(m->d_count);
    free(m);
}

static int alloc_marks(hx_cuda *cuda, marks *m)
{
    HX_TRY_CUDA(cudaMalloc(&m->d_ring, static_cast<size_t>(m->n) * sizeof *m->d_ring));
    HX_TRY_CUDA(cudaMalloc(&m->d_count, 2 * sizeof *m->d_count));
    HX_TRY_CUDA(cudaMemsetAsync(m->d_count, 0, 2 * sizeof *m->d_count, cuda->stream));
    HX_TRY_CUDA(cudaStreamSynchronize(cuda->stream)); // other streams also mark
    return HX_OK;
}

static int open_marks(hx_device *dev, int64_t n, void **impl)
{
    marks *m;
    HX_TRY(hx_alloc(&m, 1, sizeof *m, "timeline"));
    m->n = n;
    const int rc = alloc_marks(hx_cuda_of(dev), m);
    if (rc < 0)
        close_marks(dev, m);
    else
        *impl = m;
    return rc;
}

static int mark(hx_device *dev, void *impl, const hx_mark *mark)
{
    const marks *m = static_cast<const marks *>(impl);
    const hx_cuda *cuda = hx_cuda_of(dev);
    // otherwise the current stream is already the concurrent one
    const bool is_own = mark->queue == HX_QUEUE_CONCURRENT && !cuda->home;
    cudaStream_t stream = is_own ? cuda->concurrent : cuda->stream;
    mark_kernel<<<1, 1, 0, stream>>>(*mark, static_cast<uint64_t>(m->n) - 1, m->d_count, m->d_ring);
    return HX_LAUNCHED("mark");
}

// Written directly to host memory if there is pinned memory: the sooner the reading arrives, the
// more precisely its moment is known.
static int clock_now(hx_device *dev, void *impl, uint64_t *now)
{
    const marks *m = static_cast<const marks *>(impl);
    const hx_cuda *cuda = hx_cuda_of(dev);
    clock_kernel<<<1, 1, 0, cuda->stream>>>(
        cuda->staging ? static_cast<unsigned long long *>(cuda->staging) : m->d_count + 1);
    HX_TRY_LAUNCH("clock");
    if (!cuda->staging) return dev->ops->download(dev, now, m->d_count + 1, sizeof *now);
    HX_TRY_CUDA(cudaStreamSynchronize(cuda->stream));
    memcpy(now, cuda->staging, sizeof *now);
    return HX_OK;
}

static int read_marks(hx_device *dev, void *impl, uint64_t *count, hx_mark *ring)
{
    const marks *m = static_cast<const marks *>(impl);
    HX_TRY(dev->ops->download(dev, ring, m->d_ring, static_cast<size_t>(m->n) * sizeof *ring));
    return dev->ops->download(dev, count, m->d_count, sizeof *count);
}

const hx_timeline_ops hx_cuda_timeline_ops = {
    .open = open_marks,
    .close = close_marks,
    .mark = mark,
    .clock = clock_now,
    .read = read_marks,
};
