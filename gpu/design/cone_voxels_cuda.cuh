// The filter's cone-weighted sums over voxels (voxels.h).
#ifndef HX_CONE_VOXELS_CUDA_CUH
#define HX_CONE_VOXELS_CUDA_CUH

#include "core/design/bins.h"

// Computes sum[e] of one field; d_sum may be d_value.
int hx_cuda_voxel_sum(hx_device *dev, const hx_device_bins *cells, const double *d_value,
                      double *d_sum);

#endif
