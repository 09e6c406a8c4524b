/* Words of commands that are printed for the user to type. */
#ifndef HX_SHELL_WORD_H
#define HX_SHELL_WORD_H

#include <limits.h>
#include <stddef.h>

/* Size of the text in which every path fits as a word: each character may be an apostrophe. */
enum { HX_SHELL_WORD = 4 * PATH_MAX + 3 };

/* A path as a shell word: in quotes if it contains more than plain characters. Returns text, or the
 * path itself if it needs no quotes or text is too small for them. */
const char *hx_shell_word(const char *path, char *text, size_t n_text);

#endif
