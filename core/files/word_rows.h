/* Tables of the keywords, cards and commands that a reader does not read: words with the same
 * meaning stand in one text, "A, B, C". Internal. */
#ifndef HX_WORD_ROWS_H
#define HX_WORD_ROWS_H

enum { HX_LISTED_WORD = 48 }; /* bytes of a word in a table, at most */

typedef struct hx_word_row {
    const char *words;
    unsigned roles;   /* HX_UNREAD_... */
    const char *what; /* description; NULL: the word is sufficient */
} hx_word_row;

/* Copies the next word of a list and advances `at`, which begins at the list; 0: there is none. */
int hx_next_word(const char **at, char word[HX_LISTED_WORD]);

/* Returns 1 if the list has the word. */
int hx_has_word(const char *list, const char *word);

#endif
