/* Symbolic links where the program writes. A link that another user put into a folder that others
 * may write can lead anywhere, so nothing is written through it (CWE-59). */
#ifndef HX_LINKS_H
#define HX_LINKS_H

#include <limits.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_link {
    int is_link;       /* 0: the path names no symbolic link, or nothing */
    int is_foreign;    /* 1: it belongs to another user, and others may write its folder */
    long owner;        /* user id */
    char to[PATH_MAX]; /* what it says, relative to its folder */
} hx_link;

/* What the last component of `path` is. Others may write a folder if its group or everybody may,
 * sticky or not, or if it belongs to a user other than this one and root. HX_EIO: a link that
 * cannot be read. */
int hx_link_look(const char *path, hx_link *link);

/* Raises `code` for a foreign link, with path, owner and remedy. */
int hx_link_refuse(int code, const char *path, const hx_link *link);

/* Refuses, by HX_EINPUT, a path that leads through a foreign link: by its last component, or by a
 * folder on the way. A folder's link that belongs to root is trusted. What does not exist yet
 * passes. */
int hx_link_check_way(const char *path);

/* *next := where the link `path` leads, from where `path` is seen; the caller's to free. HX_ENOMEM.
 */
int hx_link_follow(const char *path, const hx_link *link, char **next);

#ifdef __cplusplus
}
#endif

#endif
