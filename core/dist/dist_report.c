/* Times and memory of every rank, for the log and the summary of a run. */
#include <string.h>

#include "../base/memory.h"
#include "local_level.h"

int hx_dist_gather_report(hx_dist *dist, hx_dist_report *report)
{
    hx_dist_report own;
    HX_TRY(hx_dist_check(dist));
    memset(&own, 0, sizeof own); /* padding is sent and must be defined */
    own.n_elem = dist->subdomain.mesh.n_elem;
    own.n_node = dist->subdomain.mesh.n_node;
    own.n_coarse = hx_dist_coarse_nodes(dist);
    own.host_bytes = (int64_t)hx_host_memory_peak();
    own.device_bytes = (int64_t)dist->device_bytes;
    own.figures = dist->figures;
    return hx_dist_note_error(dist,
                              dist->comm->ops->all_gather(dist->comm, &own, sizeof own, report));
}
