/* Values of the arrays of a .vtu file: text, base64 or raw bytes, plain or in zlib blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "vtu_file.h"
#ifdef HX_HAVE_ZLIB
#include <zlib.h>
#endif

/* Deflate expands one byte to at most 1032. */
enum { MOST_RATIO = 1040 };

static int raise_array(const hx_vtu_file *file, const hx_vtu_array *array, int code)
{
    hx_error_prefix("%s:%lld: array '%.60s': ", file->xml.path, (long long)array->line,
                    array->name);
    return code;
}

#define ARRAY_RAISE(file, array, ...) raise_array((file), (array), HX_RAISE(HX_EINPUT, __VA_ARGS__))

/* --- bytes --- */

/* A stream of bytes, raw or decoded from base64. */
typedef struct source {
    const char *at, *end;
    int is_base64;
    unsigned char left[3]; /* decoded but not read yet */
    int n_left;
} source;

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Decodes the next four characters into left[]. Returns 0 if they are invalid, or if the text
 * ends. */
static int decode_four(source *s)
{
    int digit[4], n = 0, n_pad = 0;
    while (n < 4 && s->at < s->end) {
        const char c = *s->at++;
        if (is_blank(c)) continue;
        n_pad += c == '=';
        digit[n] = c == '=' ? 0 : base64_digit(c);
        if (digit[n] < 0 || (n_pad > 0 && c != '=')) return 0;
        n++;
    }
    if (n < 4 || n_pad > 2) return 0;
    const unsigned bits = (unsigned)digit[0] << 18 | (unsigned)digit[1] << 12 |
                          (unsigned)digit[2] << 6 | (unsigned)digit[3];
    for (int k = 0; k < 3; k++) s->left[k] = (unsigned char)(bits >> (16 - 8 * k));
    s->n_left = 3 - n_pad;
    return 1;
}

/* Reads the next n bytes; 0: there are fewer. */
static int take_data_bytes(source *s, size_t n, unsigned char *bytes)
{
    if (!s->is_base64) {
        if ((size_t)(s->end - s->at) < n) return 0;
        memcpy(bytes, s->at, n);
        s->at += n;
        return 1;
    }
    while (n > 0) {
        if (s->n_left == 0 && !decode_four(s)) return 0;
        const size_t now = n < (size_t)s->n_left ? n : (size_t)s->n_left;
        memcpy(bytes, s->left, now);
        memmove(s->left, s->left + now, (size_t)s->n_left - now);
        s->n_left -= (int)now;
        bytes += now;
        n -= now;
    }
    return 1;
}

/* Upper bound of the remaining bytes. */
static uint64_t room(const source *s)
{
    const uint64_t n = (uint64_t)(s->end - s->at);
    return s->is_base64 ? n / 4 * 3 + (uint64_t)s->n_left : n;
}

/* Reads one of the sizes that precede the data. */
static int take_size(const hx_vtu_file *file, source *s, uint64_t *size)
{
    unsigned char bytes[8];
    hx_vtu_values one = {.n = 1, .n_byte = file->header_bytes, .kind = 'u', .at = bytes};
    one.is_big = file->is_big;
    if (!take_data_bytes(s, (size_t)file->header_bytes, bytes)) return 0;
    *size = hx_vtu_bits(&one, 0);
    return 1;
}

static int open_source(const hx_vtu_file *file, const hx_vtu_array *array, source *s)
{
    memset(s, 0, sizeof *s);
    s->is_base64 = 1;
    if (array->format == HX_VTU_BINARY) {
        s->at = array->text ? array->text : "";
        s->end = s->at + array->n_text;
        return HX_OK;
    }
    if (!file->appended)
        return ARRAY_RAISE(file, array, "its data are appended, but there is no <AppendedData>");
    if ((uint64_t)array->offset > file->n_appended)
        return ARRAY_RAISE(file, array, "offset %lld lies beyond the end of the file",
                           (long long)array->offset);
    s->is_base64 = file->appended_is_base64;
    s->at = file->appended + array->offset;
    s->end = file->appended + file->n_appended;
    return HX_OK;
}

/* --- plain and compressed --- */

static int refuse_cut(const hx_vtu_file *file, const hx_vtu_array *array)
{
    return ARRAY_RAISE(file, array, "its data are truncated or not base64: the file is damaged");
}

/* Checks the size of the array in bytes against its number of values; -1: any. */
static int check_size(const hx_vtu_file *file, const hx_vtu_array *array, uint64_t size, int64_t n)
{
    const uint64_t n_byte = (uint64_t)array->type.n_byte;
    if (size % n_byte == 0 && (n < 0 || size / n_byte == (uint64_t)n)) return HX_OK;
    return ARRAY_RAISE(file, array, "%llu %s of %s, but %lld values are expected",
                       (unsigned long long)size, hx_noun(size, "byte", "bytes"), array->type.name,
                       n < 0 ? (long long)(size / n_byte) : (long long)n);
}

