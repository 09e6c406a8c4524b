/* P4, assembly by sorting: small scalar matrices from triplets, which are sorted each time as in
 * P4, or in an order that is kept, in double and single precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/text/log.h"
#include "papers.h"

/* Beyond the five of P4, to show the speed for large matrices: nodes of a cube of 100^3 elements.
 * Hexahedra, then tetrahedra. */
enum { LARGE = 101 * 101 * 101, N_SIZE = HX_P4_N_ROW + 1, N_ROW = 2 * N_SIZE };

typedef struct sorted {
    hx_bench_time anew, kept, gather;
    char note[192];
} sorted;

typedef struct row {
    const hx_p4_row *paper; /* NULL: not in P4 */
    hx_bench_plan plan;
    sorted precision[2]; /* double, single */
    char note[192];
} row;

/* The format of P4, scalar rows, if the device has it in that precision. */
static int find_format(const hx_matrix_ops *ops, int single, hx_format *format)
{
    const unsigned has = ops->formats & (single ? ops->single_formats : ~0u);
    *format = has & 1u << HX_FORMAT_CSR ? HX_FORMAT_CSR : HX_FORMAT_BSR;
    return (has & 1u << *format) != 0;
}

static int measure_precision(hx_paper_bench *bench, sorted *s, const hx_bench_site *site,
                             const hx_device_pattern *pattern, hx_bench_check *check, int single)
{
    const hx_matrix_ops *ops = site->dev->ops->matrix;
    hx_matrix_spec spec = {.part = HX_PART_FULL, .single = single, .components = 1};
    hx_bench_fill f;
    hx_matrix m;
    if (!find_format(ops, single, &spec.format)) return HX_OK;
    HX_TRY(hx_matrix_create(&m, bench->shared.dev, pattern, &spec));
    int rc = hx_bench_fill_run(&f, site, &m, HX_FILL_GATHER, check);
    s->gather = f.run;
    if (rc == HX_OK && ops->fills & 1u << HX_FILL_SORT) {
        rc = hx_bench_fill_run(&f, site, &m, HX_FILL_SORT, check);
        s->kept = f.run;
        memcpy(s->note, f.note, sizeof s->note);
        if (rc == HX_OK) rc = hx_bench_fill_anew(&s->anew, site, &m, HX_FILL_SORT);
    }
    hx_matrix_free(&m, bench->shared.dev);
    return rc;
}

static int measure_on(hx_paper_bench *bench, row *r, const hx_space *space)
{
    const hx_pattern_spec full = {.part = HX_PART_FULL};
    const hx_form form = {.kind = HX_FORM_CONDUCTION};
    hx_bench_site site = {0};
    hx_bench_check check = {0};
    hx_device_pattern pattern = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_site_open(&site, bench->shared.dev, space, form, NULL));
    HX_TRY_FAIL(bench->shared.dev->ops->matrix->pattern(bench->shared.dev, &site.input.incidence,
                                                        &full, &pattern, NULL));
    HX_TRY_FAIL(hx_bench_check_open(&check, &bench->shared, bench->shared.dev, pattern.n_row));
    for (int single = 0; single < 2; single++)
        HX_TRY_FAIL(
            measure_precision(bench, &r->precision[single], &site, &pattern, &check, single));
fail:
    hx_bench_check_close(&check);
    hx_device_pattern_free(&pattern, bench->shared.dev);
    hx_bench_site_close(&site);
    return rc;
}

static int measure_p4_row(hx_paper_bench *bench, row *r)
{
    hx_bench_part part;
    if (hx_bench_plan_size(&r->plan) > (double)bench->most) return HX_OK;
    if (hx_log_is_terminal())
        hx_log_status("P4: %lld %s", (long long)r->plan.n_elem,
                      hx_bench_element_name(r->plan.element));
    int rc = hx_bench_part_make(&part, &r->plan);
    if (rc == HX_OK) {
        rc = measure_on(bench, r, &part.space);
        hx_bench_part_free(&part);
    }
    return hx_bench_is_left_out(rc, r->note, sizeof r->note) ? HX_OK : rc;
}

