/* Measurements of --bench: patterns, matrices, fills and products on a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/quantile.h"
#include "core/base/random.h"
#include "core/base/sum.h"
#include "matrix_bench.h"

/* Repetitions take about ENOUGH seconds in total. Work that takes longer than SLOW is measured only
 * once. */
#define ENOUGH 0.15
#define SLOW 0.5
enum { LEAST = 3, MOST = 21, N_BATCH = HX_N_MARK - 1 };

const hx_bench_time hx_bench_no_time = {0, (double)NAN, (double)NAN, (double)NAN};

int hx_bench_is_left_out(int rc, char *note, size_t n_note)
{
    if (rc != HX_ENOMEM && rc != HX_EENV && rc != HX_EINPUT) return 0;
    snprintf(note, n_note, "%.*s", (int)n_note - 1, hx_error_message());
    hx_error_clear();
    return 1;
}

static void summarise(double *seconds, int n, hx_bench_time *time)
{
    hx_sort_values(seconds, (size_t)n);
    *time = (hx_bench_time){.n = n,
                            .median = hx_quantile(seconds, (size_t)n, 0.5),
                            .lower = hx_quantile(seconds, (size_t)n, 0.25),
                            .upper = hx_quantile(seconds, (size_t)n, 0.75)};
}

static int repeats_of(double once)
{
    const double n = ceil(ENOUGH / fmax(once, 1e-9));
    return n < LEAST ? LEAST : n > MOST ? MOST : (int)n;
}

/* Queued work, timed by the device. */
typedef int work_of(void *context);

/* Times n <= N_BATCH runs one by one. One more run precedes short ones, so that the device is busy
 * when the first mark is set. */
static int time_batch(hx_device *dev, work_of *work, void *context, int is_short, int n,
                      double *seconds)
{
    if (is_short) HX_TRY(work(context));
    HX_TRY(dev->ops->mark(dev, 0));
    for (int i = 0; i < n; i++) {
        HX_TRY(work(context));
        HX_TRY(dev->ops->mark(dev, i + 1));
    }
    HX_TRY(dev->ops->sync(dev));
    for (int i = 0; i < n; i++) HX_TRY(dev->ops->elapsed(dev, i, i + 1, &seconds[i]));
    return HX_OK;
}

/* Repeats the work. The first run is not counted, because it loads code that is used for the first
 * time. */
static int repeat(hx_device *dev, work_of *work, void *context, hx_bench_time *time)
{
    double seconds[MOST];
    HX_TRY(time_batch(dev, work, context, 0, 1, seconds));
    int n = 1;
    if (seconds[0] < SLOW) {
        double once;
        HX_TRY(time_batch(dev, work, context, 0, 1, &once));
        n = repeats_of(once);
        for (int i = 0; i < n; i += N_BATCH)
            HX_TRY(time_batch(dev, work, context, once < 0.1 * ENOUGH,
                              n - i < N_BATCH ? n - i : N_BATCH, seconds + i));
    }
    summarise(seconds, n, time);
    return HX_OK;
}

/* Repeats a step that waits, and measures wall time. `undo` is called before each run except the
 * first, and not after the last. */
static int repeat_calls(hx_device *dev, work_of *work, void (*undo)(void *context), void *context,
                        hx_bench_time *time)
{
    double seconds[MOST];
    int n = 1;
    for (int i = 0; i <= n; i++) { /* the first run is not counted, unless it is the only one */
        if (i > 0) undo(context);
        HX_TRY(dev->ops->sync(dev));
        const double begin = hx_clock();
        HX_TRY(work(context));
        HX_TRY(dev->ops->sync(dev));
        const double took = hx_clock() - begin;
        if (i == 0 && took > SLOW) {
            summarise((double[]){took}, 1, time);
            return HX_OK;
        }
        if (i == 0) n = repeats_of(took);
        if (i > 0) seconds[i - 1] = took;
    }
    summarise(seconds, n, time);
    return HX_OK;
}

