#include "word_rows.h"

#include <string.h>

int hx_next_word(const char **at, char word[HX_LISTED_WORD])
{
    const char *const begin = *at, *const comma = strchr(begin, ',');
    const size_t n = comma ? (size_t)(comma - begin) : strlen(begin);
    if (n == 0) return 0;
    memcpy(word, begin, n);
    word[n] = '\0';
    *at = comma ? comma + 2 : begin + n;
    return 1;
}

int hx_has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        if (at > list) at += 2;
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0')) return 1;
    }
    return 0;
}
