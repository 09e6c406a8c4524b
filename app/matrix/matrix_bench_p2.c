/* P2, three-stage generation: S1 pattern (preprocessor), S2 indices, S3 values; on cubes of hex8
 * with the papers' counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/log.h"
#include "matrix_bench.h"

/* --- Tables 2 and 4: the steps of the preprocessor --- */

typedef struct preprocessed {
    int64_t n_node;
    hx_steps steps;
    double in_steps;
    hx_bench_time call;
    char note[192];
} preprocessed;

/* What the steps of ours are called, and P2's functions that do the same. */
typedef struct same_step {
    const char *ours, *text;
    int first, n; /* of hx_p2_function */
} same_step;

enum { N_SAME = 5 };
static const same_step same_steps[N_SAME] = {
    {"count", "count", 0, 1},
    {"scan", "scan", 1, 1},
    {"fill", "fill", 2, 1},
    {"neighbours", "neighbours (4 functions)", 3, 4},
    {"offsets", "offsets (scan)", 7, 1},
};

/* Of all steps of that name; NaN: there is none. */
static double step_seconds(const preprocessed *p, const char *name)
{
    double sum = 0.0;
    int n = 0;
    for (int k = 0; k < p->steps.n; k++) {
        if (strcmp(p->steps.step[k].name, name) != 0) continue;
        sum += p->steps.step[k].seconds;
        n++;
    }
    return n > 0 ? sum : (double)NAN;
}

static double sum_of(const double *seconds, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += seconds[i];
    return sum;
}

/* Steps that P2 has in its other stages. */
static double rest_seconds(const preprocessed *p)
{
    double rest = p->in_steps;
    for (int i = 0; i < N_SAME; i++) {
        const double seconds = step_seconds(p, same_steps[i].ours);
        if (!isnan(seconds)) rest -= seconds;
    }
    return p->call.n > 0 ? fmax(rest, 0.0) : (double)NAN;
}

static int preprocess(const hx_bench *bench, int64_t n_node, preprocessed *p)
{
    const int n = hx_bench_cube_of_nodes(n_node);
    const hx_form form = {.kind = HX_FORM_CONDUCTION};
    hx_bench_site site = {0};
    hx_bench_pattern pattern = {0};
    hx_mesh mesh = {0};
    int rc;
    *p = (preprocessed){.n_node = ((int64_t)n + 1) * (n + 1) * (n + 1),
                        .in_steps = (double)NAN,
                        .call = hx_bench_no_time};
    if ((int64_t)n * n * n > bench->most) return HX_OK;
    if (hx_log_is_terminal()) hx_log_status("P2, preprocessor: %d^3 elements", n);
    HX_TRY_FAIL(hx_bench_cube(&mesh, n));
    HX_TRY_FAIL(hx_bench_site_open(&site, bench->dev, &mesh, form, NULL));
    HX_TRY_FAIL(hx_bench_pattern_make(&pattern, &site, HX_BUILD_THREE_STAGE, HX_PART_FULL, 0));
    p->steps = pattern.steps;
    p->in_steps = pattern.in_steps;
    p->call = pattern.call;
fail:
    hx_bench_pattern_free(&pattern);
    hx_bench_site_close(&site);
    hx_mesh_free(&mesh);
    return hx_bench_is_left_out(rc, p->note, sizeof p->note) ? HX_OK : rc;
}

