/* A config as a tree of values, each with the place where it was written. Only this room's
 * config_tree.c uses libconfig; nothing here depends on which keys exist. */
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

#define HX_ARGUMENT "argument '" /* beginning of the origin of all values from the command line */

typedef struct hx_value {
    hx_value_kind kind;
    char *name;        /* NULL in a list (owned) */
    char *origin;      /* "bracket.cfg:12" or "argument 'mesh.size=3'" (owned) */
    char *raw;         /* text as typed, only for values of arguments (owned) */
    char *text;        /* for strings (owned) */
    long long integer; /* for integers and booleans */
    double number;     /* for integers and floats */
    size_t n, capacity;
    struct hx_value **child; /* [n] members or elements (owned) */
} hx_value;

/* Reads a config file; a relative @include is resolved in the file's folder. HX_EINPUT: "FILE:LINE:
 * ...". */
int hx_value_read_file(hx_value **root, const char *path);
/* Reads a text that is not in a file: messages call it `path`, and @include is resolved in the
 * folder of `path`. */
int hx_value_read_text(hx_value **root, const char *text, const char *path);

/* Sets a value from "KEY=VALUE", creating groups and appending list elements as needed. The value
 * is libconfig text, or else a string; an empty value removes the key. HX_EINPUT: "argument
 * 'KEY=VALUE': ...". */
int hx_value_override(hx_value *root, const char *argument);

/* The value of an argument's text. If libconfig cannot parse the text, the value is a string. `raw`
 * keeps the text. */
int hx_value_of_argument(hx_value **value, const char *text, const char *origin);

/* Parses `text` as the value of a libconfig setting; *value is NULL if it does not parse. */
int hx_value_parse(hx_value **value, const char *text, const char *origin);

/* The end of the string or comment that starts at c; otherwise c itself. Adds the number of lines
 * passed to *line. */
const char *hx_value_skip_text(const char *c, int *line);
/* *wide := the text with a fraction appended to each integer that libconfig would truncate to 32
 * bits (or to 64 with an L); an array that contains such an integer becomes a list. Line numbers
 * stay the same. The caller frees *wide. */
int hx_value_widen_integers(const char *text, char **wide);
/* HX_EINPUT: more than 32 nested brackets, since trees are walked recursively, or a text without
 * its closing quote. */
int hx_value_check_nesting(const char *text, const char *name);
/* Reads the whole file; the text is terminated by a 0. The caller frees *text. HX_EINPUT: it cannot
 * be read, or has bytes of 0. */
int hx_value_read_text_file(const char *path, char **text);

/* The member of that name, or NULL. */
hx_value *hx_value_member(const hx_value *group, const char *name);
/* The value at a path of members ("solver.device"), or NULL. */
const hx_value *hx_value_find(const hx_value *root, const char *path);

int hx_value_create(hx_value **value, hx_value_kind kind, const char *name, const char *origin);
/* takes ownership of the value, even on failure */
int hx_value_append(hx_value *parent, hx_value *child);
void hx_value_remove(hx_value *parent, size_t index);
void hx_value_free(hx_value *value);

/* "1.5.0" */
const char *hx_libconfig_version(void);

/* "a string", "a group { ... }" for messages. */
const char *hx_value_kind_name(hx_value_kind kind);

#endif
