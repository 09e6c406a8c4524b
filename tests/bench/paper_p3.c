/* P3, element chunks and triplets: counts of the lower scalar matrix of cubes, and its times by
 * triplets and by gather, on the device and on one core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "app/text/log.h"
#include "core/base/memory.h"
#include "core/generate/generate.h"
#include "core/registry.h"
#include "papers.h"

/* Elements that one core fills in about a second. */
enum { MOST_ON_ONE_CORE = 1000000 };
/* Memory of the device in P3, a Quadro 4000. */
#define STREAM_BYTES 2e9

typedef struct way {
    double total, values; /* seconds: of pattern, matrix and values; only of the values */
    hx_steps steps;       /* of the values */
    char note[192];
} way;

typedef struct row {
    const hx_p3_row *paper;
    int is_counted;
    int64_t n_triplet, n_csc; /* measured here */
    double triplet_megabytes, csc_megabytes;
    way triplets, gather;
    double one_core;         /* values by gather */
    hx_steps one_core_steps; /* by triplets */
    int is_streamed;
    hx_bench_stream stream;
    char note[192];
} row;

/* The lower matrix with one entry per number; the full one if the device has no lower one. */
static hx_matrix_spec spec_of(const hx_matrix_ops *ops)
{
    const int lower = (ops->lower_formats & 1u << HX_FORMAT_BSR) != 0;
    return (hx_matrix_spec){HX_FORMAT_BSR, lower ? HX_PART_LOWER : HX_PART_FULL, 0, 1};
}

static int64_t elements_of(const hx_p3_row *paper)
{
    return (int64_t)paper->n * paper->n * paper->n;
}

/* A triplet has 16 bytes; a number is stored with its row, and there are pointers of the
 * columns. */
static void count_p3_bytes(row *r, const hx_device_pattern *lower)
{
    r->n_triplet = 36 * elements_of(r->paper);
    r->n_csc = lower->n_entry;
    r->triplet_megabytes = 16e-6 * (double)r->n_triplet;
    r->csc_megabytes = 1e-6 * (16.0 * (double)r->n_csc + 8.0 * (double)(lower->n_point + 1));
    r->is_counted = 1;
}

/* Rounded as in P3: two decimals below 10, one above. */
static int agrees(double ours, double paper)
{
    return fabs(ours - paper) <= (paper < 10.0 ? 0.0051 : 0.0501);
}

static int is_right(const row *r)
{
    const hx_p3_row *p = r->paper;
    return r->n_triplet == p->n_triplet && r->n_csc == p->n_csc &&
           agrees(r->triplet_megabytes, p->triplet_megabytes) &&
           agrees(r->csc_megabytes, p->csc_megabytes);
}

static int measure_way(way *w, const hx_bench_site *site, const hx_matrix *m, double before,
                       hx_fill fill, hx_bench_check *check)
{
    hx_bench_fill f;
    *w = (way){.total = (double)NAN, .values = (double)NAN};
    if (!(site->dev->ops->matrix->fills & 1u << fill)) return HX_OK;
    HX_TRY(hx_bench_fill_run(&f, site, m, fill, check));
    memcpy(w->note, f.note, sizeof w->note);
    w->values = f.run.median;
    w->steps = f.steps;
    w->total = before + f.prepare_seconds + f.run.median;
    return HX_OK;
}

static int measure_ways(hx_paper_bench *bench, row *r, const hx_bench_site *site,
                        const hx_bench_pattern *pattern, const hx_matrix_spec *spec)
{
    hx_bench_time create;
    hx_bench_check check = {0};
    hx_matrix m = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_create(&create, &m, site->dev, &pattern->pattern, spec));
    HX_TRY_FAIL(hx_bench_check_open(&check, &bench->shared, site->dev, pattern->pattern.n_row));
    const double before = pattern->call.median + create.median;
    HX_TRY_FAIL(measure_way(&r->gather, site, &m, before, HX_FILL_GATHER, &check));
    HX_TRY_FAIL(measure_way(&r->triplets, site, &m, before, HX_FILL_TRIPLETS, &check));