static void print_preprocessor(const hx_bench *bench, const preprocessed *ours)
{
    char count[32];
    hx_table table;
    hx_log_info(
        "\nP2 (Sanfui and Sharma, Tesla K40c), Tables 2 and 4: the preprocessor in ms, beside "
        "ours\n");
    hx_table_begin(&table, "lrrrrrrrrrrrr");
    hx_table_add(&table, "step");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_table_add(&table, "%s", hx_p2_meshes[i].name);
        hx_bench_add_count(&table, ours[i].n_node);
    }
    for (int k = 0; k < N_SAME; k++) {
        const same_step *step = &same_steps[k];
        hx_table_add(&table, "%s", step->text);
        for (int i = 0; i < HX_P2_N_MESH; i++) {
            hx_bench_add_ms(&table, sum_of(hx_p2_meshes[i].seconds + step->first, step->n));
            hx_bench_add_ms(&table, step_seconds(&ours[i], step->ours));
        }
    }
    hx_table_add(&table, "columns, slots");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_table_add(&table, "-");
        hx_bench_add_ms(&table, rest_seconds(&ours[i]));
    }
    hx_table_add(&table, "all");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_bench_add_ms(&table, sum_of(hx_p2_meshes[i].seconds, HX_P2_N_FUNCTION));
        hx_bench_add_ms(&table, ours[i].in_steps);
    }
    hx_table_add(&table, "with memory taken");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_table_add(&table, "-");
        hx_bench_add_ms(&table, ours[i].call.median);
    }
    hx_bench_end_table(&table);
    hx_log_info(
        "  paper: cylinder and rod of its own, meshes that are not available; ours: cubes of "
        "hex8 with the\n"
        "  nearest number of nodes, in the solver's order.\n"
        "  neighbours: P2's scan, initializeNodeNum, fillNodeNum and thrustDynamicSort. "
        "Columns and slots\n"
        "  P2 leaves to its stages 2 and 3.");
    for (int i = 0; i < HX_P2_N_MESH; i++)
        if (ours[i].note[0])
            hx_log_info("  %s nodes left out: %s",
                        hx_format_count(ours[i].n_node, count, sizeof count), ours[i].note);
    hx_bench_say_limit(bench);
}

static int bench_preprocessor(const hx_bench *bench)
{
    preprocessed ours[HX_P2_N_MESH];
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        const int64_t n_node = hx_p2_meshes[i].n_node;
        int same = 0; /* of the same cube */
        while (same < i &&
               hx_bench_cube_of_nodes(hx_p2_meshes[same].n_node) != hx_bench_cube_of_nodes(n_node))
            same++;
        if (same < i)
            ours[i] = ours[same];
        else
            HX_TRY(preprocess(bench, n_node, &ours[i]));
    }
    if (!hx_bench_is_quiet()) print_preprocessor(bench, ours);
    return HX_OK;
}

/* --- Tables 3 and 5, Figures 10 to 17: all stages --- */

enum { N_SOLVE = 2 };
static const char *const preconds[N_SOLVE] = {"jacobi", "block-jacobi"};

typedef struct stages {
    const hx_p2_row *paper;
    int n;                  /* elements a side of our cube */
    double s1;              /* sum of the steps */
    hx_bench_time call, s2; /* S1 and S2 by the clock, memory included */
    double s1_bytes, s2_bytes, s3_bytes;
    size_t bytes; /* matrix and pattern */
    hx_bench_fill fill[HX_N_FILL];
    hx_bench_solve solve[N_SOLVE];
    char note[192];
} stages;

static int64_t elements_of(const stages *s)
{
    return (int64_t)s->n * s->n * s->n;
}

/* P2's own format where the device has it. */
static hx_format format_of(const hx_matrix_ops *ops)
{
    static const hx_format order[] = {HX_FORMAT_ELL, HX_FORMAT_CSR, HX_FORMAT_BSR};
    size_t i = 0;
    while (i < 2 && !(ops->formats & 1u << order[i])) i++;
    return order[i];
}

static void clear_stages(stages *s, const hx_p2_row *paper)
{
    memset(s, 0, sizeof *s);
    s->paper = paper;
    s->n = hx_p2_side(paper);
    s->s1 = (double)NAN;
    s->call = s->s2 = hx_bench_no_time;
    for (int i = 0; i < HX_N_FILL; i++) s->fill[i].run = hx_bench_no_time;
    for (int i = 0; i < N_SOLVE; i++) s->solve[i].seconds = (double)NAN;
}

/* Fills of thread-a-cell and thread-an-entry kinds, and gather, which the others are held against.
 */
