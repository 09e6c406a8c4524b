/* Plots of the convergence and times of runs. */
#include <math.h>
#include <string.h>

#include "../text/html.h"
#include "plot.h"
#include "report.h"

typedef struct kind {
    const char *column,
        *title; /* column NULL: that of the objective, if it is not the compliance */
    int is_log, from_zero, is_work;
    int is_second; /* 1: the values are seconds */
} kind;

static const kind kinds[] = {
    {NULL, "Objective", 0, 0, 0, 0},
    {"compliance", "Compliance", 1, 0, 1, 0},
    {"change", "Largest change of a density", 1, 0, 0, 0},
    {"greyness", "Greyness", 0, 1, 0, 0},
    {"volume", "Volume fraction", 0, 1, 0, 0},
    {"pcg_iterations", "PCG iterations", 0, 1, 0, 0},
    {"seconds", "Time of an iteration", 0, 1, 0, 1},
};

static const struct {
    const char *column, *name, *key;
} stages[] = {
    {NULL, "Preparation", "precomputation"},
    {"seconds_spmv", "PCG: product", "spmv"},
    {"seconds_preconditioner", "PCG: preconditioner", "preconditioner"},
    {"seconds_vector", "PCG: vector operations", "vector"},
    {"seconds_compliance", "Compliance", "compliance"},
    {"seconds_filter", "Filter", "filter"},
    {"seconds_update", "Update", "update"},
    {"seconds_output", "Files", "output"},
};
enum { N_STAGE = sizeof stages / sizeof stages[0] };

/* The values of an objective other than the compliance; NULL: the run has none. Files of earlier
 * versions have it in a column named by its kind. */
static const double *objective_column(const hx_report_run *run)
{
    const char *const name = hx_json_text_at(run->summary.root, "objective", "");
    if (isnan(hx_json_number_at(run->summary.root, "objective_value"))) return NULL;
    const double *const own = hx_csv_column(&run->history, "objective");
    return own ? own : hx_csv_column(&run->history, name);
}

/* Unit of the objectives, if all runs have the same; returns text. */
static const char *objective_unit(const hx_report *report, char *text, size_t n_text)
{
    text[0] = '\0';
    for (size_t i = 0; i < report->n_run; i++) {
        const char *const unit = hx_json_text_at(report->run[i].summary.root, "objective_unit", "");
        if (i > 0 && strcmp(text + (text[0] != '\0'), unit) != 0) return "";
        snprintf(text, n_text, "%s%s", unit[0] ? " " : "", unit);
    }
    return text;
}

static void put_kind(const hx_report *report, const kind *k, FILE *f)
{
    const hx_units *u = hx_report_units(report);
    char unit[64] = "";
    hx_plot plot = {.title = k->title,
                    .unit = !k->column     ? objective_unit(report, unit, sizeof unit)
                            : k->is_work   ? u->work
                            : k->is_second ? " s"
                                           : "",
                    .x_name = "Design iteration",
                    .x_short = "iteration",
                    .is_log = k->is_log,
                    .from_zero = k->from_zero};
    for (size_t i = 0; i < report->n_run; i++) {
        const hx_report_run *run = &report->run[i];
        const double *const y =
            k->column ? hx_csv_column(&run->history, k->column) : objective_column(run);
        if (!y || run->history.n_row == 0) continue;
        plot.line[plot.n_line++] = (hx_plot_line){run->label, (int)i, y, run->history.n_row};
    }
    if (plot.n_line > 0 || k->column) hx_plot_lines(&plot, f);
}

void hx_report_write_plots(const hx_report *report, FILE *f)
{
    if (report->n_run > 1) {
        fputs("<ul class=\"legend\">", f);
        for (size_t i = 0; i < report->n_run; i++) {
            if (report->run[i].history.n_row == 0) continue;
            fprintf(f, "<li><i class=\"s%zu\"></i>", i);
            hx_html_text(f, report->run[i].label);
            fputs("</li>", f);
        }
        fputs("</ul>\n", f);
    }
    fputs("<div class=\"plots\">\n", f);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) put_kind(report, &kinds[i], f);
    hx_report_write_limit_plots(report, f);
    fputs("</div>\n", f);
}

/* --- stages --- */

/* Total seconds of a stage: from the summary, otherwise the sum over the history; NAN: unknown. */
static double stage_seconds(const hx_report_run *run, int stage)
{
    char path[64];
    snprintf(path, sizeof path, "timings.%s", stages[stage].key);
    const double of_summary = hx_json_number_at(run->summary.root, path);
    if (!isnan(of_summary) || !stages[stage].column) return of_summary;
    const double *const y = hx_csv_column(&run->history, stages[stage].column);
    double sum = 0.0;
    for (size_t i = 0; y && i < run->history.n_row; i++) sum += isfinite(y[i]) ? y[i] : 0.0;
    return y && run->history.n_row > 0 ? sum : NAN;
}

void hx_report_write_stages(const hx_report_run *run, FILE *f)
{
    double total = 0.0;
    for (int i = 0; i < N_STAGE; i++) {
        const double seconds = stage_seconds(run, i);
        if (!isnan(seconds)) total += seconds;
    }
    if (!(total > 0.0)) return;
    fputs("<section><h3>Where the time goes</h3><div class=\"split\">\n", f);
    hx_plot plot = {.title = "Time of an iteration, by stage",
                    .unit = " s",
                    .x_name = "Design iteration",
                    .x_short = "iteration"};
    for (int i = 0; i < N_STAGE; i++) {
        const double *const y =
            stages[i].column ? hx_csv_column(&run->history, stages[i].column) : NULL;
        if (!y) continue;
        plot.line[plot.n_line++] = (hx_plot_line){stages[i].name, i, y, run->history.n_row};
    }
    if (run->history.n_row > 0) hx_plot_bars(&plot, f);
    fputs("<table class=\"stages\"><thead><tr><th scope=\"col\">Stage</th><th scope=\"col\" "
          "class=\"n\">s</th><th scope=\"col\" class=\"n\">%</th></tr></thead><tbody>",
          f);
    for (int i = 0; i < N_STAGE; i++) {
        const double seconds = stage_seconds(run, i);
        if (isnan(seconds)) continue;
        fprintf(f,
                "<tr><th scope=\"row\"><i class=\"g%d\"></i>%s</th><td class=\"n\">%.3g</td>"
                "<td class=\"n\">%.1f</td></tr>",
                i, stages[i].name, seconds, total > 0.0 ? 100.0 * seconds / total : 0.0);
    }
    fputs("</tbody></table>\n", f);
    fputs("</div></section>\n", f);
}
