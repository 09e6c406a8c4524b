/* Where the time of a run goes: spans in the device's queue and on the host, each between two
 * marks, for the latest designs that fit into a ring buffer of marks. A device without a timeline
 * marks nothing, which costs one comparison on the host.
 *
 *     HX_IN_SPAN(dev, HX_SPAN_PRODUCT, -1, a->apply(a, d_x, d_y));
 *
 * Spans of a queue are nested or follow each other. Spans in a recording are marked at each replay,
 * even those of work that is queued beyond the end of a solve and has no effect. */
#ifndef HX_TIMELINE_H
#define HX_TIMELINE_H

#include "device.h"
#include "timeline_ops.h"

HX_C_BEGIN

/* Spans. timeline.c has the name and the class of each. A stage contains other spans; these are
 * computation, exchange between processes, or a wait of the host. */
typedef enum {
    HX_SPAN_DESIGN, /* numbered by the design, from 1 */
    HX_SPAN_FILTER, /* this and the following spans are stages of a design, named like its timers */
    HX_SPAN_PCG,
    HX_SPAN_COMPLIANCE,
    HX_SPAN_UPDATE,
    HX_SPAN_OUTPUT,
    HX_SPAN_SETUP,     /* of the preconditioner */
    HX_SPAN_ITERATION, /* of PCG */
    HX_SPAN_MODULUS,   /* the moduli, and hence K, from the densities */
    /* matrix of coarse grid `number`, counted from 1 (0 is the mesh); the same in the entries
     * below */
    HX_SPAN_GALERKIN,
    HX_SPAN_EIGENVALUES,
    HX_SPAN_FACTORS,  /* of the coarsest grid */
    HX_SPAN_FLOATING, /* search for floating components, on the host */
    HX_SPAN_VECTORS,
    HX_SPAN_PRODUCT,
    HX_SPAN_INTERIOR, /* elements without interface points */
    HX_SPAN_SCALARS,  /* PCG's dot products */
    HX_SPAN_PRECONDITIONER,
    HX_SPAN_SMOOTH,
    HX_SPAN_RESTRICT, /* from level `number` */
    HX_SPAN_PROLONG,  /* to level `number` */
    HX_SPAN_COARSE,   /* solve on the coarsest grid, or the fused coarse cycle in one launch */
    HX_SPAN_PUT,      /* values sent to other processes */
    HX_SPAN_ADD,      /* wait for received values, then add or take them */
    HX_SPAN_SUM,      /* over all processes */
    HX_SPAN_HALO,     /* halo exchange of a filter */
    HX_SPAN_LOOK,     /* the host waits for the state of a solve (status check) */
    HX_N_SPAN
} hx_span;

/* Text such as "product" or "smooth coarse grid 1"; returns `text`. */
const char *hx_span_text(hx_span span, int number, char *text, size_t n_text);
/* "stage", "compute", "exchange", "wait". */
const char *hx_span_kind(hx_span span);

typedef struct hx_timeline hx_timeline;

/* Number of marks that a run keeps: 131,072 spans, 4 MB each in device and host memory. */
enum { HX_TIMELINE_MARKS = 1 << 18 };

/* Creates a timeline of a device for n marks each of device and host; n is a power of 2. The caller
 * enables the timeline by setting hx_device.timeline. *timeline is NULL if the device supports
 * none. HX_ENOMEM. */
int hx_timeline_open(hx_timeline **timeline, hx_device *dev, int64_t n);
/* To be called before the device is closed, and once no recording will be replayed. Accepts
 * NULL. */
void hx_timeline_close(hx_timeline *timeline);

/* Marks a queue: the host's immediately, the device's when the device reaches the mark. */
int hx_timeline_mark(hx_timeline *timeline, hx_queue queue, hx_span span, int number, int is_end);

/* begin and end: ns of the host's clock (hx_clock). */
typedef struct hx_span_time {
    double begin, end;
    int32_t number;
    uint8_t span, queue, unused[2];
} hx_span_time;

/* Fetches the marks; the functions below refer to them. *precision is the uncertainty, in ns,
 * between the clocks of device and host. Waits. */
int hx_timeline_fetch(hx_timeline *timeline, double *precision);
/* The first design whose marks are all present; 0: none. */
int hx_timeline_first(const hx_timeline *timeline);
/* The spans from that design on (0: all), ordered by queue, then by begin, without spans that have
 * not ended. The caller frees *spans. O(n). */
int hx_timeline_spans(const hx_timeline *timeline, int first, hx_span_time **spans, int64_t *n);

static inline int hx_span_begin(hx_device *dev, hx_span span, int number)
{
    return dev->timeline ? hx_timeline_mark(dev->timeline, HX_QUEUE_DEVICE, span, number, 0)
                         : HX_OK;
}

static inline int hx_span_end(hx_device *dev, hx_span span)
{
    return dev->timeline ? hx_timeline_mark(dev->timeline, HX_QUEUE_DEVICE, span, -1, 1) : HX_OK;
}

/* Marks concurrent work (concurrent.h), or the queue's own if the device has only one queue. */
static inline int hx_span_mark_concurrent(hx_device *dev, hx_span span, int is_end)
{
    const hx_queue queue = dev->ops->fork_point ? HX_QUEUE_CONCURRENT : HX_QUEUE_DEVICE;
    return dev->timeline ? hx_timeline_mark(dev->timeline, queue, span, -1, is_end) : HX_OK;
}

/* Spans of the host. */
static inline void hx_span_begin_host(hx_device *dev, hx_span span, int number)
{
    if (dev->timeline) hx_timeline_mark(dev->timeline, HX_QUEUE_HOST, span, number, 0);
}

static inline void hx_span_end_host(hx_device *dev, hx_span span)
{
    if (dev->timeline) hx_timeline_mark(dev->timeline, HX_QUEUE_HOST, span, -1, 1);
}

/* Wraps one call in a span: of the device's queue, of the host, or of both. number: of a design or
 * coarse grid, or -1. Forwards errors. */
#define HX_IN_SPAN(dev, span, number, call)                                                        \
    do {                                                                                           \
        HX_TRY(hx_span_begin((dev), (span), (number)));                                            \
        HX_TRY(call);                                                                              \
        HX_TRY(hx_span_end((dev), (span)));                                                        \
    } while (0)

#define HX_IN_SPAN_OF_HOST(dev, span, number, call)                                                \
    do {                                                                                           \
        hx_span_begin_host((dev), (span), (number));                                               \
        HX_TRY(call);                                                                              \
        hx_span_end_host((dev), (span));                                                           \
    } while (0)

#define HX_IN_STAGE(dev, span, number, call)                                                       \
    do {                                                                                           \
        hx_span_begin_host((dev), (span), (number));                                               \
        HX_IN_SPAN(dev, span, number, call);                                                       \
        hx_span_end_host((dev), (span));                                                           \
    } while (0)

HX_C_END

#endif
