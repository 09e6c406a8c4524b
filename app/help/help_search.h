/* Search for a word among keys, commands, options, warnings, and the names in the registry. */
#ifndef HX_HELP_SEARCH_H
#define HX_HELP_SEARCH_H

#include <stddef.h>

/* Prints everything whose name contains the word or, if there is none and in_texts = 1, whose help
 * text contains it, ignoring case. Returns the number found. */
size_t hx_print_found(const char *word, int in_texts);

/* Prints, after the keys of that name, a line of other names that contain the word, if any. */
void hx_print_elsewhere(const char *word);

/* Prints an error: there is no such name, and similar names. */
void hx_help_say_near(const char *word);

#endif
