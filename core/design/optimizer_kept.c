/* The best design of the present penalty and beta, for a run that ends with another: the one with
 * the lowest objective that meets all limits. With stress limits by the augmented Lagrangian it is
 * the newest that does, because designs just after a rise of beta, whose multipliers are still too
 * small, may be lighter; and as long as none does, the one that exceeds its limits least. It is
 * kept as densities only and analysed again if it is needed. */
#include <math.h>

#include "optimizer_internal.h"

static size_t field_bytes(const hx_optimizer *opt)
{
    return (size_t)opt->problem->mesh->n_elem * sizeof(double);
}

/* 1 if a design is kept that has the penalty and beta of the record. */
static int has_kept(const hx_optimizer *opt, const hx_iteration *record)
{
    const hx_kept_design *const kept = &opt->kept;
    return kept->iteration > 0 && kept->penalty == record->penalty && kept->beta == record->beta;
}

/* How far the largest violation of a design is beyond what counts as met. */
static double beyond(const hx_optimizer *opt, double violation)
{
    return fmax(0.0, violation - opt->params.keep_within);
}

/* 1 if the design of the record may be kept, and is better than the kept one. */
static int is_better(const hx_optimizer *opt, const hx_iteration *record)
{
    const double here = beyond(opt, record->violation), there = beyond(opt, opt->kept.violation);
    if (here > 0.0 && opt->lagrangian.list.n == 0) return 0;
    if (!has_kept(opt, record)) return 1;
    if (here > 0.0 || there > 0.0) return here < there;
    return opt->lagrangian.list.n > 0 || record->objective < opt->kept.objective;
}

int hx_optimizer_keep(hx_optimizer *opt, const hx_iteration *record)
{
    hx_kept_design *const kept = &opt->kept;
    hx_device *const dev = opt->analysis->dev;
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
    return dev->ops->copy(dev, kept->d_design, opt->d_design, field_bytes(opt));
}

int hx_optimizer_keeps_better(const hx_optimizer *opt, const hx_iteration *last)
{
    return beyond(opt, last->violation) > 0.0 && has_kept(opt, last) &&
           beyond(opt, opt->kept.violation) < beyond(opt, last->violation);
}
