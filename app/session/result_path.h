/* The file that a user means by a result: a VTK file, a .series, or the folder of a run. */
#ifndef HX_RESULT_PATH_H
#define HX_RESULT_PATH_H

#include "core/base/error.h"

typedef struct hx_result_path {
    char *file;   /* the VTK file (owned) */
    char *config; /* config.cfg in its folder; NULL: there is none (owned) */
} hx_result_path;

/* named: a file as it is, of a series the last one, of a folder that of its density.vtk.series.
 * HX_EINPUT: what is not there, or holds no result, and what would be right. */
int hx_result_locate(hx_result_path *result, const char *named);
/* Accepts a zeroed struct. */
void hx_result_path_free(hx_result_path *result);

/* How a file is named in another one, `from`: without that one's folder if it lies in it or below,
 * else by its absolute path. *shown is the caller's to free. */
int hx_path_seen_from(const char *from, const char *file, char **shown);

#endif
