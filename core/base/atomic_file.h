/* A text or binary file that appears under its name only when it is complete. */
#ifndef HX_ATOMIC_FILE_H
#define HX_ATOMIC_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "error.h"

HX_C_BEGIN

typedef struct hx_atomic_file {
    FILE *stream;          /* the temporary file, open for writing */
    char *path, *tmp_path; /* the name as given; the name of the temporary file */
    char *target;          /* the file that the name leads to */
    int is_finished;       /* 1: everything is written, and only the rename is missing */
} hx_atomic_file;

/* Finds the file that a path leads to: if its last component is a symbolic link, the end of the
 * chain of links, which need not exist yet. The caller frees *target. HX_EIO: a circle of links, a
 * link that cannot be read, or a link of another user in a folder that others may write to
 * (links.h). */
int hx_atomic_file_target(const char *path, char **target);

/* Returns 1 if both paths lead to the same existing file. */
int hx_atomic_file_is(const char *path, const char *other);

/* Returns 1 if writing to both paths would end in the same file, whether or not it exists yet,
 * otherwise 0, or an error of hx_atomic_file_target. */
int hx_atomic_file_meet(const char *path, const char *other);

/* Removes the name if possible. If it is a symbolic link, the link is removed and never its
 * target. */
void hx_atomic_file_remove(const char *path);

/* Removes the contents of a file that will be written later. A plain name is removed; a symbolic
 * link is kept, so that the later file is written through it, and its target is replaced by `text`.
 * HX_EIO. */
int hx_atomic_file_empty(const char *path, const char *text);

/* Opens the file that `path` leads to for appending, for text that is read while it grows. is_kept
 * = 1 appends to the existing contents, 0 starts from an empty file. Links are treated as in
 * hx_atomic_file_open. HX_EIO. */
int hx_atomic_file_grow(FILE **stream, const char *path, int is_kept);

/* Opens TARGET.tmp.PID beside the file that `path` leads to: a symbolic link is kept and written
 * through, unless it belongs to another user (hx_atomic_file_target). An existing file keeps its
 * permission bits and stays writable by its owner. HX_EIO with the path and the reason of the
 * system. */
int hx_atomic_file_open(hx_atomic_file *file, const char *path);

/* Reserves `bytes` on the disk if the file system supports it, so that a full disk is detected
 * before the first write. HX_EIO. */
int hx_atomic_file_reserve(hx_atomic_file *file, uint64_t bytes);

/* Raises HX_EIO with path, reason and remedy. reason: an errno; 0 if the system gave none. */
int hx_atomic_file_refuse(const char *path, int reason);

/* Flushes, checks and closes the temporary file; only the rename is left. On failure the temporary
 * file is removed. */
int hx_atomic_file_finish(hx_atomic_file *file);

/* Calls hx_atomic_file_finish if that was not done, and renames. On failure the temporary file is
 * removed and an old file stays. */
int hx_atomic_file_commit(hx_atomic_file *file);

/* Like hx_atomic_file_commit, but waits until file and folder are on the disk (fsync), so that the
 * file survives a crash of the machine. */
int hx_atomic_file_commit_synced(hx_atomic_file *file);

/* Removes this user's temporary files from a folder if the process that wrote them ran on this
 * machine and has ended. Returns the number of files removed. */
int hx_atomic_file_sweep(const char *folder);

/* Like hx_atomic_file_sweep, restricted to temporary files of the file that `path` leads to. */
int hx_atomic_file_sweep_one(const char *path);

/* Removes the temporary file if it was not committed; accepts a zeroed struct. */
void hx_atomic_file_free(hx_atomic_file *file);

HX_C_END

#endif
