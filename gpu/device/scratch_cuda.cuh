// Temporary device memory of set-ups.
#ifndef HX_SCRATCH_CUDA_CUH
#define HX_SCRATCH_CUDA_CUH

#include "cuda_device.cuh"

// Device memory that a set-up needs only temporarily.
struct hx_cuda_scratch {
    hx_device *const dev;
    void *owned[8] = {};
    int n = 0;

    explicit hx_cuda_scratch(hx_device *device) : dev(device) {}
    hx_cuda_scratch(const hx_cuda_scratch &) = delete;
    hx_cuda_scratch &operator=(const hx_cuda_scratch &) = delete;
    ~hx_cuda_scratch()
    {
        cudaStreamSynchronize(hx_cuda_of(dev)->stream); // queued work still uses it
        while (n > 0) dev->ops->release(dev, owned[--n]);
    }

    template <class T> int take(T **d_out, int64_t count)
    {
        HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(count) * sizeof(T), d_out));
        owned[n++] = *d_out;
        return HX_OK;
    }
};

#endif
