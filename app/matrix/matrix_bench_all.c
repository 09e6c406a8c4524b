/* hextop matrix --bench all: measures every builder, format and fill of the device on one mesh. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/memory.h"
#include "core/operator/operator.h"
#include "matrix_bench.h"

enum { N_SPEC = 10, N_BUILDING = 3, N_NOTE = N_SPEC + N_BUILDING + 2 };

/* A fill that takes more seconds than this in the first format is not measured in the others. */
#define LONG 0.5

typedef struct product {
    hx_matrix_spec spec;
    hx_bench_time time;
    double bytes; /* bytes that a product moves */
    size_t matrix_bytes, plan_bytes, pattern_bytes;
} product;

typedef struct filled {
    hx_matrix_spec spec;
    hx_fill fill;
    double n_byte; /* bytes of the values */
    hx_bench_fill f;
} filled;

typedef struct all {
    hx_bench bench;
    const hx_problem *problem; /* (borrowed) */
    hx_bench_site site;
    hx_bench_check check;
    int is_matrix_free; /* 1: the reference is a product without a matrix */
    hx_bench_pattern built[N_BUILDING];
    int n_product, n_filled;
    product product[N_SPEC];
    filled filled[N_SPEC * HX_N_FILL];
    int is_long[HX_N_FILL]; /* 1: measured only in the first format */
    char note[N_NOTE][256];
    int n_note;
} all;

typedef struct building {
    const char *name;
    hx_build build;
    int places;
} building;

static const building buildings[N_BUILDING] = {
    {"three-stage", HX_BUILD_THREE_STAGE, 0},
    {"three-stage, lists given", HX_BUILD_THREE_STAGE, 1},
    {"sort", HX_BUILD_SORT, 0},
};

static void add_rate(hx_table *table, double bytes, double seconds)
{
    hx_bench_add(table, 4, 1e-9 * bytes / seconds, "");
}

static void add_share(hx_table *table, double bytes, double seconds, double copy)
{
    const double share = 100.0 * bytes / seconds / copy;
    if (isnan(share))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.0f %%", share);
}

static void print_pattern(const all *a)
{
    hx_table table;
    if (hx_bench_is_quiet()) return;
    hx_log_info("%s", "");
    hx_table_begin(&table, "llrrr");
    hx_table_add_words(&table, "pattern|step|ms|spread|GB/s");
    for (int i = 0; i < N_BUILDING; i++) {
        const hx_bench_pattern *p = &a->built[i];
        if (p->call.n == 0) continue;
        for (int k = 0; k < p->steps.n; k++) {
            const hx_step *step = &p->steps.step[k];
            hx_table_add(&table, "%s", k == 0 ? buildings[i].name : "");
            hx_table_add(&table, "%s", step->name);
            hx_bench_add_ms(&table, step->seconds);
            hx_table_add(&table, "%s", "");
            add_rate(&table, hx_bench_step_bytes(step->name, &a->site, &p->pattern), step->seconds);
        }
        hx_table_add(&table, "%s", "");
        hx_table_add(&table, "whole call");
        hx_bench_add_time(&table, &p->call);
        add_rate(&table, hx_bench_pattern_bytes(&a->site, &p->pattern), p->call.median);
    }
    hx_bench_end_table(&table);
}

/* A lack of memory is noted and is not an error. */
static int note_left_out(all *a, const char *what, int rc)
{
    char note[192];
    if (!hx_bench_is_left_out(rc, note, sizeof note)) return rc;
    snprintf(a->note[a->n_note++], sizeof a->note[0], "%s: %s", what, note);
    return HX_OK;
}

static int is_left_out(const all *a, hx_fill fill)
{
    return !(a->site.dev->ops->matrix->fills & 1u << fill) ||
           (a->n_product > 0 && a->is_long[fill]);
}

