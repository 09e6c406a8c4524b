/* Ways to cut beside the curve. Inside of the room. */
#ifndef HX_PARTITION_WAYS_H
#define HX_PARTITION_WAYS_H

#include "../base/sum.h"
#include "partition_items.h"

/* Of METIS, where the build has it. */
int hx_partition_graph_available(void);

/* rank[n_elem] by METIS' k-way partition of the elements, joined by common faces, weighed by
 * hx_partition_weight. 1 < n_rank <= n_elem. HX_EENV. */
int hx_partition_graph(const hx_mesh *mesh, int n_rank, int32_t *rank);

#endif
