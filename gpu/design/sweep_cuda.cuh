// Entries of the design's table for sweeps.
#ifndef HX_SWEEP_CUDA_CUH
#define HX_SWEEP_CUDA_CUH

#include "core/design/design_ops.h"

int hx_cuda_sweep_forward(hx_device *dev, const hx_device_sweep *sweep);
int hx_cuda_sweep_backward(hx_device *dev, const hx_device_sweep *sweep, double *d_a);
int hx_cuda_sweep_join(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                       double *d_y);
int hx_cuda_sweep_share(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                        int which, const double *d_a, double *d_share);

#endif
