/* Tables of results, machine, mesh and verification. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/html.h"
#include "../text/table.h"
#include "report.h"

const char *hx_report_number(double value, char *text, size_t n_text)
{
    if (!isfinite(value))
        snprintf(text, n_text, "–");
    else if (value == floor(value) && fabs(value) < 1e15)
        hx_format_count((int64_t)value, text, n_text);
    else
        snprintf(text, n_text, fabs(value) < 1.0 ? "%.4g" : "%.5g", value);
    return text;
}

void hx_report_write_difference(double first, double value, FILE *f)
{
    const double percent = 100.0 * (value / first - 1.0);
    if (!isfinite(first) || !isfinite(value) || !(first > 0.0) || !(value > 0.0)) return;
    if (percent > 999.0)
        fprintf(f, " <small>%.3g times</small>", value / first);
    else
        fprintf(f, " <small>%+.1f&nbsp;%%</small>", fabs(percent) < 0.05 ? 0.0 : percent);
}

int hx_report_is_shifted(const hx_json_value *root)
{
    const hx_json_value *const ratio = hx_json_at(root, "compliance_has_ratio");
    return ratio && ratio->kind == HX_JSON_BOOL && ratio->number == 0.0;
}

/* --- results --- */

typedef struct figure {
    const char *name, *key; /* path in the summary */
    const char *column; /* column of the history, whose last row is used if there is no summary */
    const char *(*unit)(const hx_units *u);
    int with_difference; /* 1: differences are given in percent */
} figure;

static const char *unit_work(const hx_units *u)
{
    return u->work;
}

static const char *unit_mass(const hx_units *u)
{
    return u->mass;
}

static const char *unit_seconds(const hx_units *u)
{
    (void)u;
    return " s";
}

static const char *unit_none(const hx_units *u)
{
    (void)u;
    return "";
}

static const figure figures[] = {
    {"Objective", "objective_value", NULL, unit_none, 1}, /* if it is not the compliance */
    {"Compliance", "compliance", "compliance", unit_work, 1},
    {"Volume fraction", "volume", "volume", unit_none, 1},
    {"Mass", "mass", NULL, unit_mass, 1},
    {"Greyness", "greyness", "greyness", unit_none, 0},
    {"Design iterations", "iterations", "iteration", unit_none, 0},
    {"PCG iterations", "pcg_iterations_total", NULL, unit_none, 1},
    {"Time", "seconds", NULL, unit_seconds, 1},
    {"Elements", "elements", NULL, unit_none, 0},
};
enum { N_FIGURE = sizeof figures / sizeof figures[0] };

static double figure_of(const hx_report_run *run, const figure *g)
{
    const char *const what = hx_json_text_at(run->summary.root, "objective", "");
    const double value = hx_json_number_at(run->summary.root, g->key);
    /* the volume and the mass are results of every run */
    if (strcmp(g->key, "objective_value") == 0 &&
        (strcmp(what, "volume") == 0 ||
         (strcmp(what, "mass") == 0 && !isnan(hx_json_number_at(run->summary.root, "mass")))))
        return NAN;
    if (!isnan(value) || !g->column) return value;
    const double *const column = hx_csv_column(&run->history, g->column);
    return column && run->history.n_row > 0 ? column[run->history.n_row - 1] : NAN;
}

/* Factor and unit of a figure's values; for a mass they depend on its size. */
static double scale_of(const figure *g, const hx_units *units, double value, const char **unit)
{
    *unit = g->unit(units);
    return g->unit == unit_mass ? hx_units_mass_scale(units, value, unit) : 1.0;
}

/* Formats seconds as "3 min 20 s", other values as a number; returns text. */
static const char *figure_text(const figure *g, double value, char *text, size_t n_text)
{
    if (g->unit == unit_seconds && isfinite(value)) return hx_format_seconds(value, text, n_text);
    return hx_report_number(value, text, n_text);
}

void hx_report_write_figures(const hx_report_run *run, FILE *f)
{
    char text[64], objective[64];
    fputs("<dl class=\"figures\">", f);
    for (int i = 0; i < N_FIGURE; i++) {
        const figure *g = &figures[i];
        const double value = figure_of(run, g);
        const char *unit;
        if (isnan(value)) continue;
        const double scale = scale_of(g, &run->units, value, &unit);
        const char *const own = hx_json_text_at(run->summary.root, "objective_unit", "");
        if (strcmp(g->key, "objective_value") == 0 && own[0]) {
            snprintf(objective, sizeof objective, " %s", own);
            unit = objective;
        }
        fprintf(f, "<div><dt>%s</dt><dd>%s", g->name,
                figure_text(g, scale * value, text, sizeof text));
        if (g->unit != unit_seconds && unit[0]) {
            fputs("<span>", f);
            hx_html_text(f, unit);
            fputs("</span>", f);
        }
        fputs("</dd></div>", f);
    }
    fputs("</dl>\n", f);
}

