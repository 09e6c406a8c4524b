/* The best design of the present penalty and beta that meets all limits, for a run that ends with
 * another. It is kept as densities only and analysed again if it is needed. */
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

int hx_optimizer_keep(hx_optimizer *opt, const hx_iteration *record)
{
    hx_kept_design *const kept = &opt->kept;
    hx_device *const dev = opt->analysis->dev;
    if (!kept->d_design || record->violation > opt->params.keep_within) return HX_OK;
    if (record->reason != HX_PCG_CONVERGED) return HX_OK;
    if (has_kept(opt, record) && !(record->objective < kept->objective)) return HX_OK;
    kept->iteration = record->iteration;
    kept->objective = record->objective;
    kept->penalty = record->penalty;
    kept->beta = record->beta;
    kept->change = record->change;
    kept->kkt = record->kkt;
    kept->objective_change = record->objective_change;
    return dev->ops->copy(dev, kept->d_design, opt->d_design, field_bytes(opt));
}

int hx_optimizer_keeps_better(const hx_optimizer *opt, const hx_iteration *last)
{
    return last->violation > opt->params.keep_within && has_kept(opt, last);
}
