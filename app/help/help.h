/* What `hextop help` prints besides commands: search, warnings, man page, completion. */
#ifndef HX_HELP_H
#define HX_HELP_H

#include <stddef.h>

/* Prints everything whose name contains the word or, if there is none and in_texts = 1, whose help
 * text contains it, ignoring case. Returns the number found. */
size_t hx_print_found(const char *word, int in_texts);

/* Prints, after the keys of that name, a line of other names that contain the word, if any. */
void hx_print_elsewhere(const char *word);

/* Prints an error: there is no such name, and similar names. */
void hx_help_say_near(const char *word);

/* Prints the text `lead`, and then what a warning measures, what it means and what helps. `code`
 * may have blanks instead of '-'. Returns 1, or 0 if no warning has that code. */
int hx_print_warning(const char *code, const char *lead);

/* Prints the codes of all warnings, with the numbers that they measure. */
void hx_print_warnings(void);

/* Prints the man page hextop.1 to stdout, as roff, from the tables of commands and keys. */
void hx_print_man_page(void);

/* Print to stdout a file that bash sources, or one that zsh loads as _hextop. */
void hx_print_bash_completion(void);
void hx_print_zsh_completion(void);

#endif
