/* run.log: what a run says, as a terminal shows it, with what ran, where and when. */
#ifndef HX_RUN_LOG_H
#define HX_RUN_LOG_H

#include <stdio.h>

#include "../text/log.h"
#include "../text/options.h"

typedef struct hx_run_log {
    FILE *stream; /* NULL: not yet, or not to be written (owned) */
    char *text;   /* what was said before there was a file (owned) */
    size_t n, capacity;
    double begin; /* hx_clock */
    int lost;     /* 1: a line could not be written or kept */
} hx_run_log;

/* Listens from here on, and notes version, command line, machine and time. With -v it gets what -v
 * shows, with -q what a terminal shows without. */
int hx_run_log_begin(hx_run_log *log, const hx_options *options);

/* The folder is there: replaces an older file by what was said so far, or, of a run that goes on
 * from a checkpoint, adds it; each line is in it before the next is said. Nothing where the
 * standard output or error is that very file. HX_EIO. */
int hx_run_log_open(hx_run_log *log, const char *path, int is_resumed);

/* The last line: how it ended. rc: of the run; a negative code's message is the recorded error.
 * Accepts a zeroed struct. */
void hx_run_log_end(hx_run_log *log, int rc);

#endif
