/* The state of a run that the next design depends on. These entries and those of the kinds
 * (`snapshot` in their tables) are all that a resumed run needs. An image has the whole design,
 * however it is distributed. */
#include <stdio.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "optimizer_internal.h"

/* Position in a continuation schedule; its steps are settings and not saved. */
static int snapshot_schedule(hx_schedule *schedule, hx_snapshot *image, const char *value,
                             const char *spent)
{
    HX_TRY(hx_snapshot_host(image, value, &schedule->value, sizeof schedule->value));
    return hx_snapshot_host(image, spent, &schedule->spent, sizeof schedule->spent);
}

static int snapshot_numbers(hx_optimizer *opt, hx_snapshot *image)
{
    HX_TRY(hx_snapshot_host(image, "optimizer.iteration", &opt->iteration, sizeof opt->iteration));
    HX_TRY(hx_snapshot_host(image, "optimizer.value", &opt->last_value, sizeof opt->last_value));
    HX_TRY(snapshot_schedule(&opt->penalty, image, "optimizer.penalty", "optimizer.penalty spent"));
    HX_TRY(snapshot_schedule(&opt->beta, image, "optimizer.beta", "optimizer.beta spent"));
    opt->filter->projection.beta = opt->beta.value;
    return HX_OK;
}

static int snapshot_kinds(hx_optimizer *opt, hx_snapshot *image)
{
    if (opt->update.kind->snapshot) HX_TRY(opt->update.kind->snapshot(&opt->update, image));
    if (opt->filter->kind->snapshot) HX_TRY(opt->filter->kind->snapshot(opt->filter, image));
    for (int i = 0; i < opt->n_constraint; i++)
        HX_TRY(hx_response_snapshot(&opt->constraint[i], image));
    if (opt->lagrangian.sum.kind) {
        HX_TRY(hx_snapshot_host(image, "optimizer.objective scale", &opt->lagrangian.scale,
                                sizeof opt->lagrangian.scale));
        HX_TRY(hx_response_snapshot(&opt->lagrangian.sum, image));
    }
    HX_TRY(hx_optimizer_snapshot_sides(opt, image));
    return hx_response_snapshot(&opt->objective, image);
}

/* Copies a field of the whole mesh in host memory to or from the image, where elements have their
 * order before partitioning. */
static int snapshot_whole(const hx_mesh *mesh, hx_snapshot *image, const char *name, double *field)
{
    const size_t n = (size_t)hx_mesh_n_elem_all(mesh);
    const int32_t *const before = mesh->parts.before;
    double *ordered;
    if (mesh->parts.n == 0) return hx_snapshot_first(image, name, field, n * sizeof *field);
    HX_TRY(hx_alloc_raw(&ordered, n, sizeof *ordered, "checkpoint"));
    if (image->mode == HX_SNAPSHOT_SAVE)
        for (size_t e = 0; e < n; e++) ordered[before[e]] = field[e];
    const int rc = hx_snapshot_first(image, name, ordered, n * sizeof *ordered);
    if (rc == HX_OK && image->mode == HX_SNAPSHOT_LOAD)
        for (size_t e = 0; e < n; e++) field[e] = ordered[before[e]];
    free(ordered);
    return rc;
}

/* By the host of the first rank. */
int hx_analysis_snapshot_field(hx_analysis *a, hx_snapshot *image, const char *name,
                               double *d_field)
{
    const hx_mesh *const mesh = a->problem->mesh;
    const int is_first = !a->dist || hx_dist_is_root(a->dist);
    double *whole = NULL;
    int rc = HX_OK;
    if (!a->dist && mesh->parts.n == 0)
        return hx_snapshot_device(image, name, a->dev, d_field,
                                  (size_t)mesh->n_elem * sizeof *whole);
    if (is_first)
        HX_TRY(hx_alloc_raw(&whole, (size_t)hx_mesh_n_elem_all(mesh), sizeof *whole, "checkpoint"));
    if (image->mode == HX_SNAPSHOT_SAVE) rc = hx_analysis_download(a, d_field, whole);
    if (rc == HX_OK && is_first) rc = snapshot_whole(mesh, image, name, whole);
    if (rc == HX_OK && image->mode == HX_SNAPSHOT_LOAD) rc = hx_analysis_upload(a, whole, d_field);
    free(whole);
    return rc;
}

/* Saves the proposal, or loads the design. */
static int snapshot_design(hx_optimizer *opt, hx_snapshot *image)
{
    return hx_analysis_snapshot_field(opt->analysis, image, "optimizer.design",
                                      image->mode == HX_SNAPSHOT_SAVE ? opt->d_proposal
                                                                      : opt->d_design);
}

/* A design that is kept for the end of the run, if one is (optimizer_kept.c). */
static int snapshot_kept(hx_optimizer *opt, hx_snapshot *image)
{
    hx_kept_design *const kept = &opt->kept;
    double number[] = {kept->iteration, kept->objective, kept->penalty,         kept->beta,
                       kept->change,    kept->kkt,       kept->objective_change};
    HX_TRY(hx_snapshot_newer(image, "optimizer.kept", number, sizeof number));
    HX_TRY(hx_snapshot_newer(image, "optimizer.kept violation", &kept->violation,
                             sizeof kept->violation));
    HX_TRY(hx_snapshot_newer(image, "optimizer.kept judged", &kept->judged, sizeof kept->judged));
    kept->iteration = (int)number[0];
    kept->objective = number[1];
    kept->penalty = number[2];
    kept->beta = number[3];
    kept->change = number[4];
    kept->kkt = number[5];
    kept->objective_change = number[6];
    if (kept->iteration == 0) return HX_OK;
    return hx_analysis_snapshot_field(opt->analysis, image, "optimizer.kept design",
                                      kept->d_design);
}

static int snapshot_all(hx_optimizer *opt, hx_snapshot *image)
{
    HX_TRY(snapshot_numbers(opt, image));
    HX_TRY(snapshot_design(opt, image));
    if (opt->kept.d_design) HX_TRY(snapshot_kept(opt, image));
    HX_TRY(snapshot_kinds(opt, image));
    return hx_analysis_snapshot(opt->analysis, image);
}

int hx_optimizer_snapshot(hx_optimizer *opt, hx_snapshot *image)
{
    hx_dist *const dist = opt->analysis->dist;
    HX_TRY(hx_analysis_check_ranks(opt->analysis));
    if (!dist) return snapshot_all(opt, image);
    image->reduce = &dist->reduce.base;
    const int rc = hx_dist_note_error(dist, snapshot_all(opt, image));
    image->reduce = NULL;
    return rc;
}
