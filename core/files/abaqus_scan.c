#define _POSIX_C_SOURCE 200809L /* getline */
#include "abaqus_scan.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/grow.h"
#include "../base/input_file.h"
#include "../base/memory.h"

enum { MOST_INCLUDED = 1000, SHOWN = 60 };

static int open_file(hx_abaqus_scan *scan, const char *path)
{
    const char *why;
    hx_abaqus_file *const file = &scan->file[scan->depth];
    memset(file, 0, sizeof *file);
    file->stream = hx_input_open(path, &why);
    if (!file->stream) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", path, why);
    /* skip the byte-order mark that some editors write at the start of a UTF-8 file */
    unsigned char mark[3];
    const size_t n = fread(mark, 1, sizeof mark, file->stream);
    if (n < 3 || memcmp(mark, "\xef\xbb\xbf", 3) != 0) rewind(file->stream);
    scan->depth++;
    return hx_strdup(&file->path, path);
}

static void close_file(hx_abaqus_scan *scan)
{
    hx_abaqus_file *const file = &scan->file[--scan->depth];
    if (file->stream) fclose(file->stream);
    free(file->path);
    memset(file, 0, sizeof *file);
}

int hx_abaqus_scan_open(hx_abaqus_scan *scan, const char *path)
{
    memset(scan, 0, sizeof *scan);
    const int rc = open_file(scan, path);
    if (rc < 0) hx_abaqus_scan_free(scan);
    return rc;
}

void hx_abaqus_scan_free(hx_abaqus_scan *scan)
{
    while (scan->depth > 0) close_file(scan);
    free(scan->text);
    free(scan->keyword_text);
    memset(scan, 0, sizeof *scan);
}

int hx_abaqus_scan_place(const hx_abaqus_scan *scan, int code)
{
    const hx_abaqus_file *const file = scan->depth > 0 ? &scan->file[scan->depth - 1] : NULL;
    if (file && file->path) hx_error_prefix("%s:%lld: ", file->path, (long long)file->line);
    return code;
}

int64_t hx_abaqus_scan_number(const hx_abaqus_scan *scan)
{
    if (scan->depth < 1) return 0;
    /* on a second pass over a part, this is the first file */
    const hx_abaqus_file *const file = &scan->file[scan->depth - 1];
    return strcmp(file->path, scan->file[0].path) == 0 ? file->line : 0;
}

const char *hx_abaqus_scan_path(const hx_abaqus_scan *scan)
{
    return scan->depth > 0 ? scan->file[scan->depth - 1].path : "";
}

int hx_abaqus_scan_mark(const hx_abaqus_scan *scan, hx_abaqus_mark *mark)
{
    const hx_abaqus_file *const file = &scan->file[scan->depth - 1];
    mark->line = file->line;
    mark->offset = ftell(file->stream);
    if (mark->offset < 0)
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", file->path, strerror(errno));
    return hx_strdup(&mark->path, file->path);
}

void hx_abaqus_mark_free(hx_abaqus_mark *mark)
{
    free(mark->path);
    memset(mark, 0, sizeof *mark);
}

int hx_abaqus_scan_enter(hx_abaqus_scan *scan, const hx_abaqus_mark *mark)
{
    if (scan->depth == HX_ABAQUS_DEPTH)
        return HX_ABAQUS_RAISE(scan, "files include other files more than %d levels deep",
                               HX_ABAQUS_DEPTH - 1);
    HX_TRY(open_file(scan, mark->path));
    hx_abaqus_file *const file = &scan->file[scan->depth - 1];
    file->line = mark->line;
    if (fseek(file->stream, mark->offset, SEEK_SET) != 0)
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", file->path, strerror(errno));
    return HX_OK;
}

void hx_abaqus_scan_leave(hx_abaqus_scan *scan)
{
    close_file(scan);
}

/* --- lines --- */

/* Reads the next line of the top file into scan->text; *found = 0 at its end. */
static int read_line(hx_abaqus_scan *scan, int *found)
{
    hx_abaqus_file *const file = &scan->file[scan->depth - 1];
    errno = 0;
    const ssize_t length = getline(&scan->text, &scan->capacity, file->stream);
    *found = length >= 0;
    if (length < 0 && errno == ENOMEM)
        return hx_abaqus_scan_place(
            scan, HX_RAISE(HX_ENOMEM, "a line is too long for the available memory"));
    if (length < 0 && ferror(file->stream))
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", file->path, strerror(errno));
    if (length < 0) return HX_OK;
    file->line++;
    if (strlen(scan->text) != (size_t)length)
        return HX_ABAQUS_RAISE(scan, "the line contains a zero byte: this is not a text file");
    size_t n = (size_t)length;
    while (n > 0 && isspace((unsigned char)scan->text[n - 1])) n--;
    scan->text[n] = '\0';
    return HX_OK;
}

