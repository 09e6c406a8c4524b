/* The program gmsh (https://gmsh.info): whether it is there, and a job of it in a folder of its
 * own. It is run, not linked: it is under the GPL, and its CAD kernel may crash. */
#ifndef HX_GMSH_PROGRAM_H
#define HX_GMSH_PROGRAM_H

#include "../base/notes.h"
#include "process.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_gmsh_program {
    char *path;       /* (owned) */
    char version[32]; /* "4.8.4" */
} hx_gmsh_program;

/* HX_EENV: it is not installed (and how to install it), or does not say its version. Costs some 0.1
 * s. */
int hx_gmsh_find(hx_gmsh_program *program);
/* Accepts a zeroed struct. */
void hx_gmsh_release(hx_gmsh_program *program);

/* An empty folder for files on the way, in TMPDIR or /tmp; removes what programs that were killed
 * left there more than a day ago. *folder is the caller's to free. */
int hx_scratch_create(char **folder);
/* Removes it with all that is in it, and frees its name; NULL: nothing. */
void hx_scratch_remove(char *folder);
/* folder/name; *path is the caller's to free. */
int hx_scratch_path(const char *folder, const char *name, char **path);

typedef struct hx_gmsh_job {
    const char *folder;        /* where it works */
    const char *const *option; /* what follows "gmsh", up to a NULL: "job.geo", "-3", ... */
    double time_limit;         /* seconds; 0: none */
    const char *what;          /* the file it works on, for messages */
    /* Each line of its output, as well; or NULL. */
    void (*line)(void *context, int stream, const char *text);
    int (*is_cancelled)(void *context); /* as in process.h, or NULL */
    void *context;
} hx_gmsh_job;

typedef struct hx_gmsh_result {
    hx_process_result process;
    int n_warning, n_error;
    char error[512]; /* the last that it named so; "" */
} hx_gmsh_result;

/* Runs gmsh. Its warnings and errors become notes: the first few as they are, then how many more.
 * HX_EINPUT: it crashed, ran out of time or exited with an error; the message has its last error.
 * Its exit status says little: look at n_error and at what it wrote. */
int hx_gmsh_run(const hx_gmsh_program *program, const hx_gmsh_job *job, hx_notes *notes,
                hx_gmsh_result *result);

#ifdef __cplusplus
}
#endif

#endif
