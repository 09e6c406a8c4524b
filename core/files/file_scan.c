#include "file_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../base/input_file.h"
#include "../base/memory.h"
#include "../base/names.h"

/* Large enough that several threads can decode it in parallel. */
enum { BUFFER_SIZE = 1 << 22, SMALL_BUFFER = 1 << 12 };

int hx_file_scan_open(hx_file_scan *scan, const char *path)
{
    int rc = HX_OK;
    struct stat info;
    const char *why;
    memset(scan, 0, sizeof *scan);
    scan->line = scan->word_line = 1;
    HX_TRY_FAIL(hx_strdup(&scan->path, path));
    scan->stream = hx_input_open(path, &why);
    if (!scan->stream) {
        rc = HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
        goto fail;
    }
    if (fstat(fileno(scan->stream), &info) != 0) {
        rc = HX_RAISE(HX_EIO, "%s: cannot open it: %s", path, strerror(errno));
        goto fail;
    }
    scan->size = (int64_t)info.st_size;
    scan->capacity = scan->size < BUFFER_SIZE ? SMALL_BUFFER + (size_t)scan->size : BUFFER_SIZE;
    HX_TRY_FAIL(hx_alloc_raw(&scan->buffer, scan->capacity, 1, "buffer of a mesh file's reader"));
    return HX_OK;

fail:
    hx_file_scan_free(scan);
    return rc;
}

void hx_file_scan_free(hx_file_scan *scan)
{
    if (scan->stream) fclose(scan->stream);
    free(scan->path);
    free(scan->buffer);
    memset(scan, 0, sizeof *scan);
}

int hx_file_scan_place(const hx_file_scan *scan, int code)
{
    if (scan->is_binary)
        hx_error_prefix("%s: byte %lld: ", scan->path, (long long)scan->word_offset);
    else
        hx_error_prefix("%s:%lld: ", scan->path, (long long)scan->word_line);
    return code;
}

/* Makes at least n bytes (n <= SMALL_BUFFER) available, fewer only at the end of the file. */
static int fill_buffer(hx_file_scan *scan, size_t n)
{
    if (scan->len - scan->pos >= n) return HX_OK;
    memmove(scan->buffer, scan->buffer + scan->pos, scan->len - scan->pos);
    scan->offset += (int64_t)scan->pos;
    scan->len -= scan->pos;
    scan->pos = 0;
    scan->len += fread(scan->buffer + scan->len, 1, scan->capacity - scan->len, scan->stream);
    if (ferror(scan->stream))
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", scan->path, strerror(errno));
    return HX_OK;
}

