/* libconfig 1.5 cuts integers to 32 bits without a word: this finds those that do not fit. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_tree.h"
#include "core/memory.h"

/* The end of a string, comment or number that starts at c, or c itself. Lines passed are added to
 * *line. */
static const char *skip_text(const char *c, int *line)
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

/* 1 if the decimal digits exceed what 32 bits with a sign hold. */
static int is_too_large(const char *digits, size_t n)
{
    char *end = NULL;
    while (n > 1 && *digits == '0') digits++, n--;
    return n > 10 || (n == 10 && strtoll(digits, &end, 10) > 2147483647LL);
}

int hx_value_scan_integers(const char *text, const char *name)
{
    int line = 1;
    for (const char *c = text; *c;) {
        const char *after = skip_text(c, &line);
        if (after != c) {
            c = after;
        } else if (isalnum((unsigned char)*c) || *c == '_' || *c == '.') {
            const size_t digits = strspn(c, "0123456789");
            const char *begin = c;
            while (isalnum((unsigned char)*c) || *c == '_' || *c == '.') c++;
            if (digits == (size_t)(c - begin) && is_too_large(begin, digits)) {
                char place[32] = "";
                if (name) snprintf(place, sizeof place, ":%d: ", line);
                return HX_RAISE(HX_EINPUT, "%s%s%.*s is too large an integer; at most 2147483647",
                                name ? name : "", place, (int)digits, begin);
            }
        } else {
            line += *c++ == '\n';
        }
    }
    return HX_OK;
}

int hx_value_scan_file(const char *path)
{
    int rc = HX_OK;
    char *text = NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream) return HX_RAISE(HX_EINPUT, "cannot read config '%s': %s", path, strerror(errno));
    long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
    if (size < 0) size = 0;
    rewind(stream);
    HX_TRY_FAIL(hx_alloc(&text, (size_t)size + 1, 1, "config text"));
    text[fread(text, 1, (size_t)size, stream)] = '\0';
    rc = hx_value_scan_integers(text, path);
fail:
    free(text);
    fclose(stream);
    return rc;
}
