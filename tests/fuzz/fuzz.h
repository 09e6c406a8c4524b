/* Targets of the fuzzer: each takes the bytes of one input through what reads such input, and stops
 * the process (abort) where a promise is broken: an error without a message or with the code of an
 * internal one, an accepted thing that is not valid. Crashes, leaks and endless loops are found by
 * what runs it: libFuzzer (fuzz_main.c), or replay.c in a plain or sanitized build. */
#ifndef HX_FUZZ_H
#define HX_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "core/mesh/mesh.h"

typedef struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} fuzz_target;

/* All of them; ends with an empty one. */
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

/* "FOLDER/name" in a folder of this process, which its end removes; returns path. */
const char *fuzz_path(const char *name, char path[FUZZ_PATH]);
void fuzz_write(const char *path, const void *data, size_t size);

/* Stops the process, saying what and the last message, where a promise is broken. */
void fuzz_require(int holds, const char *what);

/* Requires an error to have a message and no internal code; clears it. Returns 1 for success. */
int fuzz_accepted(int rc);

/* Of a finished mesh: indices in range, coordinates finite, volumes positive. */
void fuzz_require_mesh(const hx_mesh *mesh);

/* The bytes with a 0 behind them, up to the first 0; the caller's to free. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
