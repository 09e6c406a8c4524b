/* Words of the field, members of JSON files and names of earlier versions, as `hextop help WORD`
 * explains them. */
#ifndef HX_HELP_WORDS_H
#define HX_HELP_WORDS_H

#include <stddef.h>

enum { HX_TERM_NAMES = 5 };

/* A term of the literature, and where it appears in this program. */
typedef struct hx_term {
    const char *name[HX_TERM_NAMES]; /* the term, followed by synonyms; NULL after the last one */
    const char *meaning;
    const char *keys; /* config keys, separated by blanks; "": none */
    const char *page; /* "theory.md#smoother", in doc/ */
} hx_term;
extern const hx_term hx_terms[]; /* [hx_n_term] */
extern const size_t hx_n_term;

/* 1 if the word is one of the term's names. */
int hx_term_is_named(const hx_term *term, const char *word);
/* The first term with a name of hx_terms. */
const hx_term *hx_term_of(const char *name);

/* Prints everything that has exactly this name: names of earlier versions with their current ones,
 * terms, and members of JSON files. Returns the number printed. */
size_t hx_print_words(const char *word);

#endif
