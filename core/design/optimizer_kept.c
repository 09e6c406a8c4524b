/* The design of the present penalty and beta that may become the result, for a run that ends with
 * another: the one with the lowest objective that meets all limits. With stress limits by the
 * augmented Lagrangian it is the newest that does, because designs just after a rise of beta, whose
 * multipliers are still too small, may be lighter; and as long as none does, the one that exceeds
 * its limits least. A design that is judged by its parts (optimizer_judge.c) is better than one that
 * is not, and of those the lightest that meets all limits, or the one that exceeds them least. It is
 * kept as densities only, and analysed if it is needed (optimizer_result.c). */
#include <math.h>

#include "optimizer_internal.h"

static int is_of(const hx_kept_design *kept, const hx_iteration *record)
{
    return kept->d_design && kept->iteration > 0 && kept->penalty == record->penalty &&
           kept->beta == record->beta;
}

/* How far the largest violation of a design is beyond what counts as met. */
static double beyond(const hx_optimizer *opt, double violation)
{
    return fmax(0.0, violation - opt->params.keep_within);
}

/* 1 if a judged design is better than the kept one. */
static int is_judged_better(const hx_optimizer *opt, const hx_iteration *record)
{
    const double there = opt->kept.judged;
    if (isnan(there)) return 1;
    return opt->judged > 0.0 || there > 0.0 ? opt->judged < there
                                            : record->objective < opt->kept.objective;
}

/* 1 if the analysed design is better than the kept one. */
static int is_better(const hx_optimizer *opt, const hx_iteration *record)
{
    const int has_kept = is_of(&opt->kept, record);
    const double here = beyond(opt, record->violation),
                 there = has_kept ? beyond(opt, opt->kept.violation) : INFINITY;
    if (!isnan(opt->judged)) return !has_kept || is_judged_better(opt, record);
    if (has_kept && !isnan(opt->kept.judged)) return 0;
    if (here > 0.0 && opt->lagrangian.list.n == 0) return 0;
    if (here > 0.0 || there > 0.0) return here < there;
    return opt->lagrangian.list.n > 0 || !has_kept || record->objective < opt->kept.objective;
}

int hx_optimizer_keep(hx_optimizer *opt, const hx_iteration *record)
{
    hx_device *const dev = opt->analysis->dev;
    hx_kept_design *const kept = &opt->kept;
    if (!kept->d_design || record->reason != HX_PCG_CONVERGED) return HX_OK;
    if (!is_better(opt, record)) return HX_OK;
    kept->iteration = record->iteration;
    kept->objective = record->objective;
    kept->violation = record->violation;
    kept->penalty = record->penalty;
    kept->beta = record->beta;
    kept->change = record->change;
    kept->kkt = record->kkt;
    kept->objective_change = record->objective_change;
    kept->judged = opt->judged;
    return dev->ops->copy(dev, kept->d_design, opt->d_design,
                          (size_t)opt->problem->mesh->n_elem * sizeof(double));
}

int hx_optimizer_keeps_better(const hx_optimizer *opt, const hx_iteration *last)
{
    const hx_kept_design *const kept = &opt->kept;
    if (!is_of(kept, last)) return 0;
    if (!isnan(kept->judged)) return kept->iteration != last->iteration;
    return beyond(opt, last->violation) > 0.0 &&
           beyond(opt, kept->violation) < beyond(opt, last->violation);
}