/* Returns the first character that is not a blank. */
static char *skip_blanks(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    return text;
}

/* Like read_line, without blank lines and comments. */
static int read_content(hx_abaqus_scan *scan, char **start, int *found)
{
    if (scan->is_again) {
        scan->is_again = 0;
        *start = skip_blanks(scan->text);
        *found = 1;
        return HX_OK;
    }
    do {
        HX_TRY(read_line(scan, found));
        if (!*found) return HX_OK;
        *start = skip_blanks(scan->text);
        scan->joins_names |= strcmp(*start, HX_ABAQUS_JOINS) == 0;
        if (scan->comment && strncmp(*start, "**", 2) == 0)
            HX_TRY(scan->comment(scan->comment_context, skip_blanks(*start + 2)));
    } while (**start == '\0' || strncmp(*start, "**", 2) == 0);
    return HX_OK;
}

/* --- keywords --- */

/* Converts to capitals with one blank between words. */
static void tidy(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++) {
        if (!isspace((unsigned char)*c))
            *to++ = (char)toupper((unsigned char)*c);
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > text && to[-1] == ' ') to--;
    *to = '\0';
}

static char *trim(char *text)
{
    text = skip_blanks(text);
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
    if (n > 1 && text[0] == '"' && text[n - 1] == '"') {
        text++;
        n -= 2;
    }
    text[n] = '\0';
    return text;
}

/* Returns the next comma outside quotes, or the end. */
static char *find_comma(char *text)
{
    int quoted = 0;
    for (; *text && (quoted || *text != ','); text++) quoted ^= *text == '"';
    return text;
}

static int append_keyword(hx_abaqus_scan *scan, const char *text)
{
    const size_t n = scan->keyword_text ? strlen(scan->keyword_text) : 0, n_more = strlen(text);
    if (n + n_more + 1 > scan->keyword_capacity) {
        const size_t wanted = 2 * (n + n_more) + 128;
        HX_TRY(hx_resize(&scan->keyword_text, n, wanted, 1, "a keyword line"));
        scan->keyword_capacity = wanted;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core*): resized if NULL */
    memcpy(scan->keyword_text + n, text, n_more + 1);
    return HX_OK;
}

/* Returns 1 if text begins a parameter, which never begins like a number. Some programs end a
 * keyword line with one comma too many. */
static int goes_on(const char *text)
{
    return *text != '*' && !strchr("0123456789+-.", *text);
}

/* Parses the keyword line that begins at start; a comma at its end continues it. */
static int read_keyword(hx_abaqus_scan *scan, char *start)
{
    if (scan->keyword_text) scan->keyword_text[0] = '\0';
    scan->n_parameter = 0;
    scan->keyword = "";
    scan->keyword_line = scan->file[scan->depth - 1].line;
    HX_TRY(append_keyword(scan, start + 1));
    for (size_t n = strlen(start); n > 0 && start[n - 1] == ','; n = strlen(start)) {
        int found;
        HX_TRY(read_content(scan, &start, &found));
        if (!found) break;
        scan->is_again = !goes_on(start);
        if (scan->is_again) break;
        HX_TRY(append_keyword(scan, start));
    }
    char *at = scan->keyword_text, *comma = find_comma(at);
    int more = *comma == ',';
    *comma = '\0';
    snprintf(scan->keyword_shown, sizeof scan->keyword_shown, "%s", at);
    tidy(scan->keyword_shown);
    /* convert to capitals without blanks */
    char *to = at;
    for (const char *c = at; *c; c++)
        if (!isspace((unsigned char)*c)) *to++ = (char)toupper((unsigned char)*c);
    *to = '\0';
    scan->keyword = at;
    while (more) {
        at = comma + 1;
        comma = find_comma(at);
        more = *comma == ',';
        *comma = '\0';
        char *const equals = strchr(at, '=');
        if (equals) *equals = '\0';
        tidy(at);
        if (at[0] == '\0' && !equals) continue;
        if (scan->n_parameter == HX_ABAQUS_PARAMETERS)
            return HX_ABAQUS_RAISE(scan, "*%s has more than %d parameters", scan->keyword,
                                   HX_ABAQUS_PARAMETERS);
        scan->parameter[scan->n_parameter].name = at;
        scan->parameter[scan->n_parameter++].value = equals ? trim(equals + 1) : "";
    }
    return HX_OK;
}

int hx_abaqus_same_word(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += *a == ' ';
        b += *b == ' ';
        if (*a != *b || *a == '\0') return *a == *b;
    }
}

const char *hx_abaqus_parameter(const hx_abaqus_scan *scan, const char *name)
{
    for (int i = 0; i < scan->n_parameter; i++)
        if (hx_abaqus_same_word(scan->parameter[i].name, name)) return scan->parameter[i].value;
    return NULL;
}

