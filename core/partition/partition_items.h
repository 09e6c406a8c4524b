/* Ways to share out items of which each of several processes has a piece. */
#ifndef HX_PARTITION_ITEMS_H
#define HX_PARTITION_ITEMS_H

#include "../base/all.h"
#include "partition.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Items shared out by their places: the elements of a mesh, or a piece of what all processes have.
 */
typedef struct hx_partition_items {
    int64_t n;
    const hx_mesh *mesh;         /* they are its elements, in their order; NULL: as the next say */
    const double (*centroid)[3]; /* [n] */
    const uint8_t *weight;       /* [n]; NULL: 8 */
    const uint64_t *key;         /* [n] where they come in the order of all */
    const hx_all *all;           /* NULL: there are no others */
} hx_partition_items;

/* hx_partition_weight of an element of a finished mesh. */
static inline int hx_partition_weight_of(const hx_mesh *mesh, int64_t e)
{
    return hx_mesh_is_collapsed(mesh) ? hx_partition_weight(mesh->conn + 8 * e) : 8;
}

/* Weight of an item, and where it comes in the order. */
static inline int hx_partition_item_weight(const hx_partition_items *items, int64_t i)
{
    if (items->mesh) return hx_partition_weight_of(items->mesh, i);
    return items->weight ? items->weight[i] : 8;
}
static inline uint64_t hx_partition_item_key(const hx_partition_items *items, int64_t i)
{
    return items->key ? items->key[i] : (uint64_t)i;
}

/* rank[n] by recursive coordinate bisection. Collective. O(n log n_rank), 4 bytes an item while it
 * is made. */
int hx_partition_bisection(const hx_partition_items *items, int n_rank, int32_t *rank);

/* Items in the order of their keys, which are below 2^63. */
typedef struct hx_partition_run {
    int64_t n;
    const uint64_t *key;   /* [n] ascending */
    const int64_t *before; /* [n + 1] weight of those before each, at last of all; NULL: 8 each */
} hx_partition_run;

/* cut[n_cut] := for each cut the largest key so that what all processes have up to it, run[i], is
 * before the cut: twice its weight without half of the last item's is at most limit[i]. -1: nothing
 * is. Collective. O(n_cut log n). */
int hx_partition_cut_keys(const hx_all *all, int n_cut, const hx_partition_run *run,
                          const int64_t *limit, int64_t *cut);

/* rank[n] along the order of the keys, by weight; sorted: the items in that order. Collective. */
int hx_partition_curve(const hx_partition_items *items, const int32_t *sorted, int n_rank,
                       int32_t *rank);

#ifdef __cplusplus
}
#endif

#endif
