/* Times and memory of every rank, for the log and the summary of a run. */
#include <string.h>

#include "../base/memory.h"
#include "level_share.h"

int hx_ranks_gather_report(hx_ranks *ranks, hx_ranks_report *report)
{
    hx_ranks_report own;
    memset(&own, 0, sizeof own); /* padding is sent and must be defined */
    own.n_elem = ranks->share.mesh.n_elem;
    own.n_node = ranks->share.mesh.n_node;
    own.n_lattice = hx_ranks_lattice_nodes(ranks);
    own.host_bytes = (int64_t)hx_host_memory_peak();
    own.device_bytes = (int64_t)ranks->device_bytes;
    own.figures = ranks->figures;
    return ranks->comm->ops->all_gather(ranks->comm, &own, sizeof own, report);
}
