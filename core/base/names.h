/* Messages for unknown names: the nearest valid word, and the list of all; nouns after a count. */
#ifndef HX_NAMES_H
#define HX_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "c_linkage.h"

HX_C_BEGIN

/* Returns the entry of name[n] with the smallest edit distance to `word`, in which two neighbours
 * that are exchanged count as one edit; NULL if that distance exceeds a third of the word's length
 * + 1. */
const char *hx_nearest_name(const char *word, const char *const *name, size_t n);

/* Writes ", did you mean 'X'? valid: A, B, C" into `text`, "; valid: A, B, C" if no word is near,
 * or ", there are none" for n = 0. Returns text. */
const char *hx_name_hint(const char *word, const char *const *name, size_t n, char *text,
                         size_t n_text);

/* Writes "A, B, C" into `text`; a list that does not fit ends in " ...". Returns text. */
const char *hx_name_list(const char *const *name, size_t n, char *text, size_t n_text);

/* Returns `one` for a count of 1, otherwise `many`: printf("%d %s", n, hx_noun(n, "node",
 * "nodes")). Also for verbs: hx_noun(n, "is", "are"). */
const char *hx_noun(int64_t n, const char *one, const char *many);

HX_C_END

#endif
