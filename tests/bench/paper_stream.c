/* The method of P3 for a device with too little memory: the lower scalar matrix of a mesh is made
 * range by range into pinned memory of the host. Here the mesh stays on the device, which extracts
 * what a range needs, and rows are copied to the host while the next ones are made. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/matrix/matrix_job.h"
#include "core/base/clock.h"
#include "papers.h"

enum {
    TRIAL_BYTES = 2000, /* bytes per row, until the first ranges have been measured */
    N_TRIAL = 3,        /* number of such ranges: from the third on, two exist at once */
    LEAST_ROWS = 256,
    COPY_BYTES = 1 << 28
};
/* fraction of the memory that ranges may take, by the bytes of the first ones */
#define USED_SHARE 0.85

/* Rows that are being copied to the host. */
typedef struct arriving {
    hx_device_pattern pattern;
    hx_matrix matrix;
    int64_t first; /* first row */
    int64_t entry; /* index of its first entry in the whole matrix */
} arriving;

typedef struct stream {
    hx_device *dev; /* (borrowed) */
    const hx_matrix_ops *ops;
    const hx_mesh *mesh;
    hx_fill_input whole;
    void *d_whole[3]; /* (owned, like the next) */
    void *cutter;
    hx_matrix_memory memory;
    char *host;    /* (owned) */
    int64_t *ptr;  /* [n_node + 1] in it, like the next */
    int32_t *col;  /* [n_entry] */
    double *value; /* [n_entry] */
    arriving slot[2];
    int64_t n_entry, n_room; /* made, and allocated */
    hx_bench_stream *out;
} stream;

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int take_host(stream *s, int64_t n_entry)
{
    const size_t n = (size_t)n_entry, n_ptr = (size_t)s->mesh->n_node + 1;
    const size_t value = aligned(n * sizeof(double)), col = aligned(n * sizeof(int32_t));
    const double begin = hx_clock();
    HX_TRY(s->ops->host_alloc(s->dev, value + col + n_ptr * sizeof(int64_t) + 63, &s->host));
    s->out->pinned_seconds = hx_clock() - begin;
    char *const at = s->host + (64 - (uintptr_t)s->host % 64) % 64;
    s->value = (double *)(void *)at;
    s->col = (int32_t *)(void *)(at + value);
    s->ptr = (int64_t *)(void *)(at + value + col);
    s->n_room = n_entry;
    s->out->host_bytes = (double)(value + col + n_ptr * sizeof(int64_t));
    return HX_OK;
}

static int load_stream(stream *s, const double *modulus)
{
    const size_t n_cell = (size_t)s->mesh->n_elem, n_point = (size_t)s->mesh->n_node;
    HX_TRY(hx_device_put(s->dev, &s->d_whole[0], s->mesh->conn, 8 * n_cell * sizeof(int32_t)));
    HX_TRY(hx_device_put(s->dev, &s->d_whole[1], s->mesh->xyz, 3 * n_point * sizeof(double)));
    HX_TRY(hx_device_put(s->dev, &s->d_whole[2], modulus, n_cell * sizeof(double)));
    s->whole.incidence = (hx_incidence){.n_cell = s->mesh->n_elem,
                                        .n_point = s->mesh->n_node,
                                        .n_place = 8 * s->mesh->n_elem,
                                        .n_per_cell = 8,
                                        .point = s->d_whole[0]};
    s->whole.form = (hx_form){.kind = HX_FORM_CONDUCTION};
    s->whole.d_xyz = s->d_whole[1];
    s->whole.d_modulus = s->d_whole[2];
    s->out->upload_bytes = (double)(n_cell * 40 + n_point * 24);
    return HX_OK;
}

/* Queues pattern and values of the extracted rows; columns are numbered as in the whole matrix. */
static int make_values(stream *s, arriving *to, hx_fill_input *in)
{
    const hx_matrix_spec spec = {HX_FORMAT_BSR, HX_PART_LOWER, 0, 1};
    void *fill = NULL;
    HX_TRY(hx_matrix_create(&to->matrix, s->dev, &to->pattern, &spec));
    if (!in->incidence.point_ptr) {
        in->incidence.point_ptr = to->pattern.d_point_ptr;
        in->incidence.point_place = to->pattern.d_point_place;
    }
    int rc = s->ops->fill_create(&fill, s->dev, HX_FILL_GATHER, &to->matrix, in);
    if (rc == HX_OK) rc = s->ops->fill_run(fill);
    s->ops->fill_free(fill);
    return rc;
}

