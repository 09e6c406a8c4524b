/* What all checks use: their lines and files, the operator, differences and poisoned memory. */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "selftest.h"

void hx_selftest_begin(hx_selftest *t, const char *fmt, ...)
{
    va_list args;
    memset(&t->line, 0, sizeof t->line);
    t->line.device = t->parts.device ? t->parts.device->name : "host";
    t->line.section = t->section;
    va_start(args, fmt);
    vsnprintf(t->line.what, sizeof t->line.what, fmt, args);
    va_end(args);
    if (t->begin) t->begin(t->context, t->section, t->line.what);
    hx_error_clear();
    t->begun = hx_clock();
}

void hx_selftest_note(hx_selftest *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->line.note, sizeof t->line.note, fmt, args);
    va_end(args);
}

int hx_selftest_end(hx_selftest *t, int rc, double error, double bound, const char *against)
{
    hx_selftest_line *const line = &t->line;
    line->seconds = hx_clock() - t->begun;
    line->error = rc < 0 ? NAN : error;
    line->bound = bound;
    line->passed = rc >= 0 && isfinite(bound) && isfinite(error) && error <= bound;
    snprintf(line->against, sizeof line->against, "%s", against);
    if (rc < 0) snprintf(line->note, sizeof line->note, "%.255s", hx_error_message());
    t->n_failed += !line->passed;
    HX_TRY(hx_grow(&t->lines, t->n, &t->capacity, sizeof *t->lines, "lines of the selftest"));
    t->lines[t->n++] = *line;
    if (t->end) t->end(t->context, line);
    return HX_OK;
}

const hx_operator_kind *hx_selftest_operator(const hx_selftest *t, int components,
                                             hx_element element)
{
    const hx_device_ops *const ops = t->parts.device;
    const hx_operator_kind *found = NULL;
    if (element == HX_ELEMENT_QUADRATIC && components == 1 && !ops->conduction->quadratic)
        return NULL;
    if (element == HX_ELEMENT_LINEAR && ops->matrix_free)
        return hx_operator_kind_of(ops->matrix_free, components) ? ops->matrix_free : NULL;
    for (size_t i = 0; t->parts.op_kinds[i] && !found; i++) {
        const hx_operator_kind *const s = t->parts.op_kinds[i];
        const hx_operator_kind *const known = hx_operator_kind_of(s, components);
        const int is_here = strcmp(s->device, ops->name) == 0;
        if (!is_here || !known || s->error > 0.0 || !s->deterministic) continue;
        if (element == HX_ELEMENT_LINEAR || known->space_bytes) found = s;
    }
    return found;
}

int hx_selftest_path(hx_selftest *t, const char *name, char *path, size_t n_path)
{
    if (!t->folder[0]) {
        const char *const tmp = getenv("TMPDIR");
        const char *const in = tmp && tmp[0] ? tmp : "/tmp";
        char folder[sizeof t->folder];
        if (strlen(in) + 32 > sizeof folder)
            return HX_RAISE(HX_EIO, "the path in TMPDIR is too long");
        snprintf(folder, sizeof folder, "%s/hextop-selftest-XXXXXX", in);
        if (!mkdtemp(folder))
            return HX_RAISE(HX_EIO, "%s: cannot create a folder here; set TMPDIR to another path",
                            in);
        memcpy(t->folder, folder, sizeof folder);
    }
    snprintf(path, n_path, "%s/%s", t->folder, name);
    return HX_OK;
}

void hx_selftest_free(hx_selftest *t)
{
    if (t->folder[0]) {
        DIR *const dir = opendir(t->folder);
        const struct dirent *entry;
        while (dir && (entry = readdir(dir)) != NULL) {
            char path[600];
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
            snprintf(path, sizeof path, "%s/%s", t->folder, entry->d_name);
            unlink(path);
        }
        if (dir) closedir(dir);
        rmdir(t->folder);
    }
    free(t->lines);
    memset(t, 0, sizeof *t);
}

double hx_selftest_difference(int64_t n, const double *a, const double *b)
{
    double num = 0.0, den = 0.0;
    for (int64_t i = 0; i < n; i++) {
        num += (a[i] - b[i]) * (a[i] - b[i]);
        den += b[i] * b[i];
    }
    return sqrt(den > 0.0 ? num / den : num);
}

double hx_selftest_other_bits(int64_t n, const double *a, const double *b)
{
    int64_t n_other = 0;
    for (int64_t i = 0; i < n; i++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): compares bits */
        n_other += memcmp(&a[i], &b[i], sizeof a[i]) != 0 || !isfinite(a[i]);
    return (double)n_other;
}

double hx_selftest_dot(int64_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

int hx_selftest_poisoned(hx_device *dev, int64_t n, double **d_out)
{
    double *nan;
    *d_out = NULL;
    HX_TRY(hx_alloc_raw(&nan, (size_t)n, sizeof *nan, "poison"));
    for (int64_t i = 0; i < n; i++) nan[i] = NAN;
    const int rc = hx_device_put(dev, d_out, nan, (size_t)n * sizeof *nan);
    free(nan);
    return rc;
}
