#include "oc.h"

/* Passes queued between reads of the state; a step usually needs fewer. */
enum { PASSES_PER_LOOK = 8 };

/* *is_flat: 1 if the volume is the same at all scales. */
static int find_scale(hx_device *dev, const hx_device_oc *oc, double target, int *is_flat)
{
    const hx_device_ops *ops = dev->ops;
    hx_oc_state state = {.target = target};
    HX_TRY(ops->upload(dev, oc->d_state, &state, sizeof state));
    HX_TRY(ops->design->oc_begin(dev, oc));
    if (oc->groups) HX_TRY(ops->design->copy_largest(dev, oc->groups, oc->d_proposal));
    while (!state.done) {
        for (int i = 0; i < PASSES_PER_LOOK; i++) HX_TRY(ops->design->oc_pass(dev, oc));
        HX_TRY(ops->download(dev, &state, oc->d_state, sizeof state));
    }
    *is_flat = state.pass == 1 && state.sum[HX_OC_TRIALS - 1] <= state.sum[0];
    return HX_OK;
}

static int end_update(hx_device *dev, const hx_device_oc *oc, double *change)
{
    hx_oc_state state;
    HX_TRY(dev->ops->design->oc_end(dev, oc));
    HX_TRY(dev->ops->download(dev, &state, oc->d_state, sizeof state));
    *change = state.change;
    return HX_OK;
}

int hx_oc_update(hx_device *dev, const hx_device_oc *oc, double target, double *change)
{
    int is_flat;
    HX_TRY(find_scale(dev, oc, target, &is_flat));
    return end_update(dev, oc, change);
}

int hx_oc_update_or_keep(hx_device *dev, hx_device_oc *oc, double target, double *change,
                         int *is_flat)
{
    HX_TRY(find_scale(dev, oc, target, is_flat));
    *is_flat = *is_flat && !(oc->shift > 0.0);
    if (*is_flat) {
        int is_held; /* at the limits of all densities */
        oc->shift = 1.0;
        HX_TRY(find_scale(dev, oc, target, &is_held));
    }
    return end_update(dev, oc, change);
}

int hx_oc_scaled(hx_device *dev, const hx_device_oc *oc, double scale, double *change)
{
    const hx_device_ops *ops = dev->ops;
    hx_oc_state state = {.scale = scale, .done = 1};
    HX_TRY(ops->design->oc_begin(dev, oc));
    if (oc->groups) HX_TRY(ops->design->copy_largest(dev, oc->groups, oc->d_proposal));
    HX_TRY(ops->upload(dev, oc->d_state, &state, sizeof state));
    HX_TRY(ops->design->oc_end(dev, oc));
    HX_TRY(ops->download(dev, &state, oc->d_state, sizeof state));
    *change = state.change;
    return HX_OK;
}
