// Sweeps on the GPU (sweep_law.h): a kernel per level, one thread per element, which adds in the
// order of its lists, so results are the same bits in every run.
#include "../device/fields_cuda.cuh"
#include "core/design/sweep_law.h"
#include "sweep_cuda.cuh"

struct forward_body {
    hx_device_sweep sweep;
    int64_t begin;
    __device__ void operator()(int64_t i) const
    {
        hx_sweep_forward(&sweep, begin + i);
    }
};

struct backward_body {
    hx_device_sweep sweep;
    int64_t begin;
    double *a;
    __device__ void operator()(int64_t i) const
    {
        hx_sweep_backward(&sweep, begin + i, a);
    }
};

int hx_cuda_sweep_forward(hx_device *dev, const hx_device_sweep *sweep)
{
    for (int l = 0; l < sweep->n_level; l++) {
        const int64_t begin = sweep->level_start[l], n = sweep->level_start[l + 1] - begin;
        HX_TRY(hx_for_each(dev, n, forward_body{*sweep, begin}));
    }
    return HX_OK;
}

int hx_cuda_sweep_backward(hx_device *dev, const hx_device_sweep *sweep, double *d_a)
{
    for (int l = sweep->n_level - 1; l >= 0; l--) {
        const int64_t begin = sweep->level_start[l], n = sweep->level_start[l + 1] - begin;
        HX_TRY(hx_for_each(dev, n, backward_body{*sweep, begin, d_a}));
    }
    return HX_OK;
}

struct fields {
    const double *field[HX_SWEEP_DIRECTIONS];
};

static fields take_fields(int n_field, const double *const d_field[])
{
    fields all{};
    for (int i = 0; i < n_field; i++) all.field[i] = d_field[i];
    return all;
}

struct join_body {
    int n_field;
    fields all;
    double *y;
    __device__ void operator()(int64_t e) const
    {
        y[e] = hx_sweep_joined(n_field, all.field, e);
    }
};

struct share_body {
    int n_field, which;
    fields all;
    const double *a;
    double *share;
    __device__ void operator()(int64_t e) const
    {
        share[e] = a[e] * hx_sweep_joined_slope(n_field, all.field, which, e);
    }
};

int hx_cuda_sweep_join(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                       double *d_y)
{
    return hx_for_each(dev, n, join_body{n_field, take_fields(n_field, d_field), d_y});
}

int hx_cuda_sweep_share(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                        int which, const double *d_a, double *d_share)
{
    return hx_for_each(dev, n,
                       share_body{n_field, which, take_fields(n_field, d_field), d_a, d_share});
}
