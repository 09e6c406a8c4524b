#include "comm_clock.h"

#include <math.h>
#include <stdlib.h>

#include "../base/clock.h"
#include "../base/memory.h"

enum { N_ROUND = 64 };

/* Times on the clock of a rank: when it sends to all, and when it had received everything of the
 * previous round. */
typedef struct beat {
    double sent, had;
} beat;

/* A message arrives later than it was sent, so each end of a round bounds the offset on one
 * side. */
static int listen(const hx_comm *comm, beat *all, double *least, double *most)
{
    beat own = {0.0, 0.0};
    double sent_before = 0.0;
    *least = -INFINITY;
    *most = INFINITY;
    for (int i = 0; i < N_ROUND; i++) {
        own.sent = hx_clock();
        HX_TRY(comm->ops->all_gather(comm, &own, sizeof own, all));
        own.had = hx_clock();
        *least = fmax(*least, all[0].sent - own.had);
        if (i > 0) *most = fmin(*most, all[0].had - sent_before);
        sent_before = own.sent;
    }
    return HX_OK;
}

int hx_comm_clock(const hx_comm *comm, double *offset, double *width)
{
    beat *all;
    double least, most;
    *offset = *width = 0.0;
    if (comm->size == 1) return HX_OK;
    HX_TRY(hx_alloc_raw(&all, (size_t)comm->size, sizeof *all, "clocks of processes"));
    const int rc = listen(comm, all, &least, &most);
    free(all);
    if (rc < 0 || comm->rank == 0 || (least <= 0.0 && most >= 0.0)) return rc;
    *offset = 0.5 * (least + most);
    *width = 0.5 * fabs(most - least);
    return HX_OK;
}
