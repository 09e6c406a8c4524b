/* The file that a user's name of a result refers to: a VTK file, a .series, or the folder of a
 * run. */
#ifndef HX_RESULT_PATH_H
#define HX_RESULT_PATH_H

#include "core/base/error.h"

typedef struct hx_result_path {
    char *file;   /* the VTK file (owned) */
    char *config; /* config.cfg in its folder; NULL: there is none (owned) */
    char *series; /* the list in which the file was found; NULL: the file was named (owned) */
} hx_result_path;

/* named: a file itself, the last one of a series, or the last one of a folder's density.vtk.series.
 * HX_EINPUT: it does not exist or is not a result; the message states what would be right. */
int hx_result_locate(hx_result_path *result, const char *named);
/* Accepts a zeroed struct. */
void hx_result_path_free(hx_result_path *result);

/* The name of `file` for use in the file `from`: relative if it is in the folder of `from` or
 * below, else its absolute path. The caller frees *shown. */
int hx_path_seen_from(const char *from, const char *file, char **shown);

#endif
