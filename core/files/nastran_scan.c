#include "nastran_scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"

enum { MOST_FIELDS = 1 << 24 };

int hx_nastran_place(const hx_nastran_scan *scan, int code)
{
    hx_error_prefix("%s:%lld: %s%s", scan->path, (long long)scan->line, scan->name,
                    scan->name[0] ? ": " : "");
    return code;
}

/* --- lines --- */

static hx_file_scan *top(hx_nastran_scan *scan)
{
    return &scan->file[scan->depth - 1];
}

static int push_file(hx_nastran_scan *scan, const char *path)
{
    if (scan->depth == HX_NASTRAN_DEPTH)
        return HX_NASTRAN_RAISE(scan, "more than %d files that include each other",
                                HX_NASTRAN_DEPTH);
    HX_TRY(hx_file_scan_open(&scan->file[scan->depth], path));
    scan->depth++;
    return HX_OK;
}

/* Reads the next line of the top file that is not only a comment. */
static int read_line(hx_nastran_scan *scan, char text[HX_NASTRAN_LINE], int *found)
{
    if (scan->is_ahead) {
        memcpy(text, scan->ahead, HX_NASTRAN_LINE);
        scan->is_ahead = 0;
        *found = 1;
        return HX_OK;
    }
    for (;;) {
        HX_TRY(hx_file_scan_line(top(scan), text, HX_NASTRAN_LINE, found));
        if (!*found && scan->depth == 1) return HX_OK;
        if (!*found) {
            hx_file_scan_free(top(scan));
            scan->depth--;
            continue;
        }
        text[strcspn(text, "$")] = '\0';
        scan->ahead_line = top(scan)->word_line;
        if (text[strspn(text, " \t\r")] != '\0') return HX_OK;
    }
}

static void put_back(hx_nastran_scan *scan, const char *text)
{
    memcpy(scan->ahead, text, HX_NASTRAN_LINE);
    scan->is_ahead = 1;
}

static int begins(const char *text, const char *word)
{
    const size_t n = strlen(word);
    text += strspn(text, " \t");
    return strncasecmp(text, word, n) == 0 && !isalnum((unsigned char)text[n]);
}

static int is_begin_bulk(const char *text)
{
    text += strspn(text, " \t");
    if (!begins(text, "BEGIN")) return 0;
    text += 5;
    text += strspn(text, " \t=");
    return *text == '\0' || strncasecmp(text, "BULK", 4) == 0;
}

/* Detects files without control sections, which contain only bulk data. */
static int look_for_bulk(hx_nastran_scan *scan, const char *path)
{
    char text[HX_NASTRAN_LINE];
    int found = 1, has_begin = 0;
    HX_TRY(push_file(scan, path));
    while (found && !has_begin) {
        HX_TRY(read_line(scan, text, &found));
        has_begin = found && is_begin_bulk(text);
    }
    hx_file_scan_free(top(scan));
    scan->depth = 0;
    scan->has_bulk = !has_begin;
    return push_file(scan, path);
}

int hx_nastran_open(hx_nastran_scan *scan, const char *path)
{
    memset(scan, 0, sizeof *scan);
    snprintf(scan->path, sizeof scan->path, "%s", path);
    const int rc = look_for_bulk(scan, path);
    if (rc < 0) hx_nastran_free(scan);
    return rc;
}

void hx_nastran_free(hx_nastran_scan *scan)
{
    for (int i = 0; i < scan->depth; i++) hx_file_scan_free(&scan->file[i]);
    free(scan->field);
    memset(scan, 0, sizeof *scan);
}

/* INCLUDE 'name', which may continue over several lines; the name is relative to the including
 * file. */
