/* The program gmsh (https://gmsh.info): finding it, and running a job in a scratch folder. It is
 * run instead of linked because it is under the GPL, and because its CAD kernel may crash. */
#ifndef HX_GMSH_PROGRAM_H
#define HX_GMSH_PROGRAM_H

#include "../base/notes.h"
#include "process.h"

HX_C_BEGIN

typedef struct hx_gmsh_program {
    char *path;       /* (owned) */
    char version[32]; /* "4.8.4" */
} hx_gmsh_program;

/* HX_EENV: it is not installed (the message states how to install it), or prints no version. Takes
 * about 0.1 s. */
int hx_gmsh_find(hx_gmsh_program *program);
/* Accepts a zeroed struct. */
void hx_gmsh_release(hx_gmsh_program *program);

/* Makes an empty folder for temporary files in TMPDIR or /tmp. Removes folders that killed programs
 * left there more than a day ago. The caller frees *folder. */
int hx_scratch_create(char **folder);
/* Removes the folder with its contents, and frees its name; NULL: does nothing. */
void hx_scratch_remove(char *folder);
/* *path := folder/name, which the caller frees. */
int hx_scratch_path(const char *folder, const char *name, char **path);

typedef struct hx_gmsh_job {
    const char *folder;        /* its working directory */
    const char *const *option; /* options of gmsh, terminated by NULL: "job.geo", "-3", ... */
    double time_limit;         /* seconds; 0: none */
    const char *what;          /* the file that is processed, for messages */
    /* Receives each line of its output; or NULL. */
    void (*line)(void *context, int stream, const char *text);
    int (*is_cancelled)(void *context); /* as in process.h, or NULL */
    void *context;
} hx_gmsh_job;

typedef struct hx_gmsh_result {
    hx_process_result process;
    int n_warning, n_error;
    char error[512]; /* the last error that it printed; or "" */
} hx_gmsh_result;

/* Runs gmsh. Its warnings and errors become notes: the first few unchanged, then the number of the
 * others. HX_EINPUT: it crashed, ran out of time or exited with an error; the message contains its
 * last error. Its exit status is not reliable: check n_error and the files that it wrote. */
int hx_gmsh_run(const hx_gmsh_program *program, const hx_gmsh_job *job, hx_notes *notes,
                hx_gmsh_result *result);

HX_C_END

#endif