fail:
    hx_matrix_free(&m, site->dev);
    hx_bench_check_close(&check);
    return rc;
}

static const hx_form conduction = {.kind = HX_FORM_CONDUCTION};

static int measure_on(hx_paper_bench *bench, row *r, const hx_mesh *mesh)
{
    const hx_matrix_spec spec = spec_of(bench->shared.dev->ops->matrix);
    const hx_space space = hx_space_linear(mesh);
    hx_bench_site site = {0};
    hx_bench_pattern pattern = {0}, lower = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_site_open(&site, bench->shared.dev, &space, conduction, NULL));
    HX_TRY_FAIL(hx_bench_pattern_make(&lower, &site, HX_BUILD_THREE_STAGE, HX_PART_LOWER, 1));
    count_p3_bytes(r, &lower.pattern);
    hx_bench_pattern_free(&lower);
    HX_TRY_FAIL(hx_bench_pattern_make(&pattern, &site, HX_BUILD_THREE_STAGE, spec.part, 0));
    HX_TRY_FAIL(measure_ways(bench, r, &site, &pattern, &spec));
fail:
    hx_bench_pattern_free(&lower);
    hx_bench_pattern_free(&pattern);
    hx_bench_site_close(&site);
    return rc;
}

static int set_threads(int n)
{
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    omp_set_num_threads(n);
    return before;
#else
    return n;
#endif
}

static int fill_on_cpu(hx_device *cpu, row *r, const hx_mesh *mesh)
{
    const hx_pattern_spec lower = {.part = HX_PART_LOWER};
    const hx_matrix_spec spec = {HX_FORMAT_BSR, HX_PART_LOWER, 0, 1};
    const hx_space space = hx_space_linear(mesh);
    hx_device_pattern pattern = {0};
    hx_bench_site site = {0};
    hx_bench_fill f;
    hx_matrix m = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_site_open(&site, cpu, &space, conduction, NULL));
    HX_TRY_FAIL(cpu->ops->matrix->pattern(cpu, &site.input.incidence, &lower, &pattern, NULL));
    HX_TRY_FAIL(hx_matrix_create(&m, cpu, &pattern, &spec));
    HX_TRY_FAIL(hx_bench_fill_run(&f, &site, &m, HX_FILL_GATHER, NULL));
    r->one_core = f.run.median;
    HX_TRY_FAIL(hx_bench_fill_run(&f, &site, &m, HX_FILL_TRIPLETS, NULL));
    r->one_core_steps = f.steps;
fail:
    hx_matrix_free(&m, cpu);
    hx_device_pattern_free(&pattern, cpu);
    hx_bench_site_close(&site);
    return rc;
}

/* The single core of P3: the CPU as a second device, with one thread. */
static int measure_one_core(row *r, const hx_mesh *mesh)
{
    const hx_device_ops *ops = hx_device_find("cpu");
    hx_device cpu = {0};
    if (!ops || mesh->n_elem > MOST_ON_ONE_CORE) return HX_OK;
    const int before = set_threads(1);
    int rc = hx_device_open(&cpu, ops);
    if (rc == HX_OK) rc = fill_on_cpu(&cpu, r, mesh);
    hx_device_close(&cpu);
    set_threads(before);
    return rc;
}

/* Entries of the lower part: (3n + 1)^3 in all, of which (n + 1)^3 on the diagonal. */
static int64_t lower_entries(int n)
{
    const int64_t a = 3 * (int64_t)n + 1, b = (int64_t)n + 1;
    return (a * a * a + b * b * b) / 2;
}

static int stream_mesh(hx_paper_bench *bench, row *r, const hx_mesh *mesh)
{
    const int64_t n_entry = lower_entries(r->paper->n);
    double *one;
    HX_TRY(hx_alloc_raw(&one, (size_t)mesh->n_elem, sizeof *one, "conductivities"));
    for (int64_t e = 0; e < mesh->n_elem; e++) one[e] = 1.0;
    const int rc =
        hx_bench_stream_run(&r->stream, bench->shared.dev, mesh, one, n_entry, STREAM_BYTES);
    free(one);
    if (rc != HX_OK) return rc;
    r->is_streamed = 1;
    if (r->stream.note[0]) return HX_OK;
    bench->shared.n_wrong += !r->stream.is_right || r->stream.n_entry != n_entry;
    return HX_OK;
}

