/* Partitions along the order of the elements, and functions common to all methods. */
#include "partition.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "partition_ways.h"

const char *hx_partition_name(hx_partition_kind kind)
{
    static const char *const name[] = {"curve", "graph", "bisection", "auto"};
    return name[kind];
}

int hx_partition_available(hx_partition_kind kind)
{
    return kind != HX_PARTITION_GRAPH || hx_partition_graph_available();
}

void hx_partition_free(hx_partition *partition)
{
    free(partition->rank);
    memset(partition, 0, sizeof *partition);
}

/* before[part] := weight of the elements before each part; the last entry is the total weight. */
static void sum_weights(const hx_mesh *mesh, int64_t before[HX_N_PART + 1])
{
    before[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_elem, part + 1);
        int64_t sum = 0;
        for (int64_t e = hx_part_begin(mesh->n_elem, part); e < end; e++)
            sum += hx_partition_weight_of(mesh, e);
        before[part + 1] = sum;
    }
    for (int part = 0; part < HX_N_PART; part++) before[part + 1] += before[part];
}

/* The rank of an element follows from the position of its middle along the order, by weight. */
static void cut_curve(const hx_mesh *mesh, int n_rank, int32_t *rank)
{
    int64_t begin[HX_N_PART + 1];
    sum_weights(mesh, begin);
    const int64_t all = begin[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_elem, part + 1);
        int64_t before = begin[part];
        for (int64_t e = hx_part_begin(mesh->n_elem, part); e < end; e++) {
            const int64_t weight = hx_partition_weight_of(mesh, e);
            rank[e] = (int32_t)((2 * before + weight) * n_rank / (2 * all));
            before += weight;
        }
    }
}

/* A rank may get no element if there are few elements of different weights, or if METIS partitions
 * few elements. */
static int check_shares(const hx_partition *p, const hx_mesh *mesh, hx_partition_kind kind)
{
    uint8_t *has;
    int missing = -1;
    HX_TRY(hx_alloc(&has, (size_t)p->n_rank, 1, "ranks"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (e > 0 && p->rank[e] == p->rank[e - 1]) continue;
#pragma omp atomic write
        has[p->rank[e]] = 1;
    }
    for (int r = p->n_rank - 1; r >= 0; r--)
        if (!has[r]) missing = r;
    free(has);
    if (missing < 0) return HX_OK;
    return HX_RAISE(
        HX_EINPUT, "%s: rank %d of %d gets none of the %lld %s (partition \"%s\"); use fewer ranks",
        mesh->name, missing, p->n_rank, (long long)mesh->n_elem,
        hx_noun(mesh->n_elem, "element", "elements"), hx_partition_name(kind));
}

int hx_partition_make(hx_partition *p, const hx_mesh *mesh, hx_partition_kind kind, int n_rank)
{
    memset(p, 0, sizeof *p);
    if (n_rank < 1 || n_rank > HX_MAX_RANK)
        return HX_RAISE(HX_EINPUT, "%d %s requested; 1 to %d are supported", n_rank,
                        hx_noun(n_rank, "rank", "ranks"), HX_MAX_RANK);
    if (n_rank > mesh->n_elem)
        return HX_RAISE(HX_EINPUT, "%s: %d %s for %lld %s; use at most one rank per element",
                        mesh->name, n_rank, hx_noun(n_rank, "rank", "ranks"),
                        (long long)mesh->n_elem, hx_noun(mesh->n_elem, "element", "elements"));
    HX_TRY(hx_alloc(&p->rank, (size_t)mesh->n_elem, sizeof *p->rank, "ranks of elements"));
    p->kind = kind;
    p->n_rank = n_rank;
    const hx_partition_items items = {.n = mesh->n_elem, .mesh = mesh};
    int rc = HX_OK;
    if (n_rank > 1 && kind == HX_PARTITION_CURVE)
        cut_curve(mesh, n_rank, p->rank);
    else if (n_rank > 1 && kind == HX_PARTITION_BISECTION)
        rc = hx_partition_bisection(&items, n_rank, p->rank);
    else if (n_rank > 1)
        rc = hx_partition_graph(mesh, n_rank, p->rank);
    if (rc == HX_OK) rc = check_shares(p, mesh, kind);
    if (rc < 0) hx_partition_free(p);
    return rc;
}
