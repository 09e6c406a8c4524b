/* Names that files, environment variables and warnings had in earlier versions. Everything that
 * reads such a name looks it up here, so old files are still read and old words are answered with
 * the new ones. */
#ifndef HX_OLD_NAMES_H
#define HX_OLD_NAMES_H

#include <stddef.h>

typedef enum {
    HX_OLD_JSON,       /* member of a JSON file of a result */
    HX_OLD_CHECKPOINT, /* beginning of the name of a checkpoint's entry */
    HX_OLD_VARIABLE,   /* environment variable */
    HX_OLD_WARNING,    /* code of a warning */
    HX_OLD_SPAN        /* span of timeline.json, read by tests/bench/timeline.py */
} hx_old_kind;

typedef struct hx_old_name {
    hx_old_kind kind;
    const char *old, *now;
} hx_old_name;

/* The table, ended by a row without names. Several old names may have the same new one. */
extern const hx_old_name hx_old_names[];

/* The i-th name that `now` had in earlier versions; NULL: it had i at most. */
const char *hx_name_before(hx_old_kind kind, const char *now, size_t i);

#endif
