/* The design that a run returns. Under stress limits by the augmented Lagrangian late designs swing
 * about their optimum, and they differ in what becomes of them when they are made: a member may be
 * too thin there, or a step of elements too sharp. So the newest designs that meet all limits are
 * judged as they are made, and by their parts of the elements above some densities. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "limit_values.h"
#include "optimizer_internal.h"

/* Densities above which an element belongs to a part. */
static const double threshold[] = {0.3, 0.4, 0.5};

/* Largest relative violation of a limit by the densities, with operator and displacements. */
static int find_violation(hx_optimizer *opt, double penalty, const double *d_rho,
                          const hx_constraint_spec *spec, double *worst)
{
    const int n = opt->params.n_constraint;
    hx_limit_value *value;
    HX_TRY(hx_analysis_solve(opt->analysis, d_rho, penalty));
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

/* *worst: of a kept design and of its parts; stops early above `enough`. */
static int judge(hx_optimizer *opt, const hx_kept_design *kept, const hx_constraint_spec *spec,
                 double enough, double *worst)
{
    hx_device *const dev = opt->analysis->dev;
    hx_projection part = {.beta = HX_PROJECTION_MOST_BETA, .rho_min = opt->design->rho_min};
    *worst = 0.0;
    opt->filter->projection.beta = kept->beta;
    opt->filter->analysed = HX_DESIGN_MADE;
    HX_TRY(hx_filter_forward(opt->filter, kept->d_design, opt->d_physical));
    HX_TRY(find_violation(opt, kept->penalty, opt->d_physical, spec, worst));
    for (size_t i = 0; i < sizeof threshold / sizeof threshold[0] && *worst < enough; i++) {
        part.eta = threshold[i];
        HX_TRY(dev->ops->design->project(dev, opt->problem->mesh->n_elem, &part,
                                         opt->filter->d_passive, opt->d_physical, opt->d_proposal));
        HX_TRY(find_violation(opt, kept->penalty, opt->d_proposal, spec, worst));
    }
    return HX_OK;
}

/* *best: the newest kept design whose parts meet all limits, or the one whose parts exceed them
 * least. At most four solves a design. */
static int choose(hx_optimizer *opt, const hx_iteration *last, const hx_constraint_spec *spec,
                  const hx_kept_design **best)
{
    double least = INFINITY, worst;
    int before = INT32_MAX;
    for (;;) {
        const hx_kept_design *const kept = hx_optimizer_kept_before(opt, last, before);
        if (!kept || least <= opt->params.keep_within) return HX_OK;
        HX_TRY(judge(opt, kept, spec, least, &worst));
        if (worst < least) *best = kept;
        least = fmin(least, worst);
        before = kept->iteration;
    }
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

static int find_best(hx_optimizer *opt, const hx_iteration *last, const hx_kept_design **best)
{
    hx_constraint_spec *spec;
    *best = hx_optimizer_kept_before(opt, last, INT32_MAX);
    if (!hx_optimizer_keeps_several(opt, last)) return HX_OK;
    HX_TRY(make_specs(opt, &spec));
    const int rc = choose(opt, last, spec, best);
    free(spec);
    return rc;
}

int hx_optimizer_has_result(const hx_optimizer *opt, const hx_iteration *last)
{
    return last->is_eroded || hx_optimizer_keeps_better(opt, last) ||
           hx_optimizer_keeps_several(opt, last);
}

int hx_optimizer_result_iteration(const hx_optimizer *opt, const hx_iteration *last)
{
    if (hx_optimizer_keeps_several(opt, last)) return 0;
    if (!hx_optimizer_keeps_better(opt, last)) return last->iteration;
    return hx_optimizer_kept_before(opt, last, INT32_MAX)->iteration;
}

int hx_optimizer_return_result(hx_optimizer *opt, const hx_iteration *last, hx_iteration *record)
{
    const hx_iteration end = *last; /* record may be last */
    hx_kept_design result = {.iteration = end.iteration,
                             .penalty = end.penalty,
                             .beta = end.beta,
                             .change = end.change,
                             .kkt = end.kkt,
                             .objective_change = end.objective_change};
    hx_device *const dev = opt->analysis->dev;
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    if (hx_optimizer_keeps_better(opt, &end) || hx_optimizer_keeps_several(opt, &end)) {
        const hx_kept_design *best;
        HX_TRY(hx_optimizer_note_failure(opt, find_best(opt, &end, &best)));
        result = *best;
        HX_TRY(dev->ops->copy(dev, opt->d_design, best->d_design,
                              (size_t)opt->problem->mesh->n_elem * sizeof(double)));
    }
    opt->iteration = result.iteration - 1;
    opt->penalty.value = result.penalty;
    opt->beta.value = result.beta;
    opt->filter->projection.beta = result.beta;
    opt->filter->analysed = HX_DESIGN_MADE;
    HX_TRY(hx_optimizer_note_failure(opt, hx_optimizer_analyse(opt, record)));
    record->change = result.change;
    record->kkt = result.kkt;
    record->objective_change = result.objective_change;
    return HX_OK;
}