static int decode_plain(const hx_vtu_file *file, const hx_vtu_array *array, source *s, int64_t n,
                        hx_vtu_values *values)
{
    uint64_t size;
    if (!take_size(file, s, &size) || size > room(s)) return refuse_cut(file, array);
    HX_TRY(check_size(file, array, size, n));
    values->n = (int64_t)(size / (uint64_t)array->type.n_byte);
    values->at = (const unsigned char *)s->at;
    if (!s->is_base64) return HX_OK;
    HX_TRY(hx_alloc_raw(&values->own, (size_t)size, 1, "an array of a VTK file"));
    values->at = values->own;
    return take_data_bytes(s, (size_t)size, values->own) ? HX_OK : refuse_cut(file, array);
}

#ifdef HX_HAVE_ZLIB
typedef struct blocks {
    /* size of all blocks except the last; last = 0: the last one is also full */
    uint64_t n, size, last;
    uint64_t total;   /* bytes after inflation */
    uint64_t most;    /* stored bytes of the largest block */
    uint64_t *stored; /* [n] (owned) */
} blocks;

static int read_blocks(const hx_vtu_file *file, const hx_vtu_array *array, source *s, blocks *b)
{
    uint64_t sum = 0;
    if (!take_size(file, s, &b->n)) return refuse_cut(file, array);
    if (b->n == 0) return HX_OK;
    if (!take_size(file, s, &b->size) || !take_size(file, s, &b->last) ||
        b->n > room(s) / (uint64_t)file->header_bytes)
        return refuse_cut(file, array);
    HX_TRY(hx_alloc_raw(&b->stored, (size_t)b->n, sizeof *b->stored, "blocks of an array"));
    for (uint64_t i = 0; i < b->n; i++) {
        if (!take_size(file, s, &b->stored[i]) || b->stored[i] > room(s))
            return refuse_cut(file, array);
        sum += b->stored[i];
        if (b->stored[i] > b->most) b->most = b->stored[i];
    }
    const uint64_t limit = room(s) * MOST_RATIO;
    if (sum > room(s)) return refuse_cut(file, array);
    if (b->size > 0 && b->n - 1 <= limit / b->size)
        b->total = (b->n - 1) * b->size + (b->last > 0 ? b->last : b->size);
    if (b->size == 0 || b->last > b->size || b->n - 1 > limit / b->size || b->total > limit)
        return ARRAY_RAISE(file, array, "%llu %s of %llu %s and one of %llu are not possible",
                           (unsigned long long)b->n, hx_noun(b->n, "block", "blocks"),
                           (unsigned long long)b->size, hx_noun(b->size, "byte", "bytes"),
                           (unsigned long long)b->last);
    return HX_OK;
}

static int inflate_blocks(const hx_vtu_file *file, const hx_vtu_array *array, source *s,
                          const blocks *b, unsigned char *stored, unsigned char *to)
{
    for (uint64_t i = 0; i < b->n; i++) {
        const uint64_t size = i + 1 == b->n && b->last > 0 ? b->last : b->size;
        uLongf n = (uLongf)size;
        if (!take_data_bytes(s, (size_t)b->stored[i], stored)) return refuse_cut(file, array);
        const int status = uncompress(to, &n, stored, (uLong)b->stored[i]);
        if (status != Z_OK || n != size)
            return ARRAY_RAISE(file, array,
                               "block %llu of %llu cannot be inflated: the file is "
                               "damaged",
                               (unsigned long long)i, (unsigned long long)b->n);
        to += size;
    }
    return HX_OK;
}

static int decode_compressed(const hx_vtu_file *file, const hx_vtu_array *array, source *s,
                             int64_t n, hx_vtu_values *values)
{
    blocks b = {0};
    unsigned char *stored = NULL;
    int rc = HX_OK;
    HX_TRY_FAIL(read_blocks(file, array, s, &b));
    HX_TRY_FAIL(check_size(file, array, b.total, n));
    values->n = (int64_t)(b.total / (uint64_t)array->type.n_byte);
    HX_TRY_FAIL(hx_alloc_raw(&values->own, (size_t)b.total, 1, "an array of a VTK file"));
    HX_TRY_FAIL(hx_alloc_raw(&stored, (size_t)b.most, 1, "a compressed block"));
    values->at = values->own;
    rc = inflate_blocks(file, array, s, &b, stored, values->own);
fail:
    free(stored);
    free(b.stored);
    return rc;
}
#else
static int decode_compressed(const hx_vtu_file *file, const hx_vtu_array *array, source *s,
                             int64_t n, hx_vtu_values *values)
{
    (void)s;
    (void)n;
    (void)values;
    return ARRAY_RAISE(file, array,
                       "compressed, and this program was built without zlib: build it with zlib "
                       "(Debian: zlib1g-dev), or save the file without compression");
}
#endif