/* Allocates the path of a file whose name is relative to the folder of another file. */
static int path_beside(const char *other, const char *name, char **path)
{
    const char *const slash = strrchr(other, '/');
    const size_t n = name[0] != '/' && slash ? (size_t)(slash - other) + 1 : 0;
    HX_TRY(hx_alloc(path, n + strlen(name) + 1, 1, "a file's name"));
    memcpy(*path, other, n);
    strcpy(*path + n, name);
    return HX_OK;
}

/* Opens the file beside the job, as CalculiX does; if there is none, opens the one beside the
 * including file. */
static int open_included(hx_abaqus_scan *scan, const char *name)
{
    const char *const parent = scan->file[scan->depth - 1].path;
    const int64_t line = scan->file[scan->depth - 1].line;
    const hx_abaqus_scan includer = *scan; /* the message begins with its file and line */
    char *path = NULL, *beside = NULL;
    int rc, is_beside = 0;
    HX_TRY_FAIL(path_beside(scan->file[0].path, name, &path));
    HX_TRY_FAIL(path_beside(parent, name, &beside));
    if (strcmp(path, beside) != 0 && access(path, F_OK) != 0) {
        is_beside = access(beside, F_OK) == 0;
        if (!is_beside) {
            rc = HX_ABAQUS_RAISE(scan, "cannot read '%s': no such file; '%s' does not exist either",
                                 path, beside);
            goto fail;
        }
    }
    if (is_beside && scan->n_beside++ == 0)
        HX_TRY_FAIL(hx_notes_add(scan->notes, HX_NOTE_WARNING,
                                 "%s:%lld: '%s' is taken from the folder of the including file; "
                                 "Abaqus and CalculiX look for it in the job's folder",
                                 parent, (long long)line, name));
    rc = open_file(scan, is_beside ? beside : path);
    if (rc == HX_EINPUT) rc = hx_abaqus_scan_place(&includer, rc);
fail:
    free(path);
    free(beside);
    return rc;
}

static int include(hx_abaqus_scan *scan)
{
    const char *const name = hx_abaqus_parameter(scan, "INPUT");
    if (!name || !*name || scan->is_again)
        return HX_ABAQUS_RAISE(scan, "*INCLUDE needs INPUT=FILE, without a comma at the end");
    if (scan->depth == HX_ABAQUS_DEPTH || scan->n_included == MOST_INCLUDED)
        return HX_ABAQUS_RAISE(
            scan, "*INCLUDE of '%.*s': files include other files more than %d levels deep", SHOWN,
            name, HX_ABAQUS_DEPTH - 1);
    scan->n_included++;
    return open_included(scan, name);
}

int hx_abaqus_scan_line(hx_abaqus_scan *scan, hx_abaqus_line *kind)
{
    *kind = HX_ABAQUS_END;
    while (scan->depth > 0) {
        char *start;
        int found;
        HX_TRY(read_content(scan, &start, &found));
        if (!found) {
            if (scan->depth == 1) return HX_OK; /* the path is kept for messages */
            close_file(scan);
            continue;
        }
        *kind = *start == '*' ? HX_ABAQUS_KEYWORD : HX_ABAQUS_DATA;
        if (*start != '*') return HX_OK;
        HX_TRY(read_keyword(scan, start));
        if (strcmp(scan->keyword, "INCLUDE") != 0) return HX_OK;
        HX_TRY(include(scan));
        *kind = HX_ABAQUS_END;
    }
    return HX_OK;
}

/* --- fields --- */

int hx_abaqus_field(char **at, char **field)
{
    char *const start = skip_blanks(*at);
    if (*start == '\0') return 0;
    char *const comma = find_comma(start);
    *at = *comma ? comma + 1 : comma;
    *comma = '\0';
    *field = trim(start);
    return 1;
}

int hx_abaqus_int(const hx_abaqus_scan *scan, const char *field, const char *what, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(field, &end, 10);
    if (*end == '\0' && errno == 0 && *value > -((int64_t)1 << 62) && *value < (int64_t)1 << 62)
        return HX_OK;
    return HX_ABAQUS_RAISE(scan, "'%.*s' where %s is expected", SHOWN, field, what);
}

int hx_abaqus_real(const hx_abaqus_scan *scan, const char *field, const char *what, double *value)
{
    char text[64];
    char *end;
    snprintf(text, sizeof text, "%s", field);
    /* 1.5D+03 is Fortran notation; hexadecimal, inf and nan are refused */
    for (char *c = text; *c; c++)
        if (*c == 'd' || *c == 'D') *c = 'e';
    *value = strtod(text, &end);
    if (*end == '\0' && strspn(text, "+-.0123456789eE") == strlen(text) && isfinite(*value) &&
        strlen(field) < sizeof text)
        return HX_OK;
    return HX_ABAQUS_RAISE(scan, "'%.*s' where %s is expected", SHOWN, field, what);
}
