/* Compares a mesh file that one process reads in pieces with the same file read as a whole. */
#ifndef HX_FUZZ_PIECES_H
#define HX_FUZZ_PIECES_H

#include "core/comm/comm_reduce.h"
#include "core/dist_mesh/dist_mesh.h"
#include "core/files/file_source.h"
#include "core/mesh/mesh_hash.h"
#include "fuzz_mesh.h"

static inline void fuzz_fail(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", path, what, hx_error_message());
    abort();
}

/* Creates a finished distributed mesh with all elements. *why: see hx_file_source_open. */
static inline int fuzz_dist_mesh(const char *path, const hx_comm *comm, const hx_reduce *reduce,
                                 char why[HX_FILE_WHY], hx_mesh *ownership)
{
    const hx_dist_mesh_params params = {.partition = HX_PARTITION_BISECTION};
    hx_mesh_source source;
    hx_notes notes = {0};
    int rc = hx_file_source_open(&source, comm, path, 0, &notes, why);
    if (rc == HX_OK && !why[0]) {
        rc = hx_dist_mesh_create(ownership, comm, reduce, &source, &params);
        if (rc == HX_OK) rc = hx_mesh_finish(ownership);
    }
    hx_source_close(&source);
    hx_notes_free(&notes);
    return rc;
}

/* For a file that exists. Aborts if only one of the two ways accepts the file, or if their meshes
 * differ. Returns 1 if it could be read in pieces. */
static inline int fuzz_pieces(const char *path)
{
    char why[HX_FILE_WHY] = "";
    hx_comm comm;
    hx_comm_reduce reduce;
    hx_mesh ownership = {0}, whole = {0};
    hx_hash hash, exact;
    hx_comm_self(&comm);
    hx_comm_reduce_of(&reduce, &comm);
    const int rc = fuzz_dist_mesh(path, &comm, &reduce.base, why, &ownership);
    const int in_pieces = rc == HX_OK && !why[0];
    if (rc == HX_EINTERNAL) fuzz_fail(path, "in pieces");
    if (!why[0]) {
        int rc_whole = hx_mesh_read(path, 0.0, &whole, NULL, NULL);
        if (rc_whole == HX_OK) rc_whole = hx_mesh_finish(&whole);
        if ((rc == HX_OK) != (rc_whole == HX_OK)) fuzz_fail(path, "one way alone");
    }
    if (in_pieces) {
        if (hx_mesh_hash_all(&ownership, &hash) < 0) fuzz_fail(path, "no hash");
        exact = hx_mesh_hash(&whole);
        if (memcmp(&hash, &exact, sizeof hash) != 0 || ownership.n_set != whole.n_set)
            fuzz_fail(path, "another mesh");
    }
    hx_mesh_free(&ownership);
    hx_mesh_free(&whole);
    return in_pieces;
}

#endif
