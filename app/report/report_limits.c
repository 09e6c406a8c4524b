/* Limits of a run: a table of their last values, and a plot per limit. */
#include <math.h>
#include <string.h>

#include "../text/html.h"
#include "plot.h"
#include "report.h"

static const hx_json_value *limits_of(const hx_report_run *run)
{
    const hx_json_value *const list = hx_json_at(run->summary.root, "limits");
    return list && list->kind == HX_JSON_ARRAY ? list : NULL;
}

/* The entry of that name in a list of limits; NULL: there is none. */
static const hx_json_value *find_limit(const hx_json_value *list, const char *name)
{
    const hx_json_value *v = list && list->kind == HX_JSON_ARRAY ? list->first : NULL;
    while (v && strcmp(hx_json_text_at(v, "name", ""), name) != 0) v = v->next;
    return v;
}

/* Where the bounds of a limit are: a try of `hextop lightest`, whose run had others, is judged by
 * those of the search. */
static const hx_json_value *bounds_of(const hx_report_run *run, const hx_json_value *limit)
{
    const hx_json_value *const of_search =
        find_limit(hx_json_at(run->search.root, "limits"), hx_json_text_at(limit, "name", ""));
    return of_search ? of_search : limit;
}

static int is_bound(const hx_json_value *a, const hx_json_value *b, const char *word)
{
    const double x = hx_json_number_at(a, word), y = hx_json_number_at(b, word);
    return x == y || (isnan(x) && isnan(y));
}

static int has_same_bounds(const hx_json_value *a, const hx_json_value *b)
{
    return is_bound(a, b, "max") && is_bound(a, b, "min");
}

/* The entry with the state of a limit with these bounds on the last design; NULL: unknown. */
static const hx_json_value *judged(const hx_report_run *run, const hx_json_value *limit,
                                   const hx_json_value *bounds)
{
    const hx_json_value *const verified =
        find_limit(hx_json_at(run->verify.root, "grey.limits"), hx_json_text_at(limit, "name", ""));
    if (has_same_bounds(limit, bounds)) return limit;
    return verified && has_same_bounds(verified, bounds) ? verified : NULL;
}

/* The unit of a limit, such as " mm"; returns text. */
static const char *unit_of(const hx_json_value *limit, char *text, size_t n_text)
{
    const char *const unit = hx_json_text_at(limit, "unit", "");
    snprintf(text, n_text, "%s%s", unit[0] ? " " : "", unit);
    return text;
}

/* Plots the column of a limit, in all runs that have it. The limit is that of the first of them. */
static void put_plot(const hx_report *report, const hx_report_run *run_of,
                     const hx_json_value *limit, FILE *f)
{
    const char *const name = hx_json_text_at(limit, "name", "");
    const hx_json_value *const bounds = bounds_of(run_of, limit);
    const double bound[2] = {hx_json_number_at(bounds, "max"), hx_json_number_at(bounds, "min")};
    char unit[64], title[256];
    hx_plot plot = {.title = title,
                    .unit = unit_of(limit, unit, sizeof unit),
                    .x_name = "Design iteration",
                    .x_short = "iteration",
                    .is_log = 1};
    snprintf(title, sizeof title, "Limit %s", name);
    for (int i = 0; i < 2; i++)
        if (!isnan(bound[i])) plot.level[plot.n_level++] = bound[i];
    for (size_t i = 0; i < report->n_run; i++) {
        const hx_report_run *const run = &report->run[i];
        const double *const y = hx_csv_column(&run->history, name);
        if (!y || run->history.n_row == 0) continue;
        plot.line[plot.n_line++] = (hx_plot_line){run->label, (int)i, y, run->history.n_row};
    }
    if (plot.n_line > 0) hx_plot_lines(&plot, f);
}

/* 1 if a run before the i-th has a limit of that name. */
static int is_plotted(const hx_report *report, size_t i, const char *name)
{
    for (size_t k = 0; k < i; k++) {
        const hx_json_value *const list = limits_of(&report->run[k]);
        for (const hx_json_value *v = list ? list->first : NULL; v; v = v->next)
            if (strcmp(hx_json_text_at(v, "name", ""), name) == 0) return 1;
    }
    return 0;
}

void hx_report_write_limit_plots(const hx_report *report, FILE *f)
{
    for (size_t i = 0; i < report->n_run; i++) {
        const hx_json_value *const list = limits_of(&report->run[i]);
        for (const hx_json_value *v = list ? list->first : NULL; v; v = v->next)
            if (!is_plotted(report, i, hx_json_text_at(v, "name", "")))
                put_plot(report, &report->run[i], v, f);
    }
}