static int run_fills(stages *s, const hx_bench_site *site, const hx_matrix *m,
                     hx_bench_check *check)
{
    static const hx_fill fill[] = {HX_FILL_GATHER, HX_FILL_ATOMIC, HX_FILL_SEPARATE, HX_FILL_COLOUR,
                                   HX_FILL_NZ};
    for (size_t i = 0; i < sizeof fill / sizeof fill[0]; i++)
        if (site->dev->ops->matrix->fills & 1u << fill[i])
            HX_TRY(hx_bench_fill_run(&s->fill[fill[i]], site, m, fill[i], check));
    return HX_OK;
}

static void note_bytes(stages *s, const hx_bench_site *site, const hx_matrix *m)
{
    const double n = (double)m->n_value, n_dof = 3.0 * (double)m->pattern.n_row;
    const hx_incidence *in = &site->input.incidence;
    s->s1_bytes = hx_bench_pattern_bytes(site, &m->pattern);
    s->s2_bytes = m->spec.format == HX_FORMAT_BSR ? (double)NAN
                                                  : 4.0 * (double)m->pattern.n_entry + 4.0 * n +
                                                        (m->d_ptr ? 8.0 * (n_dof + 1.0) : 0.0);
    s->s3_bytes =
        8.0 * n + 4.0 * (double)in->n_place + 24.0 * (double)in->n_point + 8.0 * (double)in->n_cell;
    s->bytes = hx_matrix_bytes(m, site->dev) + hx_device_pattern_bytes(&m->pattern);
}

static int run_on_mesh(hx_bench *bench, stages *s, const hx_mesh *mesh)
{
    const double nu = 0.3;
    const hx_form form = {HX_FORM_ELASTICITY, nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
                          0.5 / (1.0 + nu)};
    const hx_matrix_spec spec = {format_of(bench->dev->ops->matrix), HX_PART_FULL, 0, 3};
    hx_bench_site site = {0};
    hx_bench_pattern pattern = {0};
    hx_bench_check check = {0};
    hx_matrix m = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_site_open(&site, bench->dev, mesh, form, NULL));
    HX_TRY_FAIL(hx_bench_pattern_make(&pattern, &site, HX_BUILD_THREE_STAGE, HX_PART_FULL, 0));
    s->s1 = pattern.in_steps;
    s->call = pattern.call;
    HX_TRY_FAIL(hx_bench_create(&s->s2, &m, bench->dev, &pattern.pattern, &spec));
    note_bytes(s, &site, &m);
    HX_TRY_FAIL(hx_bench_check_open(&check, bench, bench->dev, 3 * mesh->n_node));
    HX_TRY_FAIL(run_fills(s, &site, &m, &check));
fail:
    hx_matrix_free(&m, bench->dev);
    hx_bench_check_close(&check);
    hx_bench_pattern_free(&pattern);
    hx_bench_site_close(&site);
    for (int i = 0; i < N_SOLVE && rc == HX_OK; i++)
        rc = hx_bench_solve_cube(&s->solve[i], bench->dev, mesh, preconds[i]);
    return rc;
}

static int run_stages(hx_bench *bench, stages *s)
{
    hx_mesh mesh = {0};
    if (elements_of(s) > bench->most) return HX_OK;
    if (hx_log_is_terminal()) hx_log_status("P2, stages: %d^3 elements", s->n);
    int rc = hx_bench_cube(&mesh, s->n);
    if (rc == HX_OK) rc = run_on_mesh(bench, s, &mesh);
    hx_mesh_free(&mesh);
    return hx_bench_is_left_out(rc, s->note, sizeof s->note) ? HX_OK : rc;
}

static int is_measured(const stages *s)
{
    return s->call.n > 0;
}

static double fill_seconds(const stages *s, hx_fill fill)
{
    return s->fill[fill].run.median;
}

static double generation(const stages *s, hx_fill fill)
{
    return s->call.median + s->s2.median + s->fill[fill].prepare_seconds + fill_seconds(s, fill);
}

static void add_fixed(hx_table *table, int decimals, double value)
{
    if (isnan(value))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.*f", decimals, value);
}