static int make_rows(stream *s, arriving *to, const hx_device_cut *cut, int64_t n)
{
    const hx_pattern_spec spec = {HX_BUILD_THREE_STAGE, HX_PART_LOWER, to->first - cut->first_point,
                                  n};
    hx_fill_input in = {.form = s->whole.form,
                        .d_xyz = s->whole.d_xyz + 3 * cut->first_point,
                        .d_modulus = cut->d_modulus};
    in.incidence = (hx_incidence){.n_cell = cut->n_cell,
                                  .n_point = cut->n_point,
                                  .n_place = 8 * cut->n_cell,
                                  .n_per_cell = 8,
                                  .point = cut->d_point};
    const double begin = hx_clock();
    HX_TRY(s->ops->pattern(s->dev, &in.incidence, &spec, &to->pattern, NULL));
    const double middle = hx_clock();
    HX_TRY(make_values(s, to, &in));
    s->out->pattern_seconds += middle - begin;
    s->out->value_seconds += hx_clock() - middle;
    return s->ops->shift(s->dev, &to->pattern, cut->first_point, to->entry);
}

static int make_range(stream *s, arriving *to, int64_t n)
{
    hx_device_cut cut = {0};
    const double begin = hx_clock();
    int rc = s->ops->cut(s->cutter, to->first, n, &cut);
    s->out->cut_seconds += hx_clock() - begin;
    if (rc == HX_OK) rc = make_rows(s, to, &cut, n);
    hx_device_cut_free(&cut, s->dev);
    return rc;
}

static int fetch(stream *s, int slot)
{
    const arriving *const a = &s->slot[slot];
    const hx_device_pattern *const p = &a->pattern;
    const size_t n = (size_t)p->n_entry, n_ptr = ((size_t)p->n_row + 1) * sizeof(int64_t);
    if (a->entry + p->n_entry > s->n_room)
        return HX_RAISE(HX_EINTERNAL, "more entries than there is room for");
    HX_TRY(s->ops->fetch(s->dev, slot, s->value + a->entry, a->matrix.d_value, n * sizeof(double)));
    HX_TRY(s->ops->fetch(s->dev, slot, s->col + a->entry, p->d_col, n * sizeof(int32_t)));
    return s->ops->fetch(s->dev, slot, s->ptr + a->first, p->d_row_ptr, n_ptr);
}

/* Waits for the rows of a slot. */
static int finish(stream *s, int slot)
{
    arriving *const a = &s->slot[slot];
    if (!a->matrix.d_value) return HX_OK;
    const double begin = hx_clock();
    HX_TRY(s->ops->fetch_wait(s->dev, slot));
    s->out->wait_seconds += hx_clock() - begin;
    hx_matrix_free(&a->matrix, s->dev);
    hx_device_pattern_free(&a->pattern, s->dev);
    memset(a, 0, sizeof *a);
    return HX_OK;
}

/* Rows of the next range, from the memory and the bytes per row of the first ranges. */
static int64_t rows_of(const stream *s, int64_t k, int64_t before)
{
    const double room = s->memory.limit;
    double n = room / TRIAL_BYTES;
    if (k == N_TRIAL) n = USED_SHARE * room * (double)before / (double)s->memory.most;
    if (k > N_TRIAL) n = (double)before;
    return n > LEAST_ROWS ? (int64_t)n : LEAST_ROWS;
}

static int make_all(stream *s)
{
    const int64_t n_row = s->mesh->n_node;
    int64_t first = 0, k = 0, n = 0;
    for (; first < n_row; k++) {
        n = rows_of(s, k, n);
        const int64_t take = n < n_row - first ? n : n_row - first;
        const int slot = (int)(k % 2);
        s->slot[slot] = (arriving){.first = first, .entry = s->n_entry};
        HX_TRY(make_range(s, &s->slot[slot], take));
        HX_TRY(fetch(s, slot));
        HX_TRY(finish(s, 1 - slot));
        s->n_entry += s->slot[slot].pattern.n_entry;
        first += take;
    }
    s->out->n_range = k;
    HX_TRY(finish(s, 0));
    return finish(s, 1);
}