static int include(hx_nastran_scan *scan, const char *text)
{
    char name[HX_NASTRAN_LINE], path[2 * HX_NASTRAN_LINE];
    const char *const own = top(scan)->path, *const slash = strrchr(own, '/');
    text += strspn(text, " \t") + 7;
    text += strspn(text, " \t=");
    const char quote = *text == '\'' || *text == '"' ? *text : '\0';
    snprintf(name, sizeof name, "%s", text + (quote != '\0'));
    char *const end = quote ? strchr(name, quote) : NULL;
    if (quote && !end) return HX_NASTRAN_RAISE(scan, "a file name over several lines is not read");
    if (end) *end = '\0';
    name[strcspn(name, "\t\r")] = '\0';
    for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--) name[n - 1] = '\0';
    if (!name[0]) return HX_NASTRAN_RAISE(scan, "the name of a file is expected");
    if (name[0] != '/' && slash)
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own), own, name);
    else
        snprintf(path, sizeof path, "%s", name);
    const int rc = push_file(scan, path);
    return rc < 0 && rc != HX_ENOMEM ? hx_nastran_place(scan, rc) : rc;
}

/* Reads the next line after resolving INCLUDE. */
static int next_line(hx_nastran_scan *scan, char text[HX_NASTRAN_LINE], int *found)
{
    for (;;) {
        HX_TRY(read_line(scan, text, found));
        if (!*found) return HX_OK;
        scan->line = scan->ahead_line;
        snprintf(scan->path, sizeof scan->path, "%s", top(scan)->path);
        if (!begins(text, "INCLUDE")) return HX_OK;
        snprintf(scan->name, sizeof scan->name, "INCLUDE");
        HX_TRY(include(scan, text));
    }
}

int hx_nastran_control(hx_nastran_scan *scan, char *text, size_t n, int *found)
{
    char line[HX_NASTRAN_LINE];
    *found = 0;
    if (scan->has_bulk) return HX_OK;
    scan->name[0] = '\0';
    HX_TRY(next_line(scan, line, found));
    if (*found && is_begin_bulk(line)) {
        scan->has_bulk = 1;
        *found = 0;
        return HX_OK;
    }
    snprintf(text, n, "%s", line);
    return HX_OK;
}

/* --- cards --- */

/* Appends text[n] without its blanks. */
static int add_field(hx_nastran_scan *scan, const char *text, size_t n)
{
    size_t n_kept = 0;
    if (scan->n_field == MOST_FIELDS)
        return HX_NASTRAN_RAISE(scan, "more than %d fields", MOST_FIELDS);
    HX_TRY(hx_grow(&scan->field, scan->n_field, &scan->capacity, sizeof *scan->field,
                   "fields of a card"));
    char *const to = scan->field[scan->n_field++];
    for (size_t i = 0; i < n && n_kept + 1 < HX_NASTRAN_FIELD; i++)
        if (!isspace((unsigned char)text[i])) to[n_kept++] = text[i];
    to[n_kept] = '\0';
    return HX_OK;
}

/* Small fields: a tab advances to the next column that is a multiple of 8. */
static void expand_tabs(char text[HX_NASTRAN_LINE])
{
    char wide[HX_NASTRAN_LINE];
    size_t n = 0;
    for (const char *c = text; *c && n + 9 < sizeof wide; c++) {
        if (*c != '\t') {
            wide[n++] = *c;
            continue;
        }
        do wide[n++] = ' ';
        while (n % 8 != 0);
    }
    wide[n] = '\0';
    memcpy(text, wide, n + 1);
}

/* "1054,1002," continues a card whose line ended with a comma; all of its fields are data. */
static int is_bare_data(const char *text)
{
    const size_t n = strcspn(text, ", \t\r");
    return isdigit((unsigned char)text[0]) &&
           (strchr(text, ',') != NULL || text[n + strspn(text + n, " \t\r")] == '\0');
}

/* Adds the data fields of a line: those between its first field and its last one, which belongs to
 * the continuation. */
