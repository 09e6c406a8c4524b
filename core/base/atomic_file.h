/* A text or binary file that appears under its name only when it is complete. */
#ifndef HX_ATOMIC_FILE_H
#define HX_ATOMIC_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_atomic_file {
    FILE *stream;          /* write here */
    char *path, *tmp_path; /* as given; where it is written meanwhile */
    char *target;          /* the file that the path names */
    int is_finished;       /* all of it is written: it lacks its name alone */
} hx_atomic_file;

/* The file that a path names: if its last component is a symbolic link, what that points to in the
 * end, which need not exist yet. *target is the caller's to free. HX_EIO: a circle of links, a link
 * that cannot be read, or one of another user in a folder that others may write (links.h). */
int hx_atomic_file_target(const char *path, char **target);

/* 1 if both names are those of one file that exists. */
int hx_atomic_file_is(const char *path, const char *other);

/* 1 if what is written to both names ends in one file, there already or not; 0; or an error as of
 * hx_atomic_file_target. */
int hx_atomic_file_meet(const char *path, const char *other);

/* Removes the name, if it can be removed: of a symbolic link the link, never what it points to. */
void hx_atomic_file_remove(const char *path);

/* Removes what a file held that is to be written later. A name is removed; a symbolic link stays,
 * so that it is written through later, and what it points to is replaced by `text`. HX_EIO. */
int hx_atomic_file_empty(const char *path, const char *text);

/* Opens for appending the file that `path` names, for a text that is read while it grows; is_kept:
 * after what it holds, else from its beginning. Links as in hx_atomic_file_open. HX_EIO. */
int hx_atomic_file_grow(FILE **stream, const char *path, int is_kept);

/* Opens TARGET.tmp.PID beside the file that `path` names: a symbolic link stays and is written
 * through, unless it is another user's (hx_atomic_file_target). A file that is there already keeps
 * its permission bits, and can be written by its owner. HX_EIO with path and the system's reason.
 */
int hx_atomic_file_open(hx_atomic_file *file, const char *path);

/* Takes room for `bytes` on the disk, where the file system has a way to, so that a full disk shows
 * before the first write. HX_EIO. */
int hx_atomic_file_reserve(hx_atomic_file *file, uint64_t bytes);

/* HX_EIO with path, reason and remedy; reason: an errno, 0: the system did not say. */
int hx_atomic_file_refuse(const char *path, int reason);

/* Flushes, checks, closes: it waits for its name. On failure the temporary file is removed. */
int hx_atomic_file_finish(hx_atomic_file *file);

/* Finishes what is not finished, renames. On failure the temporary file is removed and an old file
 * stays. */
int hx_atomic_file_commit(hx_atomic_file *file);

/* The same once the disk has it (fsync, of the folder too): for what a crash of the machine must
 * not take. */
int hx_atomic_file_commit_synced(hx_atomic_file *file);

/* Removes from a folder this user's temporary files of processes that are no more, of this machine.
 * Returns how many. */
int hx_atomic_file_sweep(const char *folder);

/* Those alone that were to become the file that `path` names. */
int hx_atomic_file_sweep_one(const char *path);

/* Removes the temporary file if it was not committed; accepts a zeroed struct. */
void hx_atomic_file_free(hx_atomic_file *file);

#ifdef __cplusplus
}
#endif

#endif
