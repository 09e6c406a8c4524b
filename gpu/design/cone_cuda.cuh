// The filter's cone-weighted sums over the elements within a radius (design_ops.h).
#ifndef HX_CONE_CUDA_CUH
#define HX_CONE_CUDA_CUH

#include "core/design/bins.h"

constexpr double HX_CONE_ROUNDING = 0x1p-22; // rounding error of cone_tiles.cuh

int hx_cuda_cone_sum(hx_device *dev, const hx_device_bins *cells, double radius, int n_field,
                     const double *const d_value[], double *const d_sum[]);

#endif
