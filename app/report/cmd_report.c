/* hextop report: shows runs on one HTML page that needs no other file. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../output/output.h"
#include "../text/commands.h"
#include "../text/html.h"
#include "../text/table.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/names.h"
#include "report.h"

enum { OUTPUT, TRIANGLES };

/* Maximum number of triangles of all parts on a page. Each takes 13 bytes in base64, at most 17. */
enum { MOST_TRIANGLES = 800000 };
static const int64_t most_bytes = 15000000;

/* --- labels --- */

/* The last component of the folder's path; for "." that of the current folder. Returns text. */
static const char *last_part(const char *folder, char *text, size_t n_text)
{
    char here[PATH_MAX];
    if (strcmp(folder, ".") == 0 && getcwd(here, sizeof here)) folder = here;
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/') begin--;
    snprintf(text, n_text, "%.*s", (int)(end - begin), folder + begin);
    return text;
}

static int is_taken(const hx_report *report, size_t i, const char *label)
{
    for (size_t k = 0; k < report->n_run; k++) {
        char other[256];
        if (k != i && strcmp(last_part(report->run[k].folder, other, sizeof other), label) == 0)
            return 1;
    }
    return 0;
}

/* The common title of all runs, or else the folders. */
static const char *make_title(const hx_report *report, char *text, size_t n_text)
{
    const char *const first = hx_report_title(&report->run[0]);
    size_t used = 0;
    int same = 1;
    for (size_t i = 1; i < report->n_run; i++)
        same &= strcmp(hx_report_title(&report->run[i]), first) == 0;
    if (same) return first;
    for (size_t i = 0; i < report->n_run && used < n_text; i++)
        used += (size_t)snprintf(text + used, n_text - used, "%s%s", i > 0 ? ", " : "",
                                 report->run[i].label);
    return text;
}

/* --- the command --- */

static int read_runs(hx_report *report, const hx_options *options, const char *path)
{
    hx_output_names outputs = {0};
    hx_output_names_add(&outputs, path);
    if (options->n_argument > HX_REPORT_MAX_RUN)
        return HX_RAISE(HX_EINPUT, "%zu %s; a report shows at most %d", options->n_argument,
                        hx_noun(options->n_argument, "folder", "folders"), HX_REPORT_MAX_RUN);
    if (hx_option_text(options, OUTPUT)) HX_TRY(hx_output_names_probe(&outputs));
    for (size_t i = 0; i < options->n_argument; i++) {
        report->n_run = i + 1;
        HX_TRY(hx_report_read(&report->run[i], options->argument[i], &outputs));
    }
    HX_TRY(hx_output_names_check(&outputs));
    /* The folder's name, or its path if two folders have the same name. */
    for (size_t i = 0; i < report->n_run; i++) {
        char label[256];
        last_part(report->run[i].folder, label, sizeof label);
        HX_TRY(hx_strdup(&report->run[i].label,
                         is_taken(report, i, label) ? report->run[i].folder : label));
    }
    for (size_t i = 0; i < report->n_run; i++) {
        HX_TRY(hx_report_make_part(&report->run[i], report->n_triangle));
        hx_report_judge(&report->run[i]);
    }
    return HX_OK;
}

static void say_part(const hx_report_run *run)
{
    const hx_report_part *part = &run->part;
    char a[32], b[32], c[32];
    if (!part->is_there) {
        hx_log_info("%s: no part is shown%s%s", run->folder, run->missing.n > 0 ? ": " : "",
                    run->missing.n > 0 ? run->missing.line[run->missing.n - 1] : "");
        return;
    }
    if (part->simplified.n_point > 0)
        hx_log_info("%s: %s %s of %s, at most %.3g%s off, %s", run->folder,
                    hx_format_count(part->simplified.n_after, a, sizeof a),
                    hx_noun(part->simplified.n_after, "triangle", "triangles"),
                    hx_format_count(part->simplified.n_before, b, sizeof b),
                    part->simplified.largest, run->units.length,
                    hx_format_seconds(part->seconds, c, sizeof c));
    else
        hx_log_info("%s: %s %s, %s", run->folder,
                    hx_format_count(part->simplified.n_after, a, sizeof a),
                    hx_noun(part->simplified.n_after, "triangle", "triangles"),
                    hx_format_seconds(part->seconds, c, sizeof c));
}

