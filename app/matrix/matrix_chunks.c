/* All rows of K, range by range: plan, buffers of the host, and the distribution of work. While the
 * device makes a range, the previous range is copied into one of two buffers, the one before that
 * is converted or written, and the mesh of the next range is prepared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/progress.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/quantile.h"
#include "matrix_job.h"

/* Host memory for ranges of rows. If rows are written to a file, more memory does not make this
 * faster; if they are only copied, pinning more memory takes longer than it saves. */
#define ENOUGH_BYTES 256e6
#define ENOUGH_PINNED_BYTES 1e9

/* Bytes of ranges of rows on the device and on the host, unless --memory is given. */
static int find_budgets(const hx_matrix_job *job, double *device, double *host)
{
    hx_device *const dev = job->stages.dev;
    size_t n_free = 0, n_total = 0;
    *device = *host = job->plan.memory;
    if (!isnan(job->plan.memory)) return HX_OK;
    *device = *host = (double)INFINITY;
    /* the device memory of other fills is not counted completely */
    if (job->stages.fill != HX_FILL_GATHER) return HX_OK;
    HX_TRY(dev->ops->memory(dev, &n_free, &n_total));
    if (n_free > 0) *device = 0.8 * (double)n_free;
    if (!job->chunks.is_fetched) return HX_OK;
    const size_t available = hx_host_memory_available();
    *host = job->plan.output ? ENOUGH_BYTES : ENOUGH_PINNED_BYTES;
    if (available > 0) *host = fmin(*host, 0.4 * (double)available);
    return HX_OK;
}

static int whole_fits(const hx_matrix_job *job, double device_budget, double host_budget)
{
    const hx_space *const space = &job->session.problem.space;
    const double n_cell = (double)space->mesh->n_elem, n_row = (double)space->n_point;
    const double n_entry = (double)job->counts.n_block;
    hx_range_cost cost;
    hx_matrix_stages_cost(&job->stages, job->counts.widest, 0, job->chunks.is_fetched,
                          job->plan.output != NULL, &cost);
    return (double)cost.device_cell * n_cell +
                   (double)(cost.device_point + cost.device_row) * n_row +
                   (double)cost.device_entry * n_entry <=
               device_budget &&
           (double)cost.host_row * n_row + (double)cost.host_entry * n_entry <= host_budget;
}

int hx_matrix_chunks_plan(hx_matrix_job *job)
{
    hx_matrix_chunks *const c = &job->chunks;
    double device, host;
    char text[32];
    c->is_chunked = !isnan(job->plan.memory);
    c->is_fetched = c->is_chunked || job->plan.output || job->sides.moves;
    HX_TRY(find_budgets(job, &device, &host));
    c->device_budget = device;
    const int fits = whole_fits(job, device, host);
    const int is_linear = job->session.problem.space.element == HX_ELEMENT_LINEAR;
    if (!is_linear && !fits && c->is_chunked) /* ranges can be extracted only from meshes */
        return HX_RAISE(HX_EINPUT,
                        "--memory: rows of quadratic elements and splines are made in one range, "
                        "which needs more than %s: leave --memory out, or add "
                        "solver.element=linear",
                        hx_format_bytes(job->plan.memory, text, sizeof text));
    if (!is_linear || fits) {
        const int64_t n_point = job->session.problem.space.n_point;
        HX_TRY(hx_alloc(&c->first, 2, sizeof *c->first, "ranges of rows"));
        c->n_range = 1;
        c->first[1] = n_point;
        c->most = (hx_range_most){job->session.mesh.n_elem, n_point, n_point, job->counts.n_block};
    } else {
        hx_range_cost cost;
        c->is_fetched = 1;
        hx_matrix_stages_cost(&job->stages, job->counts.widest, 1, 1, job->plan.output != NULL,
                              &cost);
        const int rc = hx_row_ranges_plan(&job->session.mesh, job->blocks, &cost, device,
                                          isinf(host) ? ENOUGH_PINNED_BYTES : host, &c->n_range,
                                          &c->first, &c->most);
        if (rc == HX_EINPUT && !isnan(job->plan.memory)) hx_error_prefix("--memory: ");
        HX_TRY(rc);
    }
    c->is_chunked |= c->n_range > 1;
    return HX_OK;
}