static void add_paper_stages(hx_table *table, const hx_p2_row *paper)
{
    hx_table_add(table, "%d", paper->table);
    hx_bench_add_count(table, paper->n_node);
    hx_bench_add_count(table, paper->n_elem);
    add_fixed(table, 2, paper->s1);
    add_fixed(table, 2, paper->s2);
    add_fixed(table, 2, paper->s3);
    add_fixed(table, 2, paper->megabytes);
}

static void print_stages(const hx_bench *bench, const stages *s, int n)
{
    static const char *const head[] = {"table",     "nodes",       "elements",    "paper S1 s",
                                       "S2 s",      "S3 s",        "MB",          "elements",
                                       "S1 ms",     "with memory", "S2",          "S3 atomic",
                                       "S3 gather", "MB",          "paper / ours"};
    char count[32];
    hx_table table;
    hx_log_info("\nP2, Tables 3 and 5, their HEX20: pattern, indices, values\n");
    hx_table_begin(&table, "rrrrrrrrrrrrrrr");
    hx_bench_add_words(&table, head, sizeof head / sizeof head[0]);
    for (int i = 0; i < n; i++) {
        const hx_p2_row *paper = s[i].paper;
        const double theirs =
            hx_p2_is_cube(paper) ? paper->s1 + paper->s2 + paper->s3 : (double)NAN;
        add_paper_stages(&table, paper);
        hx_bench_add_count(&table, elements_of(&s[i]));
        hx_bench_add_ms(&table, s[i].s1);
        hx_bench_add_ms(&table, s[i].call.median);
        hx_bench_add_ms(&table, s[i].s2.median);
        hx_bench_add_ms(&table, fill_seconds(&s[i], HX_FILL_ATOMIC));
        hx_bench_add_ms(&table, fill_seconds(&s[i], HX_FILL_GATHER));
        hx_bench_add(&table, 4, is_measured(&s[i]) ? 1e-6 * (double)s[i].bytes : (double)NAN, "");
        hx_bench_add(&table, 3, theirs / generation(&s[i], HX_FILL_GATHER), "x");
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++)
        if (s[i].note[0])
            hx_log_info("  %s elements left out: %s",
                        hx_format_count(elements_of(&s[i]), count, sizeof count), s[i].note);
    hx_log_info(
        "  ours: elasticity on cubes of hex8 with that many elements, matrix %s. Table 3's "
        "counts of nodes are\n"
        "  those of hex8; Table 5 is of true HEX20, 3600 numbers an element where hex8 has "
        "576: no ratio.\n"
        "  S1: with the lists of the points' cells, its steps and the whole call; S2: with "
        "the memory of the\n"
        "  values; MB: matrix and pattern, the paper's its nodes times 81 neighbours times 8 "
        "bytes. The ratio is\n"
        "  of all three stages, ours by gather with its preparation.",
        hx_format_name(format_of(bench->dev->ops->matrix)));
    hx_bench_say_limit(bench);
}

static void add_rate(hx_table *table, double bytes, double seconds, double copy)
{
    const double rate = bytes / seconds;
    hx_bench_add(table, 4, 1e-9 * rate, "");
    if (isnan(rate / copy))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.0f %%", 100.0 * rate / copy);
}

static void print_bandwidth(const hx_bench *bench, const stages *s, int n)
{
    static const char *const head[] = {"elements", "S1 GB/s",   "of copy", "S2",
                                       "of copy",  "S3 atomic", "of copy", "S3 separate",
                                       "of copy",  "S3 gather", "of copy"};
    hx_table table;
    hx_log_info("\nP2, Figures 10, 11 and 14 to 17: effective bandwidth of the stages\n");
    hx_table_begin(&table, "rrrrrrrrrrr");
    hx_bench_add_words(&table, head, sizeof head / sizeof head[0]);
    for (int i = 0; i < n; i++) {
        if (!is_measured(&s[i])) continue;
        hx_bench_add_count(&table, elements_of(&s[i]));
        add_rate(&table, s[i].s1_bytes, s[i].s1, bench->copy);
        add_rate(&table, s[i].s2_bytes, s[i].s2.median, bench->copy);
        add_rate(&table, s[i].s3_bytes, fill_seconds(&s[i], HX_FILL_ATOMIC), bench->copy);
        add_rate(&table, s[i].s3_bytes, fill_seconds(&s[i], HX_FILL_SEPARATE), bench->copy);
        add_rate(&table, s[i].s3_bytes, fill_seconds(&s[i], HX_FILL_GATHER), bench->copy);
    }
    hx_bench_end_table(&table);
    hx_log_info("  effective: what a stage must read and write once: mesh in, pattern out; pattern "
                "in, indices out;\n"
                "  mesh in, values out. The figures print no numbers; the paper finds its "
                "preprocessor lowest.\n"
                "  Its TET4, TET10 and HEX20: next.");
}

