/* Settings as rows of names and values: those of one run, or those that differ between several
 * runs. */
#include <stdlib.h>
#include <string.h>

#include "../text/html.h"
#include "../text/log.h"
#include "core/base/grow.h"
#include "report.h"

/* A run's settings as rows: "optimization.filter.radius", "2". */
typedef struct setting_row {
    char *name, *value; /* (owned) */
} setting_row;

typedef struct setting_rows {
    size_t n, capacity;
    setting_row *row; /* (owned) */
} setting_rows;

static int add_setting_row(setting_rows *rows, const char *name, const char *value)
{
    HX_TRY(hx_grow(&rows->row, rows->n, &rows->capacity, sizeof *rows->row, "settings"));
    setting_row *const row = &rows->row[rows->n++];
    HX_TRY(hx_strdup(&row->name, name));
    return hx_strdup(&row->value, value);
}

static int flatten(setting_rows *rows, const char *name, const hx_json_value *v);

static int flatten_members(setting_rows *rows, const char *name, const hx_json_value *v)
{
    size_t i = 0;
    for (const hx_json_value *m = v->first; m; m = m->next, i++) {
        char path[512];
        if (m->key)
            snprintf(path, sizeof path, "%.300s%s%.200s", name, name[0] ? "." : "", m->key);
        else
            snprintf(path, sizeof path, "%.300s[%zu]", name, i);
        HX_TRY(flatten(rows, path, m));
    }
    return HX_OK;
}

static int flatten(setting_rows *rows, const char *name, const hx_json_value *v)
{
    char text[1024];
    if (v->kind == HX_JSON_OBJECT) return flatten_members(rows, name, v);
    if (v->kind != HX_JSON_ARRAY) return add_setting_row(rows, name, v->text ? v->text : "");
    if (v->first && (v->first->kind == HX_JSON_ARRAY || v->first->kind == HX_JSON_OBJECT))
        return flatten_members(rows, name, v);
    /* "[0, 0, -1]" of an array of plain values. */
    size_t used = (size_t)snprintf(text, sizeof text, "[");
    for (const hx_json_value *item = v->first; item && used < sizeof text; item = item->next)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 item->text ? item->text : "", item->next ? ", " : "");
    if (used < sizeof text) snprintf(text + used, sizeof text - used, "]");
    return add_setting_row(rows, name, text);
}

static void free_rows(setting_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        free(rows->row[i].name);
        free(rows->row[i].value);
    }
    free(rows->row);
    memset(rows, 0, sizeof *rows);
}

static int make_rows(setting_rows *rows, const hx_report_run *run)
{
    const hx_json_value *const settings = hx_report_settings(run);
    memset(rows, 0, sizeof *rows);
    if (!settings) return HX_OK;
    const int rc = flatten(rows, "", settings);
    if (rc < 0) free_rows(rows);
    return rc;
}

static const char *find_setting_row(const setting_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->n; i++)
        if (strcmp(rows->row[i].name, name) == 0) return rows->row[i].value;
    return NULL;
}

void hx_report_write_settings(const hx_report_run *run, FILE *f)
{
    setting_rows rows;
    if (make_rows(&rows, run) < 0)
        hx_log_warning("the page lacks the settings: %s", hx_error_message());
    if (rows.n == 0) return;
    fputs("<details><summary>Settings</summary><div class=\"wide\"><table class=\"settings\">"
          "<thead><tr><th scope=\"col\">Key</th><th scope=\"col\">Value</th></tr></thead><tbody>",
          f);
    for (size_t i = 0; i < rows.n; i++) {
        fputs("<tr><th scope=\"row\"><code>", f);
        hx_html_text(f, rows.row[i].name);
        fputs("</code></th><td>", f);
        hx_html_text(f, rows.row[i].value);
        fputs("</td></tr>\n", f);
    }
    fputs("</tbody></table></div></details>\n", f);
    free_rows(&rows);
}

/* --- differences --- */

/* 1 if run r is the first that has a setting of that name. */
static int is_first(const setting_rows *rows, size_t r, const char *name)
{
    for (size_t i = 0; i < r; i++)
        if (find_setting_row(&rows[i], name)) return 0;
    return 1;
}

static int differs(const setting_rows *rows, size_t n_run, const char *name)
{
    const char *const first = find_setting_row(&rows[0], name);
    if (strcmp(name, "output.directory") == 0) return 0;
    for (size_t i = 1; i < n_run; i++) {
        const char *const other = find_setting_row(&rows[i], name);
        if (!first != !other || (first && strcmp(first, other) != 0)) return 1;
    }
    return 0;
}

static void put_difference(const setting_rows *rows, size_t n_run, const char *name, FILE *f)
{
    fputs("<tr><th scope=\"row\"><code>", f);
    hx_html_text(f, name);
    fputs("</code></th>", f);
    for (size_t i = 0; i < n_run; i++) {
        const char *const value = find_setting_row(&rows[i], name);
        fputs("<td>", f);
        hx_html_text(f, value ? value : "–");
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

/* Returns the number of differing settings. */
static size_t put_differences(const setting_rows *rows, size_t n_run, FILE *f)
{
    size_t n = 0;
    for (size_t r = 0; r < n_run; r++)
        for (size_t i = 0; i < rows[r].n; i++) {
            const char *const name = rows[r].row[i].name;
            if (!is_first(rows, r, name) || !differs(rows, n_run, name)) continue;
            put_difference(rows, n_run, name, f);
            n++;
        }
    return n;
}

void hx_report_write_differences(const hx_report *report, FILE *f)
{
    setting_rows rows[HX_REPORT_MAX_RUN];
    int is_complete = 1;
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < report->n_run; i++)
        if (make_rows(&rows[i], &report->run[i]) < 0) is_complete = 0;
    if (!is_complete) {
        hx_log_warning("the page lacks settings: %s", hx_error_message());
        fprintf(f, "<tr><td colspan=\"%zu\">There was no memory to compare them.</td></tr>\n",
                report->n_run + 1);
    } else if (put_differences(rows, report->n_run, f) == 0)
        fprintf(f, "<tr><td colspan=\"%zu\">All settings are the same.</td></tr>\n",
                report->n_run + 1);
    for (size_t i = 0; i < report->n_run; i++) free_rows(&rows[i]);
}
