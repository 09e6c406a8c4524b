/* Time marks of the CPU. Queued work has finished when the next call comes, so the time is the
 * host's. */
#include <stdlib.h>
#include <string.h>

#include "../../base/clock.h"
#include "../../base/memory.h"
#include "cpu_ops.h"

typedef struct marks {
    int64_t n;
    uint64_t count;
    hx_mark *ring; /* [n] (owned) */
} marks;

static void close_marks(hx_device *dev, void *impl)
{
    marks *const m = impl;
    (void)dev;
    free(m->ring);
    free(m);
}

static int open_marks(hx_device *dev, int64_t n, void **impl)
{
    marks *m;
    HX_TRY(hx_alloc(&m, 1, sizeof *m, "timeline"));
    m->n = n;
    const int rc = hx_alloc(&m->ring, (size_t)n, sizeof *m->ring, "timeline");
    if (rc < 0)
        close_marks(dev, m);
    else
        *impl = m;
    return rc;
}

static int clock_now(hx_device *dev, void *impl, uint64_t *now)
{
    (void)dev;
    (void)impl;
    *now = (uint64_t)(1e9 * hx_clock());
    return HX_OK;
}

static int mark_now(hx_device *dev, void *impl, const hx_mark *mark)
{
    marks *const m = impl;
    hx_mark *const to = &m->ring[m->count++ % (uint64_t)m->n];
    *to = *mark;
    return clock_now(dev, impl, &to->time);
}

static int read_marks(hx_device *dev, void *impl, uint64_t *count, hx_mark *ring)
{
    const marks *const m = impl;
    (void)dev;
    *count = m->count;
    memcpy(ring, m->ring, (size_t)m->n * sizeof *ring);
    return HX_OK;
}

const hx_timeline_ops hx_cpu_timeline_ops = {
    .open = open_marks,
    .close = close_marks,
    .mark = mark_now,
    .clock = clock_now,
    .read = read_marks,
};