static inline int at_blank(const hx_file_scan *scan)
{
    const unsigned char c = scan->buffer[scan->pos];
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline void next_byte(hx_file_scan *scan)
{
    if (scan->buffer[scan->pos++] == '\n') scan->line++;
}

static int skip_blanks(hx_file_scan *scan)
{
    for (;;) {
        if (scan->pos == scan->len) HX_TRY(fill_buffer(scan, 1));
        if (scan->pos == scan->len || !at_blank(scan)) return HX_OK;
        next_byte(scan);
    }
}

int hx_file_scan_word(hx_file_scan *scan, int *found)
{
    HX_TRY(skip_blanks(scan));
    HX_TRY(fill_buffer(scan, HX_FILE_WORD_SIZE));
    scan->word_line = scan->line;
    scan->word_offset = scan->offset + (int64_t)scan->pos;
    size_t n = 0;
    while (scan->pos < scan->len && !at_blank(scan)) {
        if (n + 1 == HX_FILE_WORD_SIZE) {
            scan->word[n] = '\0';
            return HX_FILE_RAISE(scan,
                                 "'%s' is too long for a word, which can have at most %d bytes",
                                 hx_file_scan_shown(scan), HX_FILE_WORD_SIZE - 1);
        }
        scan->word[n++] = (char)scan->buffer[scan->pos++];
    }
    scan->word[n] = '\0';
    *found = n > 0;
    return HX_OK;
}

int hx_file_scan_need(hx_file_scan *scan, const char *expected)
{
    int found;
    HX_TRY(hx_file_scan_word(scan, &found));
    if (!found) return HX_FILE_RAISE(scan, "the file ends where %s is expected", expected);
    return HX_OK;
}

const char *hx_file_scan_shown(hx_file_scan *scan)
{
    size_t n = 0;
    for (const char *c = scan->word; *c && n + 4 < sizeof scan->shown; c++)
        scan->shown[n++] = *c > ' ' && *c < 127 ? *c : '?';
    snprintf(scan->shown + n, sizeof scan->shown - n, "%s", scan->word[n] ? "..." : "");
    return scan->shown;
}

int hx_file_scan_line(hx_file_scan *scan, char *text, size_t n_text, int *found)
{
    size_t n = 0;
    HX_TRY(fill_buffer(scan, 1));
    *found = scan->pos < scan->len;
    scan->word_line = scan->line;
    scan->word_offset = scan->offset + (int64_t)scan->pos;
    for (;;) {
        if (scan->pos == scan->len) HX_TRY(fill_buffer(scan, 1));
        if (scan->pos == scan->len) break;
        const char c = (char)scan->buffer[scan->pos];
        next_byte(scan);
        if (c == '\n') break;
        if (text && c != '\r' && n + 1 < n_text) text[n++] = c;
    }
    if (text) text[n] = '\0';
    return HX_OK;
}

int hx_file_scan_uncommented(hx_file_scan *scan, int *found)
{
    for (;;) {
        HX_TRY(hx_file_scan_word(scan, found));
        if (!*found || scan->word[0] != '#') return HX_OK;
        HX_TRY(hx_file_scan_line(scan, NULL, 0, found));
    }
}

int hx_file_scan_next_is(hx_file_scan *scan, const char *word)
{
    const size_t n = strlen(word);
    if (fill_buffer(scan, HX_FILE_WORD_SIZE) < 0) return 0; /* the next read reports the error */
    size_t pos = scan->pos;
    while (pos < scan->len && (scan->buffer[pos] == ' ' || scan->buffer[pos] == '\r' ||
                               scan->buffer[pos] == '\n' || scan->buffer[pos] == '\t'))
        pos++;
    return scan->len - pos >= n && strncasecmp((const char *)scan->buffer + pos, word, n) == 0;
}

/* Parses the last word as an integer. */
static int parse_int(hx_file_scan *scan, int64_t *value)
{
    char *end;
    errno = 0;
    const long long parsed = strtoll(scan->word, &end, 10);
    if (end == scan->word || *end != '\0' || errno == ERANGE)
        return HX_FILE_RAISE(scan, "'%s' where an integer is expected", hx_file_scan_shown(scan));
    *value = parsed;
    return HX_OK;
}

int hx_file_scan_count(hx_file_scan *scan, const char *what, int64_t *count)
{
    HX_TRY(hx_file_scan_need(scan, what));
    HX_TRY(parse_int(scan, count));
    if (*count < 0 || *count >= (int64_t)1 << 62)
        return HX_FILE_RAISE(scan, "%s is %lld; it must be at least 0 and fit the file", what,
                             (long long)*count);
    return HX_OK;
}

int hx_file_scan_begin(hx_file_scan *scan)
{
    int found;
    return scan->is_binary ? hx_file_scan_line(scan, NULL, 0, &found) : HX_OK;
}

int hx_file_scan_room(const hx_file_scan *scan, const hx_file_number *type, int64_t n,
                      int64_t n_comp, const char *what, int64_t *n_value)
{
    const int64_t left = scan->size - scan->offset - (int64_t)scan->pos;
    /* In ASCII a number takes at least two bytes with its blank; the last one may lack the
     * blank. */
    int64_t most = (left + 1) / 2;
    if (scan->is_binary) most = type->n_byte > 0 ? left / type->n_byte : left;
    if (type->kind == 'b' && scan->is_binary) most = left < INT64_MAX / 8 ? left * 8 : INT64_MAX;
    if (type->kind == 's') most = left;
    if (n < 0 || n_comp < 0 || (n_comp > 0 && n > most / n_comp))
        return HX_FILE_RAISE(scan,
                             "%lld x %lld %s of %s do not fit into the remaining %lld %s: the file "
                             "is truncated or the count is wrong",
                             (long long)n, (long long)n_comp, hx_noun(n_comp, "value", "values"),
                             what, (long long)left, hx_noun(left, "byte", "bytes"));
    *n_value = n * n_comp;
    return HX_OK;
}

static inline double decode_real(const unsigned char *byte, const hx_file_number *type)
{
    if (type->kind != 'f') return (double)hx_file_decode_int(byte, type->n_byte, type->kind);
    const uint64_t bits = hx_file_big_endian(byte, type->n_byte);
    if (type->n_byte == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const uint32_t bits32 = (uint32_t)bits;
    float value;
    memcpy(&value, &bits32, sizeof value);
    return (double)value;
}

/* Returns the numbers of a binary array available in the buffer, at most n. */
static int ready(hx_file_scan *scan, int n_byte, int64_t n, int64_t *n_ready)
{
    HX_TRY(fill_buffer(scan, (size_t)n_byte));
    scan->word_offset = scan->offset + (int64_t)scan->pos;
    *n_ready = (int64_t)((scan->len - scan->pos) / (size_t)n_byte);
    if (*n_ready > n) *n_ready = n;
    if (*n_ready == 0)
        return HX_FILE_RAISE(scan, "the file ends inside an array; %lld %s are missing",
                             (long long)n, hx_noun(n, "number", "numbers"));
    return HX_OK;
}

int hx_file_scan_raw(hx_file_scan *scan, int n_byte, int64_t n, const unsigned char **bytes,
                     int64_t *n_ready)
{
    HX_TRY(ready(scan, n_byte, n, n_ready));
    *bytes = scan->buffer + scan->pos;
    scan->pos += (size_t)n_byte * (size_t)*n_ready;
    return HX_OK;
}

void hx_file_scan_unread(hx_file_scan *scan, int n_byte, int64_t n)
{
    scan->pos -= (size_t)n_byte * (size_t)n;
}

int hx_file_scan_int32(hx_file_scan *scan, const hx_file_number *type, int64_t n, int32_t *value,
                       int *fits)
{
    const unsigned char *bytes;
    int64_t n_ready, one;
    int all_fit = 1;
    if (type->kind != 'i' && type->kind != 'u')
        return HX_FILE_RAISE(scan, "numbers of type %s where integers are expected", type->name);
    if (!scan->is_binary) {
        for (int64_t i = 0; i < n; i++) {
            HX_TRY(hx_file_scan_int(scan, type, 1, &one));
            all_fit &= one >= INT32_MIN && one <= INT32_MAX;
            value[i] = (int32_t)one;
        }
        *fits &= all_fit;
        return HX_OK;
    }
    for (int64_t i = 0; i < n; i += n_ready) {
        HX_TRY(hx_file_scan_raw(scan, type->n_byte, n - i, &bytes, &n_ready));
#pragma omp parallel for schedule(static) reduction(& : all_fit)
        for (int64_t k = 0; k < n_ready; k++) {
            const int64_t v =
                hx_file_decode_int(bytes + k * type->n_byte, type->n_byte, type->kind);
            all_fit &= v >= INT32_MIN && v <= INT32_MAX;
            value[i + k] = (int32_t)v;
        }
    }
    *fits &= all_fit;
    return HX_OK;
}

int hx_file_scan_int(hx_file_scan *scan, const hx_file_number *type, int64_t n, int64_t *value)
{
    if (type->kind != 'i' && type->kind != 'u')
        return HX_FILE_RAISE(scan, "numbers of type %s where integers are expected", type->name);
    int64_t n_ready;
    for (int64_t i = 0; i < n;) {
        if (!scan->is_binary) {
            HX_TRY(hx_file_scan_need(scan, "an integer"));
            HX_TRY(parse_int(scan, &value[i++]));
            continue;
        }
        HX_TRY(ready(scan, type->n_byte, n - i, &n_ready));
        for (int64_t k = 0; k < n_ready; k++, scan->pos += (size_t)type->n_byte)
            value[i++] = hx_file_decode_int(scan->buffer + scan->pos, type->n_byte, type->kind);
    }
    return HX_OK;
}

int hx_file_scan_real(hx_file_scan *scan, const hx_file_number *type, int64_t n, double *value)
{
    if (type->kind == 'b' || type->kind == 's')
        return HX_FILE_RAISE(scan, "values of type %s where numbers are expected", type->name);
    int64_t n_ready;
    for (int64_t i = 0; i < n;) {
        if (!scan->is_binary) {
            char *end;
            HX_TRY(hx_file_scan_need(scan, "a number"));
            value[i++] = strtod(scan->word, &end);
            if (end == scan->word || *end != '\0')
                return HX_FILE_RAISE(scan, "'%s' where a number is expected",
                                     hx_file_scan_shown(scan));
            /* digits of a number from its first nonzero digit to its last one, including
             * trailing zeros */
            int n_digit = 0;
            for (const char *c = scan->word; *c != '\0' && *c != 'e' && *c != 'E'; c++)
                n_digit += (*c >= '1' && *c <= '9') || (*c == '0' && n_digit > 0);
            if (n_digit > scan->most_digits) scan->most_digits = n_digit;
            continue;
        }
        const unsigned char *bytes;
        HX_TRY(hx_file_scan_raw(scan, type->n_byte, n - i, &bytes, &n_ready));
#pragma omp parallel for schedule(static) if (n_ready > 4096)
        for (int64_t k = 0; k < n_ready; k++)
            value[i + k] = decode_real(bytes + k * type->n_byte, type);
        i += n_ready;
    }
    return HX_OK;
}

/* Skips n bytes; long stretches by seeking. */
static int skip_bytes(hx_file_scan *scan, int64_t n)
{
    const int64_t in_buffer = (int64_t)(scan->len - scan->pos);
    scan->word_offset = scan->offset + (int64_t)scan->pos;
    if (n > scan->size - scan->word_offset)
        return HX_FILE_RAISE(scan, "the file ends inside an array");
    if (n <= in_buffer) {
        scan->pos += (size_t)n;
        return HX_OK;
    }
    scan->offset += (int64_t)scan->pos + n;
    scan->pos = scan->len = 0;
    if (fseeko(scan->stream, (off_t)scan->offset, SEEK_SET) != 0)
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", scan->path, strerror(errno));
    return HX_OK;
}

hx_file_mark hx_file_scan_mark(const hx_file_scan *scan)
{
    return (hx_file_mark){scan->offset + (int64_t)scan->pos, scan->line};
}

int hx_file_scan_jump(hx_file_scan *scan, hx_file_mark to)
{
    scan->offset = to.offset;
    scan->line = to.line;
    scan->pos = scan->len = 0;
    if (fseeko(scan->stream, (off_t)to.offset, SEEK_SET) != 0)
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", scan->path, strerror(errno));
    return HX_OK;
}

int hx_file_scan_skip(hx_file_scan *scan, const hx_file_number *type, int64_t n)
{
    int found = 1;
    if (scan->is_binary && type->kind == 'b') return skip_bytes(scan, n / 8 + (n % 8 != 0));
    if (scan->is_binary && type->kind != 's') return skip_bytes(scan, n * type->n_byte);
    if (type->kind == 's' && !scan->is_binary) HX_TRY(hx_file_scan_line(scan, NULL, 0, &found));
    for (int64_t i = 0; i < n; i++) {
        if (type->kind != 's')
            HX_TRY(hx_file_scan_need(scan, "a number"));
        else if (scan->is_binary) {
            /* a binary string: two bits with the size of its length (6 to 62 bits), length, text */
            HX_TRY(fill_buffer(scan, 8));
            scan->word_offset = scan->offset + (int64_t)scan->pos;
            if (scan->pos == scan->len) return HX_FILE_RAISE(scan, "the file ends inside an array");
            const int n_byte = 1 << (3 - (scan->buffer[scan->pos] >> 6));
            if (scan->len - scan->pos < (size_t)n_byte)
                return HX_FILE_RAISE(scan, "the file ends inside an array");
            const uint64_t mask = UINT64_MAX >> (64 - 8 * n_byte + 2);
            const uint64_t length = hx_file_big_endian(scan->buffer + scan->pos, n_byte) & mask;
            scan->pos += (size_t)n_byte;
            HX_TRY(skip_bytes(scan, (int64_t)length));
        } else
            HX_TRY(hx_file_scan_line(scan, NULL, 0, &found));
        if (!found) return HX_FILE_RAISE(scan, "the file ends inside an array");
    }
    return HX_OK;
}
