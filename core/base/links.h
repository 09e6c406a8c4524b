/* Symbolic links in paths that the program writes to. A link that another user put into a folder
 * that others may write to can lead anywhere, so nothing is written through it (CWE-59). */
#ifndef HX_LINKS_H
#define HX_LINKS_H

#include <limits.h>

#include "error.h"

typedef struct hx_link {
    int is_link;       /* 0: the path is no symbolic link, or does not exist */
    int is_foreign;    /* 1: it belongs to another user, and others may write its folder */
    long owner;        /* user id */
    char to[PATH_MAX]; /* content of the link, relative to its folder */
} hx_link;

/* Examines the last component of `path`. Others may write to a folder if its group or everybody has
 * write permission, with or without the sticky bit, or if it belongs to a user other than this one
 * and root. HX_EIO: the link cannot be read. */
int hx_link_look(const char *path, hx_link *link);

/* Raises `code` for another user's link, with path, owner and remedy. */
int hx_link_refuse(int code, const char *path, const hx_link *link);

/* Refuses with HX_EINPUT a path that leads through another user's link, as its last component or as
 * a folder on the way. A link to a folder that belongs to root is trusted. A path that does not
 * exist yet is accepted. */
int hx_link_check_way(const char *path);

/* *next := target of the link, relative to the same folder as `path`; the caller frees it.
 * HX_ENOMEM. */
int hx_link_follow(const char *path, const hx_link *link, char **next);

#endif
