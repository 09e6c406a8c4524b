/* A text or binary file that appears under its name only when it is complete. */
#ifndef HX_ATOMIC_FILE_H
#define HX_ATOMIC_FILE_H

#include <stdio.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_atomic_file {
    FILE *stream; /* write here */
    char *path, *tmp_path;
} hx_atomic_file;

/* Opens path + ".tmp.PID". HX_EIO with path and the system's reason. */
int hx_atomic_file_open(hx_atomic_file *file, const char *path);

/* Flushes, checks, renames. On failure the temporary file is removed and an old `path` stays. */
int hx_atomic_file_commit(hx_atomic_file *file);

/* Removes the temporary file if it was not committed; accepts a zeroed struct. */
void hx_atomic_file_free(hx_atomic_file *file);

#ifdef __cplusplus
}
#endif

#endif
