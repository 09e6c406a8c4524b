/* What of a run outlives a design. This list, with those of the kinds (a `snapshot` in their
 * tables), is all that a run which goes on later must have. An image has the design of the whole,
 * whoever holds it. */
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "optimizer_internal.h"

/* Where a stair stands; its steps are settings. */
static int snapshot_stair(hx_stair *stair, hx_snapshot *image, const char *value, const char *spent)
{
    HX_TRY(hx_snapshot_host(image, value, &stair->value, sizeof stair->value));
    return hx_snapshot_host(image, spent, &stair->spent, sizeof stair->spent);
}

static int snapshot_numbers(hx_optimizer *opt, hx_snapshot *image)
{
    HX_TRY(hx_snapshot_host(image, "optimizer.iteration", &opt->iteration, sizeof opt->iteration));
    HX_TRY(hx_snapshot_host(image, "optimizer.value", &opt->last_value, sizeof opt->last_value));
    HX_TRY(snapshot_stair(&opt->penalty, image, "optimizer.penalty", "optimizer.penalty spent"));
    HX_TRY(snapshot_stair(&opt->beta, image, "optimizer.beta", "optimizer.beta spent"));
    opt->filter->projection.beta = opt->beta.value;
    return HX_OK;
}

static int snapshot_kinds(hx_optimizer *opt, hx_snapshot *image)
{
    if (opt->update.kind->snapshot) HX_TRY(opt->update.kind->snapshot(&opt->update, image));
    if (opt->filter->kind->snapshot) HX_TRY(opt->filter->kind->snapshot(opt->filter, image));
    return hx_objective_snapshot(&opt->objective, image);
}

static const char design_name[] = "optimizer.design"; /* the next one */

/* Between the leader's image and the shares. */
static int snapshot_design(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode)
{
    hx_ranks *const ranks = opt->analysis->ranks;
    const size_t n = (size_t)opt->analysis->problem->mesh->n_elem;
    double *whole = NULL;
    int rc = HX_OK;
    if (image) HX_TRY(hx_alloc_raw(&whole, n, sizeof *whole, "checkpoint"));
    if (mode == HX_SNAPSHOT_SAVE) {
        rc = hx_ranks_collect_field(ranks, opt->d_proposal, whole);
        if (rc == HX_OK && image)
            rc = hx_snapshot_host(image, design_name, whole, n * sizeof *whole);
    } else {
        if (image) rc = hx_snapshot_host(image, design_name, whole, n * sizeof *whole);
        if (rc == HX_OK) rc = hx_ranks_spread_field(ranks, whole, opt->d_design);
    }
    free(whole);
    return rc;
}

/* What the leader has loaded besides the design goes to the others. */
static int send_numbers(hx_optimizer *opt, int leads)
{
    const hx_team *const team = opt->analysis->ranks->team;
    hx_snapshot own = {0};
    size_t bytes = 0;
    char *packed = NULL;
    int rc;
    hx_snapshot_begin(&own, HX_SNAPSHOT_SAVE);
    if (leads) HX_TRY_FAIL(snapshot_numbers(opt, &own));
    if (leads) HX_TRY_FAIL(snapshot_kinds(opt, &own));
    bytes = hx_snapshot_packed_bytes(&own);
    HX_TRY_FAIL(team->ops->broadcast(team, HX_RANKS_LEADER, &bytes, sizeof bytes));
    HX_TRY_FAIL(hx_alloc_raw(&packed, bytes + 1, 1, "checkpoint"));
    if (leads) hx_snapshot_pack(&own, packed);
    HX_TRY_FAIL(team->ops->broadcast(team, HX_RANKS_LEADER, packed, bytes));
    if (!leads) HX_TRY_FAIL(hx_snapshot_unpack(&own, packed, bytes));
    if (!leads) HX_TRY_FAIL(snapshot_numbers(opt, &own));
    if (!leads) HX_TRY_FAIL(snapshot_kinds(opt, &own));
    rc = HX_OK;
fail:
    free(packed);
    hx_snapshot_free(&own);
    return rc;
}

static int snapshot_joint(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode)
{
    if (image) HX_TRY(snapshot_numbers(opt, image));
    HX_TRY(snapshot_design(opt, image, mode));
    if (image) HX_TRY(snapshot_kinds(opt, image));
    if (mode == HX_SNAPSHOT_LOAD) HX_TRY(send_numbers(opt, image != NULL));
    return hx_analysis_snapshot_share(opt->analysis, image, mode);
}

int hx_optimizer_snapshot_share(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode)
{
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    if (opt->analysis->is_joint) return snapshot_joint(opt, image, mode);
    HX_TRY(snapshot_numbers(opt, image));
    HX_TRY(hx_snapshot_device(image, design_name, opt->analysis->dev,
                              mode == HX_SNAPSHOT_SAVE ? opt->d_proposal : opt->d_design, bytes));
    HX_TRY(snapshot_kinds(opt, image));
    return hx_analysis_snapshot(opt->analysis, image);
}
