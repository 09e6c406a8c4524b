/* A strict JSON reader (RFC 8259), for the files that json.h writes and files of other programs. */
#ifndef HX_JSON_READ_H
#define HX_JSON_READ_H

#include <stddef.h>

#include "core/base/error.h"

typedef enum {
    HX_JSON_NULL,
    HX_JSON_BOOL,
    HX_JSON_NUMBER,
    HX_JSON_STRING,
    HX_JSON_ARRAY,
    HX_JSON_OBJECT
} hx_json_kind;

typedef struct hx_json_value {
    hx_json_kind kind;
    const char *key; /* for a member of an object; otherwise NULL */
    /* contents of a string; for numbers, true, false and null the text as written */
    const char *text;
    double number; /* of a bool 0 or 1; NAN for other kinds */
    size_t n;      /* members or entries */
    /* first of the n children; next sibling; NULL: there is none */
    const struct hx_json_value *first, *next;
} hx_json_value;

typedef struct hx_json_tree {
    const hx_json_value *root; /* NULL: nothing was read */
    void *value, *text;        /* (owned) */
} hx_json_tree;

/* Parses n bytes of UTF-8, which messages call `name`. HX_EINPUT "name:line: what would be right":
 * violations of the grammar, bytes that are not UTF-8, two members with the same name, and more
 * than 64 nested levels. O(n). */
int hx_json_parse(hx_json_tree *tree, const char *name, const char *bytes, size_t n);
/* Parses a file. */
int hx_json_read(hx_json_tree *tree, const char *path);
/* Accepts a zeroed tree, and leaves one. */
void hx_json_free(hx_json_tree *tree);

/* The member at a path such as "mesh.quality.bodies"; names that it had in earlier versions are
 * also found (old_names.h). NULL: there is none. value may be NULL. */
const hx_json_value *hx_json_at(const hx_json_value *value, const char *path);
/* The number at the path, NAN if there is none. The text at the path, `none` if there is no
 * string. */
double hx_json_number_at(const hx_json_value *value, const char *path);
const char *hx_json_text_at(const hx_json_value *value, const char *path, const char *none);

/* Reads a whole file. The caller frees *bytes, which are terminated by a 0 after *n bytes.
 * HX_EINPUT. */
int hx_read_file(const char *path, char **bytes, size_t *n);

#endif