static const char *state_text(hx_run_state state)
{
    static const char *const text[] = {[HX_RUN_DONE] = "done",
                                       [HX_RUN_INTERRUPTED] = "interrupted",
                                       [HX_RUN_FAILED] = "failed",
                                       [HX_RUN_GOING] = "still running",
                                       [HX_RUN_UNKNOWN] = "not finished"};
    return text[state];
}

const char *hx_report_state_text(const hx_report_run *run)
{
    return state_text(run->state);
}

/* Returns 1 if the parts of both runs have the same volume and box, except for the difference
 * between two meshes of one part, or if one run does not state them. */
static int is_same_part(const hx_report_run *a, const hx_report_run *b)
{
    static const double share = 0.01;
    static const char *const corner[2] = {"mesh.box_min", "mesh.box_max"};
    const double volume = hx_json_number_at(a->summary.root, "mesh.volume");
    double off = 0.0, diagonal = 0.0;
    if (fabs(hx_json_number_at(b->summary.root, "mesh.volume") - volume) > share * volume) return 0;
    for (int k = 0; k < 2; k++) {
        const hx_json_value *const x = hx_json_at(a->summary.root, corner[k]);
        const hx_json_value *const y = hx_json_at(b->summary.root, corner[k]);
        const hx_json_value *p = x ? x->first : NULL, *q = y ? y->first : NULL;
        for (; p && q; p = p->next, q = q->next) {
            off = fmax(off, fabs(p->number - q->number));
            diagonal = fmax(diagonal, fmax(fabs(p->number), fabs(q->number)));
        }
    }
    return !(off > share * diagonal);
}

