#define _POSIX_C_SOURCE 200809L /* getline */
/* Lines, fields and formats of ANSYS archives, and the values of their parameters. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ansys_reader.h"

enum { MOST_WIDTH = 40 };

int hx_ansys_line(hx_ansys_reader *r, int *found)
{
    errno = 0;
    const ssize_t length = getline(&r->text, &r->capacity, r->stream);
    *found = length >= 0;
    if (length < 0 && ferror(r->stream))
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", r->import.path, strerror(errno));
    if (length < 0) return HX_OK;
    r->line++;
    if (strlen(r->text) != (size_t)length)
        return HX_ANSYS_RAISE(r, "the line contains a zero byte: this is not a text file");
    size_t n = (size_t)length;
    while (n > 0 && isspace((unsigned char)r->text[n - 1])) n--;
    r->text[n] = '\0';
    r->length = n;
    return HX_OK;
}

int hx_ansys_need_line(hx_ansys_reader *r, const char *block)
{
    int found;
    HX_TRY(hx_ansys_line(r, &found));
    return found ? HX_OK : HX_ANSYS_RAISE(r, "the file ends within %s", block);
}

int hx_ansys_is_end(hx_ansys_reader *r)
{
    const char *const first = r->text + strspn(r->text, " \t");
    if (first[0] == '-' && atoi(first) == -1) return 1;
    r->is_kept = isalpha((unsigned char)first[0]) || (first[0] && strchr("/*!:", first[0]));
    return r->is_kept;
}

/* --- fields in columns --- */

/* Copies the non-blank characters of a field; the field may lie beyond the end of the line. */
static void cut_field(const hx_ansys_reader *r, int begin, int width, char field[MOST_WIDTH + 1])
{
    const int length = r->length < (size_t)begin + (size_t)width ? (int)r->length : begin + width;
    int n = 0;
    for (int i = begin; i < length; i++)
        if (!isspace((unsigned char)r->text[i])) field[n++] = r->text[i];
    field[n] = '\0';
}

static int parse_int(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 && *value > -((int64_t)1 << 62) && *value < (int64_t)1 << 62;
}

/* Accepts 1.5D3 and 1.5-103, Fortran's notation for an exponent of three digits. */
static int parse_fortran(const char *text, double *value)
{
    char plain[2 * HX_ANSYS_WORD], *end;
    size_t n = 0;
    for (const char *c = text; *c && n + 2 < sizeof plain; c++) {
        const int is_sign = *c == '+' || *c == '-';
        if (is_sign && c > text && !strchr("eEdD+-", c[-1])) plain[n++] = 'e';
        plain[n++] = *c == 'd' || *c == 'D' ? 'e' : *c;
    }
    plain[n] = '\0';
    *value = strtod(plain, &end);
    return n > 0 && *end == '\0' && strspn(plain, "+-.0123456789eE") == n && isfinite(*value);
}

static int parse_real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (*end) return parse_fortran(text, value);
    return end > text && strspn(text, "+-.0123456789eE") == (size_t)(end - text) &&
           isfinite(*value);
}

int hx_ansys_int(const hx_ansys_reader *r, const hx_ansys_layout *l, int k, int64_t *value)
{
    char field[MOST_WIDTH + 1];
    cut_field(r, l->begin[k], l->width[k], field);
    if (parse_int(field, value)) return HX_OK;
    return HX_ANSYS_RAISE(r, "'%.*s' where an integer is expected", HX_ANSYS_SHOWN, field);
}

int hx_ansys_real(const hx_ansys_reader *r, const hx_ansys_layout *l, int k, double *value)
{
    char field[MOST_WIDTH + 1];
    cut_field(r, l->begin[l->n_int + k], l->width[l->n_int + k], field);
    *value = 0.0;
    if (!field[0] || parse_real(field, value)) return HX_OK;
    return HX_ANSYS_RAISE(r, "'%.*s' where a number is expected", HX_ANSYS_SHOWN, field);
}

int hx_ansys_count(const hx_ansys_reader *r, const hx_ansys_layout *l)
{
    int n = l->n_int;
    char field[MOST_WIDTH + 1];
    for (; n > 0; n--) {
        cut_field(r, l->begin[n - 1], l->width[n - 1], field);
        if (field[0]) break;
    }
    return n;
}

/* Parses "3i9" or "6e21.13e3" at *at: number of fields and their width. */
static int read_descriptor(const char **at, int *n, int *width, char *kind)
{
    char *end;
    const long count = isdigit((unsigned char)**at) ? strtol(*at, &end, 10) : (end = NULL, 1);
    if (end) *at = end;
    *kind = (char)tolower((unsigned char)**at);
    if (*kind == '\0' || !strchr("iefgadx", *kind)) return 0;
    const long size = *kind == 'x' ? 1 : strtol(*at + 1, &end, 10);
    if (*kind == 'x') end = (char *)(*at + 1);
    if (end == *at + 1 && *kind != 'x') return 0;
    if (count < 1 || count > HX_ANSYS_FIELDS || size < 1 || size > MOST_WIDTH) return 0;
    *n = (int)count;
    *width = (int)size;
    *at = end + strcspn(end, ",)");
    return 1;
}