/* Streams the cube, numbered as in a file, in ranges of rows. */
static int measure_stream(hx_paper_bench *bench, row *r)
{
    const int n = r->paper->n;
    hx_mesh mesh = {0};
    if (elements_of(r->paper) > bench->most_stream) return HX_OK;
    if (hx_log_is_terminal()) hx_log_status("P3: %d^3 elements in ranges of rows", n);
    int rc = hx_generate_box(&mesh, n, n, n, 1.0, 1.0, 1.0);
    if (rc == HX_OK) rc = stream_mesh(bench, r, &mesh);
    hx_mesh_free(&mesh);
    return hx_bench_is_left_out(rc, r->stream.note, sizeof r->stream.note) ? HX_OK : rc;
}

static int measure_p3_row(hx_paper_bench *bench, row *r)
{
    const int64_t n_elem = elements_of(r->paper);
    hx_mesh mesh = {0};
    if (n_elem > bench->most) return HX_OK;
    if (hx_log_is_terminal()) hx_log_status("P3: %d^3 elements", r->paper->n);
    int rc = hx_bench_cube(&mesh, r->paper->n);
    if (rc == HX_OK) rc = measure_on(bench, r, &mesh);
    if (rc == HX_OK) rc = measure_one_core(r, &mesh);
    hx_mesh_free(&mesh);
    if (r->is_counted && r->paper->n_csc > 0 && !is_right(r)) bench->shared.n_wrong++;
    return hx_bench_is_left_out(rc, r->note, sizeof r->note) ? HX_OK : rc;
}

static void add_count(hx_table *table, int is_there, int64_t n)
{
    if (is_there)
        hx_bench_add_count(table, n);
    else
        hx_table_add(table, "-");
}

static void add_number(hx_table *table, int decimals, double value, const char *unit)
{
    if (isnan(value))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.*f%s", decimals, value, unit);
}

static void print_counts(const row *r, int n)
{
    hx_table table;
    hx_log_info("\nP3 (Ramirez-Gil, Tsuzuki and Montealegre-Rubio), Table 1: entries of the scalar "
                "matrix of n^3 hex8\n");
    hx_table_begin(&table, "rrrrrrrrrrl");
    hx_table_add_words(&table, "elements|triplets, P3|ours|lower, P3|ours|MB, P3|ours|MB, P3|ours|"
                               "compression|check");
    for (int i = 0; i < n; i++) {
        const hx_p3_row *p = r[i].paper;
        if (p->n_csc == 0) continue;
        const int is_there = r[i].is_counted;
        hx_bench_add_count(&table, elements_of(p));
        hx_bench_add_count(&table, p->n_triplet);
        add_count(&table, is_there, r[i].n_triplet);
        hx_bench_add_count(&table, p->n_csc);
        add_count(&table, is_there, r[i].n_csc);
        hx_table_add(&table, "%.*f", p->triplet_megabytes < 10.0 ? 2 : 1, p->triplet_megabytes);
        add_number(&table, 2, is_there ? r[i].triplet_megabytes : (double)NAN, "");
        hx_table_add(&table, "%.*f", p->csc_megabytes < 10.0 ? 2 : 1, p->csc_megabytes);
        add_number(&table, 2, is_there ? r[i].csc_megabytes : (double)NAN, "");
        add_number(&table, 1,
                   is_there ? 100.0 * (1.0 - (double)r[i].n_csc / (double)r[i].n_triplet)
                            : (double)NAN,
                   " %");
        hx_table_add(&table, "%s", !is_there ? "-" : is_right(&r[i]) ? "equal" : "FAIL");
    }
    hx_bench_end_table(&table);
    hx_log_info("  triplets: 36 per element, 16 bytes each; lower: entries of the pattern here, in "
                "CSC 16 bytes each and\n"
                "  8 per column. Compression: in numbers of entries (P3: 56.8 to 60.9 %%). The "
                "cubes are those of P3.");
}