/* Least and largest of a ratio of two fills; 0 if none was measured. */
static int ratio_range(const stages *s, int n, hx_fill above, hx_fill below, double range[2])
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        const double ratio = fill_seconds(&s[i], above) / fill_seconds(&s[i], below);
        if (isnan(ratio)) continue;
        range[0] = found ? fmin(range[0], ratio) : ratio;
        range[1] = found ? fmax(range[1], ratio) : ratio;
        found = 1;
    }
    return found;
}

static void conclude(const stages *s, int n)
{
    double range[2];
    hx_log_info(
        "  separate / same: the paper's abstract says 1.7 to 2.5 (same wins by 70 to 150 %%), "
        "its section 5.2\n"
        "  below 1 (separate needs less time). same against SharedNZ: 4 (TET4) to 6 (HEX20).");
    if (ratio_range(s, n, HX_FILL_SEPARATE, HX_FILL_ATOMIC, range))
        hx_log_info("  here separate / same is %.2f to %.2f: %s", range[0], range[1],
                    range[0] > 1.0   ? "same wins, as the abstract has it"
                    : range[1] < 1.0 ? "separate wins, as section 5.2 has it"
                                     : "it depends on the size");
    else
        hx_log_info("  the device lacks one of them: no answer here");
    if (ratio_range(s, n, HX_FILL_NZ, HX_FILL_ATOMIC, range))
        hx_log_info("  here nz / same is %.2f to %.2f", range[0], range[1]);
}

static void print_fills(const stages *s, int n)
{
    static const char *const head[] = {
        "elements",  "same (atomic)", "separate", "separate / same", "SharedNZ (nz)",
        "nz / same", "colour",        "gather",   "same / gather",   "nz / gather"};
    char count[32];
    hx_table table;
    hx_log_info("\nP2, same against separate kernels and against SharedNZ: values in ms\n");
    hx_table_begin(&table, "rrrrrrrrrr");
    hx_bench_add_words(&table, head, sizeof head / sizeof head[0]);
    for (int i = 0; i < n; i++) {
        const double same = fill_seconds(&s[i], HX_FILL_ATOMIC);
        const double gather = fill_seconds(&s[i], HX_FILL_GATHER);
        if (!is_measured(&s[i])) continue;
        hx_bench_add_count(&table, elements_of(&s[i]));
        hx_bench_add_ms(&table, same);
        hx_bench_add_ms(&table, fill_seconds(&s[i], HX_FILL_SEPARATE));
        hx_bench_add(&table, 3, fill_seconds(&s[i], HX_FILL_SEPARATE) / same, "");
        hx_bench_add_ms(&table, fill_seconds(&s[i], HX_FILL_NZ));
        hx_bench_add(&table, 3, fill_seconds(&s[i], HX_FILL_NZ) / same, "");
        hx_bench_add_ms(&table, fill_seconds(&s[i], HX_FILL_COLOUR));
        hx_bench_add_ms(&table, gather);
        hx_bench_add(&table, 3, same / gather, "");
        hx_bench_add(&table, 3, fill_seconds(&s[i], HX_FILL_NZ) / gather, "");
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++)
        for (int fill = 0; fill < HX_N_FILL; fill++)
            if (s[i].fill[fill].note[0])
                hx_log_info("  %s elements, %s: left out: %s",
                            hx_format_count(elements_of(&s[i]), count, sizeof count),
                            hx_fill_kinds[fill].name, s[i].fill[fill].note);
    conclude(s, n);
}