/* Measures all fills of a matrix, and products with the values of the first. */
static int measure_fills(all *a, const hx_matrix *m, product *p)
{
    char name[48];
    hx_bench_spec_name(&m->spec, name, sizeof name);
    for (int fill = 0; fill < HX_N_FILL; fill++) {
        if (is_left_out(a, (hx_fill)fill)) continue;
        filled *row = &a->filled[a->n_filled];
        if (hx_log_is_terminal()) hx_log_status("%s: %s", name, hx_fill_kinds[fill].name);
        *row = (filled){m->spec,
                        (hx_fill)fill,
                        (double)m->n_value * (m->spec.single ? sizeof(float) : sizeof(double)),
                        {0}};
        HX_TRY(hx_bench_fill_run(&row->f, &a->site, m, (hx_fill)fill, &a->check));
        a->n_filled++;
        a->is_long[fill] |= row->f.prepare_seconds + row->f.run.median > LONG;
        if (p->time.n == 0 && row->f.run.n > 0) {
            *p = (product){.spec = m->spec,
                           .bytes = hx_bench_product_bytes(m),
                           .matrix_bytes = hx_matrix_bytes(m, a->site.dev),
                           .plan_bytes = a->site.dev->ops->matrix->plan_bytes(m),
                           .pattern_bytes = hx_device_pattern_bytes(&m->pattern)};
            HX_TRY(hx_bench_product(&p->time, m, &a->check));
        }
    }
    return HX_OK;
}

static int measure_matrix(all *a, const hx_device_pattern *pattern, const hx_matrix_spec *spec)
{
    hx_device *dev = a->site.dev;
    hx_matrix m;
    HX_TRY(hx_matrix_create(&m, dev, pattern, spec));
    product *p = &a->product[a->n_product];
    const int rc = measure_fills(a, &m, p);
    a->n_product += p->time.n > 0;
    hx_matrix_free(&m, dev);
    return rc;
}

static int has_spec(const hx_matrix_ops *ops, const hx_matrix_spec *spec)
{
    const unsigned formats = spec->part == HX_PART_LOWER ? ops->lower_formats : ops->formats;
    return (formats & 1u << spec->format) &&
           (!spec->single || (ops->single_formats & 1u << spec->format));
}

/* The matrices that are measured; the first one is the reference. The problem's number of
 * components replaces the 3. */
static const hx_matrix_spec specs[N_SPEC] = {
    {HX_FORMAT_BSR, HX_PART_FULL, 0, 3},  {HX_FORMAT_BSR, HX_PART_FULL, 1, 3},
    {HX_FORMAT_BSRS, HX_PART_FULL, 0, 3}, {HX_FORMAT_BSRS, HX_PART_FULL, 1, 3},
    {HX_FORMAT_CSR, HX_PART_FULL, 0, 3},  {HX_FORMAT_ELL, HX_PART_FULL, 0, 3},
    {HX_FORMAT_COO, HX_PART_FULL, 0, 3},  {HX_FORMAT_BSR, HX_PART_LOWER, 0, 3},
    {HX_FORMAT_BSR, HX_PART_LOWER, 1, 3}, {HX_FORMAT_BSRS, HX_PART_LOWER, 0, 3},
};

static int measure_part(all *a, hx_part part)
{
    const int components = a->problem->components;
    const hx_pattern_spec pattern_spec = {.part = part};
    hx_device *dev = a->site.dev;
    const hx_matrix_ops *ops = dev->ops->matrix;
    hx_device_pattern pattern = {0};
    int rc = ops->pattern(dev, &a->site.input.incidence, &pattern_spec, &pattern, NULL);
    const int is_there = rc == HX_OK;
    rc = note_left_out(a, part == HX_PART_LOWER ? "lower pattern" : "full pattern", rc);
    for (int i = 0; i < N_SPEC && is_there && rc == HX_OK; i++) {
        char name[48];
        hx_matrix_spec spec = specs[i];
        spec.components = components;
        if (spec.part != part || !has_spec(ops, &spec)) continue;
        rc = note_left_out(a, hx_bench_spec_name(&spec, name, sizeof name),
                           measure_matrix(a, &pattern, &spec));
    }
    hx_device_pattern_free(&pattern, dev);
    return rc;
}

