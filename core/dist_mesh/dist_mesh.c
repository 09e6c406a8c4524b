#include "dist_mesh.h"

#include <stdlib.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../mesh/mesh_hash.h"
#include "dist_mesh_internal.h"

static const char what[] = "a part of a distributed mesh";

/* HX_EINPUT, naming the first rank without an element. */
static int check_shares(const hx_dist_mesh_task *task, int64_t n_own)
{
    const int size = task->comm->size;
    int64_t *n;
    int missing = -1;
    HX_TRY(hx_alloc_raw(&n, (size_t)size, sizeof *n, what));
    const int rc = task->reduce->gather(task->reduce, &n_own, sizeof n_own, n);
    for (int r = size - 1; rc == HX_OK && r >= 0; r--)
        if (n[r] == 0) missing = r;
    free(n);
    if (rc < 0 || missing < 0) return rc;
    return HX_RAISE(HX_EINPUT,
                    "%s: process %d of %d gets none of the %lld %s (solver.partition = \"%s\"); "
                    "use fewer processes",
                    task->source->name, missing, size, (long long)task->source->n_elem,
                    hx_noun(task->source->n_elem, "element", "elements"),
                    hx_partition_name(task->params->partition));
}

/* Files and checkpoints use global node and element numbers of 32 bits. */
static int check_numbers(const hx_mesh_source *source)
{
    if (source->n_elem <= INT32_MAX && source->n_node <= INT32_MAX) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: %lld %s and %lld %s; at most %d of each are supported",
                    source->name, (long long)source->n_elem,
                    hx_noun(source->n_elem, "element", "elements"), (long long)source->n_node,
                    hx_noun(source->n_node, "node", "nodes"), INT32_MAX);
}

/* Checks that no rank has more elements, ghosts included, than a mesh may have. Collective. */
static int check_dist_mesh(const hx_dist_mesh_task *task, int64_t n)
{
    double most = (double)n;
    HX_TRY(hx_reduce_max(task->reduce, 1, &most));
    if (most <= (double)HX_MAX_ELEM) return HX_OK;
    return HX_RAISE(
        HX_EINPUT,
        "%s: a process would have %.0f elements, including copies of those near its own; "
        "at most %lld are supported: use more processes",
        task->source->name, most, (long long)HX_MAX_ELEM);
}

int hx_dist_mesh_create(hx_mesh *mesh, const hx_comm *comm, const hx_reduce *reduce,
                        const hx_mesh_source *source, const hx_dist_mesh_params *params)
{
    const hx_dist_mesh_task task = {comm, reduce, source, params};
    hx_dist_mesh_piece piece = {0};
    int64_t n_own = 0, *own = NULL, *elem = NULL, *first = NULL;
    int rc;
    *mesh = (hx_mesh){0};
    HX_TRY_FAIL(check_numbers(source));
    HX_TRY_FAIL(hx_alloc(&first, (size_t)comm->size + 1, sizeof *first, what));
    HX_TRY_FAIL(hx_dist_mesh_piece_create(&piece, &task));
    HX_TRY_FAIL(hx_dist_mesh_migrate(&task, &piece, &n_own, &own));
    HX_TRY_FAIL(check_shares(&task, n_own));
    HX_TRY_FAIL(hx_dist_mesh_find_ghosts(&task, &piece, n_own, own, first, &elem));
    HX_TRY_FAIL(check_dist_mesh(&task, first[comm->size]));
    free(own);
    own = NULL;
    int64_t *const taken = first;
    first = NULL;
    HX_TRY_FAIL(hx_dist_mesh_make_local(&task, elem, taken, mesh));
    mesh->ownership->aspect = piece.aspect;
    mesh->ownership->reach = hx_dist_mesh_reach(&task, &piece);
    rc = hx_mesh_ownership_hash(mesh, &mesh->ownership->hash);
fail:
    hx_dist_mesh_piece_free(&piece);
    free(first);
    free(own);
    free(elem);
    return rc;
}
