/* "Unknown name" messages: the nearest valid word, and the list of all. */
#ifndef HX_NAMES_H
#define HX_NAMES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The entry of name[n] with the smallest edit distance to word, or NULL when none is near (more
 * than half of the word's length away). */
const char *hx_nearest_name(const char *word, const char *const *name, size_t n);

/* ", did you mean 'X'? valid: A, B, C" into text; n = 0 gives ", there are none". Returns text. */
const char *hx_name_hint(const char *word, const char *const *name, size_t n, char *text,
                         size_t n_text);

#ifdef __cplusplus
}
#endif

#endif
