/* The tables of hextop compare on the terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/table.h"
#include "compare.h"
#include "core/base/names.h"

static int is_quiet(void)
{
    return hx_log_get_level() < HX_LOG_NORMAL;
}

static void add_fixed(hx_table *table, int decimals, double value, const char *unit)
{
    if (isnan(value))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.*f%s", decimals, value, unit);
}

/* Adds a number >= 0 with that many significant digits; trailing zeros are kept. */
static void add_number(hx_table *table, int digits, double value)
{
    const int exponent = value > 0.0 ? (int)floor(log10(value)) : 0;
    const int decimals = digits - 1 - exponent;
    add_fixed(table, decimals < 0 ? 0 : decimals > 7 ? 7 : decimals, value, "");
}

static void add_name(hx_table *table, const hx_compare_row *row)
{
    hx_table_add(table, "%s", row->op_kind->name);
    hx_table_add(table, "%s", hx_layout_name(row->layout));
}

static void add_checked(hx_table *table, double value, double bound)
{
    hx_table_add(table, value <= bound ? "%.1e" : "FAIL %.1e", value);
}

static void print_products(const hx_compare *c, const hx_compare_group *group)
{
    const char *letter;
    const double unit = hx_compare_unit(c, group->first_row, group->n_row, &letter);
    hx_table table;
    hx_table_begin(&table, "lllrrrrrrrrrrrr");
    hx_table_add_words(&table, "operator|layout|bits|error|symmetry|B/element|set-up s|ms|spread");
    hx_table_add(&table, "%sel/s", letter);
    hx_table_add(&table, "%sdof/s", letter);
    hx_table_add_words(&table, "GB/s|of copy|x ebe|x best");
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        const hx_compare_figures *f = &row->f;
        if (!hx_compare_is_measured(row)) continue;
        add_name(&table, row);
        hx_table_add(&table, "%s", row->op_kind->deterministic ? "same" : "vary");
        add_checked(&table, f->error, f->error_bound);
        add_checked(&table, f->symmetry, f->error_bound);
        add_fixed(&table, 0, f->bytes_per_element, "");
        add_number(&table, 3, f->setup_seconds);
        add_number(&table, 4, 1e3 * f->product_median_seconds);
        add_fixed(&table, 1, 100.0 * f->product_spread, " %");
        add_number(&table, 4, f->elements_per_second / unit);
        add_number(&table, 4, f->dof_per_second / unit);
        add_number(&table, 4, 1e-9 * f->bytes_per_second);
        add_fixed(&table, 0, 100.0 * f->copy_bandwidth_fraction, " %");
        add_fixed(&table, 2, f->speedup_over_ebe, "x");
        add_fixed(&table, 2, f->speedup_over_p1, "x");
    }
    hx_table_end(&table, 2);
}

static void print_matrices(const hx_compare *c, const hx_compare_group *group)
{
    hx_table table;
    hx_log_info("%s", "");
    hx_table_begin(&table, "llrrrrrr");
    hx_table_add_words(&table, "operator|layout|pattern ms|fill ms|spread|matrix|x otf|pays after");
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        const hx_compare_figures *f = &row->f;
        char bytes[32];
        if (!hx_compare_is_measured(row) || !hx_compare_is_matrix(row->op_kind)) continue;
        add_name(&table, row);
        add_number(&table, 4, 1e3 * f->pattern_seconds);
        add_number(&table, 4, 1e3 * f->fill_seconds);
        add_fixed(&table, 1, 100.0 * f->fill_spread, " %");
        hx_table_add(&table, "%s", hx_format_bytes(f->matrix_bytes, bytes, sizeof bytes));
        add_fixed(&table, 2, f->speedup_over_otf, "x");
        /* "never" if a product takes at least as long as that of otf. */
        if (isnan(f->speedup_over_otf))
            hx_table_add(&table, "no otf");
        else if (!(f->speedup_over_otf > 1.0))
            hx_table_add(&table, "never");
        else
            hx_table_add(&table, "%.0f products", ceil(f->break_even_products));
    }
    hx_table_end(&table, 2);
}

static void print_pcg(const hx_compare *c, const hx_compare_group *group)
{
    hx_table table;
    hx_log_info("%s", "");
    hx_table_begin(&table, "lllrrrrrrrrr");
    hx_table_add_words(&table, "operator|layout|PCG|iterations|residual|seconds|ms/iter|SpMV s|"
                               "SpMV|vector s|iter/SpMV|x ebe");
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        const hx_compare_figures *f = &row->f;
        if (row->pcg_reason == HX_PCG_RUNNING) continue;
        add_name(&table, row);
        hx_table_add(&table, "%s", hx_pcg_reason_name(row->pcg_reason));
        add_fixed(&table, 0, f->pcg_iterations, "");
        hx_table_add(&table, "%.1e", f->pcg_residual);
        add_number(&table, 4, f->pcg_seconds);
        add_number(&table, 4, 1e3 * f->pcg_iteration_seconds);
        add_number(&table, 4, f->pcg_spmv_seconds);
        add_fixed(&table, 1, 100.0 * f->pcg_spmv_share, " %");
        add_number(&table, 4, f->pcg_vector_seconds);
        add_fixed(&table, 2, f->pcg_iteration_products, "");
        add_fixed(&table, 2, f->pcg_speedup_over_ebe, "x");
    }
    hx_table_end(&table, 2);
}

