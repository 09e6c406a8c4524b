// Times of the methods to compute K of a spline patch on the GPU.
#include "interaction_cuda.cuh"

int hx_cuda_patch_elapsed(const hx_cuda_patch *p, int from, int to, double *seconds)
{
    HX_TRY(p->dev->ops->sync(p->dev));
    return p->dev->ops->elapsed(p->dev, from, to, seconds);
}
