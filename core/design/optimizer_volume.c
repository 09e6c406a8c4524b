#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../solver/vector_ops.h"
#include "optimizer_internal.h"
#include "root.h"

/* Trials at most, and the volume's relative error that ends them. */
enum { MOST_TRIALS = 40, MOST_SHIFTS = 4 };
#define VOLUME_TOLERANCE 1e-6

static double wanted_mass(const hx_optimizer *opt)
{
    return opt->problem->volume_fraction * opt->total_volume;
}

/* The filter is linear up to the projection: at the analysed design the physical volume grows like
 * dv'rho, so the first target is exact without one. dv is 0 at passive elements. */
static int first_target(const hx_optimizer *opt, const hx_iteration *record, double *target)
{
    hx_device *dev = opt->op->dev;
    double taken;
    HX_TRY(dev->ops->vector->dot(dev, opt->op->model.n_elem, opt->d_dv, opt->d_design, &taken));
    *target = taken + wanted_mass(opt) - record->volume * opt->total_volume;
    if (!(*target > 0.0)) *target = 0.1 * taken;
    return HX_OK;
}

/* A scale at which not all densities are at an end of their range, from the linear estimate; 0 or
 * HX_OC_ALL_UP if there is none. */
static int first_scale(hx_optimizer *opt, const hx_device_oc *oc, hx_iteration *record,
                       double *scale)
{
    hx_device *dev = opt->op->dev;
    double target;
    HX_TRY(first_target(opt, record, &target));
    for (int i = 0; i < 3; i++) {
        hx_oc_state state;
        HX_TRY(hx_oc_update(dev, oc, target, &record->change));
        record->volume_trials++;
        HX_TRY(dev->ops->download(dev, &state, opt->d_oc, sizeof state));
        *scale = state.scale;
        if (hx_filter_is_linear(opt->filter)) break;
        if (*scale > 0.0 && *scale < HX_OC_ALL_UP) break;
        HX_TRY(
            dev->ops->vector->dot(dev, opt->op->model.n_elem, opt->d_dv, opt->d_proposal, &target));
        target *= *scale > 0.0 ? 0.99 : 1.01;
    }
    return HX_OK;
}

/* *left: what the proposal's volume lacks, relative; 0 if it is met. The unknown is the logarithm
 * of the scale: the target is no good measure, since projected densities may change where dv is
 * next to nothing. */
static int search_scale(hx_optimizer *opt, const hx_device_oc *oc, hx_iteration *record,
                        double *left)
{
    const double wanted = wanted_mass(opt), most = log(HX_OC_ALL_UP);
    hx_root root = {0};
    double scale, mass;
    *left = 0.0;
    HX_TRY(first_scale(opt, oc, record, &scale));
    if (hx_filter_is_linear(opt->filter)) return HX_OK;
    for (int i = 0; i < MOST_TRIALS; i++) {
        HX_TRY(hx_filter_mass(opt->filter, opt->d_proposal, opt->d_volume, &mass));
        *left = 1.0 - mass / wanted;
        if (!(fabs(*left) > VOLUME_TOLERANCE)) *left = 0.0;
        if (*left == 0.0 || !(scale > 0.0 && scale < HX_OC_ALL_UP)) return HX_OK;
        const double next = hx_root_next(&root, log(scale), -*left);
        if (!(fabs(next) < most)) return HX_OK; /* the move limits let no more or less be had */
        scale = exp(next);
        HX_TRY(hx_oc_scaled(opt->op->dev, oc, scale, &record->change));
        record->volume_trials++;
    }
    return HX_OK;
}

/* Loads by mass let elements fall whatever the scale; too many of them for the volume: a larger
 * shift holds them back. */
int hx_optimizer_meet_volume(hx_optimizer *opt, const hx_device_oc *oc, hx_iteration *record)
{
    hx_device_oc shifted = *oc;
    double left;
    HX_TRY(search_scale(opt, &shifted, record, &left));
    for (int i = 0; i < MOST_SHIFTS && shifted.shift > 0.0 && left > 0.0; i++) {
        shifted.shift *= 10.0;
        HX_TRY(search_scale(opt, &shifted, record, &left));
    }
    return HX_OK;
}

/* rho into the free elements; passive ones have theirs. */
static int put_uniform(hx_optimizer *opt, double rho, double *design)
{
    const hx_problem *problem = opt->problem;
    const int64_t n = problem->mesh->n_elem;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        design[e] = problem->passive && !isnan(problem->passive[e]) ? problem->passive[e] : rho;
    return opt->op->dev->ops->upload(opt->op->dev, opt->d_design, design,
                                     (size_t)n * sizeof *design);
}

int hx_optimizer_fit_initial(hx_optimizer *opt)
{
    const double wanted = wanted_mass(opt), rho_min = opt->problem->rho_min;
    double rho = opt->problem->initial_density, mass, *design = NULL;
    hx_root root = {0};
    int rc = HX_OK;
    HX_TRY(hx_alloc_raw(&design, (size_t)opt->problem->mesh->n_elem, sizeof *design, "densities"));
    for (int i = 0; i < MOST_TRIALS; i++) {
        HX_TRY_FAIL(put_uniform(opt, rho, design));
        HX_TRY_FAIL(hx_filter_mass(opt->filter, opt->d_design, opt->d_volume, &mass));
        const double error = mass - wanted, before = rho;
        if (!(fabs(error) > VOLUME_TOLERANCE * wanted)) break;
        rho = fmin(1.0, fmax(rho_min, hx_root_next(&root, rho, error / opt->total_volume)));
        if (rho == before) break; /* all or none is as near as it gets */
    }
fail:
    free(design);
    return rc;
}
