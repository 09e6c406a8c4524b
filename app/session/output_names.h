/* The files that a command writes: each can be written, no two are the same file, and none is one
 * that the command reads. Files are compared by device and inode, so through links. */
#ifndef HX_OUTPUT_NAMES_H
#define HX_OUTPUT_NAMES_H

#include "../config/config.h"
#include "result_path.h"

enum { HX_OUTPUT_NAMES_MAX = 8 };

typedef struct hx_output_names {
    size_t n;
    const char *name[HX_OUTPUT_NAMES_MAX]; /* [n] (borrowed) */
} hx_output_names;

/* name = NULL: the file was not requested. */
void hx_output_names_add(hx_output_names *names, const char *name);

/* Checks the folders of the files before anything takes time. HX_EINPUT: one cannot be written. */
int hx_output_names_probe(const hx_output_names *names);

/* HX_EINPUT: two names are the same file, or one is an existing .cfg, since no command replaces a
 * config. */
int hx_output_names_check(const hx_output_names *names);

/* HX_EINPUT: an output is the file `input` (NULL: none). what: its role, such as "the config". */
int hx_output_names_check_input(const hx_output_names *names, const char *input, const char *what);

/* HX_EINPUT: an output is the result, its series, or the config of its run. */
int hx_output_names_check_result(const hx_output_names *names, const hx_result_path *result);

/* HX_EINPUT: an output is the config, a file that it includes, its mesh.file or its
 * optimization.initial. hx_session_make_mesh calls this function for session.outputs. */
int hx_output_names_check_config(const hx_output_names *names, const hx_config *cfg);

#endif
