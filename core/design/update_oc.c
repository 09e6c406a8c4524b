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

/* Adapts the multiple of the shift of oc.h: doubles it after a step that increased the objective,
 * as oscillating designs do; otherwise decreases it slightly. */
static void adapt_shift(oc *own, int is_worse)
{
    const double most = 64.0;
    own->shift = is_worse ? fmin(most, 2.0 * own->shift) : fmax(1.0, 0.8 * own->shift);
}

static int find_shift(const hx_update *update, hx_device_oc *criteria)
{
    const oc *own = update->impl;
    hx_device *dev = update->dev;
    double sum[2];
    if (!update->changes_sign) return HX_OK;
    HX_TRY(dev->ops->design->sum_positive(dev, criteria->n, criteria->d_dc, criteria->d_dv,
                                          criteria->d_passive, sum));
    criteria->shift = sum[0] / sum[1] * own->shift;
    return HX_OK;
}

static double wanted_mass(const hx_update *update)
{
    return update->constraint[0].limit;
}

/* Apart from the projection the filter is linear: at the analysed design the physical volume grows
 * like dv'rho, so the first target is exact without a projection. dv is 0 at passive elements. */
static int first_target(const hx_update *update, const hx_update_step *step, double *target)
{
    hx_device *dev = update->dev;
    double taken;
    HX_TRY(dev->ops->vector->field_dot(dev, update->problem->mesh->n_elem,
                                       update->constraint[0].d_derivative, step->d_design, &taken));
    *target = taken + wanted_mass(update) - update->constraint[0].now;
    if (!(*target > 0.0)) *target = 0.1 * taken;
    return HX_OK;
}

/* A scale from the linear estimate at which not all densities are at an end of their range; 0 or
 * HX_OC_ALL_UP if there is none. */
static int first_scale(const hx_update *update, hx_device_oc *criteria, hx_update_step *step,
                       double *scale)
{
    hx_device *dev = update->dev;
    double target;
    int is_flat;
    HX_TRY(first_target(update, step, &target));
    for (int i = 0; i < 3; i++) {
        hx_oc_state state;
        HX_TRY(hx_oc_update_or_keep(dev, criteria, target, &step->change, &is_flat));
        step->is_flat |= is_flat;
        step->trials++;
        HX_TRY(dev->ops->download(dev, &state, criteria->d_state, sizeof state));
        *scale = state.scale;
        if (hx_filter_is_linear(update->filter)) break;
        if (*scale > 0.0 && *scale < HX_OC_ALL_UP) break;
        HX_TRY(dev->ops->vector->field_dot(dev, criteria->n, update->constraint[0].d_derivative,
                                           step->d_proposal, &target));
        target *= *scale > 0.0 ? 0.99 : 1.01;
    }
    return HX_OK;
}

/* *left: missing volume of the proposal, relative; 0 if it is met. The search uses the logarithm of
 * the scale as its unknown, because projected densities may change where dv is nearly 0, so that
 * the target is a poor variable. */
static int search_scale(const hx_update *update, hx_device_oc *criteria, hx_update_step *step,
                        double *left)
{
    const double wanted = wanted_mass(update), most = log(HX_OC_ALL_UP);
    hx_root root = {0};
    double scale, mass;
    *left = 0.0;
    HX_TRY(first_scale(update, criteria, step, &scale));
    if (hx_filter_is_linear(update->filter)) return HX_OK;
    for (int i = 0; i < HX_VOLUME_TRIALS; i++) {
        HX_TRY(hx_filter_mass(update->filter, step->d_proposal, update->d_volume, &mass));
        *left = 1.0 - mass / wanted;
        if (!(fabs(*left) > HX_VOLUME_EXACT)) *left = 0.0;
        if (*left == 0.0 || !(scale > 0.0 && scale < HX_OC_ALL_UP)) return HX_OK;
        const double next = hx_root_next(&root, log(scale), -*left);
        if (!(fabs(next) < most)) return HX_OK; /* the move limits permit no more or no less */
        scale = exp(next);
        HX_TRY(hx_oc_scaled(update->dev, criteria, scale, &step->change));
        step->trials++;
    }
    return HX_OK;
}

/* Loads by mass let some elements decrease at every scale. If too many do, the volume cannot be
 * reached, and a larger shift prevents it. */
static int meet_volume(const hx_update *update, const hx_device_oc *criteria, hx_update_step *step)
{
    hx_device_oc shifted = *criteria;
    double left;
    HX_TRY(search_scale(update, &shifted, step, &left));
    for (int i = 0; i < MOST_SHIFTS && shifted.shift > 0.0 && left > 0.0; i++) {
        shifted.shift *= 10.0;
        HX_TRY(search_scale(update, &shifted, step, &left));
    }
    return HX_OK;
}

static int propose(hx_update *update, hx_update_step *step)
{
    oc *own = update->impl;
    const hx_problem *problem = update->problem;
    hx_device_oc criteria = {
        .n = problem->mesh->n_elem,
        .move = update->design->move,
        .damping = update->design->damping,
        .rho_min = update->design->rho_min,
        .d_design = step->d_design,
        .d_dc = step->d_dc,
        .d_dv = update->constraint[0].d_derivative,
        .d_passive = update->filter->d_passive,
        .d_proposal = step->d_proposal,
        .d_state = own->d_state,
        .groups = update->groups,
    };
    if (!step->is_again) adapt_shift(own, step->is_worse);
    HX_TRY(find_shift(update, &criteria));
    if (hx_filter_maps_design(update->filter)) return meet_volume(update, &criteria, step);
    step->trials++;
    return hx_oc_update_or_keep(update->dev, &criteria, wanted_mass(update) - problem->passive.mass,
                                &step->change, &step->is_flat);
}

static int snapshot(hx_update *update, hx_snapshot *image)
{
    oc *own = update->impl;
    return hx_snapshot_host(image, "oc.shift", &own->shift, sizeof own->shift);
}

const hx_update_kind hx_update_oc = {
    .name = "oc",
    .help = "optimality criteria with a move limit and damping",
    .most_constraints = 1,
    .is_distributed = 1,
    .bytes = sizeof(hx_oc_state),
    .create = create_oc,
    .propose = propose,
    .snapshot = snapshot,
    .destroy = destroy_oc,
};