static void print_fills(const all *a)
{
    static const char *const bits[] = {"-", "same", "vary"};
    const double n_elem = (double)a->site.n_elem;
    hx_table table;
    hx_log_info("%s", "");
    hx_table_begin(&table, "llrrrrrrrrlr");
    hx_table_add_words(&table, "matrix|fill|prepare ms|ms|spread|Mel/s|GB/s|of copy|keeps|peak|"
                               "bits|error");
    for (int i = 0; i < a->n_filled; i++) {
        const filled *row = &a->filled[i];
        const hx_bench_fill *f = &row->f;
        const double seconds = f->run.median;
        const int breaks = f->bits == HX_BITS_VARY && hx_fill_kinds[row->fill].deterministic;
        char name[48], bytes[32];
        if (f->note[0]) continue;
        hx_table_add(&table, "%s", hx_bench_spec_name(&row->spec, name, sizeof name));
        hx_table_add(&table, "%s", hx_fill_kinds[row->fill].name);
        hx_bench_add_ms(&table, f->prepare_seconds);
        hx_bench_add_time(&table, &f->run);
        hx_bench_add(&table, 4, 1e-6 * n_elem / seconds, "");
        add_rate(&table, row->n_byte, seconds);
        add_share(&table, row->n_byte, seconds, a->bench.copy);
        hx_table_add(&table, "%s", hx_format_bytes((double)f->kept_bytes, bytes, sizeof bytes));
        hx_format_bytes((double)f->most_bytes, bytes, sizeof bytes);
        hx_table_add(&table, "%s", f->most_bytes > 0 ? bytes : "-");
        hx_table_add(&table, "%s%s", breaks ? "FAIL " : "", bits[f->bits]);
        hx_table_add(&table, f->error <= (row->spec.single ? 1e-6 : 1e-12) ? "%.1e" : "FAIL %.1e",
                     f->error);
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < a->n_filled; i++) {
        char name[48];
        if (a->filled[i].f.note[0])
            hx_log_info("  %s %s: left out: %s",
                        hx_bench_spec_name(&a->filled[i].spec, name, sizeof name),
                        hx_fill_kinds[a->filled[i].fill].name, a->filled[i].f.note);
    }
    for (int fill = 0; fill < HX_N_FILL; fill++)
        if (a->is_long[fill])
            hx_log_info("  %s takes more than half a second: not repeated in the other formats",
                        hx_fill_kinds[fill].name);
}

static void add_bytes(hx_table *table, size_t bytes)
{
    char text[32];
    hx_table_add(table, "%s", hx_format_bytes((double)bytes, text, sizeof text));
}

static void print_products(const all *a)
{
    const double n_elem = (double)a->site.n_elem;
    const product *first = &a->product[0];
    const int is_bsr = first->spec.format == HX_FORMAT_BSR && first->spec.part == HX_PART_FULL &&
                       !first->spec.single;
    const double bsr = is_bsr ? first->time.median : (double)NAN;
    hx_table table;
    hx_log_info("%s", "");
    hx_table_begin(&table, "lrrrrrrrrr");
    hx_table_add_words(&table, "matrix|product ms|spread|Mel/s|GB/s|of copy|x bsr|matrix|its plan|"
                               "pattern");
    for (int i = 0; i < a->n_product; i++) {
        const product *p = &a->product[i];
        char name[48];
        hx_table_add(&table, "%s", hx_bench_spec_name(&p->spec, name, sizeof name));
        hx_bench_add_time(&table, &p->time);
        hx_bench_add(&table, 4, 1e-6 * n_elem / p->time.median, "");
        add_rate(&table, p->bytes, p->time.median);
        add_share(&table, p->bytes, p->time.median, a->bench.copy);
        hx_bench_add(&table, 3, bsr / p->time.median, "x");
        add_bytes(&table, p->matrix_bytes);
        add_bytes(&table, p->plan_bytes);
        add_bytes(&table, p->pattern_bytes);
    }
    hx_bench_end_table(&table);
}

static void print_notes(const all *a)
{
    char peaks[96];
    for (int i = 0; i < a->n_note; i++) hx_log_info("  left out: %s", a->note[i]);
    hx_log_info(
        "\n"
        "  ms         medians, by the device's time stamps; of patterns and preparations by wall "
        "time,\n"
        "             allocation included; spread: the middle half of the times, over the median\n"
        "  GB/s       steps and patterns: data that must be read and written once; fills: the "
        "values\n"
        "             written; products: values, indices, x and y\n"
        "  keeps      bytes that a fill keeps from design to design\n"
        "  peak       bytes of the device while these are made, including them\n"
        "  bits       of a product with the values of four designs (two for slow fills): the same, "
        "or\n"
        "             varying\n"
        "  error      of that product relative to %s; FAIL: above 1e-12, single 1e-6\n"
        "  matrix     bytes of values, indices and plan, without those of the pattern",
        a->is_matrix_free ? "a product without a matrix" : "that of the first matrix");
    hx_log_info("  memory     at most %s", hx_matrix_peaks(a->site.meter, 0, peaks, sizeof peaks));
}

