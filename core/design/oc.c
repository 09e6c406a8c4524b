#include "oc.h"

/* Passes queued between reads of the state; a step usually needs fewer. */
enum { PASSES_PER_LOOK = 8 };

int hx_oc_update(hx_device *dev, const hx_device_oc *oc, double target, double *change)
{
    const hx_device_ops *ops = dev->ops;
    hx_oc_state state = {.target = target};
    HX_TRY(ops->upload(dev, oc->d_state, &state, sizeof state));
    HX_TRY(ops->design->oc_begin(dev, oc));
    if (oc->ties) HX_TRY(ops->design->copy_largest(dev, oc->ties, oc->d_proposal));
    while (!state.done) {
        for (int i = 0; i < PASSES_PER_LOOK; i++) HX_TRY(ops->design->oc_pass(dev, oc));
        HX_TRY(ops->download(dev, &state, oc->d_state, sizeof state));
    }
    HX_TRY(ops->design->oc_end(dev, oc));
    HX_TRY(ops->download(dev, &state, oc->d_state, sizeof state));
    *change = state.change;
    return HX_OK;
}

int hx_oc_scaled(hx_device *dev, const hx_device_oc *oc, double scale, double *change)
{
    const hx_device_ops *ops = dev->ops;
    hx_oc_state state = {.scale = scale, .done = 1};
    HX_TRY(ops->design->oc_begin(dev, oc));
    if (oc->ties) HX_TRY(ops->design->copy_largest(dev, oc->ties, oc->d_proposal));
    HX_TRY(ops->upload(dev, oc->d_state, &state, sizeof state));
    HX_TRY(ops->design->oc_end(dev, oc));
    HX_TRY(ops->download(dev, &state, oc->d_state, sizeof state));
    *change = state.change;
    return HX_OK;
}
