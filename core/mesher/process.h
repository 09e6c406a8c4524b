/* Another program as a child process: run without a shell, its lines handed over as they come,
 * ended with all that it started when time is up, when the caller says so, or when this process
 * ends. */
#ifndef HX_PROCESS_H
#define HX_PROCESS_H

#include <stddef.h>

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_PROCESS_TAIL = 4096 };

typedef struct hx_process_options {
    const char *folder; /* where it works; NULL: where we do */
    double time_limit;  /* seconds; 0: none */
    double memory;      /* bytes of addresses that it may take (RLIMIT_AS); 0: any */
    /* A line that it wrote, without its end and cut at 1023 bytes; stream 1 or 2. May be NULL. */
    void (*line)(void *context, int stream, const char *text);
    /* Asked some ten times a second: 1 ends the child. May be NULL. */
    int (*is_cancelled)(void *context);
    void *context;
} hx_process_options;

typedef struct hx_process_result {
    int exit_status;            /* -1: it did not exit by itself */
    int signal;                 /* that ended it; 0: none */
    int is_timed_out;           /* it was ended since time_limit was over */
    int is_cancelled;           /* it was ended since is_cancelled said so */
    double seconds;             /* by the clock */
    char tail[HX_PROCESS_TAIL]; /* the last lines that it wrote to either stream */
} hx_process_result;

/* Runs argv[0], which is looked up as hx_process_find does, with argv[1], ... up to a NULL, and
 * waits for its end. Reads nothing; sees no open file of ours. It is a process group of its own,
 * so that a signal to ours, Ctrl-C for one, does not reach it; where the system is Linux it gets
 * SIGKILL when the thread that called ends, however that came. When it has exited, what it left
 * running in its group is killed. HX_EENV: it cannot be started. What became of it is no error:
 * *result. */
int hx_process_run(const char *const *argv, const hx_process_options *options,
                   hx_process_result *result);

/* The file of a program: a name with a slash as it is, another along PATH. *path is the caller's to
 * free, NULL: there is none. The environment variable HEXTOP_GMSH stands for the name "gmsh". */
int hx_process_find(const char *name, char **path);

/* "exit status 1", "it crashed: signal 11 (Segmentation fault)", "not ready after 60 s, ended" into
 * text; returns it. */
const char *hx_process_fate(const hx_process_result *result, char *text, size_t n_text);

#ifdef __cplusplus
}
#endif

#endif
