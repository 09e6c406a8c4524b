#include "trace.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/comm/comm_clock.h"
#include "core/device/timeline.h"
#include "output_dist.h"

static const char what[] = "timeline";

/* Nanoseconds by which the root's clock is ahead of this process's clock when the latter shows
 * `at`. */
typedef struct reading {
    double at, offset, width;
} reading;

struct hx_trace {
    hx_session *session; /* (borrowed) */
    hx_timeline *timeline;
    hx_comm alone;
    const hx_comm *comm;
    reading start, end;
};

static void set_timeline(hx_session *s, hx_timeline *timeline)
{
    s->device.timeline = timeline;
    if (s->comm) s->dist.dev.timeline = timeline;
}

void hx_trace_free(hx_trace *trace)
{
    if (!trace) return;
    set_timeline(trace->session, NULL);
    hx_timeline_close(trace->timeline);
    free(trace);
}

static int read_clock(const hx_comm *comm, reading *r)
{
    HX_TRY(hx_comm_clock(comm, &r->offset, &r->width));
    *r = (reading){1e9 * hx_clock(), 1e9 * r->offset, 1e9 * r->width};
    return HX_OK;
}

static int open_timeline(hx_output *out)
{
    hx_session *const s = out->session;
    hx_trace *trace;
    HX_TRY(hx_alloc(&trace, 1, sizeof *trace, what));
    out->trace = trace;
    hx_comm_self(&trace->alone);
    trace->session = s;
    trace->comm = s->comm ? s->comm : &trace->alone;
    HX_TRY(hx_timeline_open(&trace->timeline, &s->device, HX_TIMELINE_MARKS));
    if (trace->timeline) return HX_OK;
    return HX_RAISE(HX_EENV, "device '%s' cannot record the times for output.timeline",
                    s->device.ops->name);
}

int hx_trace_begin(hx_output *out)
{
    if (!out->session->cfg.output.timeline) return HX_OK;
    HX_TRY(hx_session_agree(out->session, open_timeline(out)));
    HX_TRY(hx_session_note_error(out->session, read_clock(out->trace->comm, &out->trace->start)));
    set_timeline(out->session, out->trace->timeline);
    return HX_OK;
}

/* The designs that a process has completely, from `first` (0: none) to `last`. Written are those
 * that all processes have, from the latest of their first designs on. */
typedef struct extent {
    int64_t n;
    double precision; /* ns */
    int32_t first, last;
} extent;

static int agree_on_first(const hx_trace *trace, extent *all, extent *own)
{
    int has_all = 1, first = 0;
    HX_TRY(trace->comm->ops->all_gather(trace->comm, own, sizeof *own, all));
    for (int r = 0; r < trace->comm->size; r++) {
        has_all = has_all && all[r].first > 0;
        first = all[r].first > first ? all[r].first : first;
    }
    own->first = has_all ? first : 0;
    return HX_OK;
}

/* Converts a time to the root's clock; the two clocks may drift slightly. */
static double shift(const hx_trace *trace, double time)
{
    const reading *const a = &trace->start, *const b = &trace->end;
    const double share = b->at > a->at ? (time - a->at) / (b->at - a->at) : 0.0;
    return time + a->offset + share * (b->offset - a->offset);
}

/* Fetches the marks of this process, and compares the clocks. */
static int fetch(hx_trace *trace, extent *own)
{
    HX_TRY(hx_comm_agree(trace->comm, hx_timeline_fetch(trace->timeline, &own->precision)));
    HX_TRY(read_clock(trace->comm, &trace->end));
    own->precision += fmax(trace->start.width, trace->end.width);
    own->first = hx_timeline_first(trace->timeline);
    return HX_OK;
}

/* Computes their spans, by the root's clock. */
static int find_spans(const hx_trace *trace, extent *own, hx_span_time **spans)
{
    HX_TRY(hx_timeline_spans(trace->timeline, own->first, spans, &own->n));
    for (int64_t i = 0; i < own->n; i++) {
        hx_span_time *const span = &(*spans)[i];
        span->begin = shift(trace, span->begin);
        span->end = shift(trace, span->end);
        if (span->span == HX_SPAN_DESIGN && span->number > own->last) own->last = span->number;
    }
    return HX_OK;
}

/* all[size]: range of each process. list := on the root the spans of all processes, rank after
 * rank, which the caller frees; elsewhere NULL. */