/* Copies the arrays of a space to the device; NULL: there is no such array. */
static int put_space(hx_bench_site *site, const hx_incidence *in, const double *xyz,
                     const double *modulus)
{
    const size_t n_cell = (size_t)in->n_cell, n_place = (size_t)in->n_place;
    const size_t n_point = (size_t)in->n_point;
    const hx_spline_rule none = {0}, *const rule = in->spline ? in->spline : &none;
    hx_incidence *const d_in = &site->input.incidence;
    const struct {
        const void *from;
        size_t bytes;
        void *to;
    } array[HX_BENCH_N_ARRAY] = {
        {in->point, n_place * sizeof *in->point, &d_in->point},
        {in->point_ptr, (n_point + 1) * sizeof *in->point_ptr, &d_in->point_ptr},
        {in->point_place, n_place * sizeof *in->point_place, &d_in->point_place},
        {xyz, 3 * n_point * sizeof *xyz, &site->input.d_xyz},
        {modulus, n_cell * sizeof *modulus, &site->input.d_modulus},
        {in->kind, n_cell * sizeof *in->kind, &d_in->kind},
        {in->cell_ptr, (n_cell + 1) * sizeof *in->cell_ptr, &d_in->cell_ptr},
        {in->pair_ptr, (n_cell + 1) * sizeof *in->pair_ptr, &d_in->pair_ptr},
        {in->place_cell, n_place * sizeof *in->place_cell, &d_in->place_cell},
        {rule->patch, (size_t)rule->n_patch * sizeof *rule->patch, &site->spline.patch},
        {rule->table, (size_t)rule->n_table * sizeof *rule->table, &site->spline.table},
        {rule->weight, n_point * sizeof *rule->weight, &site->spline.weight},
    };
    site->spline = *rule;
    if (in->spline) d_in->spline = &site->spline;
    for (int i = 0; i < HX_BENCH_N_ARRAY; i++) {
        if (array[i].from)
            HX_TRY(hx_device_put(site->dev, &site->d_own[i], array[i].from, array[i].bytes));
        memcpy(array[i].to, &site->d_own[i], sizeof site->d_own[i]);
    }
    return HX_OK;
}

int hx_bench_site_open(hx_bench_site *site, hx_device *dev, const hx_space *space, hx_form form,
                       const double *modulus)
{
    const hx_incidence in = hx_incidence_of_space(space);
    const size_t n_cell = (size_t)in.n_cell;
    double *one = NULL;
    memset(site, 0, sizeof *site);
    site->dev = dev;
    site->n_elem = in.n_cell;
    site->input = (hx_fill_input){.incidence = in, .form = form, .rule = space->rule};
    if (!modulus) HX_TRY(hx_alloc_raw(&one, n_cell, sizeof *one, "moduli"));
    for (size_t e = 0; one && e < n_cell; e++) one[e] = 1.0;
    const int rc = put_space(site, &in, space->xyz, one ? one : modulus);
    free(one);
    return rc;
}

void hx_bench_site_close(hx_bench_site *site)
{
    for (int i = 0; site->dev && i < HX_BENCH_N_ARRAY; i++)
        if (site->d_own[i]) site->dev->ops->release(site->dev, site->d_own[i]);
    memset(site, 0, sizeof *site);
}

/* A pattern that is built repeatedly, with the times of its steps. */
typedef struct building {
    hx_bench_pattern *p;
    hx_incidence incidence;
    hx_pattern_spec spec;
    int n;
    hx_steps steps[MOST + 1];
} building;

static int build_pattern(void *context)
{
    building *b = context;
    hx_device *dev = b->p->dev;
    hx_steps *steps = &b->steps[b->n++];
    memset(steps, 0, sizeof *steps);
    return dev->ops->matrix->pattern(dev, &b->incidence, &b->spec, &b->p->pattern, steps);
}

static void drop_pattern(void *context)
{
    hx_bench_pattern_free(((building *)context)->p);
}

