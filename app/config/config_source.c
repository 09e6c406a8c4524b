#include "config_source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_tree.h"
#include "core/base/grow.h"
#include "core/base/input_file.h"
#include "core/base/memory.h"
#include "core/base/text_stream.h"

enum { MAX_DEPTH = 10 }; /* of nested includes */

typedef struct join {
    hx_config_source *source;
    FILE *out;
    const char *dir; /* folder of the config; "": the current one */
} join;

static int add_file(hx_config_source *s, const char *name)
{
    HX_TRY(hx_grow(&s->file, s->n_file, &s->file_capacity, sizeof *s->file, "names of configs"));
    HX_TRY(hx_strdup(&s->file[s->n_file], name));
    s->n_file++;
    return HX_OK;
}

static int add_line(hx_config_source *s, int file, int line)
{
    HX_TRY(hx_grow(&s->from, s->n_line, &s->line_capacity, sizeof *s->from, "lines of a config"));
    s->from[s->n_line++] = (hx_config_line){file, line};
    return HX_OK;
}

/* Appends n characters of a file that begin on its line *line, and updates *line. */
static int put_source(join *j, int file, const char *c, size_t n, int *line)
{
    for (const char *const end = c + n; c < end; c++) {
        fputc(*c, j->out);
        if (*c != '\n') continue;
        ++*line;
        HX_TRY(add_line(j->source, file, *line));
    }
    return HX_OK;
}

static int add_included(join *j, const char *name, int file, int line, int depth);

/* If c is the beginning of an @include, reads the file into the text and sets *after to the end of
 * the @include; otherwise *after = c. An @include must be at the start of a line, except for
 * blanks. */
static int include(join *j, const char *c, int file, int line, int depth, const char **after)
{
    static const char word[] = "@include";
    char name[PATH_MAX] = "";
    size_t n = 0;
    *after = c;
    if (strncmp(c, word, sizeof word - 1) != 0) return HX_OK;
    c += sizeof word - 1;
    c += strspn(c, " \t");
    if (*c++ != '"') return HX_OK; /* libconfig refuses it */
    for (; *c && *c != '"' && *c != '\n'; c++) {
        if (*c == '\\' && (c[1] == '\\' || c[1] == '"')) c++;
        if (n + 1 < sizeof name) name[n++] = *c;
    }
    if (*c != '"')
        return HX_RAISE(HX_EINPUT, "%s:%d: the name of the included file has no closing quote",
                        j->source->file[file], line);
    *after = c + 1;
    return add_included(j, name, file, line, depth);
}

static int add_text(join *j, const char *text, int file, int depth)
{
    int line = 1, is_start = 1; /* at the start of a line, except for blanks */
    HX_TRY(hx_value_check_nesting(text, j->source->file[file]));
    for (const char *c = text; *c;) {
        const char *after = c;
        int passed = line;
        if (is_start) HX_TRY(include(j, c, file, line, depth, &after));
        if (after != c) { /* text that follows an @include belongs to the same line */
            HX_TRY(add_line(j->source, file, line));
            fputc('\n', j->out);
            c = after;
            is_start = 0;
            continue;
        }
        after = hx_value_skip_text(c, &passed);
        if (after == c) after++;
        is_start = *c == '\n' || (is_start && (*c == ' ' || *c == '\t'));
        HX_TRY(put_source(j, file, c, (size_t)(after - c), &line));
        c = after;
    }
    return HX_OK;
}

/* Opens the file of an @include; `path` receives its name for messages. */
static FILE *open_included(const join *j, const char *name, char path[PATH_MAX], const char **why)
{
    const int n = snprintf(path, PATH_MAX, "%s%s", name[0] == '/' ? "" : j->dir, name);
    if (n < PATH_MAX) return hx_input_open(path, why);
    *why = "its name is too long";
    errno = 0;
    return NULL;
}

static int add_included(join *j, const char *name, int file, int line, int depth)
{
    hx_config_source *const s = j->source;
    char path[PATH_MAX], *text = NULL;
    const char *why;
    FILE *const stream = open_included(j, name, path, &why);
    if (!stream)
        return HX_RAISE(HX_EINPUT, "%s:%d: cannot include '%s': %s%s", s->file[file], line, path,
                        why,
                        errno == ENOENT && name[0] != '/'
                            ? "; @include is relative to the folder of the config that was named"
                            : "");
    fclose(stream);
    if (depth >= MAX_DEPTH)
        return HX_RAISE(HX_EINPUT, "%s:%d: cannot include '%s': files include each other",
                        s->file[file], line, path);
    HX_TRY(hx_value_read_text_file(path, &text));
    int rc = add_file(s, path);
    const int included = (int)s->n_file - 1;
    fputc('\n', j->out);
    if (rc == HX_OK) rc = add_line(s, included, 1);
    if (rc == HX_OK) rc = add_text(j, text, included, depth + 1);
    free(text);
    return rc;
}

static int join_files(join *j, const char *text, const char *path)
{
    char *own = NULL;
    HX_TRY(add_file(j->source, path));
    HX_TRY(add_line(j->source, 0, 1));
    if (!text) HX_TRY(hx_value_read_text_file(path, &own));
    const int rc = add_text(j, text ? text : own, 0, 0);
    free(own);
    return rc;
}

int hx_config_source_open(hx_config_source *s, const char *text, const char *path)
{
    int rc;
    char *dir = NULL, *joined = NULL;
    hx_text_stream out;
    memset(s, 0, sizeof *s);
    HX_TRY(hx_text_stream_open(&out, "config"));
    /* The folder of a path with its '/', "" for the current one. */
    const char *const slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    HX_TRY_FAIL(hx_alloc(&dir, n + 1, 1, "file name"));
    memcpy(dir, path, n);
    join j = {s, out.stream, dir};
    HX_TRY_FAIL(join_files(&j, text, path));
    HX_TRY_FAIL(hx_text_stream_close(&out, &joined, NULL));
    /* every single file may pass, but not one that is included within brackets */
    if (hx_value_check_nesting(joined, path) < 0) {
        rc = HX_RAISE(HX_EINPUT,
                      "%s: with the files that it includes, it has too many nested brackets", path);
        goto fail;
    }
    /* libconfig 1.5 refuses a comma after the last entry of a list. */
    char *comma = NULL; /* last character that is not blank or in a comment */
    int line = 0;
    for (char *c = joined; *c;) {
        char *const after = c + (hx_value_skip_text(c, &line) - c);
        if (after == c && (*c == ')' || *c == ']') && comma) *comma = ' ';
        if (after == c && !strchr(" \t\r\n\f\v", *c)) comma = *c == ',' ? c : NULL;
        if (*c == '"') comma = NULL;
        c = after != c ? after : c + 1;
    }
    rc = hx_value_widen_integers(joined, &s->text);
fail:
    hx_text_stream_free(&out);
    free(joined);
    free(dir);
    return rc;
}

const char *hx_config_source_place(const hx_config_source *s, int line, char *place, size_t n_place)
{
    const size_t at = line < 1 ? 0 : (size_t)line > s->n_line ? s->n_line - 1 : (size_t)line - 1;
    snprintf(place, n_place, "%s:%d", s->file[s->from[at].file], s->from[at].line);
    return place;
}

void hx_config_source_free(hx_config_source *s)
{
    for (size_t i = 0; i < s->n_file; i++) free(s->file[i]);
    free(s->file);
    free(s->from);
    free(s->text);
    memset(s, 0, sizeof *s);
}
