/* Under stress limits by the augmented Lagrangian late designs swing about their optimum, and they
 * differ in what becomes of them when they are made: a member may be too thin there, or a step of
 * elements too sharp. So every few designs one is judged as it is made, and by its parts of the
 * elements above some densities. If one of them misses a limit, the augmented Lagrangian gets a
 * smaller part of the stress limits from then on, as Le et al. (2010) scale theirs by the ratio of
 * two measures of a design; the reported limits stay as they were given. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "limit_values.h"
#include "optimizer_internal.h"

enum { DESIGNS = 6 }; /* from one that is judged to the next */

/* Densities above which an element belongs to a part. */
static const double threshold[] = {0.3, 0.4, 0.5};

/* Share of the excess by which limits shrink, and the most. */
static const double share = 0.5, most = 0.02;

/* Largest relative violation of a limit by the densities, with operator and displacements. */
static int find_violation(hx_optimizer *opt, const double *d_rho, const hx_constraint_spec *spec,
                          double *worst)
{
    const int n = opt->params.n_constraint;
    hx_limit_value *value;
    HX_TRY(hx_analysis_solve(opt->analysis, d_rho, opt->penalty.value));
    HX_TRY(hx_alloc(&value, (size_t)n, sizeof *value, "limits"));
    const int rc =
        hx_limit_values_of(opt->analysis, n, spec, d_rho, opt->d_volume, (double)NAN, value);
    for (int i = 0; rc == HX_OK && i < n; i++) {
        const hx_response_record *const limit = &opt->record[i];
        if (opt->constraint[opt->has_volume + i].kind->is_linear)
            continue; /* of the design itself */
        *worst =
            fmax(*worst, hx_limits_exceeded(value[i].value, limit->max, limit->min, limit->zero));
    }
    free(value);
    return rc;
}

/* *worst: of the parts of a design, and last of the design itself, whose displacements remain. */
static int find_worst(hx_optimizer *opt, const hx_constraint_spec *spec, double *worst)
{
    hx_device *const dev = opt->analysis->dev;
    const hx_design_variant analysed = opt->filter->analysed;
    hx_projection part = {.beta = HX_PROJECTION_MOST_BETA, .rho_min = opt->design->rho_min};
    *worst = 0.0;
    opt->filter->analysed = HX_DESIGN_MADE;
    const int rc = hx_filter_forward(opt->filter, opt->d_design, opt->d_physical);
    opt->filter->analysed = analysed;
    HX_TRY(rc);
    for (size_t i = 0; i < sizeof threshold / sizeof threshold[0]; i++) {
        part.eta = threshold[i];
        HX_TRY(dev->ops->design->project(dev, opt->problem->mesh->n_elem, &part,
                                         opt->filter->d_passive, opt->d_physical, opt->d_part));
        HX_TRY(find_violation(opt, opt->d_part, spec, worst));
    }
    return find_violation(opt, opt->d_physical, spec, worst);
}

/* The limits, as they were given. */
static int make_specs(const hx_optimizer *opt, hx_constraint_spec **spec)
{
    const int n = opt->params.n_constraint;
    HX_TRY(hx_alloc(spec, (size_t)n, sizeof **spec, "limits"));
    for (int i = 0; i < n; i++) {
        const hx_response *const g = &opt->constraint[opt->has_volume + i];
        (*spec)[i] =
            (hx_constraint_spec){.kind = g->kind->in_lagrangian ? &hx_response_stress : g->kind,
                                 .params = g->params,
                                 .max = opt->record[i].max,
                                 .min = opt->record[i].min};
    }
    return HX_OK;
}

int hx_optimizer_is_judged(const hx_optimizer *opt, const hx_iteration *record)
{
    return opt->d_part && !record->climbing && record->beta > 0.0 &&
           record->iteration % DESIGNS == 0;
}

int hx_optimizer_judge(hx_optimizer *opt)
{
    hx_constraint_spec *spec;
    HX_TRY(make_specs(opt, &spec));
    const int rc = find_worst(opt, spec, &opt->judged);
    free(spec);
    HX_TRY(rc);
    if (opt->judged > opt->params.keep_within)
        hx_stress_tighten(&opt->lagrangian.list, 1.0 - fmin(most, share * opt->judged));
    return HX_OK;
}