static double stage_total(const hx_compare_figures *f)
{
    return f->stage_precomputation_seconds + f->stage_pcg_seconds + f->stage_compliance_seconds +
           f->stage_filter_seconds + f->stage_update_seconds + f->stage_output_seconds;
}

static void print_stages(const hx_compare *c, const hx_compare_group *group)
{
    hx_table table;
    hx_log_info("\n  Stages of one design iteration (Figure 15)");
    hx_table_begin(&table, "llrrrrrrr");
    hx_table_add_words(&table, "operator|layout|pre-computation|PCG|compliance|filter|update|"
                               "output|seconds");
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        const hx_compare_figures *f = &row->f;
        const double stage[] = {f->stage_precomputation_seconds, f->stage_pcg_seconds,
                                f->stage_compliance_seconds,     f->stage_filter_seconds,
                                f->stage_update_seconds,         f->stage_output_seconds};
        if (isnan(stage_total(f))) continue;
        add_name(&table, row);
        for (size_t k = 0; k < sizeof stage / sizeof stage[0]; k++)
            add_fixed(&table, 1, 100.0 * stage[k] / stage_total(f), " %");
        add_number(&table, 4, stage_total(f));
    }
    hx_table_end(&table, 2);
}

void hx_compare_print_group(const hx_compare *c, size_t index)
{
    const hx_compare_group *group = &c->group[index];
    int n_pcg = 0, n_stage = 0, n_measured = 0;
    char a[32], b[32], points[128] = "";
    if (is_quiet()) return;
    char bandwidth[64] = "unknown, since there was no memory for it";
    if (!isnan(group->copy_bandwidth))
        snprintf(bandwidth, sizeof bandwidth, "%.4g GB/s", 1e-9 * group->copy_bandwidth);
    if (group->element != HX_ELEMENT_LINEAR)
        snprintf(points, sizeof points, ", %s %s, %.64s",
                 hx_format_count(group->n_point, a, sizeof a),
                 hx_noun(group->n_point, "point", "points"), group->kinds);
    hx_log_info("\n%s%s%s: %s %s, %s %s%s%s; %s; copy bandwidth %s\n", group->mesh,
                group->size[0] ? " " : "", group->size, hx_format_count(group->n_elem, a, sizeof a),
                hx_noun(group->n_elem, "element", "elements"),
                hx_format_count(group->n_node, b, sizeof b),
                hx_noun(group->n_node, "node", "nodes"), points,
                group->physics == HX_PHYSICS_HEAT ? ", heat" : "", group->description, bandwidth);
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        n_measured += hx_compare_is_measured(row);
        n_pcg += row->pcg_reason != HX_PCG_RUNNING;
        n_stage += !isnan(stage_total(&row->f));
    }
    if (n_measured > 0) print_products(c, group);
    if (hx_compare_has_matrix(c, group)) print_matrices(c, group);
    if (n_pcg > 0) print_pcg(c, group);
    if (n_stage > 0) print_stages(c, group);
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        if (row->note[0])
            hx_log_info("  %s %s: %s", row->op_kind->name, hx_layout_name(row->layout), row->note);
    }
    if (group->without[0])
        hx_log_info("  without %s: %s",
                    group->element == HX_ELEMENT_LINEAR ? "physics = \"heat\""
                                                        : "quadratic elements",
                    group->without);
}

