/* What holds a part of a word: keys, commands, options, and the words of the registry. */
#ifndef HX_HELP_SEARCH_H
#define HX_HELP_SEARCH_H

#include <stddef.h>

/* Prints what has the word in its name or, where no name has it, in its text, whatever the case;
 * returns how many. */
size_t hx_print_found(const char *word);

/* After the keys of that name: a line of what else has the word in its name, if anything. */
void hx_print_elsewhere(const char *word);

/* An error: there is none, and the names that are spelt like it. */
void hx_help_say_near(const char *word);

#endif
