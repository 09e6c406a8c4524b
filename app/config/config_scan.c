/* Prepares texts for libconfig 1.5, which truncates integers to 32 bits without an error. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_tree.h"
#include "core/base/input_file.h"
#include "core/base/memory.h"

const char *hx_value_skip_text(const char *c, int *line)
{
    if (*c == '"') {
        for (c++; *c && *c != '"'; c++) {
            *line += *c == '\n';
            if (*c == '\\' && c[1]) c++;
        }
        return *c ? c + 1 : c;
    }
    if (*c == '#' || (c[0] == '/' && c[1] == '/')) return c + strcspn(c, "\n");
    if (c[0] == '/' && c[1] == '*') {
        for (c += 2; *c && !(c[0] == '*' && c[1] == '/'); c++) *line += *c == '\n';
        return *c ? c + 2 : c;
    }
    return c;
}

/* Returns 1 if the integer that begins here, decimal or hexadecimal, exceeds what libconfig stores:
 * 32 bits, or 64 bits with an L. */
static int is_too_large(const char *digits, size_t n)
{
    char text[32];
    const int is_long = digits[n - 1] == 'L';
    while (n > 0 && digits[n - 1] == 'L') n--;
    const int is_hex = n > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    if (is_hex) digits += 2, n -= 2;
    while (n > 1 && *digits == '0') digits++, n--;
    const size_t sure = is_long ? (is_hex ? 15 : 18) : (is_hex ? 7 : 9); /* it fits in any case */
    if (n <= sure || n > 20) return n > sure;
    snprintf(text, sizeof text, "%.*s", (int)n, digits);
    errno = 0;
    const long long value = strtoll(text, NULL, is_hex ? 16 : 10);
    const int is_cut = errno != 0;
    errno = 0;
    return is_cut || (!is_long && value > 2147483647LL);
}

/* 1 if the n characters are an integer: decimal or hexadecimal digits, L or LL. */
static int is_integer(const char *c, size_t n)
{
    size_t length = strspn(c, "0123456789");
    if (length == 1 && c[0] == '0' && (c[1] == 'x' || c[1] == 'X'))
        length = 2 + strspn(c + 2, "0123456789abcdefABCDEF");
    for (int i = 0; i < 2 && length > 0 && c[length] == 'L'; i++) length++;
    return length == n && n > 0;
}

/* Returns 1 if the text from `begin` to c shows that the digits at c are an exponent. */
static int is_exponent(const char *begin, const char *c)
{
    return c - begin >= 3 && (c[-1] == '+' || c[-1] == '-') && (c[-2] == 'e' || c[-2] == 'E') &&
           (isdigit((unsigned char)c[-3]) || c[-3] == '.');
}

/* Writes the integer as a number with a fraction, which libconfig stores as a double; returns its
 * length. */
static size_t put_as_double(char *out, const char *digits, size_t n)
{
    if (digits[n - 1] != 'L' && digits[1] != 'x' && digits[1] != 'X') {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller counts characters */
        memcpy(out, digits, n);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller counts characters */
        memcpy(out + n, ".0", 2);
        return n + 2;
    }
    /* strtod reads hexadecimal numbers, and stops at L */
    const double value = strtod(digits, NULL);
    char text[64];
    const int length = snprintf(text, sizeof text, "%.17g", value);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller counts characters */
    memcpy(out, text, (size_t)length);
    if (strpbrk(text, ".en")) return (size_t)length;
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller counts characters */
    memcpy(out + length, ".0", 2);
    return (size_t)length + 2;
}

int hx_value_widen_integers(const char *text, char **wide)
{
    int line = 0;
    char *out, *array = NULL; /* beginning of the current array */
    int is_mixed = 0;         /* 1: the array has such a number */
    /* "0x80000000L" becomes 1.2 times as long, and a decimal number of ten digits becomes two
     * characters longer */
    HX_TRY(hx_alloc(wide, 2 * strlen(text) + 32, 1, "config text"));
    out = *wide;
    for (const char *c = text; *c;) {
        const char *after = hx_value_skip_text(c, &line);
        const int is_word = after == c && (isalnum((unsigned char)*c) || *c == '_' || *c == '.');
        while (is_word && (isalnum((unsigned char)*after) || *after == '_' || *after == '.'))
            after++;
        const size_t n = after == c ? 1 : (size_t)(after - c);
        if (is_word && is_integer(c, n) && is_too_large(c, n) && !is_exponent(text, c)) {
            out += put_as_double(out, c, n);
            is_mixed = 1;
        } else {
            if (*c == '[') array = out, is_mixed = 0;
            memcpy(out, c, n);
            /* arrays cannot mix 0 and 0.5, but lists can */
            if (*c == ']' && array && is_mixed) *array = '(', *out = ')';
            if (*c == ']') array = NULL;
            out += n;
        }
        c += n;
    }
    *out = '\0';
    return HX_OK;
}

int hx_value_check_nesting(const char *text, const char *name)
{
    enum { MOST = 32 };
    int line = 1, depth = 0;
    for (const char *c = text; *c;) {
        const int begin = line;
        const char *const after = hx_value_skip_text(c, &line);
        if (*c == '"' && (*after == '\0' && (after - c < 2 || after[-1] != '"')))
            return HX_RAISE(HX_EINPUT, "%s:%d: the text that begins here has no closing quote",
                            name, begin);
        if (after != c) {
            c = after;
            continue;
        }
        depth += (*c == '{' || *c == '(' || *c == '[') - (*c == '}' || *c == ')' || *c == ']');
        if (depth > MOST)
            return HX_RAISE(HX_EINPUT, "%s:%d: more than %d nested brackets", name, line, MOST);
        line += *c++ == '\n';
    }
    return HX_OK;
}

int hx_value_read_text_file(const char *path, char **text)
{
    const char *why;
    FILE *stream = hx_input_open(path, &why);
    if (!stream) return HX_RAISE(HX_EINPUT, "cannot read config '%s': %s", path, why);
    long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
    if (size < 0) size = 0;
    rewind(stream);
    const int rc = hx_alloc(text, (size_t)size + 1, 1, "config text");
    size_t n = rc == HX_OK ? fread(*text, 1, (size_t)size, stream) : 0;
    if (rc == HX_OK) (*text)[n] = '\0';
    fclose(stream);
    /* byte order mark of UTF-8, written by some editors */
    if (rc == HX_OK && n >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0)
        memmove(*text, *text + 3, (n -= 3) + 1);
    if (rc < 0 || strlen(*text) == n) return rc;
    free(*text);
    *text = NULL;
    return HX_RAISE(HX_EINPUT, "%s: it contains bytes of 0, but a config is a text", path);
}
