/* A file that all processes of a team write, each at places of its own, and that appears under its
 * name only when all have: an atomic file (atomic_file.h) of the first process, which the others
 * open too.
 *
 *     hx_team_file_open       all
 *     hx_team_file_write_at   each by itself, as often as it likes
 *     hx_team_file_commit     all
 */
#ifndef HX_TEAM_FILE_H
#define HX_TEAM_FILE_H

#include "../base/atomic_file.h"
#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_team_file {
    const hx_team *team; /* (borrowed) */
    hx_atomic_file file; /* of the first process */
    char *path;          /* as given (owned) */
    void *opened;        /* of the team's operations */
} hx_team_file;

/* *shared: 1 if all can write files in the folder of the first process' `folder`: they see what it
 * puts there. Collective. */
int hx_team_shares_folder(const hx_team *team, const char *folder, int *shared);

/* A file of that many bytes. The first process' path counts; the others' is for messages. HX_EIO,
 * with the same message in all. */
int hx_team_file_open(hx_team_file *file, const hx_team *team, const char *path, uint64_t bytes);

/* 0, or why not, an errno: for hx_atomic_file_refuse. In any thread, one at a time. A team of one
 * writes from the beginning to the end. */
int hx_team_file_write_at(hx_team_file *file, uint64_t at, const void *data, size_t bytes);

/* rc: 0, or why this process gives up, with its message. Where all bring 0 the file gets its name,
 * with is_synced once the disk has it; else it is removed, an old one stays, and all return the
 * first one's error. What is wrong with the name itself is said by the first process alone. */
int hx_team_file_commit(hx_team_file *file, int rc, int is_synced);

/* Accepts a zeroed struct. */
void hx_team_file_free(hx_team_file *file);

#ifdef __cplusplus
}
#endif

#endif