static void add_paper(hx_table *table, const hx_p4_row *paper)
{
    hx_table_add(table, "%s", paper ? paper->name : "(none)");
    if (paper) {
        hx_bench_add_count(table, paper->n_dof);
        hx_bench_add_count(table, paper->n_elem);
        hx_table_add(table, "%.0f", 1e3 * paper->gpu_seconds);
        hx_table_add(table, "%.0f", 1e3 * paper->cpu_seconds);
    } else
        for (int i = 0; i < 4; i++) hx_table_add(table, "-");
}

static void print_rows(const hx_paper_bench *bench, const row *r, int n)
{
    char count[32];
    hx_table table;
    hx_log_info(
        "\nP4 (Dinh, Marechal and Meunier, Tesla C1060), Tables I and II: a scalar matrix by "
        "sorted triplets, ms\n");
    hx_table_begin(&table, "lrrrrlrrrrrrrrrr");
    hx_table_add_words(&table, "mesh|unknowns|elements|GPU ms|CPU ms|ours|unknowns|elements|"
                               "sorted each time|order kept|gather|kept Mel/s|single, sorted|"
                               "order kept|gather|GPU / sorted");
    for (int i = 0; i < n; i++) {
        const int64_t n_elem = r[i].plan.n_elem;
        const double paper = r[i].paper ? r[i].paper->gpu_seconds : (double)NAN;
        add_paper(&table, r[i].paper);
        hx_table_add(&table, "%s", hx_bench_element_name(r[i].plan.element));
        hx_bench_add_count(&table, r[i].plan.n_point);
        hx_bench_add_count(&table, n_elem);
        for (int single = 0; single < 2; single++) {
            const sorted *s = &r[i].precision[single];
            hx_bench_add_ms(&table, s->anew.median);
            hx_bench_add_ms(&table, s->kept.median);
            hx_bench_add_ms(&table, s->gather.median);
            if (!single) hx_bench_add(&table, 4, 1e-6 * (double)n_elem / s->kept.median, "");
        }
        hx_bench_add(&table, 3, paper / r[i].precision[1].anew.median, "x");
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++) {
        const char *const why = r[i].note[0] ? r[i].note : r[i].precision[0].note;
        if (why[0])
            hx_log_info("  %s %s left out: %s",
                        hx_format_count(r[i].plan.n_elem, count, sizeof count),
                        hx_bench_element_name(r[i].plan.element), why);
    }
    hx_log_info("  P4: plane triangles in single precision, two elements per unknown and seven "
                "entries per row; its\n"
                "  meshes are not available. Here: cubes with the nearest number of unknowns, of "
                "hex8 (one element per\n"
                "  unknown, 27 entries per row) and of TET4 (six per unknown, 15 entries per row), "
                "each of which sorts\n"
                "  64 triplets, like a hexahedron with repeated nodes. Sorted each time: keys, "
                "sort, triplets and sums,\n"
                "  with allocation and release of memory; order kept: triplets and sums of the "
                "next design.");
    hx_bench_say_limit(bench);
}

int hx_bench_p4(hx_paper_bench *bench)
{
    const sorted none = {
        .anew = hx_bench_no_time, .kept = hx_bench_no_time, .gather = hx_bench_no_time};
    row r[N_ROW];
    int n = 0, rc = HX_OK;
    for (; n < N_ROW && rc == HX_OK; n++) {
        const int k = n % N_SIZE;
        const hx_p4_row *paper = k < HX_P4_N_ROW ? &hx_p4_rows[k] : NULL;
        r[n] = (row){.paper = paper, .precision = {none, none}};
        HX_TRY(hx_bench_plan_make(&r[n].plan, HX_BENCH_CUBE,
                                  n < N_SIZE ? HX_BENCH_HEX8 : HX_BENCH_TET4, 0,
                                  paper ? paper->n_dof : LARGE));
        rc = measure_p4_row(bench, &r[n]);
    }
    if (!hx_bench_is_quiet()) print_rows(bench, r, n);
    return rc;
}
