#include "shell_word.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the path in quotes. */
static size_t quoted_size(const char *path)
{
    size_t n = 3;
    for (; *path; path++) n += *path == '\'' ? 4 : 1;
    return n;
}

const char *hx_shell_word(const char *path, char *text, size_t n_text)
{
    size_t n = 0;
    const char *at = path;
    while (isalnum((unsigned char)*at) || (unsigned char)*at >= 0x80 ||
           (*at && strchr("/._-+,:=@%", *at)))
        at++;
    if (!*at || n_text < quoted_size(path)) return path;
    text[n++] = '\'';
    for (at = path; *at; at++) {
        if (*at != '\'')
            text[n++] = *at;
        else
            n += (size_t)snprintf(text + n, n_text - n, "'\\''");
    }
    text[n++] = '\'';
    text[n] = '\0';
    return text;
}
