#include "html.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "utf8.h"

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void hx_html_text(FILE *stream, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const int n = hx_utf8_length(text, left), size = n > 0 ? n : 1;
        if (n == 0 ||
            (((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t') || *text == 0x7f))
            fputs("\xef\xbf\xbd", stream);
        else if (entity(*text))
            fputs(entity(*text), stream);
        else
            fwrite(text, 1, (size_t)n, stream);
        text += size;
        left -= (size_t)size;
    }
}

void hx_html_printf(FILE *stream, const char *fmt, ...)
{
    char line[4096];
    va_list args;
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    hx_html_text(stream, text);
    if (text != line) free(text);
}

void hx_base64(FILE *stream, const void *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = bytes;
    char block[4096];
    size_t used = 0;
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t b1 = i + 1 < n ? in[i + 1] : 0, b2 = i + 2 < n ? in[i + 2] : 0;
        const uint32_t bits = (uint32_t)in[i] << 16 | b1 << 8 | b2;
        block[used++] = digit[bits >> 18];
        block[used++] = digit[bits >> 12 & 63];
        block[used++] = i + 1 < n ? digit[bits >> 6 & 63] : '=';
        block[used++] = i + 2 < n ? digit[bits & 63] : '=';
        if (used < sizeof block) continue;
        fwrite(block, 1, used, stream);
        used = 0;
    }
    fwrite(block, 1, used, stream);
}
