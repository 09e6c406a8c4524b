#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_PATH */
#endif
#include "links.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

/* 1 if a user other than this one and root may put entries into the folder of `path`. */
static int others_may_write(const char *path)
{
    char folder[PATH_MAX];
    struct stat info;
    const char *const slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= PATH_MAX - 1) return 1;
    snprintf(folder, sizeof folder, "%.*s.", (int)n, path);
    if (stat(folder, &info) != 0) return 1;
    return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
           (info.st_uid != geteuid() && info.st_uid != 0);
}

static int cannot_read(const char *path)
{
    return HX_RAISE(HX_EIO, "%s: cannot read the link: %s", path, strerror(errno));
}

/* Owner and content belong to the same link, even if the link is replaced meanwhile. */
static int read_link(const char *path, hx_link *link)
{
    struct stat info;
#ifdef O_PATH
    const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return cannot_read(path);
    const int known = fstat(fd, &info) == 0;
    const ssize_t n = known ? readlinkat(fd, "", link->to, sizeof link->to - 1) : -1;
    const int why = errno;
    close(fd);
    errno = why;
#else
    const int known = lstat(path, &info) == 0;
    const ssize_t n = known ? readlink(path, link->to, sizeof link->to - 1) : -1;
#endif
    if (n < 0) return cannot_read(path);
    link->to[n] = '\0';
    link->is_link = 1;
    link->owner = (long)info.st_uid;
    link->is_foreign = info.st_uid != geteuid() && others_may_write(path);
    return HX_OK;
}

int hx_link_look(const char *path, hx_link *link)
{
    struct stat info;
    memset(link, 0, sizeof *link);
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return HX_OK;
    return read_link(path, link);
}

int hx_link_refuse(int code, const char *path, const hx_link *link)
{
    return HX_RAISE(
        code,
        "%s: refusing to write through this symbolic link to '%s': it belongs to another "
        "user (%ld), in a folder that others may write to; remove the link, or choose "
        "another path",
        path, link->to, link->owner);
}

int hx_link_follow(const char *path, const hx_link *link, char **next)
{
    const char *const slash = strrchr(path, '/');
    const size_t n_folder = link->to[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    const size_t n = strlen(link->to) + 1;
    HX_TRY(hx_alloc(next, n_folder + n, 1, "file name"));
    memcpy(*next, path, n_folder);
    memcpy(*next + n_folder, link->to, n);
    return HX_OK;
}

enum { MOST_LINKS = 40 }; /* the limit of Linux */

static int check_way(const char *path, int depth);

/* Checks one prefix of a path; is_last = 1: the prefix is the whole path. */
static int check_prefix(const char *path, int is_last, int depth)
{
    hx_link link;
    char *next;
    HX_TRY(hx_link_look(path, &link));
    if (!link.is_link || depth == 0) return HX_OK;
    if (link.is_foreign && (is_last || link.owner != 0))
        return hx_link_refuse(HX_EINPUT, path, &link);
    HX_TRY(hx_link_follow(path, &link, &next));
    const int rc = check_way(next, depth - 1);
    free(next);
    return rc;
}

static int check_way(const char *path, int depth)
{
    char prefix[PATH_MAX];
    const size_t n = strlen(path);
    if (n >= sizeof prefix) return HX_OK; /* the system refuses such a path itself */
    for (size_t i = 1; i <= n; i++) {
        if ((path[i] != '/' && path[i] != '\0') || path[i - 1] == '/') continue;
        snprintf(prefix, sizeof prefix, "%.*s", (int)i, path);
        HX_TRY(check_prefix(prefix, path[i + strspn(path + i, "/")] == '\0', depth));
    }
    return HX_OK;
}

int hx_link_check_way(const char *path)
{
    return check_way(path, MOST_LINKS);
}
