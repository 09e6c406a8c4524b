/* From the piece that a rank has read to the elements that it owns. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sum.h"
#include "../comm/comm_alltoall.h"
#include "../mesh/hilbert.h"
#include "../partition/partition_items.h"
#include "dist_mesh_internal.h"

static const char what[] = "a part of a distributed mesh";

static int partition_piece(const hx_dist_mesh_task *task, const hx_dist_mesh_piece *p,
                           int32_t *rank)
{
    const hx_partition_items items = {.n = p->n,
                                      .centroid = (const double(*)[3])p->centroid,
                                      .weight = p->weight,
                                      .key = p->key,
                                      .reduce = task->reduce};
    if (task->params->partition == HX_PARTITION_BISECTION)
        return hx_partition_bisection(&items, task->comm->size, rank);
    return hx_partition_curve(&items, p->sorted, task->comm->size, rank);
}

/* Elements sent, by rank and along the curve within a rank, and elements received. */
typedef struct parcels {
    int64_t *out_first, *in_first; /* [size + 1] (owned, like the next) */
    uint64_t *out_key, *in_key;
    int32_t *out_place, *in_place; /* index in the piece of the sender */
} parcels;

static void free_parcels(parcels *c)
{
    free(c->out_first);
    free(c->in_first);
    free(c->out_key);
    free(c->in_key);
    free(c->out_place);
    free(c->in_place);
}

/* next[HX_N_PART][size] := position of the next element that each part of the order sends to each
 * rank. */
static int count_next(const hx_dist_mesh_piece *p, const int32_t *rank, int size, int64_t *next,
                      int64_t *first)
{
    int64_t sum = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t i = hx_part_begin(p->n, part); i < hx_part_begin(p->n, part + 1); i++)
            next[(int64_t)part * size + rank[p->sorted[i]]]++;
    for (int r = 0; r < size; r++) {
        first[r] = sum;
        for (int part = 0; part < HX_N_PART; part++) {
            const int64_t n = next[(int64_t)part * size + r];
            next[(int64_t)part * size + r] = sum;
            sum += n;
        }
    }
    first[size] = sum;
    return HX_OK;
}

static int pack_elements(const hx_dist_mesh_piece *p, const int32_t *rank, int size, parcels *c)
{
    int64_t *next;
    HX_TRY(hx_alloc(&c->out_first, (size_t)size + 1, sizeof *c->out_first, what));
    HX_TRY(hx_alloc_raw(&c->out_key, (size_t)p->n, sizeof *c->out_key, what));
    HX_TRY(hx_alloc_raw(&c->out_place, (size_t)p->n, sizeof *c->out_place, what));
    HX_TRY(hx_alloc(&next, HX_N_PART * (size_t)size, sizeof *next, what));
    count_next(p, rank, size, next, c->out_first);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t i = hx_part_begin(p->n, part); i < hx_part_begin(p->n, part + 1); i++) {
            const int32_t e = p->sorted[i];
            const int64_t to = next[(int64_t)part * size + rank[e]]++;
            c->out_key[to] = p->key[e];
            c->out_place[to] = e;
        }
    free(next);
    return HX_OK;
}

static int trade(const hx_comm *comm, parcels *c)
{
    HX_TRY(hx_alloc(&c->in_first, (size_t)comm->size + 1, sizeof *c->in_first, what));
    HX_TRY(hx_comm_alltoall_counts(comm, c->out_first, c->in_first));
    const size_t n = (size_t)c->in_first[comm->size];
    HX_TRY(hx_alloc_raw(&c->in_key, n, sizeof *c->in_key, what));
    HX_TRY(hx_alloc_raw(&c->in_place, n, sizeof *c->in_place, what));
    HX_TRY(hx_comm_alltoallv(comm, c->out_first, c->in_first, sizeof *c->in_key, c->out_key,
                             c->in_key));
    return hx_comm_alltoallv(comm, c->out_first, c->in_first, sizeof *c->in_place, c->out_place,
                             c->in_place);
}

/* Pieces follow the source's order, and the sort is stable, so elements with equal keys keep that
 * order. */
static int put_in_order(const hx_dist_mesh_task *task, parcels *c, int64_t *n_own, int64_t **own)
{
    const hx_comm *const comm = task->comm;
    const int64_t n = c->in_first[comm->size];
    int64_t *elem = NULL;
    int32_t *order = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&elem, (size_t)n, sizeof *elem, what));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, what));
    HX_TRY_FAIL(hx_alloc_raw(own, (size_t)n, sizeof **own, what));
    for (int r = 0; r < comm->size; r++) {
        const int64_t first = hx_comm_piece(comm, task->source->n_elem, r);
#pragma omp parallel for schedule(static)
        for (int64_t i = c->in_first[r]; i < c->in_first[r + 1]; i++)
            elem[i] = first + c->in_place[i];
    }
    HX_TRY_FAIL(hx_radix_sort(c->in_key, order, n, 3 * HX_HILBERT_BITS));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) (*own)[i] = elem[order[i]];
    *n_own = n;
fail:
    free(elem);
    free(order);
    return rc;
}

int hx_dist_mesh_migrate(const hx_dist_mesh_task *task, hx_dist_mesh_piece *p, int64_t *n_own,
                         int64_t **own)
{
    parcels c = {0};
    int32_t *rank = NULL;
    int rc;
    *own = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&rank, (size_t)p->n, sizeof *rank, what));
    HX_TRY_FAIL(partition_piece(task, p, rank));
    HX_TRY_FAIL(pack_elements(p, rank, task->comm->size, &c));
    hx_dist_mesh_piece_free(p);
    HX_TRY_FAIL(trade(task->comm, &c));
    rc = put_in_order(task, &c, n_own, own);
fail:
    free(rank);
    free_parcels(&c);
    return rc;
}
