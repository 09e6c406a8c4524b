/* Methods of partitioning items that are distributed over several ranks. */
#ifndef HX_PARTITION_ITEMS_H
#define HX_PARTITION_ITEMS_H

#include "../base/c_linkage.h"
#include "../base/reduce.h"
#include "partition.h"

HX_C_BEGIN

/* Items that are partitioned by their positions: the elements of a mesh, or this rank's piece of a
 * distributed list. */
typedef struct hx_partition_items {
    int64_t n;
    /* the items are its elements in their order; NULL: they are defined by the next members */
    const hx_mesh *mesh;
    const double (*centroid)[3]; /* [n] */
    const uint8_t *weight;       /* [n]; NULL: 8 */
    const uint64_t *key;         /* [n] position in the global order */
    const hx_reduce *reduce;     /* NULL: there is only one rank */
} hx_partition_items;

/* Returns hx_partition_weight of an element of a finished mesh. */
static inline int hx_partition_weight_of(const hx_mesh *mesh, int64_t e)
{
    return hx_mesh_is_collapsed(mesh) ? hx_partition_weight(mesh->conn + 8 * e) : 8;
}

/* Return the weight of an item, and its position in the global order. */
static inline int hx_partition_item_weight(const hx_partition_items *items, int64_t i)
{
    if (items->mesh) return hx_partition_weight_of(items->mesh, i);
    return items->weight ? items->weight[i] : 8;
}
static inline uint64_t hx_partition_item_key(const hx_partition_items *items, int64_t i)
{
    return items->key ? items->key[i] : (uint64_t)i;
}

/* rank[n] := partition by recursive coordinate bisection. Collective. O(n log n_rank); 4 bytes of
 * scratch memory per item. */
int hx_partition_bisection(const hx_partition_items *items, int n_rank, int32_t *rank);

/* Items sorted by their keys, which are below 2^63. */
typedef struct hx_partition_run {
    int64_t n;
    const uint64_t *key; /* [n] ascending */
    /* [n + 1] weight of the items before each, at the end of all; NULL: 8 each */
    const int64_t *before;
} hx_partition_run;

/* cut[n_cut] := for each cut, the largest key up to which items lie before it; -1: no item does. An
 * item lies before the cut if twice the weight of all items up to it (over all ranks, run[i]),
 * minus its own weight, is at most limit[i]. Collective. O(n_cut log n). */
int hx_partition_cut_keys(const hx_reduce *reduce, int n_cut, const hx_partition_run *run,
                          const int64_t *limit, int64_t *cut);

/* rank[n] := partition along the order of the keys, by weight; sorted: the items in that order.
 * Collective. */
int hx_partition_curve(const hx_partition_items *items, const int32_t *sorted, int n_rank,
                       int32_t *rank);

HX_C_END

#endif
