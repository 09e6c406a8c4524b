#include "step_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/input_file.h"
#include "../base/memory.h"

/* --- the file --- */

static int read_step(FILE *f, const char *path, hx_step_file *file)
{
    long size = -1;
    if (fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    if (size < 0) return HX_RAISE(HX_EINPUT, "%s: cannot read it", path);
    rewind(f);
    if ((size_t)size > HX_STEP_MOST_BYTES) return HX_OK;
    HX_TRY(hx_alloc_raw(&file->text, (size_t)size + 1, 1, "the text of a STEP file"));
    file->n_text = fread(file->text, 1, (size_t)size, f);
    file->text[file->n_text] = '\0';
    return ferror(f) ? HX_RAISE(HX_EINPUT, "%s: cannot read it", path) : HX_OK;
}

static int by_number(const void *a, const void *b)
{
    const hx_step_entity *const x = a, *const y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int add_entity(hx_step_file *file, size_t *capacity, size_t begin, size_t end)
{
    char *behind;
    const long long number = strtoll(file->text + begin + 1, &behind, 10);
    if (behind == file->text + begin + 1 || *behind != '=' || number < 0) return HX_OK;
    HX_TRY(
        hx_grow(&file->entity, file->n, capacity, sizeof *file->entity, "entities of a STEP file"));
    file->entity[file->n++] = (hx_step_entity){number, (size_t)(behind + 1 - file->text), end};
    return HX_OK;
}

static int find_entities(hx_step_file *file)
{
    size_t capacity = 0, begin = 0;
    int in_quotes = 0, is_sorted = 1;
    for (size_t i = 0; i < file->n_text; i++) {
        if (file->text[i] == '\'') in_quotes = !in_quotes;
        if (in_quotes || file->text[i] != ';') continue;
        if (file->text[begin] == '#') HX_TRY(add_entity(file, &capacity, begin, i));
        begin = i + 1;
    }
    for (size_t k = 1; k < file->n && is_sorted; k++)
        is_sorted = file->entity[k - 1].number < file->entity[k].number;
    if (!is_sorted) qsort(file->entity, file->n, sizeof *file->entity, by_number);
    return HX_OK;
}

int hx_step_read(hx_step_file *file, const char *path)
{
    const char *why;
    memset(file, 0, sizeof *file);
    FILE *const f = hx_input_open(path, &why);
    if (!f) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    int rc = read_step(f, path, file);
    fclose(f);
    /* Removes blanks, line ends and comments; within strings only the line ends. */
    if (rc == HX_OK && file->text) {
        char *const text = file->text;
        size_t n = 0;
        int in_quotes = 0;
        for (size_t i = 0; i < file->n_text; i++) {
            const char c = text[i];
            if (!in_quotes && c == '/' && text[i + 1] == '*') {
                const char *const end = strstr(text + i + 2, "*/");
                i = end ? (size_t)(end - text) + 1 : file->n_text;
                continue;
            }
            if (c == '\'') in_quotes = !in_quotes;
            if (c == '\n' || c == '\r' || c == '\0' || (!in_quotes && isspace((unsigned char)c)))
                continue;
            text[n++] = c;
        }
        text[n] = '\0';
        file->n_text = n;
    }
    if (rc == HX_OK && file->text) rc = find_entities(file);
    if (rc < 0) hx_step_free(file);
    return rc;
}

void hx_step_free(hx_step_file *file)
{
    free(file->text);
    free(file->entity);
    memset(file, 0, sizeof *file);
}

/* --- entities, lists and items --- */

static const hx_step_text nothing = {NULL, NULL};

hx_step_text hx_step_find(const hx_step_file *file, int64_t number)
{
    size_t low = 0, high = file->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file->entity[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == file->n || file->entity[low].number != number) return nothing;
    return hx_step_entity_text(file, low);
}

/* Returns the position after the bracket that matches the one at `at`; `end` if there is none. */
static const char *skip_brackets(const char *at, const char *end)
{
    int depth = 0, in_quotes = 0;
    for (; at < end; at++) {
        if (*at == '\'') in_quotes = !in_quotes;
        if (in_quotes) continue;
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0 && *at == ')') return at + 1;
    }
    return end;
}

hx_step_text hx_step_record(hx_step_text entity, const char *keyword)
{
    const size_t n = strlen(keyword);
    const char *at = entity.at;
    const char *const end = entity.end;
    if (!at || at == end) return nothing;
    const int is_several = *at == '(';
    if (is_several) at++;
    while (at < end) {
        const char *const bracket = memchr(at, '(', (size_t)(end - at));
        if (!bracket) return nothing;
        const int is_it = (size_t)(bracket - at) == n && memcmp(at, keyword, n) == 0;
        if (!is_it && !is_several) return nothing;
        const char *const behind = skip_brackets(bracket, end);
        if (is_it) return (hx_step_text){bracket + 1, behind[-1] == ')' ? behind - 1 : behind};
        at = behind;
    }
    return nothing;
}

int hx_step_next(hx_step_text *list, hx_step_text *item)
{
    int depth = 0, in_quotes = 0;
    if (!list->at || list->at >= list->end) return 0;
    const char *c = list->at;
    for (; c < list->end; c++) {
        if (*c == '\'') in_quotes = !in_quotes;
        if (in_quotes) continue;
        depth += *c == '(' ? 1 : *c == ')' ? -1 : 0;
        if (*c == ',' && depth == 0) break;
    }
    *item = (hx_step_text){list->at, c};
    list->at = c < list->end ? c + 1 : c;
    return 1;
}

hx_step_text hx_step_item(hx_step_text list, int k)
{
    hx_step_text item = nothing;
    for (int i = 0; i <= k; i++)
        if (!hx_step_next(&list, &item)) return nothing;
    return item;
}

hx_step_text hx_step_list(hx_step_text item)
{
    if (!item.at || item.end - item.at < 2 || item.at[0] != '(' || item.end[-1] != ')')
        return nothing;
    return (hx_step_text){item.at + 1, item.end - 1};
}

int64_t hx_step_number(hx_step_text item)
{
    if (!item.at || item.at == item.end || *item.at != '#') return -1;
    return strtoll(item.at + 1, NULL, 10);
}

double hx_step_real(hx_step_text item)
{
    char *behind;
    if (!item.at || item.at == item.end) return (double)NAN;
    const double value = strtod(item.at, &behind);
    return behind == item.end ? value : (double)NAN;
}

int hx_step_is(hx_step_text item, const char *word)
{
    const size_t n = strlen(word);
    return item.at && (size_t)(item.end - item.at) == n && memcmp(item.at, word, n) == 0;
}

/* --- strings --- */

/* Appends the character completely, or not at all. */
static size_t put_utf8(char *to, size_t n, size_t n_to, unsigned long code)
{
    unsigned char byte[4];
    size_t n_byte = 1;
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = '_';
    if (code < 0x80) {
        byte[0] = (unsigned char)code;
    } else {
        n_byte = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        static const unsigned char head[] = {0, 0, 0xc0, 0xe0, 0xf0};
        for (size_t i = n_byte; i-- > 1; code >>= 6) byte[i] = (unsigned char)(0x80 | (code & 63));
        byte[0] = (unsigned char)(head[n_byte] | code);
    }
    if (n + n_byte + 1 > n_to) return n;
    memcpy(to + n, byte, n_byte);
    return n + n_byte;
}

/* Reads a hexadecimal number of `digits` digits; 0 if there are other characters. */
static int take_hex(const char **c, const char *end, int digits, unsigned long *code)
{
    static const char digit[] = "0123456789ABCDEF";
    *code = 0;
    if (end - *c < digits) return 0;
    for (int i = 0; i < digits; i++) {
        const char *const found = strchr(digit, toupper((unsigned char)(*c)[i]));
        if (!found || !*found) return 0;
        *code = 16 * *code + (unsigned long)(found - digit);
    }
    *c += digits;
    return 1;
}

/* Decodes \X2\00E400F6\X0\ from its first digit on; two UTF-16 numbers may form one character. */
static size_t put_hex(const char **c, const char *end, int digits, char *to, size_t n, size_t n_to)
{
    unsigned long code, low;
    while (take_hex(c, end, digits, &code)) {
        if (code >= 0xd800 && code < 0xdc00) {
            const char *const before = *c;
            if (take_hex(c, end, digits, &low) && low >= 0xdc00 && low < 0xe000)
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            else
                *c = before;
        }
        n = put_utf8(to, n, n_to, code);
    }
    if (end - *c >= 4 && memcmp(*c, "\\X0\\", 4) == 0) *c += 4;
    return n;
}

/* Decodes an escape sequence, which begins with a backslash. */
static size_t put_escape(const char **c, const char *end, char *to, size_t n, size_t n_to)
{
    const size_t left = (size_t)(end - *c);
    unsigned long code;
    const char *digits = *c + 3;
    if (left >= 4 && (memcmp(*c, "\\X2\\", 4) == 0 || memcmp(*c, "\\X4\\", 4) == 0)) {
        const int is_long = (*c)[2] == '4';
        *c += 4;
        return put_hex(c, end, is_long ? 8 : 4, to, n, n_to);
    }
    if (left >= 5 && memcmp(*c, "\\X\\", 3) == 0 && take_hex(&digits, end, 2, &code)) {
        *c = digits;
        return put_utf8(to, n, n_to, code);
    }
    if (left >= 4 && memcmp(*c, "\\S\\", 3) == 0) { /* the upper half of ISO 8859-1 */
        code = 128 + ((unsigned char)(*c)[3] & 127);
        *c += 4;
        return put_utf8(to, n, n_to, code);
    }
    if (left >= 4 && (*c)[1] == 'P' && (*c)[3] == '\\') { /* the alphabet used by \S\ */
        *c += 4;
        return n;
    }
    *c += left >= 2 && (*c)[1] == '\\' ? 2 : 1;
    return put_utf8(to, n, n_to, '\\');
}

/* Bytes of the UTF-8 character at c; 0: not valid. */
static size_t utf8_length(const unsigned char *c, size_t left)
{
    const size_t n = c[0] < 0x80                   ? 1
                     : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                     : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                     : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                   : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0)) return 0;
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90)) return 0;
    return n;
}

void hx_step_string(hx_step_text item, char *to, size_t n_to)
{
    size_t n = 0;
    to[0] = '\0';
    if (!item.at || item.end - item.at < 2 || *item.at != '\'' || item.end[-1] != '\'') return;
    const char *c = item.at + 1;
    const char *const end = item.end - 1;
    while (c < end && *c == ' ') c++;
    while (c < end) {
        if (*c == '\\') {
            n = put_escape(&c, end, to, n, n_to);
            continue;
        }
        const size_t length = utf8_length((const unsigned char *)c, (size_t)(end - c));
        if (n + (length ? length : 1) + 1 > n_to) break;
        if (length > 0)
            memcpy(to + n, c, length);
        else
            to[n] = '_';
        n += length ? length : 1;
        c += *c == '\'' && c + 1 < end && c[1] == '\'' ? 2 : length ? (ptrdiff_t)length : 1;
    }
    while (n > 0 && to[n - 1] == ' ') n--;
    to[n] = '\0';
}
