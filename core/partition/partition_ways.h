/* Ways to cut beside the curve. Inside of the room. */
#ifndef HX_PARTITION_WAYS_H
#define HX_PARTITION_WAYS_H

#include "../base/sum.h"
#include "partition.h"

/* Of METIS, where the build has it. */
int hx_partition_graph_available(void);

/* rank[n_elem] by METIS' k-way partition of the elements, joined by common faces, weighed by
 * hx_partition_weight. 1 < n_rank <= n_elem. HX_EENV. */
int hx_partition_graph(const hx_mesh *mesh, int n_rank, int32_t *rank);

/* The same by recursive coordinate bisection. O(n_elem log n_rank), 4 bytes an element while it is
 * made. */
int hx_partition_bisection(const hx_mesh *mesh, int n_rank, int32_t *rank);

/* hx_partition_weight of an element of a finished mesh. */
static inline int hx_partition_weight_of(const hx_mesh *mesh, int64_t e)
{
    return hx_mesh_is_collapsed(mesh) ? hx_partition_weight(mesh->conn + 8 * e) : 8;
}

#endif
