// Projection onto rigid motions of a set: six sums in a fixed order, then every node of the set.
#include "core/rigid_set.h"
#include "sums_cuda.cuh"

__global__ void __launch_bounds__(HX_BLOCK)
    rigid_sum_kernel(hx_rigid_set set, const int32_t *__restrict__ node,
                     const double *__restrict__ xyz, const double *__restrict__ y, double *motion,
                     double *partial, unsigned *ticket)
{
    double sum[6] = {};
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; k < set.n;
         k += stride) {
        const int64_t a = node[set.first + k];
        hx_rigid_add(&set, xyz + 3 * a, y + 3 * a, sum);
    }
    if (hx_finish_sums(sum, partial, ticket)) hx_rigid_motion(&set, sum, motion);
}

__global__ void __launch_bounds__(HX_BLOCK)
    rigid_apply_kernel(hx_rigid_set set, const int32_t *__restrict__ node,
                       const double *__restrict__ xyz, const double *__restrict__ motion, double *y)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (k >= set.n) return;
    const int64_t a = node[set.first + k];
    hx_rigid_apply(&set, xyz + 3 * a, motion, y + 3 * a);
}

int hx_cuda_rigid_project(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                          const double *d_xyz, double *d_motion, double *d_y)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const unsigned all = hx_blocks(set->n, HX_BLOCK),
                   most = static_cast<unsigned>(impl->n_sum_block);
    rigid_sum_kernel < <<all<most ? all : most, HX_BLOCK, 0, impl->stream>>>(
                           *set, d_node, d_xyz, d_y, d_motion, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("rigid_sum");
    rigid_apply_kernel<<<all, HX_BLOCK, 0, impl->stream>>>(*set, d_node, d_xyz, d_motion, d_y);
    HX_TRY_LAUNCH("rigid_apply");
    return HX_OK;
}
