/* Stress limits of all elements by the augmented Lagrangian (Senhora et al. 2020), which is added
 * to the objective:
 *
 *     sum over limits and cases of 1/N sum (lambda h + mu/2 h^2)
 *
 * (stress_ops.h), one multiplier per element and case. Each case needs one adjoint solve, however
 * many limits it has. The division by the number of elements N keeps mu independent of the mesh.
 * Every few designs lambda += mu h and mu grows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../linalg/vector_ops.h"
#include "analysis_internal.h"
#include "stress_limit.h"

/* Designs per update of the multipliers; growth of mu per update, and its last value, beyond which
 * the volume creeps up. */
enum { DESIGNS = 5 };
static const double growth = 1.1, last_weight = 1e3, least_margin = 0.8;
const double hx_stress_first_weight = 10.0;
const hx_schedule hx_stress_penalty = {
    .value = 3.0, .last = 4.0, .factor = 1.0, .step = 0.25, .every = 10};

static const hx_stress_list *list_of(const hx_response *o)
{
    return o->params.data;
}

static hx_stress_limit *limit_of(const hx_response *o)
{
    return o->impl;
}

/* The stresses are computed again, because multipliers change after they were prepared. */
static int joined_value(const hx_response *o, double *value)
{
    const hx_stress_list *const list = list_of(o);
    hx_device *const dev = o->analysis->dev;
    *value = 0.0;
    for (int i = 0; i < list->n; i++) {
        const hx_response *const limit = list->limit[i];
        hx_stress_limit *const own = limit_of(limit);
        for (int c = 0; c < own->n_case; c++) {
            const hx_device_stress law = hx_stress_limit_law(limit, c);
            double sum;
            if (!law.d_lambda) continue;
            HX_TRY(hx_stress_limit_find(limit, c, hx_stress_limit_scratch(limit)));
            HX_TRY(dev->ops->stress->sum(dev, &law, hx_stress_limit_scratch(limit), &sum));
            if (o->analysis->dist) HX_TRY(hx_dist_sum(o->analysis->dist, 1, &sum));
            *value += sum / (double)own->n_counted;
        }
    }
    return HX_OK;
}

static int joined_derivative(const hx_response *o, const double *d_energy, double *d_dg)
{
    const hx_stress_list *const list = list_of(o);
    hx_device *const dev = o->analysis->dev;
    (void)d_energy;
    HX_TRY(dev->ops->zero(dev, d_dg, (size_t)o->analysis->fields->mesh->n_elem * sizeof *d_dg));
    for (int i = 0; i < list->n; i++) {
        const hx_response *const limit = list->limit[i];
        const hx_stress_limit *const own = limit_of(limit);
        double *const d_s = hx_stress_limit_scratch(limit);
        for (int c = 0; c < own->n_case; c++) {
            const hx_device_stress law = hx_stress_limit_law(limit, c);
            if (!law.d_lambda) continue;
            HX_TRY(hx_stress_limit_find(limit, c, d_s));
            HX_TRY(dev->ops->stress->add_slope(dev, &law, 1.0 / (double)own->n_counted, d_s, d_dg));
        }
    }
    return HX_OK;
}

/* Sum over the limits of a case; those after the first need a vector of their own. */
static int joined_load(const hx_response *o, int c, double *d_load)
{
    const hx_stress_list *const list = list_of(o);
    hx_device *const dev = o->analysis->dev;
    const int64_t n = o->analysis->op->linear.n;
    int n_added = 0;
    for (int i = 0; i < list->n; i++) {
        const hx_response *const limit = list->limit[i];
        const hx_device_stress law = hx_stress_limit_law(limit, c);
        double *const d_s = hx_stress_limit_scratch(limit);
        double *const d_to = n_added == 0 ? d_load : o->analysis->pcg->d_q;
        if (!law.d_lambda) continue;
        HX_TRY(hx_stress_limit_find(limit, c, d_s));
        HX_TRY(dev->ops->stress->weigh(dev, &law, 1.0 / (double)limit_of(limit)->n_counted, d_s));
        HX_TRY(hx_stress_limit_load(limit, c, d_s, d_to));
        if (n_added++ > 0) HX_TRY(dev->ops->vector->axpy(dev, n, 1.0, d_to, d_load));
    }
    return n_added ? HX_OK : dev->ops->zero(dev, d_load, (size_t)n * sizeof *d_load);
}

