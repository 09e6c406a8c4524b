#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* fallocate */
#endif
#include "atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "links.h"
#include "memory.h"

int hx_atomic_file_target(const char *path, char **target)
{
    enum { MOST_LINKS = 40 }; /* the limit of Linux */
    int rc;
    HX_TRY(hx_strdup(target, path));
    for (int i = 0; i <= MOST_LINKS; i++) {
        hx_link link;
        char *next = NULL;
        HX_TRY_FAIL(hx_link_look(*target, &link));
        if (!link.is_link) return HX_OK;
        HX_TRY_FAIL(link.is_foreign ? hx_link_refuse(HX_EIO, *target, &link) : HX_OK);
        HX_TRY_FAIL(hx_link_follow(*target, &link, &next));
        free(*target);
        *target = next;
    }
    rc =
        HX_RAISE(HX_EIO, "%s: cannot write: it is a symbolic link that leads back to itself", path);
fail:
    free(*target);
    *target = NULL;
    return rc;
}

int hx_atomic_file_is(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Returns the last component of a path. */
static const char *last_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes the folder of a path's last component, or "" if the path is too long. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    const size_t n = (size_t)(last_of(path) - path);
    const int fits = n < PATH_MAX - 1;
    snprintf(folder, PATH_MAX, "%.*s%s", fits ? (int)n : 0, path, fits ? "." : "");
}

static int targets_meet(const char *path, const char *other)
{
    char folder[PATH_MAX], other_folder[PATH_MAX];
    if (strcmp(last_of(path), last_of(other)) != 0) return 0;
    folder_of(path, folder);
    folder_of(other, other_folder);
    return hx_atomic_file_is(folder, other_folder);
}

int hx_atomic_file_meet(const char *path, const char *other)
{
    char *target = NULL, *other_target = NULL;
    if (hx_atomic_file_is(path, other)) return 1;
    int rc = hx_atomic_file_target(path, &target);
    if (rc == HX_OK) rc = hx_atomic_file_target(other, &other_target);
    if (rc == HX_OK) rc = targets_meet(target, other_target);
    free(target);
    free(other_target);
    return rc;
}

void hx_atomic_file_remove(const char *path)
{
    unlink(path);
}

/* Returns advice for an errno. */
static const char *remedy(int reason)
{
    switch (reason) {
    case ENOSPC:
    case EDQUOT:
        return "free some space, or choose another path";
    case EFBIG:
        return "raise the limit of file sizes (ulimit -f), or choose another path";
    case EIO:
        return "the disk or the connection to it failed: choose another path";
    case ENOMEM:
        return "end other programs and try again";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    case ENOENT:
        return "its folder does not exist";
    default:
        return "choose another path";
    }
}

int hx_atomic_file_refuse(const char *path, int reason)
{
    return HX_RAISE(HX_EIO, "%s: cannot write: %s; %s", path,
                    reason ? strerror(reason) : "an earlier write failed", remedy(reason));
}

static int cannot_create(const hx_atomic_file *file)
{
    const int reason = errno;
    if (strcmp(file->path, file->target) == 0)
        return HX_RAISE(HX_EIO, "%s: cannot create it: %s; %s", file->path, strerror(reason),
                        remedy(reason));
    return HX_RAISE(HX_EIO, "%s: cannot create '%s', the target of this symbolic link: %s; %s",
                    file->path, file->target, strerror(reason), remedy(reason));
}

/* Creates a file that did not exist (mode "x"), so that nothing placed under its name is written
 * to. A file left by a killed process with the same process number is removed first. */
static FILE *create_new(const char *path)
{
    FILE *stream = fopen(path, "wbx");
    if (!stream && errno == EEXIST && unlink(path) == 0) stream = fopen(path, "wbx");
    return stream;
}