static void put_compared(const hx_report *report, const figure *g, FILE *f)
{
    const char *unit;
    (void)scale_of(g, hx_report_units(report), figure_of(&report->run[0], g), &unit);
    fprintf(f, "<tr><th scope=\"row\">%s", g->name);
    if (g->unit != unit_seconds && unit[0]) {
        fputs(",", f);
        hx_html_text(f, unit);
    }
    fputs("</th>", f);
    /* Writes a value, with its unit unless the first column has it, and its difference from
     * the first run. */
    for (size_t i = 0; i < report->n_run; i++) {
        const hx_report_run *run = &report->run[i];
        const double first = figure_of(&report->run[0], g), value = figure_of(run, g);
        const int is_same = strcmp(g->unit(&run->units), g->unit(&report->run[0].units)) == 0;
        const double scale = scale_of(g, &run->units, is_same ? first : value, &unit);
        char text[64];
        fprintf(f, "<td>%s", figure_text(g, scale * value, text, sizeof text));
        if (isfinite(value) && g->unit != unit_seconds && !g->unit(hx_report_units(report))[0])
            hx_html_text(f, unit);
        if (i > 0 && g->with_difference && is_same && is_same_part(&report->run[0], run) &&
            !(g->unit == unit_work && (hx_report_is_shifted(report->run[0].summary.root) ||
                                       hx_report_is_shifted(run->summary.root))))
            hx_report_write_difference(first, value, f);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

const hx_units *hx_report_units(const hx_report *report)
{
    static const hx_units none;
    for (size_t i = 1; i < report->n_run; i++)
        if (strcmp(report->run[i].units.system, report->run[0].units.system) != 0) return &none;
    return &report->run[0].units;
}

static int is_known(const hx_report *report, const figure *g)
{
    for (size_t i = 0; i < report->n_run; i++)
        if (!isnan(figure_of(&report->run[i], g))) return 1;
    return 0;
}

void hx_report_write_comparison(const hx_report *report, FILE *f)
{
    fputs("<div class=\"wide\"><table class=\"compare\"><thead><tr><td></td>", f);
    for (size_t i = 0; i < report->n_run; i++) {
        fprintf(f, "<th scope=\"col\"><i class=\"s%zu\"></i><a href=\"#run-%zu\">", i, i);
        hx_html_text(f, report->run[i].label);
        fputs("</a></th>", f);
    }
    fprintf(f,
            "</tr></thead>\n<tbody><tr class=\"group\"><th colspan=\"%zu\" scope=\"rowgroup\">"
            "Results</th></tr>\n<tr><th scope=\"row\">Run</th>",
            report->n_run + 1);
    for (size_t i = 0; i < report->n_run; i++)
        fprintf(f, "<td>%s</td>", state_text(report->run[i].state));
    fputs("</tr>\n", f);
    for (int i = 0; i < N_FIGURE; i++)
        if (is_known(report, &figures[i])) put_compared(report, &figures[i], f);
    fputs("<tr><th scope=\"row\">Warnings</th>", f);
    for (size_t i = 0; i < report->n_run; i++) fprintf(f, "<td>%zu</td>", report->run[i].warning.n);
    fputs("</tr>\n", f);
    fprintf(f,
            "</tbody><tbody><tr class=\"group\"><th colspan=\"%zu\" scope=\"rowgroup\">Settings "
            "that differ</th></tr>\n",
            report->n_run + 1);
    hx_report_write_differences(report, f);
    fputs("</tbody></table></div>\n", f);
    int n_other = 0;
    for (size_t i = 1; i < report->n_run; i++)
        n_other += !is_same_part(&report->run[0], &report->run[i]);
    if (n_other > 0)
        fputs("<p class=\"note\">Percentages are left out if the parts differ in volume or "
              "box.</p>\n",
              f);
}

/* --- mesh and machine --- */

static void put_row(FILE *f, const char *name, const char *value)
{
    fprintf(f, "<tr><th scope=\"row\">%s</th><td>", name);
    hx_html_text(f, value);
    fputs("</td></tr>\n", f);
}

static void put_table_text(FILE *f, const hx_report_run *run, const char *name, const char *key)
{
    const char *const text = hx_json_text_at(run->summary.root, key, NULL);
    if (text) put_row(f, name, text);
}

static void put_table_number(FILE *f, const hx_report_run *run, const char *name, const char *key)
{
    char text[64];
    const double value = hx_json_number_at(run->summary.root, key);
    if (!isnan(value)) put_row(f, name, hx_report_number(value, text, sizeof text));
}

static void put_bytes(FILE *f, const hx_report_run *run, const char *name, const char *key)
{
    char text[64];
    const double value = hx_json_number_at(run->summary.root, key);
    if (!isnan(value)) put_row(f, name, hx_format_bytes(value, text, sizeof text));
}

/* "100 x 50 x 20 mm" */
static void put_box(FILE *f, const hx_report_run *run)
{
    const hx_json_value *low = hx_json_at(run->summary.root, "mesh.box_min"),
                        *high = hx_json_at(run->summary.root, "mesh.box_max");
    char text[128];
    double size[3];
    if (!low || !high || low->n != 3 || high->n != 3) return;
    low = low->first;
    high = high->first;
    for (int d = 0; d < 3; d++, low = low->next, high = high->next)
        size[d] = high->number - low->number;
    snprintf(text, sizeof text, "%.4g × %.4g × %.4g%s", size[0], size[1], size[2],
             run->units.length);
    put_row(f, "Box", text);
}

void hx_report_write_machine(const hx_report_run *run, FILE *f)
{
    if (!run->summary.root) return;
    fputs("<details><summary>Mesh and machine</summary><div class=\"wide\"><table "
          "class=\"settings\"><tbody>\n",
          f);
    put_table_text(f, run, "Mesh", "mesh.name");
    put_table_number(f, run, "Elements", "elements");
    put_table_number(f, run, "Nodes", "nodes");
    put_table_text(f, run, "Kind", "element");
    put_box(f, run);
    put_table_number(f, run, "Smallest scaled Jacobian", "mesh.quality.min_scaled_jacobian");
    put_table_number(f, run, "Elements below 0.2", "mesh.quality.poor_elements");
    put_table_number(f, run, "Largest aspect ratio", "mesh.quality.max_aspect");
    put_table_text(f, run, "Device", "device_description");
    put_table_text(f, run, "Operator", "operator");
    put_table_text(f, run, "Preconditioner", "preconditioner");
    put_table_text(f, run, "Precision", "precision");
    put_table_text(f, run, "Filter", "filter");
    put_bytes(f, run, "Host memory, peak", "memory.host_peak_bytes");
    put_bytes(f, run, "Device memory", "memory.device_bytes");
    put_table_text(f, run, "hextop", "versions.hextop");
    put_table_text(f, run, "Compiler", "versions.compiler");
    put_table_text(f, run, "CUDA", "versions.cuda");
    fputs("</tbody></table></div></details>\n", f);
}