/* Medians of the steps over all builds except the first, unless that is the only one. */
static void summarise_steps(building *b)
{
    hx_bench_pattern *p = b->p;
    const int first = b->n > 1 ? 1 : 0;
    p->steps = b->steps[first];
    p->in_steps = 0.0;
    for (int k = 0; k < p->steps.n; k++) {
        double seconds[MOST + 1];
        for (int i = first; i < b->n; i++) seconds[i - first] = b->steps[i].step[k].seconds;
        hx_sort_values(seconds, (size_t)(b->n - first));
        p->steps.step[k].seconds = hx_quantile(seconds, (size_t)(b->n - first), 0.5);
        p->in_steps += p->steps.step[k].seconds;
    }
}

int hx_bench_pattern_make(hx_bench_pattern *p, const hx_bench_site *site, hx_build build,
                          hx_part part, int places)
{
    building b = {
        .p = p, .incidence = site->input.incidence, .spec = {.build = build, .part = part}};
    memset(p, 0, sizeof *p);
    p->dev = site->dev;
    if (!places) {
        b.incidence.point_ptr = NULL;
        b.incidence.point_place = NULL;
    }
    HX_TRY(repeat_calls(site->dev, build_pattern, drop_pattern, &b, &p->call));
    summarise_steps(&b);
    return HX_OK;
}

void hx_bench_pattern_free(hx_bench_pattern *p)
{
    if (p->dev) hx_device_pattern_free(&p->pattern, p->dev);
}

double hx_bench_step_bytes(const char *step, const hx_bench_site *site,
                           const hx_device_pattern *pattern)
{
    const double n_point = (double)pattern->n_point, n_pair = (double)pattern->n_pair;
    const double places = 4.0 * (double)site->input.incidence.n_place; /* 32 bits each */
    const double columns = 4.0 * (double)pattern->n_entry;
    const double slots = n_pair * pattern->slot_bytes;
    const struct {
        const char *name;
        double bytes;
    } known[] = {
        {"count", places + 8.0 * n_point},             /* reads points, writes counts */
        {"scan", 16.0 * n_point},                      /* reads counts, writes offsets */
        {"fill", 2.0 * places + 8.0 * n_point},        /* reads points, writes places */
        {"neighbours", 2.0 * places + 12.0 * n_point}, /* reads places and points, writes counts */
        {"offsets", 12.0 * (double)pattern->n_row},    /* reads counts, writes offsets */
        {"columns", 2.0 * places + columns},           /* reads the same, writes columns */
        {"slots", 2.0 * places + columns + slots},
        {"keys", places + 12.0 * n_pair}, /* reads points, writes keys and numbers */
        {"sort", 24.0 * n_pair},          /* reads and writes these once; any sort moves more */
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, step) == 0) return known[i].bytes;
    return (double)NAN;
}

double hx_bench_pattern_bytes(const hx_bench_site *site, const hx_device_pattern *pattern)
{
    return 8.0 * (double)site->input.incidence.n_place + 8.0 * (double)(pattern->n_point + 1) +
           8.0 * (double)(pattern->n_row + 1) + 4.0 * (double)pattern->n_entry +
           (double)pattern->n_pair * pattern->slot_bytes;
}

typedef struct creating {
    hx_matrix *m;
    hx_device *dev;
    const hx_device_pattern *pattern;
    const hx_matrix_spec *spec;
} creating;

static int create_matrix(void *context)
{
    const creating *c = context;
    return hx_matrix_create(c->m, c->dev, c->pattern, c->spec);
}

static void drop_matrix(void *context)
{
    const creating *c = context;
    hx_matrix_free(c->m, c->dev);
}

int hx_bench_create(hx_bench_time *time, hx_matrix *m, hx_device *dev,
                    const hx_device_pattern *pattern, const hx_matrix_spec *spec)
{
    creating c = {m, dev, pattern, spec};
    *time = hx_bench_no_time;
    memset(m, 0, sizeof *m);
    return repeat_calls(dev, create_matrix, drop_matrix, &c, time);
}