/* Allocates the pinned memory once, since pinning takes long. */
static int alloc_host(hx_matrix_job *job)
{
    hx_matrix_chunks *const c = &job->chunks;
    const hx_matrix_stages *const st = &job->stages;
    const int n_slot = c->is_fetched ? (c->n_range > 1 ? HX_MATRIX_SLOTS : 1) : 0;
    /* this builder lists the places of points itself */
    const int places = job->plan.build != HX_BUILD_THREE_STAGE;
    const double begin = hx_clock();
    c->buffer_bytes = hx_matrix_stages_room(st, c->most.row, c->most.entry);
    c->room_bytes = c->n_range > 1 ? hx_row_range_bytes(c->most.cell, c->most.point, places) : 0;
    const size_t modulus = c->n_range > 1 ? (size_t)c->most.cell * sizeof(double) : 0;
    const size_t bytes = (size_t)n_slot * c->buffer_bytes + c->room_bytes + modulus;
    for (int i = 0; i < HX_MATRIX_SLOTS; i++) {
        c->chunk[i].job = job;
        c->chunk[i].slot = i;
    }
    if (bytes == 0) return HX_OK;
    HX_TRY(st->ops->host_alloc(st->dev, bytes + 63, &c->host));
    c->pinned_seconds = hx_clock() - begin;
    return HX_OK;
}

/* The buffers, 64-byte aligned. */
static char *host_at(const hx_matrix_chunks *c, size_t offset)
{
    const uintptr_t aligned = ((uintptr_t)c->host + 63) / 64 * 64;
    return (char *)aligned + offset;
}

/* Prepares the mesh of range `next` and its moduli. */
static int prepare_chunk(void *of_job)
{
    hx_matrix_job *const job = of_job;
    hx_matrix_chunks *const c = &job->chunks;
    const int64_t first = c->first[c->next], n = c->first[c->next + 1] - first;
    const int places = job->plan.build != HX_BUILD_THREE_STAGE;
    const double begin = hx_clock();
    char *const room = c->n_range > 1 ? host_at(c, HX_MATRIX_SLOTS * c->buffer_bytes) : NULL;
    /* Takes all rows of the space, from its own arrays. */
    if (c->n_range == 1) {
        c->prepared =
            (hx_row_range){.n = job->session.problem.space.n_point,
                           .mesh = job->session.problem.space.mesh,
                           .incidence = hx_incidence_of_space(&job->session.problem.space),
                           .xyz = job->session.problem.space.xyz};
    } else
        HX_TRY(hx_row_range_create_in(&c->prepared, &job->session.mesh, first, n, places, room,
                                      c->room_bytes));
    c->modulus = job->modulus;
    if (c->prepared.cell) {
        double *const own = (double *)(void *)(room + c->room_bytes);
        hx_row_range_take(&c->prepared, job->modulus, own);
        c->modulus = own;
    }
    c->prepare_seconds += hx_clock() - begin;
    return HX_OK;
}

static int make_range(hx_matrix_job *job, int64_t k)
{
    hx_matrix_chunks *const c = &job->chunks;
    hx_matrix_chunk *const chunk = &c->chunk[k % HX_MATRIX_SLOTS];
    /* Copies the prepared range to the device, then starts to prepare the next. */
    const double waiting = hx_clock();
    HX_TRY(hx_matrix_worker_wait(&c->preparer));
    c->prepare_wait += hx_clock() - waiting;
    hx_row_range_free(&chunk->range);
    chunk->range = c->prepared;
    memset(&c->prepared, 0, sizeof c->prepared);
    HX_TRY(hx_matrix_stages_load(&job->stages, &chunk->range, c->modulus));
    c->n_cell += chunk->range.incidence.n_cell;
    HX_TRY(++c->next < c->n_range ? hx_matrix_worker_give(&c->preparer, prepare_chunk, job)
                                  : HX_OK);
    HX_TRY(hx_matrix_stages_make(&job->stages, &chunk->range));
    if (!c->is_fetched) {
        HX_TRY(job->stages.dev->ops->sync(job->stages.dev));
        return hx_matrix_stages_next(&job->stages);
    }
    hx_matrix_stages *const st = &job->stages;
    const hx_device_pattern *const p = &st->made.pattern;
    char *const buffer = host_at(c, (size_t)chunk->slot * c->buffer_bytes);
    if (hx_matrix_stages_room(st, p->n_row, p->n_entry) > c->buffer_bytes)
        return HX_RAISE(HX_EINTERNAL, "more rows than were counted");
    chunk->is_coming = 1;
    HX_TRY(hx_matrix_stages_fetch(st, chunk->slot, buffer, &chunk->blocks));
    c->n_byte += st->made.matrix.n_value * (int64_t)sizeof(double) +
                 (p->n_row + 1) * (int64_t)sizeof(int64_t) + p->n_entry * (int64_t)sizeof(int32_t);
    const double begin = hx_clock();
    HX_TRY(hx_matrix_worker_give(&c->hand, hx_matrix_hand_work, chunk));
    c->hand_wait += hx_clock() - begin;
    return hx_matrix_stages_next(&job->stages); /* the previous range has arrived on the host */
}

