/* Runs another program as a child process: without a shell, with its output passed on line by line.
 * The child and everything that it started are terminated at a time limit, on request of the
 * caller, or when this process ends. */
#ifndef HX_PROCESS_H
#define HX_PROCESS_H

#include <stddef.h>

#include "../base/error.h"

HX_C_BEGIN

enum { HX_PROCESS_TAIL = 4096 };

typedef struct hx_process_options {
    const char *folder; /* working directory; NULL: the current one */
    double time_limit;  /* seconds; 0: none */
    double memory;      /* address space in bytes that it may use (RLIMIT_AS); 0: no limit */
    /* Receives a line of its output without the line end, cut at 1023 bytes; stream 1 or 2. May be
     * NULL. */
    void (*line)(void *context, int stream, const char *text);
    /* Called about ten times per second; returning 1 terminates the child. May be NULL. */
    int (*is_cancelled)(void *context);
    void *context;
} hx_process_options;

typedef struct hx_process_result {
    int exit_status;            /* -1: it did not exit by itself */
    int signal;                 /* signal that terminated it; 0: none */
    int is_timed_out;           /* it was terminated because of time_limit */
    int is_cancelled;           /* it was terminated because is_cancelled returned 1 */
    double seconds;             /* elapsed time */
    char tail[HX_PROCESS_TAIL]; /* the last lines of its output, from both streams */
} hx_process_result;

/* Runs argv[0], which is looked up like in hx_process_find, with argv[1], ... up to a NULL, and
 * waits for its end. Its input is empty, and it inherits no open files. The child has a process
 * group of its own, so a signal to the caller's group, such as that of Ctrl-C, does not reach it.
 * On Linux it gets SIGKILL when the calling thread ends for any reason. After it has exited,
 * processes that it left running in its group are killed. HX_EENV: it cannot be started. The way it
 * ended is not an error; `result` describes it. */
int hx_process_run(const char *const *argv, const hx_process_options *options,
                   hx_process_result *result);

/* Finds the file of a program: a name with a slash is used unchanged, another name is searched in
 * PATH. The caller frees *path; NULL: there is none. The environment variable HEXTOP_GMSH replaces
 * the name "gmsh". */
int hx_process_find(const char *name, char **path);

/* Writes "exit status 1", "it crashed: signal 11 (Segmentation fault)", "not finished after 60 s,
 * terminated" into text; returns it. */
const char *hx_process_fate(const hx_process_result *result, char *text, size_t n_text);

HX_C_END

#endif