int hx_atomic_file_open(hx_atomic_file *file, const char *path)
{
    int rc = HX_OK;
    memset(file, 0, sizeof *file);
    HX_TRY_FAIL(hx_strdup(&file->path, path));
    HX_TRY_FAIL(hx_atomic_file_target(path, &file->target));
    const size_t n_tmp = strlen(file->target) + 32;
    HX_TRY_FAIL(hx_alloc(&file->tmp_path, n_tmp, 1, "file name"));

    /* The rename would replace a device (/dev/null) by a plain file. */
    struct stat info;
    const int exists = stat(file->target, &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {
        rc = HX_RAISE(HX_EIO, "%s: cannot write: it is %s, not a regular file", path,
                      S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
        goto fail;
    }

    snprintf(file->tmp_path, n_tmp, "%s.tmp.%ld", file->target, (long)getpid());
    file->stream = create_new(file->tmp_path);
    if (!file->stream) {
        rc = cannot_create(file);
        goto fail;
    }
    /* Ignored on a file system without permissions. */
    if (exists && fchmod(fileno(file->stream), (info.st_mode & 0777) | S_IWUSR) != 0) errno = 0;
    return HX_OK;

fail:
    hx_atomic_file_free(file);
    return rc;
}

/* Returns 1 if the stream is the file of that name itself and not the target of a link. */
static int is_itself(FILE *stream, const char *path)
{
    struct stat name, opened;
    return lstat(path, &name) == 0 && fstat(fileno(stream), &opened) == 0 &&
           name.st_dev == opened.st_dev && name.st_ino == opened.st_ino;
}

int hx_atomic_file_grow(FILE **stream, const char *path, int is_kept)
{
    struct stat info;
    char *target;
    *stream = NULL;
    HX_TRY(hx_atomic_file_target(path, &target));
    /* append mode: if a link was put there meanwhile, its target loses nothing */
    FILE *const f = fopen(target, "a");
    const int why = errno;
    const int failed = !f || !is_itself(f, target) ||
                       (!is_kept && fstat(fileno(f), &info) == 0 && S_ISREG(info.st_mode) &&
                        ftruncate(fileno(f), 0) != 0);
    free(target);
    if (!failed) {
        *stream = f;
        return HX_OK;
    }
    if (f) fclose(f);
    return hx_atomic_file_refuse(path, f ? 0 : why);
}

int hx_atomic_file_empty(const char *path, const char *text)
{
    hx_link link;
    struct stat info;
    hx_atomic_file file;
    HX_TRY(hx_link_look(path, &link));
    if (!link.is_link) hx_atomic_file_remove(path);
    if (!link.is_link || stat(path, &info) != 0) return HX_OK;
    HX_TRY(hx_atomic_file_open(&file, path));
    fputs(text, file.stream);
    return hx_atomic_file_commit(&file);
}

int hx_atomic_file_reserve(hx_atomic_file *file, uint64_t bytes)
{
    int reason = 0;
#ifdef __linux__
    do {
        errno = 0;
        reason = bytes > 0 && fallocate(fileno(file->stream), 0, 0, (off_t)bytes) != 0 ? errno : 0;
    } while (reason == EINTR);
#else
    (void)bytes;
#endif
    errno = 0;
    return (reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO)
               ? hx_atomic_file_refuse(file->path, reason)
               : HX_OK;
}

/* Writes the folder of a file to the disk; errors are ignored, since not every system supports
 * it. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    folder_of(path, folder);
    const int fd = open(folder, O_RDONLY);
    if (fd < 0) return;
    if (fsync(fd) != 0) errno = 0;
    close(fd);
}

/* Returns the reason of an earlier failed write, whose errno is lost, by trying one more byte. The
 * file is discarded afterwards. */
static int query_write_error(FILE *stream)
{
    errno = 0;
    return write(fileno(stream), "", 1) < 0 ? errno : 0;
}

static void give_up(hx_atomic_file *file)
{
    unlink(file->tmp_path);
    file->is_finished = 0;
    hx_atomic_file_free(file);
}

/* is_synced = 1: also waits for the disk. */
static int finish(hx_atomic_file *file, int is_synced)
{
    if (!file->stream) return HX_RAISE(HX_EINTERNAL, "commit of a file that is not open");
    errno = 0;
    const int had_error = ferror(file->stream);
    int failed =
        had_error || fflush(file->stream) != 0 || (is_synced && fsync(fileno(file->stream)) != 0);
    int reason = had_error ? query_write_error(file->stream) : errno;
    if (fclose(file->stream) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    file->stream = NULL;
    file->is_finished = 1;
    if (!failed) return HX_OK;
    const int rc = hx_atomic_file_refuse(file->path, reason);
    give_up(file);
    return rc;
}

int hx_atomic_file_finish(hx_atomic_file *file)
{
    return finish(file, 0);
}

/* is_synced = 1: also waits for the disk, including the name. */
static int commit(hx_atomic_file *file, int is_synced)
{
    if (!file->is_finished) HX_TRY(finish(file, is_synced));
    if (rename(file->tmp_path, file->target) != 0) {
        const int why = errno;
        const int rc = HX_RAISE(HX_EIO, "%s: cannot rename the finished %s to it: %s; %s",
                                file->path, file->tmp_path, strerror(why), remedy(why));
        give_up(file);
        return rc;
    }
    if (is_synced) sync_folder(file->target);
    file->is_finished = 0; /* nothing left to remove */
    hx_atomic_file_free(file);
    return HX_OK;
}

int hx_atomic_file_commit(hx_atomic_file *file)
{
    return commit(file, 0);
}

int hx_atomic_file_commit_synced(hx_atomic_file *file)
{
    return commit(file, 1);
}

/* Returns the position of the ".tmp.PID" that ends a name, or NULL. */
static const char *mark_of(const char *name)
{
    static const char mark[] = ".tmp.";
    const char *at = NULL;
    for (const char *c = strstr(name, mark); c; c = strstr(c + 1, mark)) at = c;
    if (!at || at == name) return NULL;
    const char *const digits = at + strlen(mark);
    return *digits >= '1' && *digits <= '9' && !digits[strspn(digits, "0123456789")] ? at : NULL;
}

/* Returns 1 if the file was left by a process that has ended; if target is not NULL, only temporary
 * files of `target` count. */
static int is_left(const char *name, const char *target)
{
    const char *const mark = mark_of(name);
    if (!mark) return 0;
    const size_t n = (size_t)(mark - name);
    if (target && (strlen(target) != n || strncmp(name, target, n) != 0)) return 0;
    const long pid = strtol(strrchr(mark, '.') + 1, NULL, 10);
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* A file of another user is left alone: its process may run on another machine. */
static int is_own(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && info.st_uid == geteuid() && !S_ISDIR(info.st_mode);
}

static int sweep(const char *folder, const char *target)
{
    char path[PATH_MAX];
    int n = 0;
    DIR *const dir = opendir(folder);
    if (!dir) return 0;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!is_left(entry->d_name, target)) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        if (is_own(path)) n += unlink(path) == 0;
    }
    closedir(dir);
    errno = 0;
    return n;
}

int hx_atomic_file_sweep(const char *folder)
{
    return sweep(folder, NULL);
}

int hx_atomic_file_sweep_one(const char *path)
{
    char *target = NULL, folder[PATH_MAX];
    HX_TRY(hx_atomic_file_target(path, &target));
    folder_of(target, folder);
    const int n = sweep(folder, last_of(target));
    free(target);
    return n;
}

void hx_atomic_file_free(hx_atomic_file *file)
{
    const int is_there = file->stream || file->is_finished;
    if (file->stream) fclose(file->stream);
    if (is_there) unlink(file->tmp_path);
    free(file->tmp_path);
    free(file->path);
    free(file->target);
    memset(file, 0, sizeof *file);
}
