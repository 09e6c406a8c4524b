#include "atomic_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

/* What the link `path` points to, from where `path` is seen. */
static int follow(const char *path, char **next)
{
    char link[PATH_MAX];
    const char *const slash = strrchr(path, '/');
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0) return HX_RAISE(HX_EIO, "%s: cannot read the link: %s", path, strerror(errno));
    link[n] = '\0';
    const size_t n_folder = link[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    HX_TRY(hx_alloc(next, n_folder + (size_t)n + 1, 1, "file name"));
    memcpy(*next, path, n_folder);
    memcpy(*next + n_folder, link, (size_t)n + 1);
    return HX_OK;
}

int hx_atomic_file_target(const char *path, char **target)
{
    enum { MOST_LINKS = 40 }; /* as Linux follows */
    struct stat info;
    HX_TRY(hx_strdup(target, path));
    for (int i = 0; i <= MOST_LINKS; i++) {
        char *next = NULL;
        if (lstat(*target, &info) != 0 || !S_ISLNK(info.st_mode)) return HX_OK;
        const int rc = follow(*target, &next);
        free(*target);
        *target = next;
        if (rc < 0) return rc;
    }
    free(*target);
    *target = NULL;
    return HX_RAISE(HX_EIO, "%s: cannot write: it is a symbolic link that leads back to itself",
                    path);
}

void hx_atomic_file_remove(const char *path)
{
    char *target = NULL;
    if (hx_atomic_file_target(path, &target) == HX_OK) unlink(target);
    free(target);
}

static int cannot_create(const hx_atomic_file *file)
{
    const char *const reason = strerror(errno);
    if (strcmp(file->path, file->target) == 0)
        return HX_RAISE(HX_EIO, "%s: cannot create it: %s", file->path, reason);
    return HX_RAISE(HX_EIO, "%s: cannot create '%s', which it is a symbolic link to: %s",
                    file->path, file->target, reason);
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
    file->stream = fopen(file->tmp_path, "wb");
    if (!file->stream) {
        rc = cannot_create(file);
        goto fail;
    }
    /* A file system without permissions does without. */
    if (exists && fchmod(fileno(file->stream), (info.st_mode & 0777) | S_IWUSR) != 0) errno = 0;
    return HX_OK;

fail:
    hx_atomic_file_free(file);
    return rc;
}

int hx_atomic_file_commit(hx_atomic_file *file)
{
    int rc = HX_OK;
    if (!file->stream) return HX_RAISE(HX_EINTERNAL, "commit of a file that is not open");

    errno = 0;
    const int had_error = ferror(file->stream);
    int failed = had_error || fflush(file->stream) != 0;
    int reason = errno;
    if (fclose(file->stream) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    file->stream = NULL;
    if (failed) {
        rc = HX_RAISE(HX_EIO, "%s: cannot write: %s", file->path,
                      reason ? strerror(reason) : "an earlier write failed");
        goto fail;
    }
    if (rename(file->tmp_path, file->target) != 0) {
        rc = HX_RAISE(HX_EIO, "%s: cannot rename the finished %s to it: %s", file->path,
                      file->tmp_path, strerror(errno));
        goto fail;
    }
    free(file->tmp_path);
    file->tmp_path = NULL; /* nothing left to remove */
    hx_atomic_file_free(file);
    return HX_OK;

fail:
    unlink(file->tmp_path);
    free(file->tmp_path);
    file->tmp_path = NULL;
    hx_atomic_file_free(file);
    return rc;
}

void hx_atomic_file_free(hx_atomic_file *file)
{
    if (file->stream) {
        fclose(file->stream);
        unlink(file->tmp_path);
    }
    free(file->tmp_path);
    free(file->path);
    free(file->target);
    memset(file, 0, sizeof *file);
}
