/* What of a run outlives a design. This list, with those of the kinds (a `snapshot` in their
 * tables), is all that a run which goes on later must have. */
#include "optimizer.h"

/* Where a stair stands; its steps are settings. */
static int snapshot_stair(hx_stair *stair, hx_snapshot *image, const char *value, const char *spent)
{
    HX_TRY(hx_snapshot_host(image, value, &stair->value, sizeof stair->value));
    return hx_snapshot_host(image, spent, &stair->spent, sizeof stair->spent);
}

int hx_optimizer_snapshot(hx_optimizer *opt, hx_snapshot *image)
{
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    const int is_saved = image->mode == HX_SNAPSHOT_SAVE;
    HX_TRY(hx_snapshot_host(image, "optimizer.iteration", &opt->iteration, sizeof opt->iteration));
    HX_TRY(hx_snapshot_host(image, "optimizer.value", &opt->last_value, sizeof opt->last_value));
    HX_TRY(snapshot_stair(&opt->penalty, image, "optimizer.penalty", "optimizer.penalty spent"));
    HX_TRY(snapshot_stair(&opt->beta, image, "optimizer.beta", "optimizer.beta spent"));
    opt->filter->projection.beta = opt->beta.value;
    /* the next design */
    HX_TRY(hx_snapshot_device(image, "optimizer.design", opt->analysis->dev,
                              is_saved ? opt->d_proposal : opt->d_design, bytes));
    if (opt->update.kind->snapshot) HX_TRY(opt->update.kind->snapshot(&opt->update, image));
    if (opt->filter->kind->snapshot) HX_TRY(opt->filter->kind->snapshot(opt->filter, image));
    HX_TRY(hx_objective_snapshot(&opt->objective, image));
    return hx_analysis_snapshot(opt->analysis, image);
}