static int add_line(hx_nastran_scan *scan, char text[HX_NASTRAN_LINE])
{
    const char *const comma = strchr(text, ',');
    const size_t n_first = strcspn(text, ", ");
    const size_t n_name = comma ? n_first : strnlen(text, 8);
    const int is_large = memchr(text, '*', n_name) != NULL;
    const int n_data = is_large ? 4 : 8;
    if (comma || is_bare_data(text)) {
        const char *at = is_bare_data(text) ? text : comma + 1;
        for (int i = 0; i < n_data; i++) {
            const size_t n = strcspn(at, ",");
            HX_TRY(add_field(scan, at, n));
            at += n;
            if (*at == ',') at++;
        }
        return HX_OK;
    }
    expand_tabs(text);
    const size_t n_text = strlen(text), width = is_large ? 16 : 8;
    for (int i = 0; i < n_data; i++) {
        const size_t begin = 8 + (size_t)i * width, end = begin + width;
        const size_t last = end < n_text ? end : n_text;
        HX_TRY(add_field(scan, begin < last ? text + begin : "", begin < last ? last - begin : 0));
    }
    return HX_OK;
}

static int is_continuation(const char *text)
{
    if (text[0] == '+' || text[0] == '*' || text[0] == ',' || is_bare_data(text)) return 1;
    size_t n = 0;
    while (n < 8 && text[n] == ' ') n++;
    return text[0] == '\t' || n == 8 || (n > 0 && text[n] == ',');
}

static void take_name(hx_nastran_scan *scan, const char *text)
{
    size_t n = 0;
    text += strspn(text, " ");
    for (; n < 8 && text[n] && !strchr(", \t*", text[n]); n++)
        scan->name[n] = (char)toupper((unsigned char)text[n]);
    scan->name[n] = '\0';
}

int hx_nastran_card(hx_nastran_scan *scan, int *found)
{
    char text[HX_NASTRAN_LINE];
    scan->n_field = 0;
    scan->name[0] = '\0';
    HX_TRY(next_line(scan, text, found));
    if (!*found) return HX_OK;
    const int64_t line = scan->line;
    take_name(scan, text);
    if (strcmp(scan->name, "ENDDATA") == 0) {
        *found = 0;
        return HX_OK;
    }
    HX_TRY(add_line(scan, text));
    for (int more = 1; more;) {
        HX_TRY(read_line(scan, text, &more));
        if (!more) break;
        more = is_continuation(text);
        HX_TRY(more ? add_line(scan, text) : HX_OK);
        if (!more) put_back(scan, text);
    }
    scan->line = line;
    while (scan->n_field > 0 && scan->field[scan->n_field - 1][0] == '\0') scan->n_field--;
    return HX_OK;
}

/* --- fields --- */

const char *hx_nastran_text(const hx_nastran_scan *scan, size_t i)
{
    return i < scan->n_field ? scan->field[i] : "";
}

int hx_nastran_int(const hx_nastran_scan *scan, size_t i, int64_t otherwise, int64_t *value)
{
    const char *const text = hx_nastran_text(scan, i);
    char *end;
    *value = otherwise;
    if (!*text) return HX_OK;
    errno = 0;
    const long long parsed = strtoll(text, &end, 10);
    if (end == text || *end || errno == ERANGE || parsed <= -(1LL << 62) || parsed >= 1LL << 62)
        return HX_NASTRAN_RAISE(scan, "'%s' in field %zu, where an integer is expected", text,
                                i + 2);
    *value = parsed;
    return HX_OK;
}

/* 1.5, 1.5E3, 1.5D3 and 1.5+3 are numbers. */
int hx_nastran_real(const hx_nastran_scan *scan, size_t i, double otherwise, double *value)
{
    const char *const text = hx_nastran_text(scan, i);
    char plain[2 * HX_NASTRAN_FIELD], *end;
    size_t n = 0;
    *value = otherwise;
    if (!*text) return HX_OK;
    for (const char *c = text; *c; c++) {
        const int is_sign = *c == '+' || *c == '-';
        if (is_sign && c > text && !strchr("eEdD", c[-1])) plain[n++] = 'e';
        plain[n++] = *c == 'd' || *c == 'D' ? 'e' : *c;
    }
    plain[n] = '\0';
    const int is_number = strspn(plain, "0123456789.+-eE") == n;
    *value = strtod(plain, &end);
    if (is_number && end > plain && !*end) return HX_OK;
    return HX_NASTRAN_RAISE(scan, "'%s' in field %zu, where a number is expected", text, i + 2);
}
