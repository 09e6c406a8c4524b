/* A file that all ranks write, each at its own offsets, and that gets its name only after all have
 * succeeded: an atomic file (atomic_file.h) that the first rank creates and all ranks open.
 *
 *     hx_comm_file_open       collective
 *     hx_comm_file_write_at   by each rank independently, any number of times
 *     hx_comm_file_commit     collective */
#ifndef HX_COMM_FILE_H
#define HX_COMM_FILE_H

#include "../base/atomic_file.h"
#include "comm.h"

HX_C_BEGIN

typedef struct hx_comm_file {
    const hx_comm *comm; /* (borrowed) */
    hx_atomic_file file; /* used by the first rank only */
    char *path;          /* as given (owned) */
    void *opened;        /* handle of hx_comm_ops.open_file */
} hx_comm_file;

/* *shared := 1 if all ranks see, and can write, a file that the first rank creates in its `folder`.
 * Collective. */
int hx_comm_shares_folder(const hx_comm *comm, const char *folder, int *shared);

/* Opens a file of `bytes` bytes. The path of the first rank is used; those of other ranks occur
 * only in messages. HX_EIO with the same message on all ranks. */
int hx_comm_file_open(hx_comm_file *file, const hx_comm *comm, const char *path, uint64_t bytes);

/* Returns 0 or an errno for hx_atomic_file_refuse. May be called from any thread, one at a time. A
 * communicator of one rank writes from beginning to end. */
int hx_comm_file_write_at(hx_comm_file *file, uint64_t at, const void *data, size_t bytes);

/* rc: 0, or the error of this rank with its message recorded. If it is 0 on all ranks, the file
 * gets its name, with is_synced = 1 after it is on the disk. Otherwise the file is removed, an old
 * file stays, and all ranks return the first error. If the rename fails, only the first rank
 * returns that error. */
int hx_comm_file_commit(hx_comm_file *file, int rc, int is_synced);

/* Accepts a zeroed struct. */
void hx_comm_file_free(hx_comm_file *file);

HX_C_END

#endif
