/* A table printed with aligned columns: cells are collected row by row, then printed. */
#ifndef HX_TABLE_H
#define HX_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

typedef struct hx_table {
    size_t n_column, n_cell, capacity;
    const char *align; /* a letter for each column: l or r */
    char **cell;       /* [n_cell] row by row (owned) */
    int failed;        /* 1: a cell could not be stored; the printed table states this */
    /* log level at which it is printed; hx_table_begin sets HX_LOG_QUIET: always */
    hx_log_level level;
} hx_table;

/* align: "llr" is three columns, the last one right-aligned. */
void hx_table_begin(hx_table *table, const char *align);
/* Adds the next cell; rows fill from left to right. */
void hx_table_add(hx_table *table, const char *fmt, ...) HX_PRINTF(2, 3);
/* Adds a cell per word of a list separated by '|'. */
void hx_table_add_words(hx_table *table, const char *words);
/* Logs the table line by line (to stdout), with two spaces between columns and `indent` before each
 * row, and frees it. */
void hx_table_end(hx_table *table, int indent);

/* "1,234,567" into text; returns it. */
const char *hx_format_count(int64_t value, char *text, size_t n_text);
/* "1.2 s", "3 min 20 s", "5 h 10 min"; returns text. */
const char *hx_format_seconds(double seconds, char *text, size_t n_text);

#endif
