/* The data section of a STEP file (ISO 10303-21) as indexed text: the entity of a number, and its
 * parameters. Used for data that gmsh does not provide, mainly names; the kernel handles the
 * geometry. */
#ifndef HX_STEP_FILE_H
#define HX_STEP_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"

/* A part of the text; at = NULL: there is none. */
typedef struct hx_step_text {
    const char *at, *end;
} hx_step_text;

/* "#12=NAME(...);" without blanks, line ends and comments outside strings. */
typedef struct hx_step_entity {
    int64_t number;
    size_t begin, end; /* range of its text after the "=", without the ";" */
} hx_step_entity;

typedef struct hx_step_file {
    char *text;             /* [n_text + 1] (owned) */
    size_t n_text, n;       /* numbers of bytes and of entities */
    hx_step_entity *entity; /* [n] sorted by number (owned) */
} hx_step_file;

/* Largest file that is read; for a larger one n = 0. */
#define HX_STEP_MOST_BYTES ((size_t)2 << 30)

/* Reads a whole file. HX_EINPUT: it cannot be read; HX_ENOMEM. O(bytes). */
int hx_step_read(hx_step_file *file, const char *path);

/* Accepts a zeroed struct. */
void hx_step_free(hx_step_file *file);

/* The i-th entity. */
static inline hx_step_text hx_step_entity_text(const hx_step_file *file, size_t i)
{
    const hx_step_text text = {file->text + file->entity[i].begin,
                               file->text + file->entity[i].end};
    return text;
}

/* The entity of that number. O(log n). */
hx_step_text hx_step_find(const hx_step_file *file, int64_t number);

/* The text in the brackets of the record `keyword`: of "PLANE('',#3)" or, for an entity of several
 * records, of "(A(1)PLANE('',#3)C())". */
hx_step_text hx_step_record(hx_step_text entity, const char *keyword);

/* Removes the next item from a list "a,b,(c,d)"; 0: there is none. */
int hx_step_next(hx_step_text *list, hx_step_text *item);

/* The k-th item of a list, from 0. */
hx_step_text hx_step_item(hx_step_text list, int k);

/* Parts of an item: the list in its brackets; the number after "#", or -1; a real number, or NAN;
 * whether it equals a word. */
hx_step_text hx_step_list(hx_step_text item);
int64_t hx_step_number(hx_step_text item);
double hx_step_real(hx_step_text item);
int hx_step_is(hx_step_text item, const char *word);

/* Decodes a string to UTF-8, cut at n_to - 1 bytes: '' and \\ become single, \X2\...\X0\,
 * \X4\...\X0\, \X\.. and \S\. are decoded, blanks at its ends are removed. Bytes that are not UTF-8
 * become "_". */
void hx_step_string(hx_step_text item, char *to, size_t n_to);

#endif
