#include "csv_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "json_read.h"

/* Ends the line at `at` with a 0 and returns the next line; NULL: the line has no end. */
static char *end_line(char *at)
{
    char *const end = strchr(at, '\n');
    if (!end) return NULL;
    *end = '\0';
    if (end > at && end[-1] == '\r') end[-1] = '\0';
    return end + 1;
}

static size_t count_char(const char *text, char c)
{
    size_t n = 0;
    for (; *text; text++) n += *text == c;
    return n;
}

static int read_names(hx_csv *csv, const char *path, char *line)
{
    csv->n_column = count_char(line, ',') + 1;
    HX_TRY(hx_alloc(&csv->name, csv->n_column, sizeof *csv->name, "columns"));
    for (size_t i = 0; i < csv->n_column; i++) {
        const size_t n = strcspn(line, ",");
        if (n == 0) return HX_RAISE(HX_EINPUT, "%s:1: a column without a name", path);
        const char kept = line[n];
        line[n] = '\0';
        HX_TRY(hx_strdup(&csv->name[i], line));
        line += n + (kept == ',');
    }
    return HX_OK;
}

static int read_row(hx_csv *csv, const char *path, size_t row, size_t capacity, const char *line)
{
    if (count_char(line, ',') + 1 != csv->n_column)
        return HX_RAISE(HX_EINPUT, "%s:%zu: %zu %s, but the first line names %zu", path, row + 2,
                        count_char(line, ',') + 1,
                        hx_noun(count_char(line, ',') + 1, "field", "fields"), csv->n_column);
    for (size_t i = 0; i < csv->n_column; i++) {
        char *end;
        double value = NAN;
        if (*line != ',' && *line != '\0') {
            value = strtod(line, &end);
            if (end == line || (*end != ',' && *end != '\0'))
                return HX_RAISE(HX_EINPUT, "%s:%zu: '%.*s' is not a number", path, row + 2,
                                (int)strcspn(line, ","), line);
            line = end;
        }
        csv->value[i * capacity + row] = value;
        if (*line == ',') line++;
    }
    return HX_OK;
}

int hx_csv_read(hx_csv *csv, const char *path)
{
    int rc;
    char *bytes = NULL;
    size_t n;
    memset(csv, 0, sizeof *csv);
    HX_TRY(hx_read_file(path, &bytes, &n));
    char *const rows = strlen(bytes) == n ? end_line(bytes) : NULL;
    if (!rows) {
        rc = HX_RAISE(HX_EINPUT, "%s:1: expected a line with the names of columns", path);
        goto fail;
    }
    HX_TRY_FAIL(read_names(csv, path, bytes));
    char *line = rows;
    const size_t n_row = count_char(line, '\n');
    HX_TRY_FAIL(hx_alloc(&csv->value, csv->n_column * n_row, sizeof *csv->value, "table"));
    for (char *next; (next = end_line(line)); line = next)
        HX_TRY_FAIL(read_row(csv, path, csv->n_row++, n_row, line));
    csv->is_cut = *line != '\0';
fail:
    free(bytes);
    if (rc < 0) hx_csv_free(csv);
    return rc;
}

void hx_csv_free(hx_csv *csv)
{
    for (size_t i = 0; csv->name && i < csv->n_column; i++) free(csv->name[i]);
    free(csv->name);
    free(csv->value);
    memset(csv, 0, sizeof *csv);
}

const double *hx_csv_column(const hx_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->n_column; i++)
        if (strcmp(csv->name[i], name) == 0) return csv->value + i * csv->n_row;
    return NULL;
}
