#define _XOPEN_SOURCE 700 /* realpath */
#include "comm_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/memory.h"

enum { FIRST = 0 };

static int leads(const hx_comm *comm)
{
    return comm->rank == FIRST;
}

/* Broadcasts the absolute path of the first rank's file, which is valid in any working directory;
 * "" if it cannot be determined. */
static int tell_place(const hx_comm *comm, const char *path, char place[PATH_MAX])
{
    memset(place, 0, PATH_MAX);
    if (leads(comm) && path && !realpath(path, place)) place[0] = '\0';
    return comm->ops->broadcast(comm, FIRST, place, PATH_MAX);
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

int hx_comm_shares_folder(const hx_comm *comm, const char *folder, int *shared)
{
    char mark[PATH_MAX] = "", place[PATH_MAX];
    double n = 0.0; /* number of ranks that see it */
    *shared = 1;
    if (comm->size == 1) return HX_OK;
    if (leads(comm)) make_mark(folder, mark);
    int rc = tell_place(comm, mark, place);
    if (comm->can_write && place[0] && access(place, W_OK) == 0) n = 1.0;
    if (rc == HX_OK) rc = hx_comm_sum(comm, 1, &n);
    if (mark[0]) unlink(mark);
    errno = 0;
    *shared = (int)n == comm->size;
    return rc;
}

static int create_comm_file(hx_comm_file *file, const char *path, uint64_t bytes)
{
    if (!leads(file->comm)) return HX_OK;
    HX_TRY(hx_atomic_file_open(&file->file, path));
    return file->comm->size > 1 ? hx_atomic_file_reserve(&file->file, bytes) : HX_OK;
}

static int open_all(hx_comm_file *file)
{
    const hx_comm *const comm = file->comm;
    char place[PATH_MAX];
    HX_TRY(tell_place(comm, file->file.tmp_path, place));
    int rc = comm->ops->open_file(comm, file->file.stream, place, &file->opened);
    if (rc < 0) hx_error_prefix("%s: cannot write: ", file->path);
    return hx_comm_agree(comm, rc < 0 ? HX_EIO : rc);
}

int hx_comm_file_open(hx_comm_file *file, const hx_comm *comm, const char *path, uint64_t bytes)
{
    memset(file, 0, sizeof *file);
    file->comm = comm;
    int rc = hx_strdup(&file->path, path);
    if (rc == HX_OK) rc = create_comm_file(file, path, bytes);
    rc = hx_comm_agree(comm, rc);
    if (rc == HX_OK) rc = open_all(file);
    if (rc < 0) hx_comm_file_free(file);
    return rc;
}

int hx_comm_file_write_at(hx_comm_file *file, uint64_t at, const void *data, size_t bytes)
{
    return file->comm->ops->write_at(file->opened, at, data, bytes);
}

static int close_all(hx_comm_file *file, int is_synced)
{
    const int rc = file->comm->ops->close_file(file->opened, is_synced);
    file->opened = NULL;
    if (rc < 0) hx_error_prefix("%s: cannot write: ", file->path);
    return hx_comm_agree(file->comm, rc < 0 ? HX_EIO : HX_OK);
}

int hx_comm_file_commit(hx_comm_file *file, int rc, int is_synced)
{
    rc = hx_comm_agree(file->comm, rc);
    const int closed = close_all(file, is_synced && rc == HX_OK);
    if (rc == HX_OK) rc = closed;
    if (rc == HX_OK && leads(file->comm))
        rc = is_synced ? hx_atomic_file_commit_synced(&file->file)
                       : hx_atomic_file_commit(&file->file);
    hx_comm_file_free(file);
    return rc;
}

void hx_comm_file_free(hx_comm_file *file)
{
    if (file->opened) file->comm->ops->close_file(file->opened, 0);
    hx_atomic_file_free(&file->file);
    free(file->path);
    memset(file, 0, sizeof *file);
}
