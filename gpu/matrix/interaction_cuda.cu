// K of a spline patch on the GPU: the table of methods.
#include "interaction_cuda.cuh"

#include <cstdlib>

#include "core/base/memory.h"

namespace
{

size_t value_bytes(const hx_interaction *in)
{
    return static_cast<size_t>(in->n_block) * static_cast<size_t>(in->dim * in->dim) *
           sizeof(double);
}

int upload(hx_cuda_patch *p)
{
    const hx_interaction *const in = p->host;
    int32_t *d_integers = nullptr;
    double *d_reals = nullptr;
    int64_t *d_offsets = nullptr;
    const auto n_integer = static_cast<size_t>(in->n_integer);
    const auto n_real = static_cast<size_t>(in->n_real);
    const auto n_row = static_cast<size_t>(in->n_point) + 1;
    int rc = hx_device_put(p->dev, &d_integers, in->integers, n_integer * sizeof *d_integers);
    if (rc == HX_OK) rc = hx_device_put(p->dev, &d_reals, in->reals, n_real * sizeof *d_reals);
    if (rc == HX_OK) rc = hx_device_put(p->dev, &d_offsets, in->offsets, n_row * sizeof *d_offsets);
    p->in = *in;
    hx_interaction_rebase(&p->in, d_integers, d_reals, d_offsets);
    return rc;
}

int open_patch(void **state, hx_device *dev, const hx_interaction *in)
{
    hx_cuda_patch *p;
    HX_TRY(hx_alloc(&p, 1, sizeof *p, "a patch"));
    *state = p;
    p->dev = dev;
    p->host = in;
    for (int64_t row = 0; row < in->n_point; row++) {
        const auto n = static_cast<int>(in->row_ptr[row + 1] - in->row_ptr[row]);
        if (n > p->most_entries) p->most_entries = n;
    }
    HX_TRY(upload(p));
    return dev->ops->alloc(dev, value_bytes(in), &p->d_value);
}

int run_patch(void *state, hx_interaction_way way, size_t budget, hx_interaction_time *time)
{
    const auto *const p = static_cast<const hx_cuda_patch *>(state);
    *time = {0.0, 0.0};
    if (way == HX_WAY_GATHER) return hx_cuda_patch_gather(p, budget, time);
    if (way == HX_WAY_PAIRS || way == HX_WAY_POINTS)
        return hx_cuda_patch_pairs(p, way, budget, time);
    return HX_RAISE(HX_EINPUT, "method '%s' is not available on a GPU",
                    hx_interaction_way_name(way));
}

int copy_values(void *state, double *value)
{
    const auto *const p = static_cast<const hx_cuda_patch *>(state);
    return p->dev->ops->download(p->dev, value, p->d_value, value_bytes(p->host));
}

void close_patch(void *state)
{
    auto *const p = static_cast<hx_cuda_patch *>(state);
    if (!p) return;
    const hx_device_ops *const ops = p->dev->ops;
    ops->release(p->dev, p->in.integers);
    ops->release(p->dev, p->in.reals);
    ops->release(p->dev, p->in.offsets);
    ops->release(p->dev, p->d_value);
    free(p);
}

} // namespace

const hx_interaction_ops hx_cuda_interaction_ops = {
    1u << HX_WAY_POINTS | 1u << HX_WAY_PAIRS | 1u << HX_WAY_GATHER,
    1u << HX_WAY_POINTS | 1u << HX_WAY_PAIRS,
    open_patch,
    run_patch,
    copy_values,
    close_patch,
};
