/* A config as a tree of values, each of which knows where it was written. The only place that
 * speaks to libconfig; nothing here knows which keys exist. */
#ifndef HX_CONFIG_TREE_H
#define HX_CONFIG_TREE_H

#include <stddef.h>

#include "core/base/error.h"

typedef enum {
    HX_VALUE_GROUP,
    HX_VALUE_LIST, /* libconfig's lists ( ) and arrays [ ] */
    HX_VALUE_STRING,
    HX_VALUE_INT,
    HX_VALUE_FLOAT,
    HX_VALUE_BOOL
} hx_value_kind;

#define HX_ARGUMENT "argument '" /* how the origin of what the command line says begins */

typedef struct hx_value {
    hx_value_kind kind;
    char *name;        /* NULL in a list (owned) */
    char *origin;      /* "bracket.cfg:12" or "argument 'mesh.size=3'" (owned) */
    char *raw;         /* as typed, values of arguments only (owned) */
    char *text;        /* strings (owned) */
    long long integer; /* integers and booleans */
    double number;     /* integers and floats */
    size_t n, capacity;
    struct hx_value **child; /* [n] members or elements (owned) */
} hx_value;

/* Reads a config file; a relative @include is looked for in the file's folder. HX_EINPUT:
 * "FILE:LINE: ...". */
int hx_value_read_file(hx_value **root, const char *path);
/* The same of a text that is not in a file: messages call it `path`, whose folder is @include's. */
int hx_value_read_text(hx_value **root, const char *text, const char *path);

/* Sets what "KEY=VALUE" says, creating groups and appending list elements as needed. The value is
 * libconfig text, or, when it is not, a string; an empty value removes the key. HX_EINPUT:
 * "argument 'KEY=VALUE': ...". */
int hx_value_override(hx_value *root, const char *argument);

/* The value of an argument's text, which is a string if libconfig does not read it; raw is kept. */
int hx_value_of_argument(hx_value **value, const char *text, const char *origin);

/* What libconfig reads in `text` as the value of a setting; *value is NULL if it does not parse. */
int hx_value_parse(hx_value **value, const char *text, const char *origin);

/* The end of a string or comment that starts at c, or c itself. Lines passed are added to *line. */
const char *hx_value_skip_text(const char *c, int *line);
/* *wide := the text with a fraction behind each integer that libconfig would cut, to 32 bits or,
 * with an L, to 64; an array with one becomes a list. Lines stay. The caller's to free. */
int hx_value_widen_integers(const char *text, char **wide);
/* HX_EINPUT for more than 32 brackets within each other, as trees are walked by calls within calls,
 * and for a text without its closing quote. */
int hx_value_check_nesting(const char *text, const char *name);
/* The whole file, ended by a 0. *text is the caller's to free. HX_EINPUT: it cannot be read, or has
 * bytes of 0. */
int hx_value_read_text_file(const char *path, char **text);

/* The member of that name, or NULL. */
hx_value *hx_value_member(const hx_value *group, const char *name);
/* The value at a path of members ("solver.device"), or NULL. */
const hx_value *hx_value_find(const hx_value *root, const char *path);

int hx_value_create(hx_value **value, hx_value_kind kind, const char *name, const char *origin);
int hx_value_append(hx_value *parent, hx_value *child); /* takes ownership, also when it fails */
void hx_value_remove(hx_value *parent, size_t index);
void hx_value_free(hx_value *value);

/* "1.5.0" */
const char *hx_libconfig_version(void);

/* "a string", "a group { ... }" for messages. */
const char *hx_value_kind_name(hx_value_kind kind);

#endif