static void add_way(hx_table *table, const way *w, int64_t n_elem)
{
    hx_bench_add_ms(table, w->total);
    hx_bench_add(table, 3, 100.0 * w->values / w->total, " %");
    hx_bench_add(table, 3, 1e-6 * (double)n_elem / w->total, "");
}

static void print_times(const hx_paper_bench *bench, const row *r, int n)
{
    char text[32];
    hx_table table;
    hx_log_info(
        "\nP3, Table 2 (Quadro 4000, Xeon E5-2620): the scalar matrix in all, and the share of "
        "its values\n");
    hx_table_begin(&table, "rrrrrrrrrrrrr");
    hx_table_add_words(&table, "elements|paper s|triplets ms|values|Mel/s|x paper|gather ms|"
                               "values|Mel/s|x paper|fill ms|one core ms|x one core");
    for (int i = 0; i < n; i++) {
        const hx_p3_row *p = r[i].paper;
        hx_bench_add_count(&table, elements_of(p));
        hx_table_add(&table, "%.4g", p->seconds);
        add_way(&table, &r[i].triplets, elements_of(p));
        hx_bench_add(&table, 3, p->seconds / r[i].triplets.total, "");
        add_way(&table, &r[i].gather, elements_of(p));
        hx_bench_add(&table, 3, p->seconds / r[i].gather.total, "");
        hx_bench_add_ms(&table, r[i].gather.values);
        hx_bench_add_ms(&table, r[i].one_core);
        hx_bench_add(&table, 3, r[i].one_core / r[i].gather.values, "");
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++) {
        const char *const why = r[i].note[0] ? r[i].note : r[i].triplets.note;
        if (why[0])
            hx_log_info("  %s elements, %s: %s",
                        hx_format_count(elements_of(r[i].paper), text, sizeof text),
                        r[i].note[0] ? "left out" : "no triplets", why);
    }
    hx_log_info("  here: pattern, matrix and values, allocation included; one core: of this "
                "machine, with the CPU's fill\n"
                "  gather. The whole matrix at once; in ranges of rows below.");
    hx_bench_say_limit(bench);
}

/* Seconds of a step of triplets; 0: there is none of that name, NaN: nothing was measured. */
static double step_of(const hx_steps *steps, const char *name)
{
    if (steps->n == 0) return (double)NAN;
    for (int i = 0; i < steps->n; i++)
        if (strcmp(steps->step[i].name, name) == 0) return steps->step[i].seconds;
    return 0.0;
}

static void add_integration(hx_table *table, const row *r)
{
    const hx_steps *const ours = &r->triplets.steps, *const core = &r->one_core_steps;
    const double integration = step_of(ours, HX_STEP_INTEGRATION);
    const double download = step_of(ours, HX_STEP_DOWNLOAD);
    const double conversion = step_of(ours, HX_STEP_CONVERSION);
    const double all = integration + download + conversion;
    const double alone = step_of(core, HX_STEP_INTEGRATION);
    hx_bench_add_count(table, elements_of(r->paper));
    hx_table_add(table, "%.1f %%", 100.0 * r->paper->integration);
    hx_bench_add(table, 3, 100.0 * (integration + download) / all, " %");
    hx_bench_add(table, 3, 100.0 * integration / all, " %");
    hx_bench_add_ms(table, integration);
    hx_bench_add_ms(table, download);
    hx_bench_add_ms(table, conversion);
    hx_bench_add_ms(table, step_of(ours, HX_STEP_UPLOAD));
    hx_bench_add_ms(table, alone);
    hx_bench_add_ms(table, step_of(core, HX_STEP_CONVERSION));
    hx_bench_add(table, 3, alone / integration, "");
    hx_bench_add(table, 3, alone / (integration + download), "");
}

