/* Words of commands that are printed so that the user can type them. */
#ifndef HX_SHELL_WORD_H
#define HX_SHELL_WORD_H

#include <limits.h>
#include <stddef.h>

/* Size of a text in which any path fits as a word, even if each of its characters is an
 * apostrophe. */
enum { HX_SHELL_WORD = 4 * PATH_MAX + 3 };

/* A path as a word of a shell command: in quotes if it contains other than plain characters.
 * Returns text; returns the path itself if it needs no quotes, or if text is too small for them. */
const char *hx_shell_word(const char *path, char *text, size_t n_text);

#endif
