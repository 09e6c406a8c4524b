/* history.csv: one line per design iteration. Each line is on disk before the next iteration
 * starts. */
#ifndef HX_HISTORY_H
#define HX_HISTORY_H

#include <stdio.h>

#include "core/design/optimizer.h"

typedef struct hx_history {
    FILE *stream; /* (owned) */
    char *path;   /* (owned) */
    int n_case;
    const char *objective; /* its column, if it is not the compliance; NULL: none (borrowed) */
    int has_error;         /* 1: there is a column for the estimated error of the compliance */
    char *pending;         /* lines that are not on the disk yet (owned) */
    size_t n_pending;
} hx_history;

/* Replaces an older file by one with the header line, and locks it. has_error: adds the column
 * pcg_error. HX_EENV: another run writes to the file. */
int hx_history_open(hx_history *history, const char *path, int n_case, const char *objective,
                    int has_error);

/* Like hx_history_open, but begins with text[n]: the lines of the run that is resumed, including
 * the header, which determines the columns. */
int hx_history_resume(hx_history *history, const char *path, int n_case, const char *objective,
                      const char *text, size_t n);

/* Appends a line, which is on the disk on return. output_seconds: time of writing the VTK file of
 * this iteration. HX_EIO: the line cannot be written; it is kept, and written before the next
 * one. */
int hx_history_add(hx_history *history, const hx_iteration *it, double output_seconds);

/* HX_EIO if the last lines could not be written. */
int hx_history_close(hx_history *history);
void hx_history_free(hx_history *history);

#endif
