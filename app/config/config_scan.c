/* What libconfig 1.5 does not say: it cuts integers to 32 bits without a word, and ends the program
 * when a folder is included. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_tree.h"
#include "core/base/input_file.h"
#include "core/base/memory.h"

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

int hx_value_check_nesting(const char *text, const char *name)
{
    enum { MOST = 32 };
    int line = 1, depth = 0;
    for (const char *c = text; *c;) {
        const int begin = line;
        const char *const after = skip_text(c, &line);
        if (*c == '"' && (*after == '\0' && (after - c < 2 || after[-1] != '"')))
            return HX_RAISE(HX_EINPUT, "%s:%d: a text begins here and has no closing quote", name,
                            begin);
        if (after != c) {
            c = after;
            continue;
        }
        depth += (*c == '{' || *c == '(' || *c == '[') - (*c == '}' || *c == ')' || *c == ']');
        if (depth > MOST)
            return HX_RAISE(HX_EINPUT, "%s:%d: more than %d brackets within each other", name, line,
                            MOST);
        line += *c++ == '\n';
    }
    return HX_OK;
}

/* The whole file, ended by a 0. *text is the caller's to free. */
static int read_text(const char *path, char **text)
{
    const char *why;
    FILE *stream = hx_input_open(path, &why);
    if (!stream) return HX_RAISE(HX_EINPUT, "cannot read config '%s': %s", path, why);
    long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
    if (size < 0) size = 0;
    rewind(stream);
    const int rc = hx_alloc(text, (size_t)size + 1, 1, "config text");
    const size_t n = rc == HX_OK ? fread(*text, 1, (size_t)size, stream) : 0;
    if (rc == HX_OK) (*text)[n] = '\0';
    fclose(stream);
    if (rc < 0 || strlen(*text) == n) return rc;
    free(*text);
    *text = NULL;
    return HX_RAISE(HX_EINPUT, "%s: it has bytes of 0, and a config is a text", path);
}

int hx_value_read_forgiving(const char *path, char **text)
{
    char *comma = NULL; /* the last thing but blanks and comments */
    int line = 1, n = 0;
    HX_TRY(read_text(path, text));
    for (char *c = *text; *c;) {
        char *const after = c + (skip_text(c, &line) - c);
        if (after == c && (*c == ')' || *c == ']') && comma) {
            *comma = ' ';
            n++;
        }
        if (after == c && !isspace((unsigned char)*c)) comma = *c == ',' ? c : NULL;
        if (*c == '"') comma = NULL;
        c = after != c ? after : c + 1;
    }
    if (n > 0) return HX_OK;
    free(*text);
    *text = NULL;
    return HX_OK;
}

int hx_value_scan_file(const char *path)
{
    char *text = NULL;
    HX_TRY(read_text(path, &text));
    const int rc = hx_value_scan_integers(text, path);
    free(text);
    return rc;
}

/* One line of a config: if it includes a file, that file must be one. */
static int check_line(const char *c, const char *path, int line, const char *dir, int depth)
{
    enum { MAX_DEPTH = 10 }; /* libconfig's own */
    static const char word[] = "@include";
    char included[PATH_MAX];
    const char *why;
    c += strspn(c, " \t");
    if (strncmp(c, word, sizeof word - 1) != 0) return HX_OK;
    c += sizeof word - 1;
    c += strspn(c, " \t");
    if (*c != '"') return HX_OK;
    const size_t n = strcspn(c + 1, "\"\n");
    snprintf(included, sizeof included, "%s%s%.*s", strcmp(dir, ".") == 0 ? "" : dir,
             strcmp(dir, ".") == 0 ? "" : "/", n < 1024 ? (int)n : 1024, c + 1);
    FILE *const stream = hx_input_open(included, &why);
    if (!stream)
        return HX_RAISE(HX_EINPUT, "%s:%d: cannot include '%s': %s%s", path, line, included, why,
                        errno == ENOENT ? "; @include is relative to the folder of the config "
                                          "that was named"
                                        : "");
    fclose(stream);
    if (depth >= MAX_DEPTH)
        return HX_RAISE(HX_EINPUT, "%s:%d: cannot include '%s': files include each other", path,
                        line, included);
    return hx_value_check_includes(included, dir, depth + 1);
}

int hx_value_check_text_includes(const char *text, const char *path, const char *dir, int depth)
{
    int rc = hx_value_check_nesting(text, path), line = 1;
    for (const char *c = text; rc == HX_OK; line++) {
        rc = check_line(c, path, line, dir, depth);
        c += strcspn(c, "\n");
        if (*c++ == '\0') break;
    }
    return rc;
}

int hx_value_check_includes(const char *path, const char *dir, int depth)
{
    char *text = NULL;
    HX_TRY(read_text(path, &text));
    const int rc = hx_value_check_text_includes(text, path, dir, depth);
    free(text);
    return rc;
}
