/* Marks of where a device's time goes (timeline.h), as a backend takes them: into a ring of its
 * memory, at a place that is counted there, so that what is recorded and replayed marks each time.
 */
#ifndef HX_TIMELINE_OPS_H
#define HX_TIMELINE_OPS_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What runs one after the other, and has marks in that order. */
typedef enum {
    HX_QUEUE_DEVICE, /* the device's queue */
    HX_QUEUE_BESIDE, /* one beside it, of a backend that has one */
    HX_QUEUE_HOST,   /* the process itself */
    HX_N_QUEUE
} hx_queue;

typedef struct hx_mark {
    uint64_t time; /* ns of the device's clock */
    int32_t number;
    uint8_t span, queue, is_end; /* hx_span, hx_queue */
    uint8_t unused;
} hx_mark;

typedef struct hx_timeline_ops {
    /* *impl: room for n marks, a power of 2. HX_ENOMEM */
    int (*open)(hx_device *dev, int64_t n, void **impl);
    void (*close)(hx_device *dev, void *impl);
    /* Queued: the time is that at which the device gets there. May be recorded. */
    int (*mark)(hx_device *dev, void *impl, const hx_mark *mark);
    /* ns of the device's clock, soon. Waits. */
    int (*clock)(hx_device *dev, void *impl, uint64_t *now);
    /* How many there were so far; ring[n]: mark i at place i mod n. Waits. */
    int (*read)(hx_device *dev, void *impl, uint64_t *count, hx_mark *ring);
} hx_timeline_ops;

#ifdef __cplusplus
}
#endif

#endif
