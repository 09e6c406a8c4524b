/* Where a run's time goes: spans of the device's queue and of the host, each between two marks, of
 * the last designs that fit into a ring of marks. A device without a timeline marks nothing, which
 * costs a comparison on the host.
 *
 *     HX_IN_SPAN(dev, HX_SPAN_PRODUCT, -1, a->apply(a, d_x, d_y));
 *
 * Spans of a queue lie within or after each other. In a recording they are marked at each replay:
 * work that is queued past the end of a solve, and does nothing, too. */
#ifndef HX_TIMELINE_H
#define HX_TIMELINE_H

#include "device.h"
#include "timeline_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By their kind (timeline.c has names and kinds): stages hold others, compute and exchange between
 * processes is what they consist of, waits are the host's. */
typedef enum {
    HX_SPAN_DESIGN, /* the number is the design's, from 1 */
    HX_SPAN_FILTER, /* stages of a design, by the names of its timers */
    HX_SPAN_PCG,
    HX_SPAN_COMPLIANCE,
    HX_SPAN_UPDATE,
    HX_SPAN_OUTPUT,
    HX_SPAN_SETUP,     /* of the preconditioner */
    HX_SPAN_ITERATION, /* of PCG */
    HX_SPAN_MODULUS,   /* K of the densities */
    HX_SPAN_GALERKIN,  /* matrix of lattice `number`, from 1, as below; 0 is the mesh */
    HX_SPAN_EIGENVALUES,
    HX_SPAN_FACTORS, /* of the last lattice */
    HX_SPAN_LOOSE,   /* parts that hang loose, looked for on the host */
    HX_SPAN_VECTORS,
    HX_SPAN_PRODUCT,
    HX_SPAN_INTERIOR, /* elements that no other process waits for */
    HX_SPAN_SCALARS,  /* of PCG: dot products */
    HX_SPAN_PRECONDITIONER,
    HX_SPAN_SMOOTH,
    HX_SPAN_RESTRICT, /* from there */
    HX_SPAN_PROLONG,  /* to there */
    HX_SPAN_COARSE,   /* the last lattice, solved; or the cycle of the last ones, in one launch */
    HX_SPAN_PUT,      /* values on their way to other processes */
    HX_SPAN_ADD,      /* theirs: awaited, then added or taken */
    HX_SPAN_SUM,      /* over all processes */
    HX_SPAN_HALO,     /* of a filter */
    HX_SPAN_LOOK,     /* the host waits for the state of a solve */
    HX_N_SPAN
} hx_span;

/* "product", "smooth lattice 1"; returns text. */
const char *hx_span_text(hx_span span, int number, char *text, size_t n_text);
/* "stage", "compute", "exchange", "wait". */
const char *hx_span_kind(hx_span span);

typedef struct hx_timeline hx_timeline;

/* Marks that a run keeps: 131,072 spans, 4 MB of the device's memory and as many of the host's. */
enum { HX_TIMELINE_MARKS = 1 << 18 };

/* A timeline of a device, for n marks each of device and host, a power of 2. What it marks is for
 * the caller to say, by hx_device.timeline. NULL where the device has none. HX_ENOMEM */
int hx_timeline_open(hx_timeline **timeline, hx_device *dev, int64_t n);
/* Before the device is closed, and once nothing that was recorded is replayed. Accepts NULL. */
void hx_timeline_close(hx_timeline *timeline);

/* A mark of a queue, now on the host or when the device gets there. */
int hx_timeline_mark(hx_timeline *timeline, hx_queue queue, hx_span span, int number, int is_end);

/* begin and end: ns of the host's clock (hx_clock). */
typedef struct hx_span_time {
    double begin, end;
    int32_t number;
    uint8_t span, queue, unused[2];
} hx_span_time;

/* Fetches the marks, of which all below are; ns between the device's clock and the host's by which
 * a time may be off go to *precision. Waits. */
int hx_timeline_fetch(hx_timeline *timeline, double *precision);
/* The first design all of whose marks are there; 0: none. */
int hx_timeline_first(const hx_timeline *timeline);
/* The spans from that design on (0: all), in the order of queues and of their beginnings, without
 * those that have not ended. *spans is the caller's to free. O(n). */
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

/* Of work beside the queue (beside.h); in the queue where there is no other. */
static inline int hx_span_mark_beside(hx_device *dev, hx_span span, int is_end)
{
    const hx_queue queue = dev->ops->beside_from ? HX_QUEUE_BESIDE : HX_QUEUE_DEVICE;
    return dev->timeline ? hx_timeline_mark(dev->timeline, queue, span, -1, is_end) : HX_OK;
}

/* Of the host. */
static inline void hx_span_begin_host(hx_device *dev, hx_span span, int number)
{
    if (dev->timeline) hx_timeline_mark(dev->timeline, HX_QUEUE_HOST, span, number, 0);
}

static inline void hx_span_end_host(hx_device *dev, hx_span span)
{
    if (dev->timeline) hx_timeline_mark(dev->timeline, HX_QUEUE_HOST, span, -1, 1);
}

/* One call, in a span of the device's queue; of the host; of both. number: of a design or lattice;
 * -1. Forwards errors. */
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

#ifdef __cplusplus
}
#endif

#endif
