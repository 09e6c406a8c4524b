/* Designs of the present penalty and beta that may become the result, for a run that ends with
 * another: the one with the lowest objective that meets all limits. With stress limits by the
 * augmented Lagrangian these are the newest that do, a few designs apart, because designs just after
 * a rise of beta, whose multipliers are still too small, may be lighter; and as long as none does,
 * the one that exceeds its limits least. They are kept as densities only, and analysed if they are
 * needed (optimizer_result.c). */
#include <math.h>

#include "optimizer_internal.h"

enum { SPACING = 4 }; /* designs between two that are kept, if several are */

static size_t field_bytes(const hx_optimizer *opt)
{
    return (size_t)opt->problem->mesh->n_elem * sizeof(double);
}

static int has_kept(const hx_kept_design *kept, const hx_iteration *record)
{
    return kept->iteration > 0 && kept->penalty == record->penalty && kept->beta == record->beta;
}

const hx_kept_design *hx_optimizer_kept_before(const hx_optimizer *opt, const hx_iteration *record,
                                               int iteration)
{
    const hx_kept_design *newest = NULL;
    for (int i = 0; i < opt->n_kept; i++) {
        const hx_kept_design *const kept = &opt->kept[i];
        if (!has_kept(kept, record) || kept->iteration >= iteration) continue;
        if (!newest || kept->iteration > newest->iteration) newest = kept;
    }
    return newest;
}

static const hx_kept_design *newest_of(const hx_optimizer *opt, const hx_iteration *record)
{
    return hx_optimizer_kept_before(opt, record, INT32_MAX);
}

/* How far the largest violation of a design is beyond what counts as met. */
static double beyond(const hx_optimizer *opt, double violation)
{
    return fmax(0.0, violation - opt->params.keep_within);
}

/* 1 if the design of the record may be kept beside the newest one (NULL: none), or in its place. */
static int is_better(const hx_optimizer *opt, const hx_kept_design *newest,
                     const hx_iteration *record)
{
    const double here = beyond(opt, record->violation),
                 there = newest ? beyond(opt, newest->violation) : INFINITY;
    if (here > 0.0 && opt->lagrangian.list.n == 0) return 0;
    if (here > 0.0 || there > 0.0) return here < there;
    if (opt->lagrangian.list.n == 0) return record->objective < newest->objective;
    return opt->n_kept == 1 || record->iteration >= newest->iteration + SPACING;
}

/* The place of the design of the record: that of the oldest, or of all others if they belong to
 * another penalty or beta, or do not meet the limits. */
static hx_kept_design *make_place(hx_optimizer *opt, const hx_kept_design *newest)
{
    hx_kept_design *oldest = &opt->kept[0];
    const int is_alone = !newest || beyond(opt, newest->violation) > 0.0;
    for (int i = 0; i < opt->n_kept; i++) {
        if (is_alone) opt->kept[i].iteration = 0;
        if (opt->kept[i].iteration < oldest->iteration) oldest = &opt->kept[i];
    }
    return oldest;
}

int hx_optimizer_keep(hx_optimizer *opt, const hx_iteration *record)
{
    hx_device *const dev = opt->analysis->dev;
    if (opt->n_kept == 0 || record->reason != HX_PCG_CONVERGED) return HX_OK;
    const hx_kept_design *const newest = newest_of(opt, record);
    if (!is_better(opt, newest, record)) return HX_OK;
    hx_kept_design *const kept = make_place(opt, newest);
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
    const hx_kept_design *const newest = newest_of(opt, last);
    return newest && beyond(opt, last->violation) > 0.0 &&
           beyond(opt, newest->violation) < beyond(opt, last->violation);
}

int hx_optimizer_keeps_several(const hx_optimizer *opt, const hx_iteration *last)
{
    const hx_kept_design *const newest = newest_of(opt, last);
    return newest && !opt->is_hurried && hx_optimizer_kept_before(opt, last, newest->iteration);
}