static int gather_spans(const hx_trace *trace, const extent *own, const hx_span_time *spans,
                        extent *all, hx_span_time **list)
{
    const hx_comm *const comm = trace->comm;
    size_t *bytes, n = 0;
    HX_TRY(comm->ops->all_gather(comm, own, sizeof *own, all));
    HX_TRY(hx_alloc_raw(&bytes, (size_t)comm->size, sizeof *bytes, what));
    for (int r = 0; r < comm->size; r++) {
        bytes[r] = (size_t)all[r].n * sizeof *spans;
        n += (size_t)all[r].n;
    }
    int rc = HX_OK;
    if (comm->rank == HX_DIST_ROOT) rc = hx_alloc_raw(list, n, sizeof **list, what);
    rc = hx_comm_agree(comm, rc);
    if (rc == HX_OK) rc = comm->ops->gather(comm, HX_DIST_ROOT, spans, bytes, *list);
    free(bytes);
    return rc;
}

/* Collects the spans of all processes on the root. */
static int collect(hx_trace *trace, extent *all, hx_span_time **list)
{
    extent own = {0};
    hx_span_time *spans = NULL;
    HX_TRY(fetch(trace, &own));
    HX_TRY(agree_on_first(trace, all, &own));
    int rc = hx_comm_agree(trace->comm, find_spans(trace, &own, &spans));
    if (rc == HX_OK) rc = gather_spans(trace, &own, spans, all, list);
    free(spans);
    return rc;
}

static const char *const queue_name[HX_N_QUEUE] = {[HX_QUEUE_DEVICE] = "device",
                                                   [HX_QUEUE_CONCURRENT] =
                                                       "device, concurrent queue",
                                                   [HX_QUEUE_HOST] = "host"};

/* Thread number in the file; some viewers take 0 for the idle task. */
static int tid_of(int queue)
{
    return queue + 1;
}

/* Writes the names of a process and its queues. Each event except the first begins with a comma. */
static void write_names(FILE *f, int rank, const extent *of)
{
    fprintf(f,
            "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"process %d, "
            "clock within %.1f us\"}}",
            rank > 0 ? ",\n" : "", rank, rank, 1e-3 * of->precision);
    for (int q = 0; q < HX_N_QUEUE; q++)
        fprintf(f,
                ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{"
                "\"name\":\"%s\"}}",
                rank, tid_of(q), queue_name[q]);
}

/* begin: time in ns that is shown as 0 in the file. */
static void write_span(FILE *f, int rank, const hx_span_time *span, double begin)
{
    char name[64];
    fprintf(f,
            ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,"
            "\"tid\":%d}",
            /* NOLINTNEXTLINE(clang-analyzer-core*): all[r].n spans were collected */
            hx_span_text((hx_span)span->span, span->number, name, sizeof name),
            hx_span_kind((hx_span)span->span), 1e-3 * (span->begin - begin),
            1e-3 * (span->end - span->begin), rank, tid_of(span->queue));
}

static double first_begin(int size, const extent *all, const hx_span_time *list)
{
    double begin = INFINITY;
    for (int r = 0; r < size; list += all[r++].n)
        for (int64_t i = 0; i < all[r].n; i++) begin = fmin(begin, list[i].begin);
    return begin;
}

static void write_events(FILE *f, int size, const extent *all, const hx_span_time *list)
{
    const double begin = first_begin(size, all, list);
    fputs("[\n", f);
    for (int r = 0; r < size; r++) write_names(f, r, &all[r]);
    for (int r = 0; r < size; list += all[r++].n)
        for (int64_t i = 0; i < all[r].n; i++) write_span(f, r, &list[i], begin);
    fputs("\n]\n", f);
}

static int write_trace_file(const char *path, int size, const extent *all, const hx_span_time *list)
{
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, path));
    write_events(file.stream, size, all, list);
    return hx_atomic_file_commit(&file);
}

static void report_trace(const char *path, int size, const extent *all)
{
    double precision = 0.0;
    for (int r = 0; r < size; r++) precision = fmax(precision, all[r].precision);
    if (all[0].first == 0)
        hx_log_warning(
            "%s contains no complete design: one design takes more than the %d marks that are kept",
            path, HX_TIMELINE_MARKS);
    hx_log_info(
        "where the time went, from design %d to %d: %s (ui.perfetto.dev), clocks within %.1f us",
        all[0].first, all[0].last, path, 1e-3 * precision);
}

static int write_collected(hx_output *out, const extent *all, const hx_span_time *list)
{
    char path[PATH_MAX];
    const int size = out->trace->comm->size;
    hx_output_path(out, HX_TRACE_FILE, path, sizeof path);
    HX_TRY(write_trace_file(path, size, all, list));
    report_trace(path, size, all);
    return HX_OK;
}

int hx_trace_write(hx_output *out)
{
    extent *all;
    hx_span_time *list = NULL;
    if (!out->trace) return HX_OK;
    HX_TRY(hx_session_agree(out->session,
                            hx_alloc(&all, (size_t)out->trace->comm->size, sizeof *all, what)));
    int rc = hx_session_note_error(out->session, collect(out->trace, all, &list));
    if (rc == HX_OK && hx_session_is_first(out->session)) rc = write_collected(out, all, list);
    free(all);
    free(list);
    return rc;
}
