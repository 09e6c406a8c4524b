/* Targets of the fuzzer. Each passes the bytes of one input to the functions that read such input,
 * and aborts the process if a promise is broken: an error without a message or with an internal
 * code, or accepted input that is not valid. Crashes, leaks and endless loops are detected by the
 * caller: libFuzzer (fuzz_main.c), or replay.c in a plain or sanitized build. */
#ifndef HX_FUZZ_H
#define HX_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "core/mesh/mesh.h"

typedef struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} fuzz_target;

/* All targets; the last entry is empty. */
extern const fuzz_target fuzz_targets[];
const fuzz_target *fuzz_target_find(const char *name);

void fuzz_config(const uint8_t *data, size_t size);
void fuzz_meshes(const uint8_t *data, size_t size);
void fuzz_models(const uint8_t *data, size_t size);
void fuzz_triangles(const uint8_t *data, size_t size);
void fuzz_checkpoint(const uint8_t *data, size_t size);
void fuzz_results(const uint8_t *data, size_t size);
void fuzz_loads(const uint8_t *data, size_t size);

enum { FUZZ_PATH = 256 };

/* path := "FOLDER/name" in a folder of this process, which is removed at exit; returns path. */
const char *fuzz_path(const char *name, char path[FUZZ_PATH]);
void fuzz_write(const char *path, const void *data, size_t size);

/* If a promise is broken, prints `what` and the last message, and aborts. */
void fuzz_require(int holds, const char *what);

/* Requires an error to have a message and no internal code; clears it. Returns 1 for success. */
int fuzz_accepted(int rc);

/* Requires a finished mesh to have indices in range, finite coordinates and positive volumes. */
void fuzz_require_mesh(const hx_mesh *mesh);

/* The bytes up to the first 0, with a 0 appended; the caller frees them. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
