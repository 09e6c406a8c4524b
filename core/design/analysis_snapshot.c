/* Saves and loads the state of an analysis that the next design needs. With several processes the
 * root's image holds vectors of the whole problem, like that of one process, and the state of
 * each process' preconditioner as a part of its own. With the same number of processes and the same
 * partition a resumed run is bitwise identical; otherwise the preconditioners start without that
 * state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "analysis_internal.h"

/* Prefixes of entries that are valid only for the number of processes that saved them. */
static const char *const of_others[] = {"subdomain", "multigrid.", "analysis.last "};

/* State of PCG's error estimate. The saved run may have used another stopping criterion. */
static int snapshot_slow(hx_analysis *a, hx_snapshot *image)
{
    static const char name[] = "analysis.slow";
    int is_there = image->mode == HX_SNAPSHOT_SAVE ? a->pcg->params.criterion == HX_PCG_COMPLIANCE
                                                   : hx_snapshot_has(image, name);
    HX_TRY(hx_reduce_first(image->reduce, &is_there, sizeof is_there));
    if (!is_there) return HX_OK;
    return hx_snapshot_host(image, name, &a->pcg->slow, sizeof a->pcg->slow);
}

/* State that each process keeps for itself. */
static int snapshot_own(hx_analysis *a, hx_snapshot *image)
{
    HX_TRY(hx_analysis_snapshot_last(a, image));
    return a->pc->kind->snapshot ? a->pc->kind->snapshot(a->pc, image) : HX_OK;
}

static const char *case_name(int c, char text[HX_SNAPSHOT_NAME])
{
    snprintf(text, HX_SNAPSHOT_NAME, "analysis.u %d", c + 1);
    return text;
}

static void pass_over(hx_snapshot *image)
{
    for (size_t i = 0; i < image->n; i++)
        for (size_t k = 0; k < sizeof of_others / sizeof of_others[0]; k++)
            if (strncmp(image->entry[i].name, of_others[k], strlen(of_others[k])) == 0)
                image->entry[i].is_used = 1;
}

int hx_analysis_snapshot_vector(hx_analysis *a, hx_snapshot *image, const char *name, double *d_v)
{
    const int components = a->problem->components;
    if (!a->dist)
        return hx_snapshot_device(image, name, a->dev, d_v, (size_t)a->op->linear.n * sizeof *d_v);
    return hx_dist_snapshot_vector(a->dist, image, name, components,
                                   hx_analysis_whole_entries(a) / components, d_v);
}

static int snapshot_alone(hx_analysis *a, hx_snapshot *image)
{
    char name[HX_SNAPSHOT_NAME];
    for (int c = 0; a->warm_start && c < a->problem->cases.n; c++)
        HX_TRY(hx_analysis_snapshot_vector(a, image, case_name(c, name), a->d_u[c]));
    HX_TRY(snapshot_slow(a, image));
    if (image->mode == HX_SNAPSHOT_SAVE || !hx_snapshot_has(image, "subdomains"))
        return snapshot_own(a, image);
    pass_over(image);
    /* it has none, so extrapolation starts from zero displacements */
    return hx_analysis_snapshot_last(a, image);
}

/* Serializes a process' own image: name, size and bytes of each part. */
size_t hx_snapshot_packed_bytes(const hx_snapshot *image)
{
    size_t bytes = 0;
    for (size_t i = 0; i < image->n; i++)
        bytes += HX_SNAPSHOT_NAME + sizeof(size_t) + image->entry[i].bytes;
    return bytes;
}

void hx_snapshot_pack(const hx_snapshot *image, char *to)
{
    for (size_t i = 0; i < image->n; i++) {
        const hx_snapshot_entry *const e = &image->entry[i];
        memcpy(to, e->name, HX_SNAPSHOT_NAME);
        memcpy(to + HX_SNAPSHOT_NAME, &e->bytes, sizeof e->bytes);
        to += HX_SNAPSHOT_NAME + sizeof e->bytes;
        if (e->bytes > 0) memcpy(to, e->data, e->bytes);
        to += e->bytes;
    }
}

int hx_snapshot_unpack(hx_snapshot *image, char *from, size_t bytes)
{
    hx_snapshot_begin(image, HX_SNAPSHOT_SAVE);
    for (char *const end = from + bytes; from < end;) {
        char name[HX_SNAPSHOT_NAME];
        size_t n;
        memcpy(name, from, sizeof name);
        memcpy(&n, from + sizeof name, sizeof n);
        from += sizeof name + sizeof n;
        if (n > (size_t)(end - from) || name[sizeof name - 1])
            return HX_RAISE(HX_EINPUT,
                            "the checkpoint is damaged: the data of one process are incomplete");
        hx_snapshot_name_now(name);
        HX_TRY(hx_snapshot_host(image, name, from, n));
        from += n;
    }
    image->mode = HX_SNAPSHOT_LOAD;
    return HX_OK;
}

/* Sizes of the parts of all processes; the root gets the list. */
static int sizes_of_all(const hx_dist *dist, size_t own, size_t **bytes)
{
    HX_TRY(hx_alloc(bytes, (size_t)dist->comm->size, sizeof **bytes, "checkpoint"));
    return dist->comm->ops->all_gather(dist->comm, &own, sizeof own, *bytes);
}

