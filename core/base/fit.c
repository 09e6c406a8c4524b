#include "fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t hx_fit_args(char *text, size_t n_text, const char *fmt, va_list args)
{
    if (n_text == 0) return 0;
    const int n = vsnprintf(text, n_text, fmt, args);
    if (n < 0) text[0] = '\0';
    if (n > 0 && (size_t)n >= n_text) {
        static const char mark[] = " ..."; /* ends a cut text visibly */
        if (n_text >= sizeof mark) memcpy(text + n_text - sizeof mark, mark, sizeof mark);
    }
    return n < 0 ? 0 : (size_t)n < n_text ? (size_t)n : n_text - 1;
}

size_t hx_fit(char *text, size_t n_text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const size_t n = hx_fit_args(text, n_text, fmt, args);
    va_end(args);
    return n;
}

char *hx_fit_all(char *text, size_t n_text, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *const own = n > 0 && (size_t)n >= n_text ? malloc((size_t)n + 1) : NULL;
    if (own)
        vsnprintf(own, (size_t)n + 1, fmt, args);
    else
        hx_fit_args(text, n_text, fmt, args);
    return own ? own : text;
}