int hx_bench_check_open(hx_bench_check *check, hx_bench *bench, hx_device *dev, int64_t n)
{
    const size_t count = (size_t)n, bytes = count * sizeof(double);
    memset(check, 0, sizeof *check);
    check->bench = bench;
    check->dev = dev;
    check->n = count;
    double **const vector[] = {&check->x, &check->y, &check->again, &check->expected};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++)
        HX_TRY(hx_alloc_raw(vector[i], count, sizeof(double), "vectors of the check"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        check->x[i] = 2.0 * hx_random_unit(hx_random_mix((uint64_t)i + HX_RANDOM_STEP)) - 1.0;
    HX_TRY(hx_device_put(dev, &check->d_x, check->x, bytes));
    return dev->ops->alloc(dev, bytes, &check->d_y);
}

void hx_bench_check_close(hx_bench_check *check)
{
    if (check->d_x) check->dev->ops->release(check->dev, check->d_x);
    if (check->d_y) check->dev->ops->release(check->dev, check->d_y);
    free(check->x);
    free(check->y);
    free(check->again);
    free(check->expected);
    memset(check, 0, sizeof *check);
}

int hx_bench_check_expect(hx_bench_check *check)
{
    const size_t bytes = check->n * sizeof(double);
    HX_TRY(check->dev->ops->download(check->dev, check->expected, check->d_y, bytes));
    check->norm = sqrt(hx_dot((int64_t)check->n, check->expected, check->expected));
    check->has_reference = 1;
    return HX_OK;
}

/* y = A x. y is filled with NaN before, so rows that are not written are noticed. */
static int check_product(const hx_bench_check *check, const hx_matrix *m, double *y)
{
    hx_device *dev = check->dev;
    const size_t bytes = check->n * sizeof(double);
    for (size_t i = 0; i < check->n; i++) y[i] = (double)NAN;
    HX_TRY(dev->ops->upload(dev, check->d_y, y, bytes));
    HX_TRY(dev->ops->matrix->multiply(dev, m, check->d_x, check->d_y));
    return dev->ops->download(dev, y, check->d_y, bytes);
}

static int is_same_product(const hx_bench_check *check)
{
    return memcmp(check->y, check->again, check->n * sizeof(double)) == 0;
}

/* Compares the bits of more runs, provided that products repeat their bits. */
static int find_bits(const hx_bench_check *check, const hx_matrix *m, void *state, int n_design,
                     hx_bench_bits *bits)
{
    const hx_matrix_ops *ops = check->dev->ops->matrix;
    *bits = HX_BITS_UNKNOWN;
    HX_TRY(check_product(check, m, check->again));
    if (!is_same_product(check)) return HX_OK;
    *bits = HX_BITS_SAME;
    for (int i = 0; i < n_design && *bits == HX_BITS_SAME; i++) {
        HX_TRY(ops->fill_run(state));
        HX_TRY(check_product(check, m, check->again));
        if (!is_same_product(check)) *bits = HX_BITS_VARY;
    }
    return HX_OK;
}

static int check_fill(hx_bench_check *check, const hx_matrix *m, hx_fill fill, void *state,
                      hx_bench_fill *out)
{
    hx_bench *bench = check->bench;
    double *const worst = &bench->worst[m->spec.single ? 1 : 0];
    HX_TRY(check_product(check, m, check->y));
    bench->n_checked[m->spec.single ? 1 : 0] += check->has_reference;
    if (!check->has_reference) HX_TRY(hx_bench_check_expect(check));
    const int64_t n = (int64_t)check->n;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) check->again[i] = check->y[i] - check->expected[i];
    out->error = sqrt(hx_dot(n, check->again, check->again)) / check->norm;
    HX_TRY(find_bits(check, m, state, out->run.n > 1 ? 3 : 1, &out->bits));
    if (!isnan(*worst) && !(out->error <= *worst)) *worst = out->error;
    if (!(out->error <= (m->spec.single ? 1e-6 : 1e-12))) bench->n_wrong++;
    if (hx_fill_kinds[fill].deterministic && out->bits == HX_BITS_VARY) bench->n_wrong++;
    return HX_OK;
}

/* A fill with the data that it keeps. */
typedef struct filling {
    const hx_bench_site *site;
    const hx_matrix *m;
    hx_fill fill;
    void *state;
} filling;

static int run_fill(void *context)
{
    const filling *f = context;
    return f->site->dev->ops->matrix->fill_run(f->state);
}

