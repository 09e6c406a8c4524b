/* Time marks as a backend records them (timeline.h): into a ring buffer in device memory, at an
 * index counted there, so that recorded work marks each replay. */
#ifndef HX_TIMELINE_OPS_H
#define HX_TIMELINE_OPS_H

#include "device.h"

HX_C_BEGIN

/* A sequence of work that runs in order and whose marks have that order. */
typedef enum {
    HX_QUEUE_DEVICE,     /* the device's queue */
    HX_QUEUE_CONCURRENT, /* the concurrent queue, if the backend has one */
    HX_QUEUE_HOST,       /* the process itself */
    HX_N_QUEUE
} hx_queue;

typedef struct hx_mark {
    uint64_t time; /* ns of the device's clock */
    int32_t number;
    uint8_t span, queue, is_end; /* hx_span, hx_queue */
    uint8_t unused;
} hx_mark;

typedef struct hx_timeline_ops {
    /* Allocates *impl with room for n marks, n a power of 2. HX_ENOMEM. */
    int (*open)(hx_device *dev, int64_t n, void **impl);
    void (*close)(hx_device *dev, void *impl);
    /* Queued: the time is when the device reaches the mark. May be recorded. */
    int (*mark)(hx_device *dev, void *impl, const hx_mark *mark);
    /* A reading of the device's clock in ns. Waits. */
    int (*clock)(hx_device *dev, void *impl, uint64_t *now);
    /* *count: marks so far; ring[n]: mark i is at index i mod n. Waits. */
    int (*read)(hx_device *dev, void *impl, uint64_t *count, hx_mark *ring);
} hx_timeline_ops;

HX_C_END

#endif