static void put_bound(const hx_json_value *limit, FILE *f)
{
    const double max = hx_json_number_at(limit, "max"), min = hx_json_number_at(limit, "min");
    if (isnan(min))
        fprintf(f, "at most %.6g", max);
    else if (isnan(max))
        fprintf(f, "at least %.6g", min);
    else
        fprintf(f, "%.6g to %.6g", min, max);
}

/* "displacement of tip, case 2" */
static void put_what(const hx_json_value *limit, FILE *f)
{
    const char *const set = hx_json_text_at(limit, "set", NULL), *const set_2 = hx_json_text_at(
                                                                     limit, "set_2", NULL);
    const double load_case = hx_json_number_at(limit, "case");
    hx_html_text(f, hx_json_text_at(limit, "kind", ""));
    if (set) hx_html_printf(f, " of %s", set);
    if (set_2) hx_html_printf(f, " minus %s", set_2);
    if (!isnan(load_case)) hx_html_printf(f, ", case %g", load_case);
}

static int is_met(const hx_json_value *limit)
{
    const hx_json_value *const met = hx_json_at(limit, "met");
    return met && met->number > 0.0;
}

static void put_state(const hx_json_value *limit, const char *text, FILE *f)
{
    fprintf(f, "<span class=\"state %s\">%s</span>", is_met(limit) ? "ok" : "not", text);
}

/* The value of a limit on one design, or why it is unknown. */
static void put_value(const hx_json_value *limit, FILE *f)
{
    char text[64];
    const double value = hx_json_number_at(limit, "value");
    const char *const why = hx_json_text_at(limit, "unknown", "");
    if (!why[0] && !isnan(value)) {
        put_state(limit, hx_report_number(value, text, sizeof text), f);
        return;
    }
    put_state(limit, "unknown", f);
    if (why[0]) fputs(": ", f);
    hx_html_text(f, why);
}

static void put_row(const hx_report_run *run, const hx_json_value *limit, FILE *f)
{
    char unit[64], off[32];
    const hx_json_value *const bounds = bounds_of(run, limit);
    const hx_json_value *const judge = judged(run, limit, bounds);
    fputs("<tr><th scope=\"row\">", f);
    hx_html_text(f, hx_json_text_at(limit, "name", ""));
    fputs("</th><td>", f);
    put_what(limit, f);
    fprintf(f, "</td><td>%.6g", hx_json_number_at(limit, "value"));
    hx_html_text(f, unit_of(limit, unit, sizeof unit));
    fputs("</td><td>", f);
    put_bound(bounds, f);
    hx_html_text(f, unit);
    if (!has_same_bounds(limit, bounds)) {
        fputs("; in this run ", f);
        put_bound(limit, f);
        hx_html_text(f, unit);
    }
    fputs("</td><td>", f);
    if (judge) {
        snprintf(off, sizeof off, "off by %.3g&nbsp;%%",
                 100.0 * hx_json_number_at(judge, "violation"));
        put_state(judge, is_met(judge) ? "met" : off, f);
    } else {
        fputs("`hextop verify` judges it", f);
    }
    fputs("</td></tr>\n", f);
}

/* Limit k of an analysis in verify.json; NULL: there is none. */
static const hx_json_value *limit_at(const hx_json_value *analysis, size_t k)
{
    const hx_json_value *const list = hx_json_at(analysis, "limits");
    const hx_json_value *v = list && list->kind == HX_JSON_ARRAY ? list->first : NULL;
    for (; v && k > 0; k--) v = v->next;
    return v;
}

void hx_report_write_made_limits(size_t n, const hx_json_value *const *analysis, FILE *f)
{
    const hx_json_value *first;
    char unit[64];
    for (size_t k = 0; n > 0 && (first = limit_at(analysis[0], k)); k++) {
        fputs("<tr><th scope=\"row\">Limit ", f);
        hx_html_text(f, hx_json_text_at(first, "name", ""));
        fputs(", ", f);
        put_bound(first, f);
        hx_html_text(f, unit_of(first, unit, sizeof unit));
        fputs("</th>", f);
        for (size_t i = 0; i < n; i++) {
            const hx_json_value *const limit = limit_at(analysis[i], k);
            fputs("<td>", f);
            if (limit) put_value(limit, f);
            fputs("</td>", f);
        }
        fputs("</tr>\n", f);
    }
}

void hx_report_write_limits(const hx_report_run *run, FILE *f)
{
    const hx_json_value *const list = limits_of(run);
    if (!list) return;
    fputs("<section><h3>Limits</h3><div class=\"wide\"><table class=\"compare\"><thead><tr>"
          "<th scope=\"col\">Limit</th><th scope=\"col\">of</th><th scope=\"col\">Last design</th>"
          "<th scope=\"col\">Allowed</th><th scope=\"col\"></th></tr></thead><tbody>\n",
          f);
    for (const hx_json_value *v = list->first; v; v = v->next) put_row(run, v, f);
    fputs("</tbody></table></div></section>\n", f);
}