/* Median time of a download of one array, without other work. */
static int time_copies(const hx_matrix_job *job, const void *d_from, size_t bytes, double *rate)
{
    enum { N_COPY = 7 };
    const hx_matrix_stages *const st = &job->stages;
    double seconds[N_COPY];
    HX_TRY(st->dev->ops->sync(st->dev));
    for (int i = -1; i < N_COPY; i++) { /* the first download is not counted */
        const double begin = hx_clock();
        HX_TRY(st->ops->fetch(st->dev, 0, host_at(&job->chunks, 0), d_from, bytes));
        HX_TRY(st->ops->fetch_wait(st->dev, 0));
        if (i >= 0) seconds[i] = hx_clock() - begin;
    }
    hx_sort_values(seconds, N_COPY);
    *rate = (double)bytes / hx_quantile(seconds, N_COPY, 0.5);
    return HX_OK;
}

/* Measures the rate of a download into a buffer of this run. */
static int measure_copy(hx_matrix_job *job)
{
    const size_t most = (size_t)1 << 28;
    hx_matrix_chunks *const c = &job->chunks;
    hx_device *const dev = job->stages.dev;
    const size_t bytes = c->buffer_bytes < most ? c->buffer_bytes : most;
    void *d_from = NULL;
    int rc = dev->ops->alloc(dev, bytes, &d_from);
    if (rc == HX_OK) rc = dev->ops->zero(dev, d_from, bytes);
    if (rc == HX_OK) rc = time_copies(job, d_from, bytes, &c->copy_rate);
    dev->ops->release(dev, d_from);
    return rc;
}

int hx_matrix_chunks_run(hx_matrix_job *job)
{
    hx_matrix_chunks *const c = &job->chunks;
    HX_TRY(alloc_host(job));
    if (c->n_range > 1) hx_matrix_memory_open(&c->device, job->stages.dev, c->device_budget);
    hx_progress_meter meter;
    char what[160];
    snprintf(what, sizeof what, "writing %.120s", job->plan.output ? job->plan.output : "");
    hx_progress_begin(&meter, job->plan.output ? what : "matrix");
    const double begin = hx_clock();
    HX_TRY(hx_matrix_worker_give(&c->preparer, prepare_chunk, job));
    for (int64_t k = 0; k < c->n_range; k++) {
        HX_TRY(hx_matrix_go_on(job));
        HX_TRY(make_range(job, k));
        hx_progress_share(&meter, (double)c->first[k + 1] / (double)c->first[c->n_range]);
    }
    HX_TRY(hx_matrix_worker_wait(&c->hand));
    HX_TRY(hx_matrix_worker_wait(&c->writer));
    c->loop_seconds = hx_clock() - begin;
    HX_TRY(hx_matrix_stages_next(&job->stages));
    hx_matrix_stages_drop(&job->stages);
    if (c->device.most > job->stages.most_bytes) job->stages.most_bytes = c->device.most;
    return c->is_chunked ? measure_copy(job) : HX_OK;
}

void hx_matrix_chunks_free(hx_matrix_job *job)
{
    hx_matrix_chunks *const c = &job->chunks;
    hx_matrix_stages *const st = &job->stages;
    hx_matrix_worker_end(&c->preparer);
    hx_matrix_worker_end(&c->hand);
    /* the writer is stopped after the thread that sends it work */
    hx_matrix_worker_end(&c->writer);
    for (int i = 0; i < HX_MATRIX_SLOTS; i++) {
        if (c->chunk[i].is_coming) (void)st->ops->fetch_wait(st->dev, c->chunk[i].slot);
        hx_row_range_free(&c->chunk[i].range);
        hx_number_rows_free(&c->chunk[i].numbers);
    }
    hx_row_range_free(&c->prepared);
    hx_matrix_stages_drop(st);
    hx_matrix_memory_close(&c->device);
    if (c->host) st->ops->host_release(st->dev, c->host);
    free(c->first);
    memset(c, 0, sizeof *c);
}
