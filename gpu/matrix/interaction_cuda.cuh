// K of a spline patch on the GPU (core/matrix/interaction_ops.h): declarations that the files
// share.
#ifndef HX_INTERACTION_CUDA_CUH
#define HX_INTERACTION_CUDA_CUH

#include "../device/cuda_device.cuh"
#include "core/matrix/interaction_ops.h"

// A patch in device memory.
struct hx_cuda_patch {
    hx_device *dev;
    const hx_interaction *host; // (borrowed)
    hx_interaction in;          // with pointers to device memory (owned)
    int most_entries;           // largest number of entries in the lower half of a row
    double *d_value;            // [n_block][dim][dim] (owned)
};

// interaction_time_cuda.cu: seconds between two marks of the queue. Waits.
int hx_cuda_patch_elapsed(const hx_cuda_patch *p, int from, int to, double *seconds);

// fill_interaction_cuda.cu
int hx_cuda_patch_pairs(const hx_cuda_patch *p, hx_interaction_way way, size_t budget,
                        hx_interaction_time *time);
// fill_spline_cuda.cu. HX_EINPUT: unequal degrees, or a plane patch.
int hx_cuda_patch_gather(const hx_cuda_patch *p, size_t budget, hx_interaction_time *time);

#endif
