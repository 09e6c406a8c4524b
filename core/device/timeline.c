#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"

typedef enum { NO_PLACE, ON_MESH, AT_DESIGN } numbering;

/* The stages of a design have the names of hx_stage_name. */
static const struct {
    const char *name, *kind;
    numbering number;
} known[HX_N_SPAN] = {
    [HX_SPAN_DESIGN] = {"design", "stage", AT_DESIGN},
    [HX_SPAN_FILTER] = {"filter", "stage", NO_PLACE},
    [HX_SPAN_PCG] = {"PCG", "stage", NO_PLACE},
    [HX_SPAN_COMPLIANCE] = {"compliance", "stage", NO_PLACE},
    [HX_SPAN_UPDATE] = {"update", "stage", NO_PLACE},
    [HX_SPAN_OUTPUT] = {"output", "stage", NO_PLACE},
    [HX_SPAN_SETUP] = {"preconditioner set-up", "stage", NO_PLACE},
    [HX_SPAN_ITERATION] = {"iteration", "stage", NO_PLACE},
    [HX_SPAN_MODULUS] = {"modulus", "compute", NO_PLACE},
    [HX_SPAN_GALERKIN] = {"Galerkin", "compute", ON_MESH},
    [HX_SPAN_EIGENVALUES] = {"eigenvalues", "compute", NO_PLACE},
    [HX_SPAN_FACTORS] = {"coarse factors", "compute", NO_PLACE},
    [HX_SPAN_FLOATING] = {"floating components", "compute", NO_PLACE},
    [HX_SPAN_VECTORS] = {"vectors", "compute", NO_PLACE},
    [HX_SPAN_PRODUCT] = {"product", "compute", NO_PLACE},
    [HX_SPAN_INTERIOR] = {"interior", "compute", NO_PLACE},
    [HX_SPAN_SCALARS] = {"dot products", "compute", NO_PLACE},
    [HX_SPAN_PRECONDITIONER] = {"preconditioner", "compute", NO_PLACE},
    [HX_SPAN_SMOOTH] = {"smooth", "compute", ON_MESH},
    [HX_SPAN_RESTRICT] = {"restrict", "compute", ON_MESH},
    [HX_SPAN_PROLONG] = {"prolong", "compute", ON_MESH},
    [HX_SPAN_COARSE] = {"coarse solve", "compute", NO_PLACE},
    [HX_SPAN_PUT] = {"send", "exchange", NO_PLACE},
    [HX_SPAN_ADD] = {"receive", "exchange", NO_PLACE},
    [HX_SPAN_SUM] = {"reduction", "exchange", NO_PLACE},
    [HX_SPAN_HALO] = {"filter halo", "exchange", NO_PLACE},
    [HX_SPAN_LOOK] = {"status check", "wait", NO_PLACE},
};

const char *hx_span_text(hx_span span, int number, char *text, size_t n_text)
{
    if (known[span].number == NO_PLACE || number < 0)
        snprintf(text, n_text, "%s", known[span].name);
    else if (known[span].number == AT_DESIGN)
        snprintf(text, n_text, "%s %d", known[span].name, number);
    else if (number == 0)
        snprintf(text, n_text, "%s mesh", known[span].name);
    else
        snprintf(text, n_text, "%s coarse grid %d", known[span].name, number);
    return text;
}

const char *hx_span_kind(hx_span span)
{
    return known[span].kind;
}

/* Readings of the clocks of host and device at one moment, in ns, accurate to +-width. */
typedef struct moment {
    uint64_t host, device, width;
} moment;

enum { N_READ = 32 };

/* Marks of one of the two rings. */
typedef struct ring {
    uint64_t count; /* number of marks so far */
    hx_mark *mark;  /* [n] mark i is at index i mod n */
} ring;

struct hx_timeline {
    hx_device *dev; /* (borrowed) */
    const hx_timeline_ops *ops;
    void *impl; /* (owned by the backend) */
    int64_t n;
    ring of_device, of_host; /* (owned) of_device is valid after hx_timeline_fetch */
    moment start, end;
};

static uint64_t host_now(void)
{
    return (uint64_t)(1e9 * hx_clock());
}

/* The quickest of N_READ readings. */
static int read_clocks(const hx_timeline *t, moment *best)
{
    best->width = UINT64_MAX;
    for (int i = 0; i < N_READ; i++) {
        uint64_t device;
        const uint64_t before = host_now();
        HX_TRY(t->ops->clock(t->dev, t->impl, &device));
        const uint64_t width = (host_now() - before + 1) / 2;
        if (width < best->width) *best = (moment){before + width, device, width};
    }
    return HX_OK;
}

static int open_timeline(hx_timeline *t)
{
    const char *const what = "timeline";
    HX_TRY(hx_alloc(&t->of_device.mark, (size_t)t->n, sizeof(hx_mark), what));
    HX_TRY(hx_alloc(&t->of_host.mark, (size_t)t->n, sizeof(hx_mark), what));
    HX_TRY(t->ops->open(t->dev, t->n, &t->impl));
    return read_clocks(t, &t->start);
}

int hx_timeline_open(hx_timeline **timeline, hx_device *dev, int64_t n)
{
    hx_timeline *t;
    *timeline = NULL;
    if (!dev->ops->timeline) return HX_OK;
    HX_TRY(hx_alloc(&t, 1, sizeof *t, "timeline"));
    t->dev = dev;
    t->ops = dev->ops->timeline;
    t->n = n;
    const int rc = open_timeline(t);
    if (rc < 0)
        hx_timeline_close(t);
    else
        *timeline = t;
    return rc;
}

