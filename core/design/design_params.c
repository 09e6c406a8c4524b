#include "design_params.h"

#include <math.h>

const hx_design_params hx_design_defaults = {
    .rho_min = 0.001,
    .volume_fraction = 1.0,
    .penalty = {.value = 3.0, .last = 3.0},
    .eta = 0.5,
    .move = 0.2,
    .damping = 0.5,
};

double hx_design_threshold_distance(double share)
{
    return 0.25 * share * share;
}

int hx_design_has_variants(const hx_design_params *design)
{
    return design && (design->erosion > 0.0 || design->dilation > 0.0);
}

/* Also refuses NaN. */
static int check_range(const char *origin, const char *key, double value, double low, double high,
                       const char *right)
{
    if (value >= low && value <= high) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: optimization.%s = %g is out of range; it must be %s", origin,
                    key, value, right);
}

int hx_design_check(const hx_design_params *design, const char *origin)
{
    HX_TRY(check_range(origin, "penalty", design->penalty.last, 1.0, 20.0, "between 1 and 20"));
    HX_TRY(check_range(origin, "rho_min", design->rho_min, 1e-6, 0.999, "between 1e-6 and 0.999"));
    if (design->volume_fraction != 0.0)
        HX_TRY(check_range(origin, "volume_fraction", design->volume_fraction, design->rho_min, 1.0,
                           "between rho_min and 1"));
    if (design->start != 0.0)
        HX_TRY(check_range(origin, "start", design->start, design->rho_min, 1.0,
                           "between rho_min and 1"));
    if (!(design->move > 0.0 && design->move <= 1.0))
        return HX_RAISE(HX_EINPUT, "%s: the move limit is %g; it must be above 0 and at most 1",
                        origin, design->move);
    if (!(design->damping > 0.0 && design->damping <= 1.0))
        return HX_RAISE(HX_EINPUT, "%s: the damping is %g; it must be above 0 and at most 1",
                        origin, design->damping);
    return HX_OK;
}

double hx_design_initial_density(const hx_design_params *design, const hx_problem *problem)
{
    const double wanted = design->volume_fraction * problem->total_volume;
    double rho = (wanted - problem->passive.mass) / problem->design_volume;
    if (design->start > 0.0)
        rho = design->start;
    else if (design->volume_fraction == 0.0)
        rho = 0.5;
    return fmin(1.0, fmax(design->rho_min, rho));
}

void hx_design_fill(const hx_design_params *design, const hx_problem *problem, double *rho)
{
    const double free = hx_design_initial_density(design, problem);
    const double *const passive = problem->passive.density;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        rho[e] = passive && !isnan(passive[e]) ? passive[e] : free;
}
