/* Methods of partitioning other than the curve. Private to the room. */
#ifndef HX_PARTITION_WAYS_H
#define HX_PARTITION_WAYS_H

#include "../base/sum.h"
#include "partition_items.h"

/* Returns 1 if this build has METIS. */
int hx_partition_graph_available(void);

/* rank[n_elem] := METIS' k-way partition of the elements, which are joined by common faces and
 * weighted by hx_partition_weight. 1 < n_rank <= n_elem. HX_EENV. */
int hx_partition_graph(const hx_mesh *mesh, int n_rank, int32_t *rank);

#endif