/* Checks that each row ends with its own column, that columns ascend, and that K 1 = 0 in sum. */
static void check_stream(const stream *s)
{
    const int64_t *const ptr = s->ptr;
    double sum = 0.0, trace = 0.0;
    int64_t n_wrong = ptr[0] != 0 || ptr[s->mesh->n_node] != s->n_entry;
#pragma omp parallel for schedule(static) reduction(+ : sum, trace, n_wrong)
    for (int64_t r = 0; r < s->mesh->n_node; r++) {
        for (int64_t k = ptr[r]; k < ptr[r + 1]; k++) {
            const int is_last = k + 1 == ptr[r + 1];
            n_wrong += is_last ? s->col[k] != r : s->col[k] >= s->col[k + 1];
            sum += is_last ? s->value[k] : 2.0 * s->value[k];
            trace += is_last ? s->value[k] : 0.0;
        }
    }
    s->out->n_entry = s->n_entry;
    s->out->is_right = n_wrong == 0 && fabs(sum) <= 1e-10 * trace;
}

/* Measures the rate of a plain download into the same memory. */
static int measure_copy(stream *s)
{
    const size_t room = (size_t)s->n_room * sizeof(double);
    const size_t bytes = room < COPY_BYTES ? room : COPY_BYTES;
    double best = INFINITY;
    void *d_from = NULL;
    int rc = s->dev->ops->alloc(s->dev, bytes, &d_from);
    if (rc == HX_OK) rc = s->dev->ops->zero(s->dev, d_from, bytes);
    if (rc == HX_OK) rc = s->dev->ops->sync(s->dev);
    for (int i = 0; i < 4 && rc == HX_OK; i++) {
        const double begin = hx_clock();
        rc = s->ops->fetch(s->dev, 0, s->value, d_from, bytes);
        if (rc == HX_OK) rc = s->ops->fetch_wait(s->dev, 0);
        best = fmin(best, hx_clock() - begin);
    }
    s->dev->ops->release(s->dev, d_from);
    s->out->copy_rate = (double)bytes / best;
    return rc;
}

/* One pass, timed from the mesh in host memory to the last row there. */
static int run_stream(stream *s, const double *modulus, double budget)
{
    HX_TRY(s->dev->ops->sync(s->dev));
    const double begin = hx_clock();
    HX_TRY(load_stream(s, modulus));
    s->out->upload_seconds = hx_clock() - begin;
    if (s->out->upload_bytes >= budget)
        return HX_RAISE(HX_EENV, "the mesh alone takes %.2f GB on the device",
                        1e-9 * s->out->upload_bytes);
    hx_matrix_memory_open(&s->memory, s->dev, budget - s->out->upload_bytes);
    HX_TRY(s->ops->cutter_create(&s->cutter, s->dev, &s->whole));
    HX_TRY(make_all(s));
    s->out->seconds = hx_clock() - begin;
    s->out->device_bytes = s->out->upload_bytes + (double)s->memory.most_held;
    return HX_OK;
}

static void close_stream(stream *s)
{
    for (int i = 0; i < 2; i++) {
        if (s->slot[i].matrix.d_value) (void)s->ops->fetch_wait(s->dev, i);
        hx_matrix_free(&s->slot[i].matrix, s->dev);
        hx_device_pattern_free(&s->slot[i].pattern, s->dev);
    }
    s->ops->cutter_free(s->cutter);
    hx_matrix_memory_close(&s->memory);
    for (int i = 0; i < 3; i++)
        if (s->d_whole[i]) s->dev->ops->release(s->dev, s->d_whole[i]);
    if (s->host) s->ops->host_release(s->dev, s->host);
}

int hx_bench_stream_run(hx_bench_stream *out, hx_device *dev, const hx_mesh *mesh,
                        const double *modulus, int64_t n_entry, double budget)
{
    stream s = {.dev = dev, .ops = dev->ops->matrix, .mesh = mesh, .out = out};
    memset(out, 0, sizeof *out);
    int rc = take_host(&s, n_entry);
    if (rc == HX_OK) rc = run_stream(&s, modulus, budget);
    if (rc == HX_OK) check_stream(&s);
    if (rc == HX_OK) rc = measure_copy(&s);
    close_stream(&s);
    return hx_bench_is_left_out(rc, out->note, sizeof out->note) ? HX_OK : rc;
}
