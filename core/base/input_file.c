#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL: a regular file. */
static const char *kind_of(int fd)
{
    struct stat info;
    char byte;
    if (fstat(fd, &info) != 0) return strerror(errno);
    errno = EINVAL;
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return "it is a folder, not a file";
    }
    if (S_ISFIFO(info.st_mode)) return "it is a pipe, and a regular file is wanted";
    if (!S_ISREG(info.st_mode)) return "it is a device, and a regular file is wanted";
    /* Of no size, and yet there is something or an error: /proc, whose files are made up. */
    if (info.st_size > 0 || pread(fd, &byte, 1, 0) == 0) return NULL;
    return "it is not on a disk, and a regular file is wanted";
}

FILE *hx_input_open(const char *path, const char **why)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe must not wait */
    const char *const fault = fd < 0 ? strerror(errno) : kind_of(fd);
    FILE *const stream = fault ? NULL : fdopen(fd, "rb");
    if (why) *why = fault ? fault : stream ? "" : strerror(errno);
    if (!stream && fd >= 0) {
        const int code = errno;
        close(fd);
        errno = code;
    }
    return stream;
}