/* --- text --- */

static int64_t count_words(const char *at, const char *end)
{
    int64_t n = 0;
    for (int before = 1; at < end; at++) {
        const int blank = is_blank(*at);
        n += before && !blank;
        before = blank;
    }
    return n;
}

static int refuse_word(const hx_vtu_file *file, const hx_vtu_array *array, const char *at)
{
    char word[40];
    int n = 0;
    for (; n < 39 && at[n] && at[n] != '<' && !is_blank(at[n]); n++)
        word[n] = at[n] > ' ' && at[n] < 127 ? at[n] : '?';
    word[n] = '\0';
    return HX_XML_RAISE(&file->xml, hx_xml_line_of(array->text, array->text_line, at),
                        "array '%.60s': '%s' where %s is expected", array->name, word,
                        array->type.kind == 'f' ? "a number" : "an integer");
}

/* Digits of a number from its first nonzero digit, including trailing zeros. */
static int count_digits(const char *at, const char *end)
{
    int n = 0;
    for (; at < end && *at != 'e' && *at != 'E'; at++)
        n += (*at >= '1' && *at <= '9') || (*at == '0' && n > 0);
    return n;
}

/* Parses the number at `at` into 8 bytes; returns the position after it, or NULL. */
static const char *parse(const char *at, char kind, unsigned char to[8])
{
    char *end;
    errno = 0;
    if (kind == 'f') {
        const double value = strtod(at, &end);
        memcpy(to, &value, sizeof value);
        errno = 0;
    } else {
        const long long value = strtoll(at, &end, 10);
        const int64_t bits = value;
        memcpy(to, &bits, sizeof bits);
    }
    if (end == at || errno == ERANGE || (*end && *end != '<' && !is_blank(*end))) return NULL;
    return end;
}

static int decode_text(const hx_vtu_file *file, const hx_vtu_array *array, int64_t n,
                       hx_vtu_values *values)
{
    const char *at = array->text, *const end = at ? at + array->n_text : NULL;
    values->n = at ? count_words(at, end) : 0;
    if (n >= 0 && values->n != n)
        return ARRAY_RAISE(file, array, "%lld %s, but %lld are expected", (long long)values->n,
                           hx_noun(values->n, "value", "values"), (long long)n);
    HX_TRY(hx_alloc_raw(&values->own, (size_t)values->n, 8, "an array of a VTK file"));
    values->at = values->own;
    values->n_byte = 8;
    values->kind = array->type.kind == 'f' ? 'f' : 'i';
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    values->is_big = first == 0;
    for (int64_t i = 0; i < values->n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core*): no values without a text */
        while (is_blank(*at)) at++;
        const char *const next = parse(at, values->kind, values->own + 8 * i);
        if (!next) return refuse_word(file, array, at);
        const int n_digit = count_digits(at, next);
        if (n_digit > values->most_digits) values->most_digits = n_digit;
        at = next;
    }
    return HX_OK;
}

static int decode(const hx_vtu_file *file, const hx_vtu_array *array, int64_t n,
                  hx_vtu_values *values)
{
    source s;
    memset(values, 0, sizeof *values);
    values->n_byte = array->type.n_byte;
    values->kind = array->type.kind;
    values->is_big = file->is_big;
    if (n == 0) return HX_OK; /* an empty piece may lack the array's data */
    if (array->type.kind == 's')
        return ARRAY_RAISE(file, array, "values of type %s where numbers are expected",
                           array->type.name);
    if (array->format == HX_VTU_ASCII) return decode_text(file, array, n, values);
    HX_TRY(open_source(file, array, &s));
    if (file->is_compressed) return decode_compressed(file, array, &s, n, values);
    return decode_plain(file, array, &s, n, values);
}

int hx_vtu_decode(const hx_vtu_file *file, const hx_vtu_array *array, int64_t n,
                  hx_vtu_values *values)
{
    const int rc = decode(file, array, n, values);
    if (rc < 0) hx_vtu_values_free(values);
    return rc;
}

void hx_vtu_values_free(hx_vtu_values *values)
{
    free(values->own);
    memset(values, 0, sizeof *values);
}
