/* The table, printed line by line, and the file. */
#include "selftest_report.h"

#include <stdarg.h>
#include <stdio.h>

#include "../output/summary.h"
#include "../session/machine.h"
#include "../text/json.h"
#include "../text/log.h"
#include "core/base/atomic_file.h"
#include "core/base/names.h"

void hx_selftest_report_begin(void *context, const char *section, const char *what)
{
    (void)context;
    if (hx_log_is_terminal()) hx_log_status("%s: %s ...", section, what);
}

static void log_line(hx_log_level level, const char *fmt, ...) HX_PRINTF(2, 3);

static void log_line(hx_log_level level, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hx_log_text(level, text);
}

void hx_selftest_report_end(void *context, const hx_selftest_line *line)
{
    hx_selftest_report *const r = context;
    const hx_log_level level = line->passed ? HX_LOG_NORMAL : HX_LOG_QUIET;
    char error[32], bound[32];
    if (!hx_log_is_on(level)) return;
    if (!r->device)
        log_line(HX_LOG_NORMAL, "%-45s%-24s%8s%7s%8s%7s", "", "against", "error", "bound", "", "s");
    if (r->device != line->device || r->section != line->section)
        log_line(level, "%s, %s", line->device, line->section);
    r->device = line->device;
    r->section = line->section;
    /* Differing bits and words are counts, other errors are measured. */
    if (line->bound == 0.0 && line->error < 1e15)
        snprintf(error, sizeof error, "%.0f", line->error);
    else
        snprintf(error, sizeof error, "%.1e", line->error);
    if (line->bound == 0.0)
        snprintf(bound, sizeof bound, "0");
    else
        snprintf(bound, sizeof bound, "%.0e", line->bound);
    log_line(level, "  %-43s%-24s%8s%7s%8s%7.2f%s%s", line->what, line->against, error, bound,
             line->passed ? "ok" : "FAILED", line->seconds,
             line->passed && line->note[0] ? "  " : "", line->passed ? line->note : "");
    if (!line->passed && line->note[0]) log_line(level, "    %s", line->note);
}

void hx_selftest_report_sum(const hx_selftest *t, double seconds, const char *devices)
{
    log_line(t->n_failed > 0 ? HX_LOG_QUIET : HX_LOG_NORMAL, "%zu %s, %zu failed, %.1f s on %s",
             t->n, hx_noun(t->n, "check", "checks"), t->n_failed, seconds, devices);
}

int hx_selftest_write_json(const hx_selftest *t, double seconds, const char *devices,
                           const char *path)
{
    hx_atomic_file file = {0};
    hx_json json;
    int rc;
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    hx_json_begin(&json, file.stream);
    hx_json_open_object(&json, NULL);
    hx_json_string(&json, "devices", devices);
    hx_json_integer(&json, "checks", (int64_t)t->n);
    hx_json_integer(&json, "failed", (int64_t)t->n_failed);
    hx_json_number(&json, "seconds", seconds);
    hx_json_open_array(&json, "lines");
    for (size_t i = 0; i < t->n; i++) {
        const hx_selftest_line *const line = &t->lines[i];
        hx_json_open_object(&json, NULL);
        hx_json_string(&json, "device", line->device);
        hx_json_string(&json, "section", line->section);
        hx_json_string(&json, "check", line->what);
        hx_json_string(&json, "reference", line->against);
        hx_json_number(&json, "error", line->error);
        hx_json_number(&json, "bound", line->bound);
        hx_json_bool(&json, "passed", line->passed);
        hx_json_number(&json, "seconds", line->seconds);
        hx_json_string(&json, "note", line->note[0] ? line->note : NULL);
        hx_json_close_object(&json);
    }
    hx_json_close_array(&json);
    hx_summary_write_versions(&json);
    hx_machine_write(&json, NULL);
    hx_json_close_object(&json);
    HX_TRY_FAIL(hx_atomic_file_commit(&file));
fail:
    hx_atomic_file_free(&file);
    return rc;
}
