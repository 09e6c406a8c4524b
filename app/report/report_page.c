/* The page that contains all pieces of the report. */
#include <string.h>

#include "../text/html.h"
#include "core/base/names.h"
#include "core/version.h"
#include "report.h"

static void put_lines(FILE *f, const char *const *line)
{
    for (; *line; line++) fputs(*line, f);
}

/* Writes units, folder, machine. */
static void put_line_below(const hx_report_run *run, FILE *f)
{
    const int ok = run->state == HX_RUN_DONE;
    const char *const machine = hx_json_text_at(run->summary.root, "device_description", NULL);
    fprintf(f, "<span class=\"state %s\">%s</span>", ok ? "ok" : "not", hx_report_state_text(run));
    hx_html_text(f, run->folder);
    if (run->units.system[0]) hx_html_printf(f, " · %s", run->units.system);
    if (machine) hx_html_printf(f, " · %s", machine);
}

static void put_notes(const hx_report_lines *lines, const char *title, const char *kind, FILE *f)
{
    if (lines->n == 0) return;
    fprintf(f, "<div class=\"notes%s\"><h3>%s</h3><ul>", kind, title);
    for (size_t i = 0; i < lines->n; i++) {
        fputs("<li>", f);
        hx_html_text(f, lines->line[i]);
        fputs("</li>", f);
    }
    fputs("</ul></div>\n", f);
}

static void put_what_there_is_to_say(const hx_report_run *run, FILE *f)
{
    put_notes(&run->warning, run->warning.n == 1 ? "Warning" : "Warnings", "", f);
    put_notes(&run->missing, "Not in this report", " soft", f);
}

static void put_details(const hx_report_run *run, FILE *f)
{
    hx_report_write_limits(run, f);
    hx_report_write_stages(run, f);
    hx_report_write_verify(run, f);
    hx_report_write_settings(run, f);
    hx_report_write_machine(run, f);
}

static int put_single(const hx_report *report, FILE *f)
{
    const hx_report_run *run = &report->run[0];
    fputs("<section class=\"run\" aria-label=\"Run\">\n", f);
    hx_report_write_figures(run, f);
    put_what_there_is_to_say(run, f);
    HX_TRY(hx_report_write_viewer(report, 0, f));
    hx_report_write_plots(report, f);
    put_details(run, f);
    fputs("</section>\n", f);
    return HX_OK;
}

static int put_several(const hx_report *report, FILE *f)
{
    fputs("<section class=\"card\"><h3>Differences</h3>\n", f);
    hx_report_write_comparison(report, f);
    fputs("</section>\n<div class=\"parts\">\n", f);
    for (size_t i = 0; i < report->n_run; i++) HX_TRY(hx_report_write_viewer(report, i, f));
    fputs("</div>\n<section aria-label=\"Convergence\"><h2>Convergence</h2>\n", f);
    hx_report_write_plots(report, f);
    fputs("</section>\n", f);
    for (size_t i = 0; i < report->n_run; i++) {
        const hx_report_run *run = &report->run[i];
        fprintf(f, "<section class=\"run\" id=\"run-%zu\"><h2><i class=\"s%zu\"></i>", i, i);
        hx_html_text(f, run->label);
        fputs("</h2><p>", f);
        put_line_below(run, f);
        fputs("</p>\n", f);
        put_what_there_is_to_say(run, f);
        put_details(run, f);
        fputs("</section>\n", f);
    }
    return HX_OK;
}

int hx_report_write_page(const hx_report *report, FILE *f)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"generator\" content=\"hextop " HX_VERSION "\">\n<title>",
          f);
    hx_html_text(f, report->title);
    fputs("</title>\n<style>\n", f);
    put_lines(f, hx_report_css);
    fputs("</style>\n</head>\n<body>\n", f);
    fputs("<header><div><h1>", f);
    hx_html_text(f, report->title);
    fputs("</h1><p>", f);
    if (report->n_run == 1)
        put_line_below(&report->run[0], f);
    else
        fprintf(f, "%zu %s side by side", report->n_run, hx_noun(report->n_run, "run", "runs"));
    fputs("</p></div><button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n<main>\n",
          f);
    HX_TRY(report->n_run == 1 ? put_single(report, f) : put_several(report, f));
    fputs("</main>\n<footer>Made by hextop " HX_VERSION
          " report. This file needs no other and no network.</footer>\n<script>\n",
          f);
    put_lines(f, hx_report_js);
    fputs("</script>\n</body>\n</html>\n", f);
    return HX_OK;
}
