/* Tables of numbers as comma-separated values: history.csv. */
#ifndef HX_CSV_READ_H
#define HX_CSV_READ_H

#include <stddef.h>

#include "core/base/error.h"

typedef struct hx_csv {
    size_t n_column, n_row;
    char **name;   /* [n_column] from the first line (owned) */
    double *value; /* [n_column][n_row] (owned) */
    /* 1: the last line is incomplete, since the file is still being written; that line is left
     * out */
    int is_cut;
} hx_csv;

/* HX_EINPUT "path:line: what would be right": a line with another number of fields, a field that is
 * not a number. An empty field is NAN. O(size). */
int hx_csv_read(hx_csv *csv, const char *path);
/* Accepts a zeroed table, and leaves one. */
void hx_csv_free(hx_csv *csv);

/* [n_row] numbers of the column; NULL: there is no column of that name. */
const double *hx_csv_column(const hx_csv *csv, const char *name);

#endif