/* Adds n fields that begin at *column; integers must come first. */
static int add_fields(hx_ansys_layout *l, int n, int width, char kind, int *column)
{
    const int n_before = l->n_int + l->n_real;
    if (n_before + n > HX_ANSYS_FIELDS || (kind == 'i' && l->n_real > 0)) return 0;
    for (int k = 0; k < n; k++, *column += width) {
        l->begin[n_before + k] = *column;
        l->width[n_before + k] = width;
    }
    if (kind == 'i')
        l->n_int += n;
    else
        l->n_real += n;
    return 1;
}

int hx_ansys_layout_read(hx_ansys_reader *r, const char *block, hx_ansys_layout *l)
{
    int column = 0;
    memset(l, 0, sizeof *l);
    HX_TRY(hx_ansys_need_line(r, block));
    const char *at = r->text + strspn(r->text, " \t(");
    for (int good = 1; good;) {
        int n, width;
        char kind;
        good = read_descriptor(&at, &n, &width, &kind);
        if (good && kind == 'x')
            column += n;
        else
            good = good && add_fields(l, n, width, kind, &column);
        if (good && *at != ',' && l->n_int > 0) return HX_OK;
        if (*at == ',') at++;
        at += strspn(at, " \t");
    }
    return HX_ANSYS_RAISE(r, "'%.*s' where the format of %s is expected, such as (3i9,6e21.13e3)",
                          HX_ANSYS_SHOWN, r->text, block);
}

/* --- fields of commands --- */

const char *hx_ansys_word(const hx_ansys_reader *r, int k, char text[HX_ANSYS_WORD])
{
    const char *line = r->command;
    for (; k > 0 && *line && *line != '!'; k--) {
        line += strcspn(line, ",!");
        if (*line == ',') line++;
    }
    line += strspn(line, " \t");
    size_t n = k > 0 ? 0 : strcspn(line, ",!");
    while (n > 0 && isspace((unsigned char)line[n - 1])) n--;
    snprintf(text, HX_ANSYS_WORD, "%.*s", (int)(n < HX_ANSYS_WORD ? n : HX_ANSYS_WORD - 1), line);
    return text;
}

int hx_ansys_is(const hx_ansys_reader *r, int k, const char *word)
{
    char text[HX_ANSYS_WORD];
    return strcasecmp(hx_ansys_word(r, k, text), word) == 0;
}

int hx_ansys_is_command(const hx_ansys_reader *r, const char *name)
{
    const char *const text = r->command + strspn(r->command, " \t");
    const size_t n = strcspn(text, ", \t!"), n_name = strlen(name);
    if (n < 4 || n_name < 4 || name[0] == '*')
        return n == n_name && strncasecmp(text, name, n) == 0;
    return strncasecmp(text, name, 4) == 0;
}

int hx_ansys_is_unblocked(const hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    hx_ansys_word(r, 1, word);
    return strncasecmp(word, "UNBL", 4) == 0 ||
           (toupper((unsigned char)word[0]) == 'R' && isdigit((unsigned char)word[1]));
}

hx_ansys_parameter *hx_ansys_find_parameter(const hx_ansys_reader *r, const char *name)
{
    for (size_t i = r->n_parameter; i-- > 0;)
        if (strcasecmp(r->parameter[i].name, name) == 0) return &r->parameter[i];
    return NULL;
}

int hx_ansys_value(const hx_ansys_reader *r, const char *text, double *value)
{
    if (!*text || parse_real(text, value)) return 1;
    const int has_sign = *text == '-' || *text == '+';
    const hx_ansys_parameter *const p = hx_ansys_find_parameter(r, text + has_sign);
    if (p) *value = *text == '-' ? -p->value : p->value;
    return p && isfinite(p->value);
}

int hx_ansys_number(const hx_ansys_reader *r, int k, double *value)
{
    char text[HX_ANSYS_WORD];
    *value = 0.0;
    return hx_ansys_value(r, hx_ansys_word(r, k, text), value);
}

int hx_ansys_integer(const hx_ansys_reader *r, int k, int64_t *value)
{
    char text[HX_ANSYS_WORD];
    double real;
    if (parse_int(hx_ansys_word(r, k, text), value)) return HX_OK;
    if (hx_ansys_number(r, k, &real) && fabs(real) < 1e15 && real == floor(real)) {
        *value = (int64_t)real;
        return HX_OK;
    }
    return HX_ANSYS_RAISE(r,
                          "'%.*s' where an integer is expected; only ANSYS evaluates expressions: "
                          "write the archive in ANSYS with CDWRITE,DB",
                          HX_ANSYS_SHOWN, text);
}

int hx_ansys_is_session(const hx_ansys_reader *r, const char *name)
{
    const hx_ansys_parameter *const p = hx_ansys_find_parameter(r, name);
    return p && p->is_session;
}
