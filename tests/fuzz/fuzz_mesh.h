/* Passes one mesh file from memory through reader, checks and renumbering. Used by the fuzzer and
 * by the test of mutated files. */
#ifndef HX_FUZZ_MESH_H
#define HX_FUZZ_MESH_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/files/mesh_files.h"

/* Writes the bytes to `path`, whose extension selects the format unless the content does, and reads
 * them as a mesh. Returns the error code; every outcome except a crash is correct. */
static inline int fuzz_mesh(const char *path, const uint8_t *data, size_t size)
{
    hx_mesh mesh;
    hx_conditions conditions;
    hx_notes notes = {0};
    FILE *const f = fopen(path, "wb");
    if (!f) abort();
    if (size > 0 && fwrite(data, 1, size, f) != size) abort();
    fclose(f);
    /* The content selects the merging that a config could request, so that all variants are
     * tried. */
    const double merge = size % 3 == 0 ? (double)NAN : size % 3 == 1 ? 0.0 : 0.1;
    int rc = hx_mesh_read(path, merge, &mesh, &conditions, &notes);
    if (rc == HX_OK && size % 2 == 0) rc = hx_mesh_reorder(&mesh);
    if (rc == HX_OK) rc = hx_mesh_finish(&mesh);
    if (rc == HX_OK) rc = hx_mesh_check_file(&mesh, merge, &notes);
    if (rc == HX_EINTERNAL) {
        fprintf(stderr, "%s\n", hx_error_message());
        abort();
    }
    hx_conditions_free(&conditions);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
    return rc;
}

#endif
