/* A strict JSON reader (RFC 8259), for the files that json.h writes and those of others. */
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
    const char *key;  /* of a member of an object, else NULL */
    const char *text; /* a string's; of numbers, true, false and null: as written */
    double number;    /* of a bool 0 or 1; of what is no number NAN */
    size_t n;         /* members or entries */
    const struct hx_json_value *first, *next; /* of the n; the one after this; NULL: none */
} hx_json_value;

typedef struct hx_json_tree {
    const hx_json_value *root; /* NULL: nothing was read */
    void *value, *text;        /* (owned) */
} hx_json_tree;

/* Parses n bytes, UTF-8. name: how messages call them. HX_EINPUT: "name:line: what would be right";
 * not only what the grammar forbids, also bytes that are no UTF-8, two members of one name and more
 * than 64 levels. O(n). */
int hx_json_parse(hx_json_tree *tree, const char *name, const char *bytes, size_t n);
/* Of a file. */
int hx_json_read(hx_json_tree *tree, const char *path);
/* Accepts a zeroed tree, and leaves one. */
void hx_json_free(hx_json_tree *tree);

/* The member at "mesh.quality.bodies"; NULL: there is none. value may be NULL. */
const hx_json_value *hx_json_at(const hx_json_value *value, const char *path);
/* Its number, NAN: none there; its text, `none` where there is no string. */
double hx_json_number_at(const hx_json_value *value, const char *path);
const char *hx_json_text_at(const hx_json_value *value, const char *path, const char *none);

/* A whole file: *bytes (the caller's to free) with a 0 behind its *n. HX_EINPUT. */
int hx_read_file(const char *path, char **bytes, size_t *n);

#endif
