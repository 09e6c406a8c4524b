#include "oc.h"

/* Passes queued between reads of the state; a step usually needs fewer. */
enum { PASSES_PER_LOOK = 8 };

/* t_e = rho_e (-dc_e / dv_e)^eta into the proposal [3 read, 1 written per element]; a group takes
 * its largest. */
static int begin_update(hx_device *dev, const hx_device_oc *oc)
{
    HX_TRY(dev->ops->design->oc_begin(dev, oc));
    return oc->groups ? dev->ops->design->copy_largest(dev, oc->groups, oc->d_proposal) : HX_OK;
}

/* The proposal scale t_e, clipped to the move limits and [rho_min, 1] [2 read, 1 written]. */
static int end_update(hx_device *dev, const hx_device_oc *oc, double *change)
{
    hx_oc_state state;
    HX_TRY(dev->ops->design->oc_end(dev, oc));
    HX_TRY(dev->ops->download(dev, &state, oc->d_state, sizeof state));
    *change = state.change;
    return HX_OK;
}

/* Optimality criteria: rho B^eta with the multiplier lambda, here the scale lambda^-eta, for which
 * the volume is the target. In brackets doubles per element. */
int hx_oc_update_or_keep(hx_device *dev, hx_device_oc *oc, double target, double *change,
                         int *is_flat)
{
    for (int is_last = !is_flat;; is_last = 1) {
        hx_oc_state state = {.target = target};
        HX_TRY(dev->ops->upload(dev, oc->d_state, &state, sizeof state));
        HX_TRY(begin_update(dev, oc)); /* t [4], and the first bracket of the scale */
        while (!state.done) {
            for (int i = 0; i < PASSES_PER_LOOK; i++) /* v'clip(s t) for eight scales s [3 each] */
                HX_TRY(dev->ops->design->oc_pass(dev, oc));
            HX_TRY(dev->ops->download(dev, &state, oc->d_state, sizeof state));
        }
        if (is_last) break;
        /* the same volume at all scales, because no derivative is negative */
        *is_flat =
            state.pass == 1 && state.sum[HX_OC_TRIALS - 1] <= state.sum[0] && !(oc->shift > 0.0);
        if (!*is_flat) break;
        oc->shift = 1.0; /* again, for the volume only */
    }
    return end_update(dev, oc, change); /* clip(s t) [3] */
}

int hx_oc_update(hx_device *dev, const hx_device_oc *oc, double target, double *change)
{
    hx_device_oc once = *oc;
    return hx_oc_update_or_keep(dev, &once, target, change, NULL);
}

int hx_oc_scaled(hx_device *dev, const hx_device_oc *oc, double scale, double *change)
{
    const hx_oc_state state = {.scale = scale, .done = 1};
    HX_TRY(begin_update(dev, oc));
    HX_TRY(dev->ops->upload(dev, oc->d_state, &state, sizeof state));
    return end_update(dev, oc, change);
}
