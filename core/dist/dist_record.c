/* Recordings of queued work (device.h) over subdomains: the backend's recordings, provided nothing
 * recorded goes through the host, together with the exchanges of a replay for the figures. */
#include <stdlib.h>

#include "../base/memory.h"
#include "dist.h"

typedef struct recording {
    void *plain;    /* the backend's (owned) */
    uint64_t boxes; /* value of hx_transport.n_opened: the buffers that the recording uses */
    int64_t n_exchange, n_sum, bytes; /* per replay */
} recording;

static int record_begin(hx_device *dev)
{
    hx_dist *const dist = hx_dist_of(dev);
    dist->at_record = dist->figures;
    return dist->plain->record_begin(dev);
}

static int record_end(hx_device *dev, void **out)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_dist_stats *const now = &dist->figures, *const then = &dist->at_record;
    recording *r;
    void *plain = NULL;
    *out = NULL;
    HX_TRY(dist->plain->record_end(dev, &plain)); /* ends the recording in any case */
    const int rc = hx_alloc(&r, 1, sizeof *r, "recordings");
    if (rc < 0) {
        dist->plain->record_free(dev, plain);
        return rc;
    }
    r->plain = plain;
    r->boxes = dist->transport.n_opened;
    r->n_exchange = now->n_exchange - then->n_exchange;
    r->n_sum = now->n_sum - then->n_sum;
    r->bytes = now->exchange_bytes - then->exchange_bytes;
    dist->figures = dist->at_record; /* nothing has been exchanged yet */
    *out = r;
    return HX_OK;
}

static int replay(hx_device *dev, void *recorded)
{
    hx_dist *const dist = hx_dist_of(dev);
    const recording *const r = recorded;
    if (r->boxes != dist->transport.n_opened)
        return HX_RAISE(HX_EINTERNAL, "a recording refers to buffers that have been replaced");
    HX_TRY(dist->plain->replay(dev, r->plain));
    dist->figures.n_exchange += r->n_exchange;
    dist->figures.n_sum += r->n_sum;
    dist->figures.exchange_bytes += r->bytes;
    return HX_OK;
}

static void record_free(hx_device *dev, void *recorded)
{
    recording *const r = recorded;
    hx_dist_of(dev)->plain->record_free(dev, r->plain);
    free(r);
}

void hx_dist_set_recording(hx_dist *dist)
{
    hx_device_ops *const ops = &dist->ops;
    const int can = dist->transport.ops && !dist->transport.has_same && dist->plain->record_begin &&
                    !dist->waits;
    ops->record_begin = can ? record_begin : NULL;
    ops->record_end = can ? record_end : NULL;
    ops->replay = can ? replay : NULL;
    ops->record_free = record_free;
}
