#include "atomic_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

int hx_atomic_file_open(hx_atomic_file *file, const char *path)
{
    int rc = HX_OK;
    memset(file, 0, sizeof *file);
    const size_t n_tmp = strlen(path) + 32;
    HX_TRY_FAIL(hx_strdup(&file->path, path));
    HX_TRY_FAIL(hx_alloc(&file->tmp_path, n_tmp, 1, "file name"));

    /* The rename would replace a device (/dev/null) by a plain file. */
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        rc = HX_RAISE(HX_EIO, "%s: cannot write: it is %s, not a regular file", path,
                      S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
        goto fail;
    }

    snprintf(file->tmp_path, n_tmp, "%s.tmp.%ld", path, (long)getpid());
    file->stream = fopen(file->tmp_path, "wb");
    if (!file->stream) {
        rc = HX_RAISE(HX_EIO, "%s: cannot create it: %s", path, strerror(errno));
        goto fail;
    }
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
    if (rename(file->tmp_path, file->path) != 0) {
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
    memset(file, 0, sizeof *file);
}
