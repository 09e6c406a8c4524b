/* history.csv: one line per design iteration. Each line is on disk before the next iteration
 * starts. */
#ifndef HX_HISTORY_H
#define HX_HISTORY_H

#include <stdio.h>

#include "core/design/optimizer.h"

/* The columns that depend on the config. */
typedef struct hx_history_columns {
    int n_case;
    const char *objective; /* column of its kind, if it has one; NULL: none (borrowed) */
    int has_error;         /* 1: pcg_error, the estimated error of the compliance */
    int has_objective;     /* 1: objective; 0: a file of an earlier version has none */
    int has_kkt;           /* 1: kkt, the residual of the optimality conditions */
    int n_limit;
    const char *const *limit; /* [n_limit] names (borrowed) */
} hx_history_columns;

typedef struct hx_history {
    FILE *stream; /* (owned) */
    char *path;   /* (owned) */
    hx_history_columns columns;
    char *pending; /* lines that are not on the disk yet (owned) */
    size_t n_pending;
} hx_history;

/* Replaces an older file by one with the header line, and locks it. HX_EENV: another run writes to
 * the file. */
int hx_history_open(hx_history *history, const char *path, const hx_history_columns *columns);

/* Like hx_history_open, but begins with text[n]: the lines of the run that is resumed, including
 * the header, which determines the columns has_... */
int hx_history_resume(hx_history *history, const char *path, const hx_history_columns *columns,
                      const char *text, size_t n);

/* Appends a line, which is on the disk on return. output_seconds: time of writing the VTK file of
 * this iteration. HX_EIO: the line cannot be written; it is kept, and written before the next
 * one. */
int hx_history_add(hx_history *history, const hx_iteration *it, double output_seconds);

/* HX_EIO if the last lines could not be written. */
int hx_history_close(hx_history *history);
void hx_history_free(hx_history *history);

#endif
