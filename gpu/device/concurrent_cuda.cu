// Work that runs concurrently with the device's queue (hx_device_ops.fork_point): on a stream of
// lower priority, which uses only the part of the GPU that the queue's kernels leave idle. Between
// fork and join the device queues into that stream. Events define the order; a
// recording keeps them as a fork and a join.
#include "cuda_device.cuh"

int hx_cuda_make_queue(cudaStream_t *stream)
{
    int least = 0, greatest = 0;
    HX_TRY_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    return HX_CUDA(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest));
}

int hx_cuda_fork_point(hx_device *dev)
{
    hx_cuda *impl = hx_cuda_of(dev);
    if (!impl->room) HX_TRY_CUDA(cudaStreamCreateWithFlags(&impl->room, cudaStreamNonBlocking));
    for (cudaEvent_t &mark : impl->room_mark)
        if (!mark) HX_TRY_CUDA(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
    return HX_CUDA(cudaEventRecord(impl->room_mark[0], impl->stream));
}

int hx_cuda_fork(hx_device *dev)
{
    hx_cuda *impl = hx_cuda_of(dev);
    HX_TRY_CUDA(cudaStreamWaitEvent(impl->room, impl->room_mark[0], 0));
    impl->home = impl->stream;
    impl->stream = impl->room;
    return HX_OK;
}

int hx_cuda_join(hx_device *dev)
{
    hx_cuda *impl = hx_cuda_of(dev);
    if (impl->home) impl->stream = impl->home;
    impl->home = nullptr;
    HX_TRY_CUDA(cudaEventRecord(impl->room_mark[1], impl->room));
    return HX_CUDA(cudaStreamWaitEvent(impl->stream, impl->room_mark[1], 0));
}

void hx_cuda_concurrent_free(hx_cuda *impl)
{
    for (cudaEvent_t mark : impl->room_mark)
        if (mark) cudaEventDestroy(mark);
    if (impl->room) cudaStreamDestroy(impl->room);
}