static int advance_limit(const hx_response *limit, double *d_work)
{
    hx_device *const dev = limit->analysis->dev;
    hx_stress_limit *const own = limit_of(limit);
    if (++own->n_design < DESIGNS) return HX_OK;
    own->n_design = 0;
    for (int c = 0; c < own->n_case; c++) {
        const hx_device_stress law = hx_stress_limit_law(limit, c);
        if (!law.d_lambda) continue;
        HX_TRY(hx_stress_limit_find(limit, c, d_work));
        HX_TRY(dev->ops->stress->advance(dev, &law, d_work));
    }
    own->weight = fmin(last_weight, growth * own->weight);
    return HX_OK;
}

int hx_stress_advance(const hx_stress_list *list, double *d_work)
{
    for (int i = 0; i < list->n; i++) HX_TRY(advance_limit(list->limit[i], d_work));
    return HX_OK;
}

void hx_stress_tighten(const hx_stress_list *list, double factor)
{
    for (int i = 0; i < list->n; i++) {
        hx_stress_limit *const own = limit_of(list->limit[i]);
        own->margin = fmax(least_margin, factor * own->margin);
    }
}

/* At the minimum of an element's term, its second derivative is mu/N (dg/drho)^2, with dg/drho
 * near -1. Asymptotes at the distance o approximate it by 4 convexity / o, so this value keeps
 * steps from overshooting at o = 0.01, the nearest asymptotes. */
double hx_stress_convexity(const hx_stress_list *list)
{
    double most = 0.0;
    for (int i = 0; i < list->n; i++) {
        const hx_stress_limit *const own = limit_of(list->limit[i]);
        most = fmax(most, 0.0025 * own->weight / (double)own->n_counted);
    }
    return most;
}

static int snapshot_limit(hx_response *o, hx_snapshot *image)
{
    hx_stress_limit *const own = limit_of(o);
    char name[HX_SNAPSHOT_NAME];
    snprintf(name, sizeof name, "%s.weight", o->role);
    HX_TRY(hx_snapshot_host(image, name, &own->weight, sizeof own->weight));
    snprintf(name, sizeof name, "%s.margin", o->role);
    HX_TRY(hx_snapshot_newer(image, name, &own->margin, sizeof own->margin));
    snprintf(name, sizeof name, "%s.designs", o->role);
    HX_TRY(hx_snapshot_host(image, name, &own->n_design, sizeof own->n_design));
    for (int c = 0; c < own->n_case; c++) {
        if (!own->of[c].d_lambda) continue;
        snprintf(name, sizeof name, "%s.multipliers %d", o->role, c + 1);
        HX_TRY(hx_analysis_snapshot_field(o->analysis, image, name, own->of[c].d_lambda));
    }
    return HX_OK;
}

const hx_response_kind hx_response_stress_joined = {
    .name = "stress",
    .help = "augmented Lagrangian of the stress limits",
    .is_distributed = 1,
    .value = joined_value,
    .derivative = joined_derivative,
    .adjoint_load = joined_load,
    .is_apart = 1,
};

/* A limit, whose derivative is part of that sum. */
const hx_response_kind hx_response_stress_lagrangian = {
    .name = "stress",
    .help = "largest von Mises stress, limited by the augmented Lagrangian",
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_CASE | HX_TAKES_STRESS,
    .is_distributed = 1,
    .is_upper = 1,
    .in_lagrangian = 1,
    .unit = HX_VALUE_STRESS,
    .check = hx_stress_limit_check,
    .bytes = hx_stress_limit_bytes,
    .create = hx_stress_limit_create,
    .prepare = hx_stress_limit_prepare,
    .value = hx_stress_limit_report,
    .snapshot = snapshot_limit,
    .destroy = hx_stress_limit_destroy,
};
