/* The text of a config as libconfig 1.5 can read it: a single text that includes the files named by
 * @include, and records where each of its lines was written. */
#ifndef HX_CONFIG_SOURCE_H
#define HX_CONFIG_SOURCE_H

#include <stddef.h>

#include "core/base/error.h"

typedef struct hx_config_line {
    int file, line; /* index into hx_config_source.file; line of that file, from 1 */
} hx_config_line;

typedef struct hx_config_source {
    char *text;           /* (owned) */
    hx_config_line *from; /* [n_line] place where each line of the text was written (owned) */
    size_t n_line, line_capacity;
    char **file; /* [n_file] names as shown in messages; 0: the config (owned) */
    size_t n_file, file_capacity;
} hx_config_source;

/* Reads the file at `path`, or takes `text` unless it is NULL; messages call it `path`. A relative
 * @include is resolved in the folder of `path`, also within included files. HX_EINPUT "FILE:LINE:
 * ...": it is not a file, files include each other, or hx_value_check_nesting refuses the text. The
 * caller frees s, even on failure. */
int hx_config_source_open(hx_config_source *s, const char *text, const char *path);

/* "FILE:LINE" of a line of the text, counted from 1; returns `place`. */
const char *hx_config_source_place(const hx_config_source *s, int line, char *place,
                                   size_t n_place);

/* Accepts a zeroed struct. */
void hx_config_source_free(hx_config_source *s);

#endif
