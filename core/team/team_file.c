#define _XOPEN_SOURCE 700 /* realpath */
#include "team_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/memory.h"

enum { FIRST = 0 };

static int leads(const hx_team *team)
{
    return team->rank == FIRST;
}

/* Broadcasts the absolute path of the first rank's file, which is valid in any working directory;
 * "" if it cannot be determined. */
static int tell_place(const hx_team *team, const char *path, char place[PATH_MAX])
{
    memset(place, 0, PATH_MAX);
    if (leads(team) && path && !realpath(path, place)) place[0] = '\0';
    return team->ops->broadcast(team, FIRST, place, PATH_MAX);
}

/* Creates a file with an unused name in the folder; "" if that fails. */
static void make_mark(const char *folder, char mark[PATH_MAX])
{
    const int n = snprintf(mark, PATH_MAX, "%s/.hextop.XXXXXX", folder);
    const int fd = n < PATH_MAX ? mkstemp(mark) : -1;
    if (fd < 0)
        mark[0] = '\0';
    else
        close(fd);
    errno = 0;
}

int hx_team_shares_folder(const hx_team *team, const char *folder, int *shared)
{
    char mark[PATH_MAX] = "", place[PATH_MAX];
    double n = 0.0; /* number of ranks that see it */
    *shared = 1;
    if (team->size == 1) return HX_OK;
    if (leads(team)) make_mark(folder, mark);
    int rc = tell_place(team, mark, place);
    if (team->can_write && place[0] && access(place, W_OK) == 0) n = 1.0;
    if (rc == HX_OK) rc = hx_team_sum(team, 1, &n);
    if (mark[0]) unlink(mark);
    errno = 0;
    *shared = (int)n == team->size;
    return rc;
}

static int create(hx_team_file *file, const char *path, uint64_t bytes)
{
    if (!leads(file->team)) return HX_OK;
    HX_TRY(hx_atomic_file_open(&file->file, path));
    return file->team->size > 1 ? hx_atomic_file_reserve(&file->file, bytes) : HX_OK;
}

static int open_all(hx_team_file *file)
{
    const hx_team *const team = file->team;
    char place[PATH_MAX];
    HX_TRY(tell_place(team, file->file.tmp_path, place));
    int rc = team->ops->open_file(team, file->file.stream, place, &file->opened);
    if (rc < 0) hx_error_prefix("%s: cannot write: ", file->path);
    return hx_team_agree(team, rc < 0 ? HX_EIO : rc);
}

int hx_team_file_open(hx_team_file *file, const hx_team *team, const char *path, uint64_t bytes)
{
    memset(file, 0, sizeof *file);
    file->team = team;
    int rc = hx_strdup(&file->path, path);
    if (rc == HX_OK) rc = create(file, path, bytes);
    rc = hx_team_agree(team, rc);
    if (rc == HX_OK) rc = open_all(file);
    if (rc < 0) hx_team_file_free(file);
    return rc;
}

int hx_team_file_write_at(hx_team_file *file, uint64_t at, const void *data, size_t bytes)
{
    return file->team->ops->write_at(file->opened, at, data, bytes);
}

static int close_all(hx_team_file *file, int is_synced)
{
    const int rc = file->team->ops->close_file(file->opened, is_synced);
    file->opened = NULL;
    if (rc < 0) hx_error_prefix("%s: cannot write: ", file->path);
    return hx_team_agree(file->team, rc < 0 ? HX_EIO : HX_OK);
}

int hx_team_file_commit(hx_team_file *file, int rc, int is_synced)
{
    rc = hx_team_agree(file->team, rc);
    const int closed = close_all(file, is_synced && rc == HX_OK);
    if (rc == HX_OK) rc = closed;
    if (rc == HX_OK && leads(file->team))
        rc = is_synced ? hx_atomic_file_commit_synced(&file->file)
                       : hx_atomic_file_commit(&file->file);
    hx_team_file_free(file);
    return rc;
}

void hx_team_file_free(hx_team_file *file)
{
    if (file->opened) file->team->ops->close_file(file->opened, 0);
    hx_atomic_file_free(&file->file);
    free(file->path);
    memset(file, 0, sizeof *file);
}
