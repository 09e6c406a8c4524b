/* The largest von Mises stress of a set of elements, v = rho^q s (stress_ops.h), in one load case
 * or in all, by a scaled norm in place of the maximum, which has no derivative:
 *
 *     c PN,  PN = (1/N sum v^8)^(1/8),  c = 0.5 max v / PN + 0.5 c of the last design
 *
 * with c constant in the derivative (Le et al. 2010). The mean keeps PN independent of the number
 * of elements. Records have the true maximum. */
#include <math.h>
#include <stdio.h>

#include "stress_limit.h"

#define KEPT 0.5 /* share of the last design's scale */

/* The norm over the elements of all cases, from the sum of each. */
static void join_cases(const hx_response *o, hx_stress_limit *own)
{
    double largest = 0.0, sum = 0.0;
    int n = 0;
    for (int c = 0; c < own->n_case; c++)
        if (hx_stress_limit_has(&o->params, c)) {
            const double v = own->of[c].largest;
            largest = isnan(v) || v > largest ? v : largest;
            n++;
        }
    for (int c = 0; c < own->n_case; c++)
        if (hx_stress_limit_has(&o->params, c) && largest > 0.0)
            sum += own->of[c].sum * pow(own->of[c].largest / largest, HX_STRESS_POWER);
    const double mean = sum / ((double)own->n_counted * n);
    own->norm = largest > 0.0 ? largest * pow(mean, 1.0 / HX_STRESS_POWER) : largest;
    own->ratio = own->norm > 0.0 ? largest / own->norm : 1.0;
    if (!(own->scale > 0.0)) own->scale = own->ratio;
}

static int prepare_norm(hx_response *o)
{
    HX_TRY(hx_stress_limit_prepare(o));
    join_cases(o, o->impl);
    return HX_OK;
}

static int accept_norm(hx_response *o)
{
    hx_stress_limit *const own = o->impl;
    own->scale = KEPT * own->scale + (1.0 - KEPT) * own->ratio;
    return HX_OK;
}

static int norm_value(const hx_response *o, double *value)
{
    const hx_stress_limit *const own = o->impl;
    *value = own->scale * own->norm;
    return HX_OK;
}

/* The law relative to the norm, and the derivative of the value by the sum of its terms. */
static hx_device_stress norm_law(const hx_response *o, int c, double *factor)
{
    const hx_stress_limit *const own = o->impl;
    hx_device_stress law = hx_stress_limit_law(o, c);
    int n = 0;
    for (int k = 0; k < own->n_case; k++) n += hx_stress_limit_has(&o->params, k);
    law.reference = own->norm > 0.0 ? own->norm : 1.0;
    *factor = own->norm > 0.0
                  ? own->scale * own->norm / (HX_STRESS_POWER * (double)own->n_counted * n)
                  : 0.0;
    return law;
}

static int norm_derivative(const hx_response *o, const double *d_energy, double *d_dg)
{
    const hx_stress_limit *const own = o->impl;
    hx_device *const dev = o->analysis->dev;
    double *const d_s = hx_stress_limit_scratch(o), factor;
    (void)d_energy;
    HX_TRY(dev->ops->zero(dev, d_dg, (size_t)o->analysis->fields->mesh->n_elem * sizeof *d_dg));
    for (int c = 0; c < own->n_case; c++) {
        if (!hx_stress_limit_has(&o->params, c)) continue;
        const hx_device_stress law = norm_law(o, c, &factor);
        HX_TRY(hx_stress_limit_find(o, c, d_s));
        HX_TRY(dev->ops->stress->add_slope(dev, &law, factor, d_s, d_dg));
    }
    return HX_OK;
}

static int norm_load(const hx_response *o, int c, double *d_load)
{
    hx_device *const dev = o->analysis->dev;
    double *const d_s = hx_stress_limit_scratch(o), factor;
    const hx_device_stress law = norm_law(o, c, &factor);
    HX_TRY(hx_stress_limit_find(o, c, d_s));
    HX_TRY(dev->ops->stress->weigh(dev, &law, factor, d_s));
    return hx_stress_limit_load(o, c, d_s, d_load);
}

static int snapshot_norm(hx_response *o, hx_snapshot *image)
{
    hx_stress_limit *const own = o->impl;
    char name[HX_SNAPSHOT_NAME];
    snprintf(name, sizeof name, "%s.scale", o->role);
    return hx_snapshot_host(image, name, &own->scale, sizeof own->scale);
}

const hx_response_kind hx_response_stress = {
    .name = "stress",
    .help = "largest von Mises stress of a set of elements, or of all",
    .is_objective = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_CASE | HX_TAKES_STRESS,
    .is_distributed = 1,
    .is_upper = 1,
    .lagrangian = &hx_response_stress_lagrangian,
    .unit = HX_VALUE_STRESS,
    .check = hx_stress_limit_check,
    .bytes = hx_stress_limit_bytes,
    .create = hx_stress_limit_create,
    .prepare = prepare_norm,
    .accept = accept_norm,
    .value = norm_value,
    .report = hx_stress_limit_report,
    .derivative = norm_derivative,
    .adjoint_load = norm_load,
    .is_apart = 1,
    .snapshot = snapshot_norm,
    .destroy = hx_stress_limit_destroy,
};
