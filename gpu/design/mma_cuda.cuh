// Entries of the design's table for the method of moving asymptotes.
#ifndef HX_MMA_CUDA_CUH
#define HX_MMA_CUDA_CUH

#include "core/design/design_ops.h"

int hx_cuda_mma_begin(hx_device *dev, const hx_device_mma *mma, double *sum);
int hx_cuda_mma_dual(hx_device *dev, const hx_device_mma *mma, double *sum);
int hx_cuda_mma_end(hx_device *dev, const hx_device_mma *mma);
int hx_cuda_mma_measure(hx_device *dev, const hx_device_mma *mma, double *largest);
int hx_cuda_mma_settle(hx_device *dev, const hx_device_mma *mma);

#endif