/* HX_EINPUT: the page would be too large. */
static int write_page(const hx_report *report, const char *path, int64_t *n_byte)
{
    int rc;
    hx_atomic_file file;
    memset(&file, 0, sizeof file);
    HX_TRY(hx_atomic_file_open(&file, path));
    HX_TRY_FAIL(hx_report_write_page(report, file.stream));
    *n_byte = (int64_t)ftell(file.stream);
    if (*n_byte > most_bytes) {
        rc = HX_RAISE(HX_EINPUT,
                      "%s: not written: it would have %lld %s, and a report has at most %lld; give "
                      "--triangles a smaller number",
                      path, (long long)*n_byte, hx_noun(*n_byte, "byte", "bytes"),
                      (long long)most_bytes);
        goto fail;
    }
    return hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

/* title: buffer for the title of the page. */
static int make_report(hx_report *report, const hx_options *options, char *title, size_t n_title)
{
    char beside[PATH_MAX], a[32], b[32], c[32];
    int64_t n_byte = 0;
    const double begin = hx_clock();
    const char *path = hx_option_text(options, OUTPUT);
    int n_triangle;
    /* an invalid variable is an error; otherwise the page would lack the run's config */
    HX_TRY(hx_config_check_variables());
    HX_TRY(hx_option_read_integer("--triangles", hx_option_text(options, TRIANGLES), 100,
                                  MOST_TRIANGLES, &n_triangle));
    report->n_triangle = n_triangle;
    if (n_triangle > MOST_TRIANGLES / (int64_t)options->n_argument)
        report->n_triangle = MOST_TRIANGLES / (int64_t)options->n_argument;
    /* Path of the page: report.html in the folder of a run; for several runs, in the current
     * folder. */
    if (!path) {
        const char *const folder = options->n_argument == 1 ? options->argument[0] : "";
        const size_t n = strlen(folder);
        snprintf(beside, PATH_MAX, "%.4000s%sreport.html", folder,
                 n > 0 && folder[n - 1] != '/' ? "/" : "");
        path = beside;
    }
    HX_TRY(read_runs(report, options, path));
    /* Gives fields of one quantity the same range of colours in all parts, if their units are
     * the same. */
    for (size_t i = 0; i < report->n_run; i++)
        for (size_t k = 0; k < report->run[i].part.n_field; k++) {
            hx_report_field *const f = &report->run[i].part.field[k];
            /* The field of that name whose range of colours is largest. */
            const hx_report_field *most = NULL;
            for (size_t r = 0; r < report->n_run; r++)
                for (size_t m = 0; m < report->run[r].part.n_field; m++) {
                    const hx_report_field *const other = &report->run[r].part.field[m];
                    if (strcmp(other->name, f->name) == 0 && (!most || other->high > most->high))
                        most = other;
                }

            if (strcmp(f->unit, most->unit) != 0) continue;
            f->high = most->high;
            f->is_cut = f->most > f->high * (1.0 + 1e-6);
        }
    report->title = make_title(report, title, n_title);
    HX_TRY(write_page(report, path, &n_byte));
    for (size_t i = 0; i < report->n_run; i++) say_part(&report->run[i]);
    hx_log_info("%s: %s, written in %s, with %s of memory", path,
                hx_format_bytes((double)n_byte, a, sizeof a),
                hx_format_seconds(hx_clock() - begin, b, sizeof b),
                hx_format_bytes((double)hx_host_memory_peak(), c, sizeof c));
    return HX_OK;
}

static int report_runs(const hx_options *options)
{
    hx_report report;
    char title[512] = "";
    memset(&report, 0, sizeof report);
    const int rc = make_report(&report, options, title, sizeof title);
    for (size_t i = 0; i < report.n_run; i++) hx_report_free_run(&report.run[i]);
    return rc;
}

static const hx_option report_options[] = {
    [OUTPUT] = {"--output", HX_OPTION_FILE, "FILE.html", .letter = "-o",
                .help = "file to write; default: report.html in the folder of a run, for several "
                        "runs in the current folder"},
    [TRIANGLES] =
        {"--triangles", HX_OPTION_TEXT, "N", .fallback = "300000",
         .help = "maximum number of triangles per part; all parts together have at most 800,000"},
};

const hx_command hx_command_report = {
    .name = "report",
    .summary = "writes runs as one HTML file: the part in 3D, plots, settings, differences",
    .arguments = "DIR [DIR ...]",
    .help = "Writes one HTML file of at most 15 MB, which needs no other file and no network. It "
            "shows the\n"
            "last design of the run in DIR, its output.directory, as a surface that turns with the "
            "mouse,\n"
            "coloured by density and, if a file has it, von Mises stress; then convergence, times, "
            "settings,\n"
            "warnings, and the results of verify. Several folders are shown side by side, "
            "differences first.\n"
            "A run that is not finished or was interrupted is shown as far as it came; missing "
            "parts are named.\n",
    .n_min = 1,
    .option = report_options,
    .n_option = sizeof report_options / sizeof report_options[0],
    .run = report_runs,
};
