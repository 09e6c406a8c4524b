/* The design that a run returns: the last one or the kept one, as it is made. */
#include "analysis_internal.h"
#include "optimizer_internal.h"

int hx_optimizer_has_result(const hx_optimizer *opt, const hx_iteration *last)
{
    return last->is_eroded || hx_optimizer_keeps_better(opt, last);
}

int hx_optimizer_result_iteration(const hx_optimizer *opt, const hx_iteration *last)
{
    return hx_optimizer_keeps_better(opt, last) ? opt->kept.iteration : last->iteration;
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
    if (hx_optimizer_keeps_better(opt, &end)) {
        result = opt->kept;
        HX_TRY(dev->ops->copy(dev, opt->d_design, opt->kept.d_design,
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