void hx_compare_print_notes(const hx_compare *c)
{
    hx_log_info(
        "\n"
        "  bits       whether two products are bitwise the same, or vary in the last digits\n"
        "  error      |K x - reference| / |reference|, the reference computed on the host from "
        "the\n"
        "             element formulas; FAIL: above the operator's bound\n"
        "  B/element  bytes that the operator stores on the device, without mesh and vectors\n"
        "  ms         median time of a warm product, zeroing of its result included;\n"
        "             spread: the middle half of the times, over the median\n"
        "  GB/s       data that a product must move, over its time: stored data, modulus and\n"
        "             connectivity of the elements (for quadratic ones only the matrix), x read\n"
        "             and y written once; data from a cache counts, too\n"
        "  x ebe      speed relative to ebe rowmajor; x best: relative to the fastest of nbn, "
        "ebe,\n"
        "             ebe8, ebe24, ebe64 in any layout, in this run");
    /* One of the groups has a row with a matrix. */
    size_t g = 0;
    while (g < c->n_group && !hx_compare_has_matrix(c, &c->group[g])) g++;
    if (g < c->n_group)
        hx_log_info(
            "  pattern    positions of the entries of a stored matrix, once per mesh; fill: its "
            "values,\n"
            "             once per design, with the spread of that time; matrix: bytes of both\n"
            "  pays after number of products per design after which fill and products take less "
            "time than\n"
            "             otf; never: its product is not faster; no otf: otf is not among the "
            "operators");
    if (c->plan.pcg)
        hx_log_info(
            "  PCG        in %s precision, from zero, all load cases; SpMV s: time of the "
            "products,\n"
            "             from samples\n"
            "  iter/SpMV  time of a PCG iteration over that of a product in double precision",
            hx_precision_name(c->session.cfg.solver.precision));
}

/* Values that P1 gives for its figures, on a Tesla K40c (Figures 11 to 14, Table 3). */
typedef struct paper_words {
    const char *name, *speedup, *spmv_share;
} paper_words;

static const paper_words *find_paper(const hx_compare_row *row)
{
    static const paper_words words[] = {
        {"nbn", "slowest", "-"},
        {"ebe", "1", "97.5 to 99.4 %"},
        {"ebe8", "7.2 to 8.2", "82 to 85 %"},
        {"ebe24", "3 to 4.5", "-"},
        {"ebe64", "8.2 on the cantilever", "-"},
    };
    static const paper_words none = {"", "-", "-"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (row->layout == HX_LAYOUT_ROWMAJOR && strcmp(words[i].name, row->op_kind->name) == 0)
            return &words[i];
    return &none;
}

typedef enum { PCG_SPEEDUP, SPMV_SPEEDUP, SPMV_SHARE } paper_figure;

static void add_paper_cell(hx_table *table, const hx_compare_row *row, paper_figure figure)
{
    if (figure == PCG_SPEEDUP) add_fixed(table, 2, row->f.pcg_speedup_over_ebe, "x");
    if (figure == SPMV_SPEEDUP) add_fixed(table, 2, row->f.spmv_speedup_over_ebe, "x");
    if (figure == SPMV_SHARE) add_fixed(table, 1, 100.0 * row->f.pcg_spmv_share, " %");
}

/* Prints rows of operators and columns of meshes; groups first, first + step, ... belong to one
 * device. */
static void print_by_size(const hx_compare *c, size_t first, size_t step, const char *title,
                          paper_figure figure)
{
    char align[HX_COMPARE_MAX_SIZE + 4] = "ll";
    hx_table table;
    size_t n = 0;
    for (size_t g = first; g < c->n_group; g += step) align[2 + n++] = 'r';
    align[2 + n] = 'l';
    align[3 + n] = '\0';
    hx_log_info("\n%s, %s\n", title, c->group[first].description);
    hx_table_begin(&table, align);
    hx_table_add(&table, "operator");
    hx_table_add(&table, "layout");
    for (size_t g = first; g < c->n_group; g += step)
        hx_table_add(&table, "%s %s", c->group[g].mesh, c->group[g].size);
    hx_table_add(&table, "paper");
    for (size_t i = 0; i < c->group[first].n_row; i++) {
        const hx_compare_row *row = &c->row[c->group[first].first_row + i];
        const paper_words *paper = find_paper(row);
        add_name(&table, row);
        for (size_t g = first; g < c->n_group; g += step)
            add_paper_cell(&table, &c->row[c->group[g].first_row + i], figure);
        hx_table_add(&table, "%s",
                     figure == PCG_SPEEDUP  ? paper->speedup
                     : figure == SPMV_SHARE ? paper->spmv_share
                                            : "-");
    }
    hx_table_end(&table, 2);
}

void hx_compare_print_paper(const hx_compare *c)
{
    size_t step = 1; /* number of groups per mesh, one for each device */
    if (is_quiet() || c->n_group == 0) return;
    while (step < c->n_group && strcmp(c->group[step].size, c->group[0].size) == 0) step++;
    for (size_t first = 0; first < step; first++) {
        print_by_size(c, first, step, "PCG wall time: speedup over ebe rowmajor (Figures 11 to 14)",
                      PCG_SPEEDUP);
        print_by_size(c, first, step, "Products in PCG: speedup over ebe rowmajor", SPMV_SPEEDUP);
        print_by_size(c, first, step, "Share of products in PCG (Table 3)", SPMV_SHARE);
    }
    hx_log_info("\n"
                "  paper: P1 on a Tesla K40c, all examples and sizes; given only for one layout");
}
