#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/grow.h"
#include "core/base/memory.h"

void hx_table_begin(hx_table *table, const char *align)
{
    memset(table, 0, sizeof *table);
    table->align = align;
    table->level = HX_LOG_QUIET;
    table->n_column = strlen(align);
}

void hx_table_add(hx_table *table, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    hx_fit_args(text, sizeof text, fmt, args);
    va_end(args);
    if (hx_grow(&table->cell, table->n_cell, &table->capacity, sizeof(char *), "table") < 0) {
        table->failed = 1;
        return;
    }
    if (hx_strdup(&table->cell[table->n_cell], text) < 0) table->failed = 1;
    table->n_cell++;
}

void hx_table_add_words(hx_table *table, const char *words)
{
    for (const char *end = words; *end; words = end + 1) {
        end = words + strcspn(words, "|");
        hx_table_add(table, "%.*s", (int)(end - words), words);
    }
}

/* Columns on the screen; continuation bytes of UTF-8 take none. */
static int width_of(const char *text)
{
    int width = 0;
    for (; text && *text; text++) width += ((unsigned char)*text & 0xC0u) != 0x80u;
    return width;
}

/* width: width of each column; NULL: columns are not aligned. HX_ENOMEM. */
static int print_row(const hx_table *table, size_t first, const int *width, int indent)
{
    char *line = NULL;
    /* Number of bytes of the row as printed, including its end. */
    size_t n = (size_t)indent + 1;
    for (size_t k = 0; k < table->n_column && first + k < table->n_cell; k++) {
        const char *const text = table->cell[first + k] ? table->cell[first + k] : "";
        n += strlen(text) + (size_t)(width ? width[k] : 0) + 2;
    }

    HX_TRY(hx_alloc(&line, n, 1, "table"));
    size_t at = (size_t)snprintf(line, n, "%*s", indent, "");
    for (size_t c = 0; c < table->n_column && first + c < table->n_cell; c++) {
        const char *const text = table->cell[first + c] ? table->cell[first + c] : "";
        const int pad = width ? width[c] - width_of(text) : 0;
        const int last = c + 1 == table->n_column, right = table->align[c] == 'r';
        at += (size_t)snprintf(line + at, n - at, "%*s%s%*s%s", right ? pad : 0, "", text,
                               right || last ? 0 : pad, "", last ? "" : "  ");
    }
    hx_log_text(table->level, line);
    free(line);
    return HX_OK;
}

void hx_table_end(hx_table *table, int indent)
{
    int *width = NULL; /* NULL if memory is missing: the columns are then not aligned */
    if (hx_alloc(&width, table->n_column, sizeof *width, "table") < 0) table->failed = 1;
    for (size_t i = 0; width && i < table->n_cell; i++) {
        const size_t c = i % table->n_column;
        const int w = width_of(table->cell[i]);
        if (w > width[c]) width[c] = w;
    }
    for (size_t i = 0; i < table->n_cell; i += table->n_column)
        if (print_row(table, i, width, indent) < 0) table->failed = 1;
    char text[128];
    snprintf(text, sizeof text, "%*s(incomplete: out of memory)", indent, "");
    if (table->failed) hx_log_text(table->level, text);
    for (size_t i = 0; i < table->n_cell; i++) free(table->cell[i]);
    free(table->cell);
    free(width);
    memset(table, 0, sizeof *table);
}

const char *hx_format_count(int64_t value, char *text, size_t n_text)
{
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
    size_t used = 0;
    for (int i = 0; i < n && used + 2 < n_text; i++) {
        text[used++] = digits[i];
        if (digits[i] != '-' && i + 1 < n && (n - 1 - i) % 3 == 0) text[used++] = ',';
    }
    text[used] = '\0';
    return text;
}

const char *hx_format_seconds(double seconds, char *text, size_t n_text)
{
    const double whole = rint(seconds), minutes = rint(seconds / 60.0);
    if (seconds < 0.1)
        snprintf(text, n_text, "%.2g s", seconds);
    else if (seconds < 99.95)
        snprintf(text, n_text, "%.1f s", seconds);
    else if (whole < 6000.0)
        snprintf(text, n_text, "%.0f min %02.0f s", floor(whole / 60.0), fmod(whole, 60.0));
    else
        snprintf(text, n_text, "%.0f h %02.0f min", floor(minutes / 60.0), fmod(minutes, 60.0));
    return text;
}