static const char *local_name(const hx_dist *dist, int rank, char text[HX_SNAPSHOT_NAME])
{
    const hx_mesh *const whole = dist->subdomain.whole->mesh;
    char parts[24] = "";
    if (whole->parts.n > 0 || whole->ownership)
        snprintf(
            parts, sizeof parts, ", %016llx",
            (unsigned long long)(whole->ownership ? whole->ownership->hash : whole->parts.hash));
    snprintf(text, HX_SNAPSHOT_NAME, "subdomain %d of %d%s", rank + 1, dist->comm->size, parts);
    return text;
}

static int put_local(const hx_dist *dist, hx_snapshot *image, const size_t *bytes, char *all)
{
    char name[HX_SNAPSHOT_NAME], mark = 1;
    HX_TRY(hx_snapshot_host(image, "subdomains", &mark, 1));
    for (int r = 0; r < dist->comm->size; all += bytes[r], r++)
        HX_TRY(hx_snapshot_host(image, local_name(dist, r, name), all, bytes[r]));
    return HX_OK;
}

static int save_local(hx_analysis *a, hx_snapshot *image)
{
    const hx_dist *const dist = a->dist;
    hx_snapshot own = {0};
    size_t *bytes = NULL, n_all = 0;
    char *packed = NULL, *all = NULL;
    int rc;
    hx_snapshot_begin(&own, HX_SNAPSHOT_SAVE);
    HX_TRY_FAIL(snapshot_own(a, &own));
    const size_t n_own = hx_snapshot_packed_bytes(&own);
    HX_TRY_FAIL(hx_alloc_raw(&packed, n_own + 1, 1, "checkpoint"));
    hx_snapshot_pack(&own, packed);
    HX_TRY_FAIL(sizes_of_all(dist, n_own, &bytes));
    for (int r = 0; r < dist->comm->size; r++) n_all += bytes[r];
    if (hx_dist_is_root(dist)) HX_TRY_FAIL(hx_alloc_raw(&all, n_all + 1, 1, "checkpoint"));
    HX_TRY_FAIL(dist->comm->ops->gather(dist->comm, HX_DIST_ROOT, packed, bytes, all));
    if (hx_dist_is_root(dist)) HX_TRY_FAIL(put_local(dist, image, bytes, all));
    rc = HX_OK;
fail:
    free(bytes);
    free(packed);
    free(all);
    hx_snapshot_free(&own);
    return rc;
}

/* Reads the parts of all processes from the root's image into one buffer. */
static int get_local(const hx_dist *dist, hx_snapshot *image, size_t *bytes, char **all)
{
    char name[HX_SNAPSHOT_NAME];
    size_t n_all = 0;
    for (int r = 0; r < dist->comm->size; r++) {
        const void *part;
        HX_TRY(hx_snapshot_borrow(image, local_name(dist, r, name), &part, &bytes[r]));
        n_all += bytes[r];
    }
    HX_TRY(hx_alloc_raw(all, n_all + 1, 1, "checkpoint"));
    char *to = *all;
    for (int r = 0; r < dist->comm->size; to += bytes[r], r++) {
        const void *part;
        size_t n;
        HX_TRY(hx_snapshot_borrow(image, local_name(dist, r, name), &part, &n));
        if (n > 0) memcpy(to, part, n);
    }
    return HX_OK;
}

static int load_local(hx_analysis *a, hx_snapshot *image)
{
    hx_dist *const dist = a->dist;
    const hx_comm *const comm = dist->comm;
    char name[HX_SNAPSHOT_NAME], *all = NULL, *packed = NULL;
    int32_t has = hx_snapshot_has(image, local_name(dist, comm->size - 1, name));
    hx_snapshot own = {0};
    size_t *bytes = NULL;
    int rc;
    HX_TRY(comm->ops->broadcast(comm, HX_DIST_ROOT, &has, sizeof has));
    if (!has) {
        hx_snapshot_begin(&own, HX_SNAPSHOT_LOAD); /* an empty image */
        return hx_analysis_snapshot_last(a, &own);
    }
    HX_TRY_FAIL(hx_alloc(&bytes, (size_t)comm->size, sizeof *bytes, "checkpoint"));
    if (hx_dist_is_root(dist)) HX_TRY_FAIL(get_local(dist, image, bytes, &all));
    HX_TRY_FAIL(
        comm->ops->broadcast(comm, HX_DIST_ROOT, bytes, (size_t)comm->size * sizeof *bytes));
    HX_TRY_FAIL(hx_alloc_raw(&packed, bytes[comm->rank] + 1, 1, "checkpoint"));
    HX_TRY_FAIL(comm->ops->scatter(comm, HX_DIST_ROOT, all, bytes, packed));
    HX_TRY_FAIL(hx_snapshot_unpack(&own, packed, bytes[comm->rank]));
    rc = snapshot_own(a, &own);
fail:
    free(bytes);
    free(all);
    free(packed);
    hx_snapshot_free(&own);
    return rc;
}

static int snapshot_ranks(hx_analysis *a, hx_snapshot *image)
{
    char name[HX_SNAPSHOT_NAME];
    for (int c = 0; a->warm_start && c < a->problem->cases.n; c++)
        HX_TRY(hx_analysis_snapshot_vector(a, image, case_name(c, name), a->d_u[c]));
    HX_TRY(snapshot_slow(a, image));
    if (image->mode == HX_SNAPSHOT_SAVE) return save_local(a, image);
    HX_TRY(load_local(a, image));
    pass_over(image);
    return HX_OK;
}

int hx_analysis_snapshot(hx_analysis *a, hx_snapshot *image)
{
    return a->dist ? snapshot_ranks(a, image) : snapshot_alone(a, image);
}
