/* run.log: the lines of a run as a terminal shows them, with version, machine, folder and time. */
#ifndef HX_RUN_LOG_H
#define HX_RUN_LOG_H

#include <stdio.h>

#include "../text/log.h"
#include "../text/options.h"

typedef struct hx_run_log {
    FILE *stream; /* NULL: not open yet, or not written (owned) */
    char *text;   /* lines logged before the file was opened (owned) */
    size_t n, capacity;
    double begin; /* hx_clock */
    int lost;     /* 1: a line could not be written or kept */
} hx_run_log;

/* Records lines from here on; the first lines are version, command line, machine and time. With -v,
 * lines of -v are also recorded; with -q, the lines that a terminal shows without -q are. */
int hx_run_log_begin(hx_run_log *log, const hx_options *options);

/* Opens the file once the folder exists, and writes the lines recorded so far. An older file is
 * replaced; if a run is resumed, it is continued. Each line is in the file before the next one is
 * logged. Does nothing if standard output or error is that very file. HX_EIO. */
int hx_run_log_open(hx_run_log *log, const char *path, int is_resumed);

/* Writes the last line, which states how the run ended. rc: result of the run; if it is negative,
 * the recorded error is added. Accepts a zeroed struct. */
void hx_run_log_end(hx_run_log *log, int rc);

#endif