static int create_fill(filling *f)
{
    hx_device *dev = f->site->dev;
    return dev->ops->matrix->fill_create(&f->state, dev, f->fill, f->m, &f->site->input);
}

static void drop_fill(void *context)
{
    filling *f = context;
    f->site->dev->ops->matrix->fill_free(f->state);
    f->state = NULL;
}

static int measure_fill(filling *f, hx_bench_check *check, hx_bench_fill *out)
{
    hx_device *dev = f->site->dev;
    /* Makes the data that the fill keeps, once. Allocations that the meter has not counted are
     * not device memory. */
    hx_matrix_meter *const meter = f->site->meter;
    const size_t used = meter ? meter->used : 0;
    HX_TRY(dev->ops->sync(dev));
    if (meter) hx_matrix_meter_restart(meter);
    const double begin = hx_clock();
    HX_TRY(create_fill(f));
    HX_TRY(dev->ops->sync(dev));
    out->prepare_seconds = hx_clock() - begin;
    out->kept_bytes = dev->ops->matrix->fill_bytes(f->state);
    if (meter && meter->most_lately >= used + out->kept_bytes)
        out->most_bytes = meter->most_lately - used;
    HX_TRY(repeat(dev, run_fill, f, &out->run));
    if (dev->ops->matrix->fill_steps) dev->ops->matrix->fill_steps(f->state, &out->steps);
    return check ? check_fill(check, f->m, f->fill, f->state, out) : HX_OK;
}

int hx_bench_fill_run(hx_bench_fill *out, const hx_bench_site *site, const hx_matrix *m,
                      hx_fill fill, hx_bench_check *check)
{
    filling f = {site, m, fill, NULL};
    const hx_bench_fill nothing = {
        .prepare_seconds = (double)NAN, .run = hx_bench_no_time, .error = (double)NAN};
    *out = nothing;
    const int rc = measure_fill(&f, check, out);
    drop_fill(&f);
    if (!hx_bench_is_left_out(rc, out->note, sizeof out->note)) return rc;
    out->run = hx_bench_no_time;
    return HX_OK;
}

static int create_and_run(void *context)
{
    HX_TRY(create_fill(context));
    return run_fill(context);
}

int hx_bench_fill_anew(hx_bench_time *time, const hx_bench_site *site, const hx_matrix *m,
                       hx_fill fill)
{
    filling f = {site, m, fill, NULL};
    char note[8];
    *time = hx_bench_no_time;
    const int rc = repeat_calls(site->dev, create_and_run, drop_fill, &f, time);
    drop_fill(&f);
    return hx_bench_is_left_out(rc, note, sizeof note) ? HX_OK : rc;
}

typedef struct multiplying {
    const hx_matrix *m;
    const hx_bench_check *check;
} multiplying;

static int multiply_matrix(void *context)
{
    const multiplying *p = context;
    hx_device *dev = p->check->dev;
    return dev->ops->matrix->multiply(dev, p->m, p->check->d_x, p->check->d_y);
}

int hx_bench_product(hx_bench_time *time, const hx_matrix *m, const hx_bench_check *check)
{
    multiplying p = {m, check};
    *time = hx_bench_no_time;
    return repeat(check->dev, multiply_matrix, &p, time);
}

double hx_bench_product_bytes(const hx_matrix *m)
{
    const double c = m->spec.components, n_dof = c * (double)m->pattern.n_row;
    const double n = (double)m->n_value, value = m->spec.single ? 4.0 : 8.0;
    const double vectors = 16.0 * n_dof;
    switch (m->spec.format) {
    case HX_FORMAT_BSR:
        return vectors + value * n + 4.0 * (double)m->pattern.n_entry +
               8.0 * (double)(m->pattern.n_row + 1);
    case HX_FORMAT_BSRS:
        return vectors + value * n + 4.0 * n / (c * c) +
               8.0 * ceil((double)m->pattern.n_row / HX_SLICE);
    case HX_FORMAT_CSR:
        return vectors + (value + 4.0) * n + 8.0 * (n_dof + 1.0);
    case HX_FORMAT_ELL:
        return vectors + (value + 4.0) * n;
    default:
        return vectors + (value + 8.0) * n;
    }
}
