/* The state of a run that the next design depends on. These entries and those of the kinds
 * (`snapshot` in their tables) are all that a resumed run needs. An image has the whole design,
 * however it is distributed. */
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
    return hx_response_snapshot(&opt->objective, image);
}

static const char design_name[] = "optimizer.design"; /* the next design */

/* Copies a field of the whole mesh in host memory to or from the image, where elements have their
 * order before partitioning. */
static int snapshot_field(const hx_mesh *mesh, hx_snapshot *image, double *field)
{
    const size_t n = (size_t)hx_mesh_n_elem_all(mesh);
    const int32_t *const before = mesh->parts.before;
    double *ordered;
    if (mesh->parts.n == 0) return hx_snapshot_host(image, design_name, field, n * sizeof *field);
    HX_TRY(hx_alloc_raw(&ordered, n, sizeof *ordered, "checkpoint"));
    if (image->mode == HX_SNAPSHOT_SAVE)
        for (size_t e = 0; e < n; e++) ordered[before[e]] = field[e];
    const int rc = hx_snapshot_host(image, design_name, ordered, n * sizeof *ordered);
    if (rc == HX_OK && image->mode == HX_SNAPSHOT_LOAD)
        for (size_t e = 0; e < n; e++) field[e] = ordered[before[e]];
    free(ordered);
    return rc;
}

/* Transfers the design between the root's image and the subdomains. */
static int snapshot_design(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode)
{
    hx_dist *const dist = opt->analysis->dist;
    const hx_mesh *const mesh = opt->analysis->problem->mesh;
    double *whole = NULL;
    int rc = HX_OK;
    if (image)
        HX_TRY(hx_alloc_raw(&whole, (size_t)hx_mesh_n_elem_all(mesh), sizeof *whole, "checkpoint"));
    if (mode == HX_SNAPSHOT_SAVE) {
        rc = hx_dist_gather_field(dist, opt->d_proposal, whole);
        if (rc == HX_OK && image) rc = snapshot_field(mesh, image, whole);
    } else {
        if (image) rc = snapshot_field(mesh, image, whole);
        if (rc == HX_OK) rc = hx_dist_scatter_field(dist, whole, opt->d_design);
    }
    free(whole);
    return rc;
}

/* If one process holds the whole design: transfers it from or to the device. */
static int snapshot_whole(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode)
{
    const hx_mesh *const mesh = opt->problem->mesh;
    const size_t bytes = (size_t)mesh->n_elem * sizeof(double);
    hx_device *const dev = opt->analysis->dev;
    double *const d_field = mode == HX_SNAPSHOT_SAVE ? opt->d_proposal : opt->d_design, *field;
    if (mesh->parts.n == 0) return hx_snapshot_device(image, design_name, dev, d_field, bytes);
    HX_TRY(hx_alloc_raw(&field, (size_t)mesh->n_elem, sizeof *field, "checkpoint"));
    int rc = mode == HX_SNAPSHOT_SAVE ? dev->ops->download(dev, field, d_field, bytes) : HX_OK;
    if (rc == HX_OK) rc = snapshot_field(mesh, image, field);
    if (rc == HX_OK && mode == HX_SNAPSHOT_LOAD) rc = dev->ops->upload(dev, d_field, field, bytes);
    free(field);
    return rc;
}

/* Sends the numbers that the root loaded to the other processes. */
static int send_numbers(hx_optimizer *opt, int leads)
{
    const hx_comm *const comm = opt->analysis->dist->comm;
    hx_snapshot own = {0};
    size_t bytes = 0;
    char *packed = NULL;
    int rc;
    hx_snapshot_begin(&own, HX_SNAPSHOT_SAVE);
    if (leads) HX_TRY_FAIL(snapshot_numbers(opt, &own));
    if (leads) HX_TRY_FAIL(snapshot_kinds(opt, &own));
    bytes = hx_snapshot_packed_bytes(&own);
    HX_TRY_FAIL(comm->ops->broadcast(comm, HX_DIST_ROOT, &bytes, sizeof bytes));
    HX_TRY_FAIL(hx_alloc_raw(&packed, bytes + 1, 1, "checkpoint"));
    if (leads) hx_snapshot_pack(&own, packed);
    HX_TRY_FAIL(comm->ops->broadcast(comm, HX_DIST_ROOT, packed, bytes));
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
    return hx_analysis_snapshot_local(opt->analysis, image, mode);
}

int hx_optimizer_snapshot_local(hx_optimizer *opt, hx_snapshot *image, hx_snapshot_mode mode)
{
    if (opt->analysis->is_joint) return snapshot_joint(opt, image, mode);
    HX_TRY(snapshot_numbers(opt, image));
    HX_TRY(snapshot_whole(opt, image, mode));
    HX_TRY(snapshot_kinds(opt, image));
    return hx_analysis_snapshot(opt->analysis, image);
}
