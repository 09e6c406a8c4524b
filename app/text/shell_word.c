#include "shell_word.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *hx_shell_word(const char *path, char *text, size_t n_text)
{
    size_t n = 0;
    const char *at = path;
    while (isalnum((unsigned char)*at) || (unsigned char)*at >= 0x80 ||
           (*at && strchr("/._-+,:=@%", *at)))
        at++;
    if (!*at || n_text < 4 * strlen(path) + 3) return path;
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
