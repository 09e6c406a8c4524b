// Rigid-body motions of a set: six sums in a fixed order, then an update of every node of the set.
#include "../device/sums_cuda.cuh"
#include "core/operator/rigid_ops.h"
#include "core/problem/rigid_set.h"

// out: the sums or, if `project` is set, the motion that they are projected to.
__global__ void __launch_bounds__(HX_BLOCK)
    rigid_sum_kernel(hx_rigid_set set, bool project, const int32_t *__restrict__ node,
                     const double *__restrict__ xyz, const double *__restrict__ y, double *out,
                     double *partial, unsigned *ticket)
{
    double sum[6] = {};
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; k < set.n;
         k += stride) {
        const int64_t a = node[set.first + k];
        hx_rigid_add(&set, xyz + 3 * a, y + 3 * a, sum);
    }
    if (!hx_finish_sums(sum, partial, ticket)) return;
    if (project)
        hx_rigid_motion(&set, sum, out);
    else
        for (int i = 0; i < 6; i++) out[i] = sum[i];
}

__global__ void __launch_bounds__(HX_BLOCK)
    rigid_spread_kernel(hx_rigid_set set, const int32_t *__restrict__ node,
                        const double *__restrict__ xyz, const double *__restrict__ motion,
                        double *y)
{
    const int64_t k = hx_grid_thread();
    if (k >= set.n) return;
    const int64_t a = node[set.first + k];
    hx_rigid_apply(&set, xyz + 3 * a, motion, y + 3 * a);
}

static int add_up_set(hx_device *dev, const hx_rigid_set *set, bool project, const int32_t *d_node,
                      const double *d_xyz, const double *d_y, double *d_out)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const unsigned all = hx_blocks(set->n, HX_BLOCK),
                   most = static_cast<unsigned>(impl->n_sum_block);
    const unsigned n_block = all < most ? all : most;
    rigid_sum_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(
        *set, project, d_node, d_xyz, d_y, d_out, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("rigid_sum");
}

static int sum(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node, const double *d_xyz,
               const double *d_y, double *d_sum)
{
    return add_up_set(dev, set, false, d_node, d_xyz, d_y, d_sum);
}

static int spread_motion(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                         const double *d_xyz, const double *d_motion, double *d_y)
{
    return hx_launch(dev, "rigid_spread", set->n, rigid_spread_kernel, *set, d_node, d_xyz,
                     d_motion, d_y);
}

static int project_rigid(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                         const double *d_xyz, double *d_motion, double *d_y)
{
    HX_TRY(add_up_set(dev, set, true, d_node, d_xyz, d_y, d_motion));
    return spread_motion(dev, set, d_node, d_xyz, d_motion, d_y);
}

const hx_rigid_ops hx_cuda_rigid_ops = {
    .sum = sum,
    .spread = spread_motion,
    .project = project_rigid,
};