static void print_integration(const row *r, int n)
{
    hx_table table;
    hx_log_info("\nP3, Table 2: integration against assembly of the fill triplets\n");
    hx_table_begin(&table, "rrrrrrrrrrrr");
    hx_table_add_words(&table, "elements|P3 integration|ours|transfer left out|integration ms|"
                               "to the host|conversion|back|one core ms|its conversion|x one core|"
                               "with transfer");
    for (int i = 0; i < n; i++) add_integration(&table, &r[i]);
    hx_bench_end_table(&table);
    hx_log_info("  one run each. Integration: its fraction of the kernel, with the transfer to the "
                "host, and with the\n"
                "  conversion there; in P3 of the whole time, of which the transfer is taken to be "
                "a part. Back: values to\n"
                "  the device, in no fraction. One core: of this machine, which integrates all 64 "
                "pairs of an element\n"
                "  instead of 36 on a GPU and in P3. P3 relative to one core: 116x at 4.9 M "
                "elements, at most 126x.");
}

static void print_streams(const row *r, int n)
{
    char text[32];
    hx_table table;
    hx_log_info("\nP3, Table 2 in ranges of rows: from the mesh on the host to the lower matrix in "
                "its pinned memory\n");
    hx_table_begin(&table, "rrrrrrrrrrrrrrrrl");
    hx_table_add_words(&table, "elements|paper s|ranges|device MB|host MB|pinned ms|upload ms|cut|"
                               "pattern|values|download|all ms|Mel/s|GB/s down|of copy|x paper|"
                               "check");
    for (int i = 0; i < n; i++) {
        const hx_bench_stream *const st = &r[i].stream;
        const double down = st->host_bytes / st->seconds;
        if (!r[i].is_streamed || st->note[0]) continue;
        hx_bench_add_count(&table, elements_of(r[i].paper));
        hx_table_add(&table, "%.4g", r[i].paper->seconds);
        hx_bench_add_count(&table, st->n_range);
        hx_bench_add(&table, 4, 1e-6 * st->device_bytes, "");
        hx_bench_add(&table, 4, 1e-6 * st->host_bytes, "");
        hx_bench_add_ms(&table, st->pinned_seconds);
        hx_bench_add_ms(&table, st->upload_seconds);
        hx_bench_add_ms(&table, st->cut_seconds);
        hx_bench_add_ms(&table, st->pattern_seconds);
        hx_bench_add_ms(&table, st->value_seconds);
        hx_bench_add_ms(&table, st->wait_seconds);
        hx_bench_add_ms(&table, st->seconds);
        hx_bench_add(&table, 3, 1e-6 * (double)elements_of(r[i].paper) / st->seconds, "");
        hx_bench_add(&table, 3, 1e-9 * down, "");
        hx_bench_add(&table, 3, 100.0 * down / st->copy_rate, " %");
        hx_bench_add(&table, 3, r[i].paper->seconds / st->seconds, "");
        hx_table_add(&table, "%s", st->is_right ? "right" : "FAIL");
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++)
        if (r[i].stream.note[0])
            hx_log_info("  %s elements left out: %s",
                        hx_format_count(elements_of(r[i].paper), text, sizeof text),
                        r[i].stream.note);
    hx_log_info(
        "  at most %.0f GB on the device, including the mesh; the host's memory is allocated "
        "before (pinned ms);\n"
        "  stages as the host waits for them: download is what remains of it after the others;\n"
        "  GB/s: downloaded bytes over the whole time, upload and pattern included. One run each.",
        1e-9 * STREAM_BYTES);
}

int hx_bench_p3(hx_paper_bench *bench)
{
    row r[HX_P3_N_ROW];
    int n = 0, rc = HX_OK;
    const way none = {.total = (double)NAN, .values = (double)NAN};
    for (; n < HX_P3_N_ROW && rc == HX_OK; n++) {
        r[n] = (row){
            .paper = &hx_p3_rows[n], .triplets = none, .gather = none, .one_core = (double)NAN};
        rc = measure_p3_row(bench, &r[n]);
        if (rc == HX_OK) rc = measure_stream(bench, &r[n]);
    }
    if (hx_bench_is_quiet()) return rc;
    print_counts(r, n);
    print_times(bench, r, n);
    print_integration(r, n);
    print_streams(r, n);
    return rc;
}
