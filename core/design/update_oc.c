/* Optimality criteria (oc.h). If the physical density is not the design, a search finds the scale
 * for which the physical density of the proposal has the prescribed volume, as nearly as the move
 * limits permit. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"
#include "oc.h"
#include "root.h"
#include "update.h"

enum { MOST_SHIFTS = 4 };

typedef struct oc {
    hx_oc_state *d_state; /* (owned) */
    double shift;         /* with loads by mass: multiple of the mean positive dc / dv */
    double slope; /* of the volume by the logarithm of the scale, from the last search; 0: none */
} oc;

static void destroy_oc(hx_update *update)
{
    oc *own = update->impl;
    if (own) update->dev->ops->release(update->dev, own->d_state);
    free(own);
    update->impl = NULL;
}

static int create_oc(hx_update *update)
{
    oc *own;
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "optimality criteria"));
    update->impl = own;
    own->shift = 1.0;
    const int rc = update->dev->ops->alloc(update->dev, sizeof *own->d_state, &own->d_state);
    if (rc < 0) destroy_oc(update);
    return rc;
}

/* A scale from the linear estimate of the volume at which not all densities are at an end of their
 * range; 0 or HX_OC_ALL_UP if there is none. Apart from the projection the filter is linear: at the
 * analysed design the physical volume grows like dv'rho, so the first target is exact without a
 * projection. dv is 0 at passive elements. */
static int first_scale(const hx_update *update, hx_device_oc *criteria, hx_update_step *step,
                       double *scale)
{
    hx_device *dev = update->dev;
    const hx_limit_row *const limit = &update->row[0];
    const hx_response *const volume = limit->response;
    double taken, target;
    int is_flat;
    HX_TRY(dev->ops->vector->field_dot(dev, criteria->n, volume->d_derivative, step->d_design,
                                       &taken));
    target = taken + limit->bound - volume->now;
    if (!(target > 0.0)) target = 0.1 * taken;
    for (int i = 0; i < 3; i++) {
        hx_oc_state state;
        HX_TRY(hx_oc_update_or_keep(dev, criteria, target, &step->change, &is_flat));
        step->is_flat |= is_flat;
        step->trials++;
        HX_TRY(dev->ops->download(dev, &state, criteria->d_state, sizeof state));
        *scale = state.scale;
        if (*scale > 0.0 && *scale < HX_OC_ALL_UP) break;
        HX_TRY(dev->ops->vector->field_dot(dev, criteria->n, volume->d_derivative, step->d_proposal,
                                           &target));
        target *= *scale > 0.0 ? 0.99 : 1.01;
    }
    return HX_OK;
}

/* One step. Traffic per update: oc.c; a trial of the volume of a mapped design costs an update for
 * a given scale [7 doubles per element], the filter and the projection [2] and a sum [2]. */
static int propose(hx_update *update, hx_update_step *step)
{
    oc *own = update->impl;
    hx_device *const dev = update->dev;
    const hx_limit_row *const limit = &update->row[0];
    const hx_response *const volume = limit->response;
    const double wanted = limit->bound, most_log = log(HX_OC_ALL_UP);
    hx_device_oc criteria = {
        .n = update->problem->mesh->n_elem,
        .move = update->design->move,
        .damping = update->design->damping,
        .rho_min = update->design->rho_min,
        .d_design = step->d_design,
        .d_dc = step->d_dc,
        .d_dv = volume->d_derivative,
        .d_passive = update->filter->d_passive,
        .d_proposal = step->d_proposal,
        .d_state = own->d_state,
        .groups = update->groups,
    };

    /* The multiple of the shift (oc.h) doubles after a worse design, as oscillating ones do. It
     * stays if penalty or beta have risen, since two objectives are not compared. */
    if (!step->is_again && !step->is_other)
        own->shift = step->is_worse ? fmin(64.0, 2.0 * own->shift) : fmax(1.0, 0.8 * own->shift);
    if (update->changes_sign) { /* [2] */
        double sum[2];
        HX_TRY(dev->ops->design->sum_positive(dev, criteria.n, criteria.d_dc, criteria.d_dv,
                                              criteria.d_passive, sum));
        criteria.shift = sum[0] / sum[1] * own->shift;
    }
    if (!hx_filter_maps_design(update->filter)) { /* the volume is that of the design */
        step->trials++;
        return hx_oc_update_or_keep(dev, &criteria, wanted - update->problem->passive.mass,
                                    &step->change, &step->is_flat);
    }
    for (int n_shift = 0;; n_shift++) {
        hx_root root = {.slope = own->slope};
        double scale, mass, left = 0.0; /* missing volume of the proposal, relative */
        HX_TRY(first_scale(update, &criteria, step, &scale));
        for (int i = hx_filter_is_linear(update->filter) ? HX_VOLUME_TRIALS : 0;
             i < HX_VOLUME_TRIALS; i++) {
            HX_TRY(hx_filter_mass(update->filter, step->d_proposal, update->d_volume, &mass));
            left = 1.0 - mass / wanted;
            if (!(fabs(left) > HX_VOLUME_EXACT)) left = 0.0;
            if (left == 0.0 || !(scale > 0.0 && scale < HX_OC_ALL_UP)) break;
            /* the logarithm, because projected densities may change where dv is nearly 0 */
            const double next = hx_root_next(&root, log(scale), -left);
            if (root.n > 1) own->slope = root.slope;
            if (!(fabs(next) < most_log)) break; /* the move limits permit no more or no less */
            scale = exp(next);
            HX_TRY(hx_oc_scaled(dev, &criteria, scale, &step->change));
            step->trials++;
        }
        /* elements that decrease at every scale may keep the volume out of reach: shift more */
        if (n_shift == MOST_SHIFTS || !(criteria.shift > 0.0 && left > 0.0)) return HX_OK;
        criteria.shift *= 10.0;
    }
}

static int snapshot(hx_update *update, hx_snapshot *image)
{
    oc *own = update->impl;
    HX_TRY(hx_snapshot_newer(image, "oc.slope", &own->slope, sizeof own->slope));
    return hx_snapshot_host(image, "oc.shift", &own->shift, sizeof own->shift);
}

const hx_update_kind hx_update_oc = {
    .name = "oc",
    .help = "optimality criteria with a move limit and damping",
    .most_rows = 1,
    .needs_volume = 1,
    .is_distributed = 1,
    .bytes = sizeof(hx_oc_state),
    .create = create_oc,
    .propose = propose,
    .snapshot = snapshot,
    .destroy = destroy_oc,
};