void hx_timeline_close(hx_timeline *t)
{
    if (!t) return;
    if (t->impl) t->ops->close(t->dev, t->impl);
    free(t->of_device.mark);
    free(t->of_host.mark);
    free(t);
}

int hx_timeline_mark(hx_timeline *t, hx_queue queue, hx_span span, int number, int is_end)
{
    const hx_mark mark = {.time = queue == HX_QUEUE_HOST ? host_now() : 0,
                          .number = number,
                          .span = (uint8_t)span,
                          .queue = (uint8_t)queue,
                          .is_end = (uint8_t)is_end};
    if (queue != HX_QUEUE_HOST) return t->ops->mark(t->dev, t->impl, &mark);
    t->of_host.mark[t->of_host.count++ % (uint64_t)t->n] = mark;
    return HX_OK;
}

int hx_timeline_fetch(hx_timeline *t, double *precision)
{
    HX_TRY(t->ops->read(t->dev, t->impl, &t->of_device.count, t->of_device.mark));
    HX_TRY(read_clocks(t, &t->end));
    *precision = (double)(t->start.width > t->end.width ? t->start.width : t->end.width);
    return HX_OK;
}

/* The i-th of the remaining marks, oldest first. */
static const hx_mark *mark_at(const hx_timeline *t, const ring *r, int64_t i)
{
    const uint64_t n = (uint64_t)t->n, oldest = r->count > n ? r->count - n : 0;
    return &r->mark[(oldest + (uint64_t)i) % n];
}

static int64_t n_left(const hx_timeline *t, const ring *r)
{
    return r->count > (uint64_t)t->n ? t->n : (int64_t)r->count;
}

/* The number of the first design, at least `first`, that a ring contains completely, and the index
 * of its mark; 0: none. */
static int first_design(const hx_timeline *t, const ring *r, int first, int64_t *place)
{
    for (*place = 0; *place < n_left(t, r); ++*place) {
        const hx_mark *const mark = mark_at(t, r, *place);
        if (mark->span == HX_SPAN_DESIGN && !mark->is_end && mark->number >= first)
            return mark->number;
    }
    return 0;
}

int hx_timeline_first(const hx_timeline *t)
{
    int64_t place;
    const int device = first_design(t, &t->of_device, 1, &place),
              host = first_design(t, &t->of_host, 1, &place);
    if (device == 0 || host == 0) return 0;
    return device > host ? device : host;
}

/* Time on the host's clock. The clocks may run at slightly different speeds, so device times are
 * interpolated between the two readings. */
static double host_time(const hx_timeline *t, const hx_mark *mark)
{
    const double since = (double)(int64_t)(mark->time - t->start.device),
                 device = (double)(int64_t)(t->end.device - t->start.device),
                 host = (double)(int64_t)(t->end.host - t->start.host);
    if (mark->queue == HX_QUEUE_HOST) return (double)mark->time;
    return (double)t->start.host + (device > 0.0 ? since * (host / device) : since);
}

/* Spans of a queue that have begun but not ended. */
enum { MOST_OPEN = 64 };

typedef struct open_spans {
    int64_t at[MOST_OPEN]; /* index in the list */
    int n;
} open_spans;

/* Ends a span. Spans inside it that did not end because of an error are left out. */
static void end_span(open_spans *open, hx_span_time *list, const hx_mark *mark, double time)
{
    int k = open->n;
    while (k > 0 && list[open->at[k - 1]].span != mark->span) k--;
    if (k == 0) return; /* it began before the first remaining mark */
    list[open->at[k - 1]].end = time;
    open->n = k - 1;
}

static void begin_span(open_spans *open, hx_span_time *list, int64_t *n, const hx_mark *mark,
                       double time)
{
    if (mark->span == HX_SPAN_DESIGN) open->n = 0; /* the previous design was abandoned */
    if (open->n == MOST_OPEN) return;
    open->at[open->n++] = *n;
    list[(*n)++] = (hx_span_time){.begin = time,
                                  .end = -1.0,
                                  .number = mark->number,
                                  .span = mark->span,
                                  .queue = mark->queue};
}

/* Appends the spans of a ring to the list from index *n on. */
static void pair_marks(const hx_timeline *t, const ring *r, int first, hx_span_time *list,
                       int64_t *n)
{
    open_spans open[HX_N_QUEUE] = {{{0}, 0}};
    int64_t place = 0;
    if (first > 0 && first_design(t, r, first, &place) == 0) return;
    for (int64_t i = place; i < n_left(t, r); i++) {
        const hx_mark *const mark = mark_at(t, r, i);
        if (mark->is_end)
            end_span(&open[mark->queue], list, mark, host_time(t, mark));
        else
            begin_span(&open[mark->queue], list, n, mark, host_time(t, mark));
    }
}

int hx_timeline_spans(const hx_timeline *t, int first, hx_span_time **spans, int64_t *n)
{
    const size_t most = 2 * (size_t)t->n;
    int64_t n_begun = 0;
    hx_span_time *begun, *list;
    HX_TRY(hx_alloc_raw(&begun, most, sizeof *begun, "timeline"));
    const int rc = hx_alloc_raw(&list, most, sizeof *list, "timeline");
    if (rc == HX_OK) {
        pair_marks(t, &t->of_device, first, begun, &n_begun);
        pair_marks(t, &t->of_host, first, begun, &n_begun);
        *n = 0;
        for (int queue = 0; queue < HX_N_QUEUE; queue++)
            for (int64_t i = 0; i < n_begun; i++)
                if (begun[i].queue == queue && begun[i].end >= begun[i].begin)
                    list[(*n)++] = begun[i];
        *spans = list;
    }
    free(begun);
    return rc;
}
