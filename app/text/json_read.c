#include "json_read.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/input_file.h"
#include "core/base/memory.h"
#include "core/base/old_names.h"
#include "utf8.h"

enum { MAX_DEPTH = 64 };

typedef struct parser {
    const char *name, *begin, *at, *end;
    hx_json_value *value; /* the next free value */
    char *text;           /* the next free byte */
} parser;

static int wrong(const parser *p, const char *what)
{
    int line = 1;
    for (const char *c = p->begin; c < p->at; c++) line += *c == '\n';
    return HX_RAISE(HX_EINPUT, "%s:%d: not valid JSON: %s", p->name, line, what);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static int next_is(const parser *p, char c)
{
    return p->at < p->end && *p->at == c;
}

/* --- strings --- */

static int read_hex(parser *p, uint32_t *code)
{
    *code = 0;
    if (p->end - p->at < 4) return wrong(p, "\\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        const char c = *p->at++;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return wrong(p, "\\u needs four hexadecimal digits");
        *code = *code << 4 | (uint32_t)digit;
    }
    return HX_OK;
}

static int read_escape(parser *p)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (next_is(p, 'u')) {
        p->at++;
        /* \uXXXX, or two of them for a surrogate pair. */
        uint32_t code, low;
        HX_TRY(read_hex(p, &code));
        if (code >= 0xdc00 && code < 0xe000)
            return wrong(p, "the second half of a surrogate pair without the first");
        if (code >= 0xd800 && code < 0xdc00) {
            if (!(p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u'))
                return wrong(p, "the first half of a surrogate pair without the second");
            p->at += 2;
            HX_TRY(read_hex(p, &low));
            if (low < 0xdc00 || low >= 0xe000)
                return wrong(p, "the first half of a surrogate pair without the second");
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        if (code == 0) return wrong(p, "a text with a 0 in it");
        p->text += hx_utf8_write(code, p->text);
        return HX_OK;
    }
    const char *const found = p->at < p->end && *p->at ? strchr(from, *p->at) : NULL;
    if (!found) return wrong(p, "an unknown escape after \\");
    *p->text++ = to[found - from];
    p->at++;
    return HX_OK;
}

/* Sets *text to the string that begins here. */
static int read_string(parser *p, const char **text)
{
    *text = p->text;
    if (!next_is(p, '"')) return wrong(p, "expected a text in \"\"");
    for (p->at++; !next_is(p, '"');) {
        if (p->at == p->end) return wrong(p, "a text without its closing \"");
        if ((unsigned char)*p->at < 0x20) return wrong(p, "a control character in a text");
        if (*p->at == '\\') {
            p->at++;
            HX_TRY(read_escape(p));
            continue;
        }
        const int n = hx_utf8_length(p->at, (size_t)(p->end - p->at));
        if (n == 0) return wrong(p, "bytes that are not UTF-8");
        memcpy(p->text, p->at, (size_t)n);
        p->text += n;
        p->at += n;
    }
    p->at++;
    *p->text++ = '\0';
    return HX_OK;
}

/* --- numbers and words --- */

static int is_digit(const parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static int skip_digits(parser *p)
{
    if (!is_digit(p)) return wrong(p, "expected a digit");
    while (is_digit(p)) p->at++;
    return HX_OK;
}

static void keep_text(parser *p, const char *begin, hx_json_value *value)
{
    const size_t n = (size_t)(p->at - begin);
    value->text = p->text;
    memcpy(p->text, begin, n);
    p->text[n] = '\0';
    p->text += n + 1;
}

static int read_number(parser *p, hx_json_value *value)
{
    const char *const begin = p->at;
    if (next_is(p, '-')) p->at++;
    if (next_is(p, '0'))
        p->at++;
    else
        HX_TRY(skip_digits(p));
    if (next_is(p, '.')) {
        p->at++;
        HX_TRY(skip_digits(p));
    }
    if (next_is(p, 'e') || next_is(p, 'E')) {
        p->at++;
        if (next_is(p, '+') || next_is(p, '-')) p->at++;
        HX_TRY(skip_digits(p));
    }
    value->kind = HX_JSON_NUMBER;
    keep_text(p, begin, value);
    value->number = strtod(value->text, NULL);
    return HX_OK;
}

static int read_word(parser *p, hx_json_value *value)
{
    static const char *const word[] = {"null", "false", "true"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(word[i]);
        if ((size_t)(p->end - p->at) < n || memcmp(p->at, word[i], n) != 0) continue;
        const char *const begin = p->at;
        p->at += n;
        value->kind = i == 0 ? HX_JSON_NULL : HX_JSON_BOOL;
        keep_text(p, begin, value);
        if (i > 0) value->number = i - 1;
        return HX_OK;
    }
    return wrong(p, "expected a value");
}

/* --- values --- */

static int read_value(parser *p, hx_json_value *value, int depth);

static int check_name(const parser *p, const hx_json_value *parent, const char *key)
{
    for (const hx_json_value *v = parent->first; v; v = v->next)
        if (strcmp(v->key, key) == 0) return wrong(p, "two members with the same name");
    return HX_OK;
}

/* Reads an entry of an array, or a member with its name. */
static int read_entry(parser *p, hx_json_value *parent, hx_json_value **last, int depth)
{
    const char *key = NULL;
    skip_blanks(p);
    if (parent->kind == HX_JSON_OBJECT) {
        HX_TRY(read_string(p, &key));
        HX_TRY(check_name(p, parent, key));
        skip_blanks(p);
        if (!next_is(p, ':')) return wrong(p, "expected a : after a name");
        p->at++;
        skip_blanks(p);
    }
    hx_json_value *const value = p->value++;
    HX_TRY(read_value(p, value, depth));
    value->key = key;
    if (*last)
        (*last)->next = value;
    else
        parent->first = value;
    *last = value;
    parent->n++;
    return HX_OK;
}

static int read_list(parser *p, hx_json_value *value, char close, int depth)
{
    hx_json_value *last = NULL;
    if (depth == MAX_DEPTH) return wrong(p, "more than 64 nested levels");
    p->at++;
    skip_blanks(p);
    if (next_is(p, close)) {
        p->at++;
        return HX_OK;
    }
    for (;;) {
        HX_TRY(read_entry(p, value, &last, depth + 1));
        skip_blanks(p);
        if (next_is(p, close)) break;
        if (!next_is(p, ',')) return wrong(p, close == '}' ? "expected , or }" : "expected , or ]");
        p->at++;
    }
    p->at++;
    return HX_OK;
}

static int read_value(parser *p, hx_json_value *value, int depth)
{
    memset(value, 0, sizeof *value);
    value->number = NAN;
    skip_blanks(p);
    if (next_is(p, '{')) {
        value->kind = HX_JSON_OBJECT;
        return read_list(p, value, '}', depth);
    }
    if (next_is(p, '[')) {
        value->kind = HX_JSON_ARRAY;
        return read_list(p, value, ']', depth);
    }
    if (next_is(p, '"')) {
        value->kind = HX_JSON_STRING;
        return read_string(p, &value->text);
    }
    if (next_is(p, '-') || is_digit(p)) return read_number(p, value);
    return read_word(p, value);
}

int hx_json_parse(hx_json_tree *tree, const char *name, const char *bytes, size_t n)
{
    parser p = {.name = name, .begin = bytes, .at = bytes, .end = bytes + n};
    int rc;
    memset(tree, 0, sizeof *tree);
    /* One value at the top level, and one after each ',', ':' or '['. */
    size_t count = 1;
    for (size_t i = 0; i < n; i++) count += bytes[i] == ',' || bytes[i] == ':' || bytes[i] == '[';
    HX_TRY_FAIL(hx_alloc(&tree->value, count, sizeof(hx_json_value), "JSON values"));
    HX_TRY_FAIL(hx_alloc(&tree->text, 2 * n + 1, 1, "JSON texts")); /* "a" -> a0, 1 -> 10 */
    hx_json_value *const root = p.value = tree->value;
    p.value++;
    p.text = tree->text;
    HX_TRY_FAIL(read_value(&p, root, 0));
    skip_blanks(&p);
    if (p.at < p.end) {
        rc = wrong(&p, "text after the end of the value");
        goto fail;
    }
    tree->root = root;
    return HX_OK;
fail:
    hx_json_free(tree);
    return rc;
}

int hx_json_read(hx_json_tree *tree, const char *path)
{
    char *bytes = NULL;
    size_t n;
    memset(tree, 0, sizeof *tree);
    HX_TRY(hx_read_file(path, &bytes, &n));
    const int rc = hx_json_parse(tree, path, bytes, n);
    free(bytes);
    return rc;
}

void hx_json_free(hx_json_tree *tree)
{
    free(tree->value);
    free(tree->text);
    memset(tree, 0, sizeof *tree);
}

/* --- looking up --- */

/* The member with the name of n characters; NULL: there is none. */
static const hx_json_value *find_member(const hx_json_value *object, const char *name, size_t n)
{
    const hx_json_value *value = object->first;
    while (value && !(strncmp(value->key, name, n) == 0 && value->key[n] == '\0'))
        value = value->next;
    return value;
}

/* Finds the member; files of earlier versions may have another name for it. */
static const hx_json_value *find_any(const hx_json_value *object, const char *name, size_t n)
{
    char now[64];
    const hx_json_value *found = find_member(object, name, n);
    snprintf(now, sizeof now, "%.*s", (int)n, name);
    for (size_t i = 0; !found; i++) {
        const char *const old = hx_name_before(HX_OLD_JSON, now, i);
        if (!old) return NULL;
        found = find_member(object, old, strlen(old));
    }
    return found;
}

const hx_json_value *hx_json_at(const hx_json_value *value, const char *path)
{
    while (value && *path) {
        const size_t n = strcspn(path, ".");
        if (value->kind != HX_JSON_OBJECT) return NULL;
        value = find_any(value, path, n);
        path += n;
        if (*path == '.') path++;
    }
    return value;
}

double hx_json_number_at(const hx_json_value *value, const char *path)
{
    const hx_json_value *const found = hx_json_at(value, path);
    return found ? found->number : NAN;
}

const char *hx_json_text_at(const hx_json_value *value, const char *path, const char *none)
{
    const hx_json_value *const found = hx_json_at(value, path);
    return found && found->kind == HX_JSON_STRING ? found->text : none;
}

int hx_read_file(const char *path, char **bytes, size_t *n)
{
    size_t capacity = 0;
    *bytes = NULL;
    *n = 0;
    const char *why;
    FILE *const file = hx_input_open(path, &why);
    if (!file) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", path, why);
    int rc = HX_OK;
    for (;;) {
        if (*n + 1 >= capacity) {
            rc = hx_resize_raw(bytes, *n, 2 * capacity + 65536, 1, path);
            if (rc < 0) break;
            capacity = 2 * capacity + 65536;
        }
        const size_t got = fread(*bytes + *n, 1, capacity - *n - 1, file);
        *n += got;
        if (got == 0) break;
    }
    if (rc == HX_OK && ferror(file))
        rc = HX_RAISE(HX_EINPUT, "cannot read '%s': %s", path, strerror(errno));
    fclose(file);
    if (rc == HX_OK) {
        (*bytes)[*n] = '\0';
    } else {
        free(*bytes);
        *bytes = NULL;
    }
    return rc;
}
