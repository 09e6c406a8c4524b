/* history.csv: one line per design iteration, on disk before the next one starts. */
#ifndef HX_HISTORY_H
#define HX_HISTORY_H

#include <stdio.h>

#include "core/design/optimizer.h"

typedef struct hx_history {
    FILE *stream; /* (owned) */
    char *path;   /* (owned) */
    int n_case;
    int has_error; /* 1: a column for the estimated error of the compliance */
    char *pending; /* lines that the disk did not take yet (owned) */
    size_t n_pending;
} hx_history;

/* Replaces an older file by one with the header line, and locks it: HX_EENV if another run is
 * writing it. has_error: with a column pcg_error. */
int hx_history_open(hx_history *history, const char *path, int n_case, int has_error);

/* The same with text[n], the lines of the run that it goes on from, header included, which says
 * what columns there are. */
int hx_history_resume(hx_history *history, const char *path, int n_case, const char *text,
                      size_t n);

/* Appends a line, on the disk at once. output_seconds: what writing this iteration's VTK file took.
 * HX_EIO: the disk does not take it; the line is kept, and written before the next. */
int hx_history_add(hx_history *history, const hx_iteration *it, double output_seconds);

/* HX_EIO if the last lines could not be written. */
int hx_history_close(hx_history *history);
void hx_history_free(hx_history *history);

#endif