/* Computes K x by the device's operator without a matrix. */
static int make_reference(all *a, const double *modulus)
{
    hx_device *dev = a->bench.dev;
    const hx_operator_kind *op_kind =
        hx_operator_kind_of(dev->ops->matrix_free, a->problem->components);
    hx_operator op;
    if (!op_kind) return HX_OK;
    if (a->problem->space.element != HX_ELEMENT_LINEAR && !op_kind->space_bytes) return HX_OK;
    a->is_matrix_free = 1;
    HX_TRY(hx_operator_create(&op, dev, op_kind, hx_layout_first(op_kind), a->problem, 0));
    int rc = hx_operator_set_modulus(&op, modulus);
    if (rc == HX_OK) rc = op_kind->apply(op.state, a->check.d_x, a->check.d_y);
    if (rc == HX_OK) rc = hx_bench_check_expect(&a->check);
    hx_operator_free(&op);
    return rc;
}

static int measure_all(all *a, hx_device *dev, const double *modulus, hx_matrix_meter *meter)
{
    const hx_problem *problem = a->problem;
    const hx_form form = hx_problem_is_heat(problem)
                             ? (hx_form){.kind = HX_FORM_CONDUCTION}
                             : (hx_form){HX_FORM_ELASTICITY, problem->lambda, problem->mu};
    const int64_t n_dof = problem->components * problem->space.n_point;
    HX_TRY(hx_bench_check_open(&a->check, &a->bench, dev, n_dof));
    HX_TRY(make_reference(a, modulus));
    HX_TRY(hx_bench_site_open(&a->site, dev, &problem->space, form, modulus));
    a->site.meter = meter;
    /* Measures both builders, and the first one with the lists of a mesh. */
    const unsigned builds = a->site.dev->ops->matrix->builds;
    int rc = HX_OK;
    for (int i = 0; i < N_BUILDING && rc == HX_OK; i++) {
        if (!(builds & 1u << buildings[i].build)) continue;
        if (hx_log_is_terminal()) hx_log_status("pattern: %s", buildings[i].name);
        rc = hx_bench_pattern_make(&a->built[i], &a->site, buildings[i].build, HX_PART_FULL,
                                   buildings[i].places);
        if (rc < 0) a->built[i].call = hx_bench_no_time;
        rc = note_left_out(a, buildings[i].name, rc);
        /* keeps the counts, which determine the bytes, but no memory */
        hx_device_pattern *p = &a->built[i].pattern;
        const hx_device_pattern counts = *p;
        hx_bench_pattern_free(&a->built[i]);
        p->n_row = counts.n_row, p->n_point = counts.n_point, p->n_entry = counts.n_entry;
        p->n_pair = counts.n_pair, p->slot_bytes = counts.slot_bytes;
    }
    print_pattern(a);
    HX_TRY(rc);
    HX_TRY(measure_part(a, HX_PART_FULL));
    return measure_part(a, HX_PART_LOWER);
}

int hx_matrix_bench_all(hx_device *dev, const hx_problem *problem, const double *modulus,
                        hx_matrix_meter *meter)
{
    const hx_mesh *mesh = problem->mesh;
    char a_text[32], b_text[32], kinds[64];
    all *a;
    HX_TRY(hx_alloc(&a, 1, sizeof *a, "measurements"));
    a->problem = problem;
    a->bench.dev = dev;
    int rc = hx_bench_begin(&a->bench);
    if (rc == HX_OK) {
        hx_log_info("%s: %s elements, %s %s, %s", mesh->name,
                    hx_format_count(mesh->n_elem, a_text, sizeof a_text),
                    hx_format_count(problem->space.n_point, b_text, sizeof b_text),
                    problem->space.element == HX_ELEMENT_LINEAR ? "nodes" : "points",
                    hx_space_text(&problem->space, kinds, sizeof kinds));
        rc = measure_all(a, dev, modulus, meter);
    }
    if (!hx_bench_is_quiet()) {
        if (a->n_filled > 0) print_fills(a);
        if (a->n_product > 0) print_products(a);
        if (rc == HX_OK) print_notes(a);
    }
    if (rc == HX_OK) rc = hx_bench_verdict(&a->bench);
    hx_bench_site_close(&a->site);
    hx_bench_check_close(&a->check);
    free(a);
    return rc;
}