static void print_shares(const stages *s, int n)
{
    static const char *const head[] = {"elements", "generation ms", "jacobi, iterations",
                                       "PCG s",    "share",         "block-jacobi, iterations",
                                       "PCG s",    "share"};
    hx_table table;
    hx_log_info(
        "\nP2, share of generation in the solution of K u = f: the paper says 30 to 45 %%\n");
    hx_table_begin(&table, "rrrrrrrr");
    hx_bench_add_words(&table, head, sizeof head / sizeof head[0]);
    for (int i = 0; i < n; i++) {
        const double made = generation(&s[i], HX_FILL_GATHER);
        if (!is_measured(&s[i])) continue;
        hx_bench_add_count(&table, elements_of(&s[i]));
        hx_bench_add_ms(&table, made);
        for (int k = 0; k < N_SOLVE; k++) {
            const hx_bench_solve *solve = &s[i].solve[k];
            hx_table_add(&table, solve->iterations == 0 ? "-" : "%d%s", solve->iterations,
                         solve->converged ? "" : ", not converged");
            hx_bench_add(&table, 4, solve->seconds, "");
            hx_bench_add(&table, 3, 100.0 * made / (made + solve->seconds), " %");
        }
    }
    hx_bench_end_table(&table);
    hx_log_info(
        "  generation: S1, S2 and S3 by gather with its preparation, memory included; PCG "
        "from zero to 1e-6 in\n"
        "  double precision with the operator bsr, a cube held at one side and pulled at the "
        "other. The paper:\n"
        "  CUSP's CG, tolerance not given.");
}

static void print_next(void)
{
    static const char *const head[] = {"table", "element", "nodes", "elements", "paper S1 s",
                                       "S2 s",  "S3 s",    "MB",    "ours"};
    hx_table table;
    hx_log_info("\nP2, the rows of Tables 1, 3 and 5 that are not repeated yet\n");
    hx_table_begin(&table, "rlrrrrrrl");
    hx_bench_add_words(&table, head, sizeof head / sizeof head[0]);
    for (int i = 0; i < HX_P2_N_ROW; i++) {
        const hx_p2_row *row = &hx_p2_rows[i];
        if (hx_p2_is_cube(row)) continue;
        hx_table_add(&table, "%d", row->table);
        hx_table_add(&table, "%s", row->element);
        hx_bench_add_count(&table, row->n_node);
        hx_bench_add_count(&table, row->n_elem);
        add_fixed(&table, row->table == 1 ? 3 : 2, row->s1);
        add_fixed(&table, 2, row->s2);
        add_fixed(&table, 2, row->s3);
        add_fixed(&table, 2, row->megabytes);
        hx_table_add(&table, "next");
    }
    hx_bench_end_table(&table);
    hx_log_info(
        "  tetrahedra and quadratic elements: next; these meshes of cylinder and rod are not "
        "available.");
}

static void print_rest(const hx_bench *bench, const stages *s, int n)
{
    int i = 0;
    while (i < n && !is_measured(&s[i])) i++;
    if (i == n) return; /* empty tables */
    print_bandwidth(bench, s, n);
    print_fills(s, n);
    print_shares(s, n);
}

int hx_bench_p2(hx_bench *bench)
{
    stages row[HX_P2_N_ROW];
    int n = 0, rc = HX_OK;
    HX_TRY(bench_preprocessor(bench));
    for (int i = 0; i < HX_P2_N_ROW && rc == HX_OK; i++) {
        if (hx_p2_side(&hx_p2_rows[i]) == 0) continue;
        clear_stages(&row[n], &hx_p2_rows[i]);
        rc = run_stages(bench, &row[n++]);
    }
    if (hx_bench_is_quiet()) return rc;
    print_stages(bench, row, n);
    print_rest(bench, row, n);
    print_next();
    return rc;
}
