/* What libconfig 1.5 does not say: it cuts integers to 32 bits without a word, and ends the program
 * when a folder is included. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config_tree.h"
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

/* The whole file, ended by a 0. *text is the caller's to free. */
static int read_text(const char *path, char **text)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) return HX_RAISE(HX_EINPUT, "cannot read config '%s': %s", path, strerror(errno));
    long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
    if (size < 0) size = 0;
    rewind(stream);
    const int rc = hx_alloc(text, (size_t)size + 1, 1, "config text");
    if (rc == HX_OK) (*text)[fread(*text, 1, (size_t)size, stream)] = '\0';
    fclose(stream);
    return rc;
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
    struct stat status;
    c += strspn(c, " \t");
    if (strncmp(c, word, sizeof word - 1) != 0) return HX_OK;
    c += sizeof word - 1;
    c += strspn(c, " \t");
    if (*c != '"') return HX_OK;
    const size_t n = strcspn(c + 1, "\"\n");
    snprintf(included, sizeof included, "%s%s%.*s", strcmp(dir, ".") == 0 ? "" : dir,
             strcmp(dir, ".") == 0 ? "" : "/", n < 1024 ? (int)n : 1024, c + 1);
    if (stat(included, &status) != 0)
        return HX_RAISE(HX_EINPUT,
                        "%s:%d: cannot include '%s': %s; @include is relative to the folder of the "
                        "config that was named",
                        path, line, included, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return HX_RAISE(HX_EINPUT, "%s:%d: cannot include '%s': it is a folder, not a file", path,
                        line, included);
    if (depth >= MAX_DEPTH)
        return HX_RAISE(HX_EINPUT, "%s:%d: cannot include '%s': files include each other", path,
                        line, included);
    return hx_value_check_includes(included, dir, depth + 1);
}

int hx_value_check_includes(const char *path, const char *dir, int depth)
{
    int rc = HX_OK, line = 1;
    char *text = NULL;
    HX_TRY(read_text(path, &text));
    for (const char *c = text; rc == HX_OK; line++) {
        rc = check_line(c, path, line, dir, depth);
        c += strcspn(c, "\n");
        if (*c++ == '\0') break;
    }
    free(text);
    return rc;
}
