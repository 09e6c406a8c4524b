/* Reads the words and numbers of a file, text or binary, in sequence through a fixed buffer; used
 * by the readers of legacy VTK and Gmsh. It handles words, counts and arrays, and is independent of
 * meshes and formats. Every error is HX_EINPUT with a message that starts with the path and the
 * line (text) or byte (binary), or HX_EIO. Not installed. */
#ifndef HX_FILE_SCAN_H
#define HX_FILE_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"

enum { HX_FILE_WORD_SIZE = 256 };

/* A type of number, and the format's name for it. kind: i, u, f; b = bits, s = strings (these two
 * can only be skipped). */
typedef struct hx_file_number {
    const char *name;
    int n_byte;
    char kind;
} hx_file_number;

typedef struct hx_file_scan {
    FILE *stream;                   /* (owned) */
    char *path;                     /* (owned) */
    unsigned char *buffer;          /* (owned) */
    size_t capacity;                /* of the buffer */
    size_t pos, len;                /* next byte, and end, in the buffer */
    int64_t offset;                 /* offset of the buffer's first byte in the file */
    int64_t size;                   /* of the file */
    int64_t line;                   /* 1-based line of the next byte; counted only in text */
    int64_t word_line, word_offset; /* where the last word began */
    int is_binary;                  /* set by the caller once it has read the file's format line */
    /* largest number of digits of a real number read from a text file; the caller resets it */
    int most_digits;
    char word[HX_FILE_WORD_SIZE];
    char shown[48]; /* see hx_file_scan_shown */
} hx_file_scan;

int hx_file_scan_open(hx_file_scan *scan, const char *path);
void hx_file_scan_free(hx_file_scan *scan);

/* Prefixes the message just raised with "path:line: " or "path: byte N: ". Returns code. */
int hx_file_scan_place(const hx_file_scan *scan, int code);

#define HX_FILE_RAISE(scan, ...)                                                                   \
    HX_PLACED(HX_EINPUT, hx_file_scan_place((scan), HX_RAISE(HX_EINPUT, __VA_ARGS__)))

/* Reads the next word into scan->word. *found = 0 (and an empty word) at the end of the file. */
int hx_file_scan_word(hx_file_scan *scan, int *found);

/* Like hx_file_scan_word; skips comments, from "#" to the end of a line. */
int hx_file_scan_uncommented(hx_file_scan *scan, int *found);

/* Like hx_file_scan_word, but the end of the file is an error that names what was expected. */
int hx_file_scan_need(hx_file_scan *scan, const char *expected);

/* Returns the last word for messages: shortened, with unprintable bytes as '?'. */
const char *hx_file_scan_shown(hx_file_scan *scan);

/* Reads the rest of the current line without its end, cut to n_text - 1 bytes; *found = 0 at the
 * end of the file. text may be NULL. */
int hx_file_scan_line(hx_file_scan *scan, char *text, size_t n_text, int *found);

/* Returns 1 if the next word is `word`, without regard to case; consumes nothing. */
int hx_file_scan_next_is(hx_file_scan *scan, const char *word);

/* Reads the next word as a number >= 0, below 2^62. */
int hx_file_scan_count(hx_file_scan *scan, const char *what, int64_t *count);

/* Skips the line end after which binary numbers start; does nothing in ASCII. */
int hx_file_scan_begin(hx_file_scan *scan);

/* Computes n * n_comp and checks it against the remaining size of the file. Call it before
 * allocating. */
int hx_file_scan_room(const hx_file_scan *scan, const hx_file_number *type, int64_t n,
                      int64_t n_comp, const char *what, int64_t *n_value);

/* Returns the next whole records of n_byte bytes of a binary file, at least one and at most n, in
 * place in the buffer; they count as read. The end of the file is an error. */
int hx_file_scan_raw(hx_file_scan *scan, int n_byte, int64_t n, const unsigned char **bytes,
                     int64_t *n_ready);

/* Returns the last n records of hx_file_scan_raw to the input. */
void hx_file_scan_unread(hx_file_scan *scan, int n_byte, int64_t n);

/* Reads the next n integers; *fits becomes 0 if one needs more than 32 bits and is otherwise
 * unchanged. Requires kind i or u. */
int hx_file_scan_int32(hx_file_scan *scan, const hx_file_number *type, int64_t n, int32_t *value,
                       int *fits);

/* Decoding of numbers in a binary file. */
static inline uint64_t hx_file_big_endian(const unsigned char *byte, int n_byte)
{
    uint64_t bits = 0;
    for (int i = 0; i < n_byte; i++) bits = bits << 8 | byte[i];
    return bits;
}

static inline int64_t hx_file_decode_int(const unsigned char *byte, int n_byte, char kind)
{
    const uint64_t bits = hx_file_big_endian(byte, n_byte);
    if (kind == 'u' && n_byte < 8) return (int64_t)bits;
    const int unused = 64 - 8 * n_byte;
    const uint64_t top = bits << unused;
    int64_t value;
    memcpy(&value, &top, sizeof value);
    return value / ((int64_t)1 << unused); /* sign extension; exact because the low bits are 0 */
}

/* Read the next n numbers. hx_file_scan_int requires kind i or u, hx_file_scan_real i, u or f. */
int hx_file_scan_int(hx_file_scan *scan, const hx_file_number *type, int64_t n, int64_t *value);
int hx_file_scan_real(hx_file_scan *scan, const hx_file_number *type, int64_t n, double *value);

/* A position in the part of the file that has been read. */
typedef struct hx_file_mark {
    int64_t offset, line;
} hx_file_mark;

hx_file_mark hx_file_scan_mark(const hx_file_scan *scan);

/* Continues at the mark; the scan may be another one of the same file. */
int hx_file_scan_jump(hx_file_scan *scan, hx_file_mark to);

/* Skips n values of any kind. */
int hx_file_scan_skip(hx_file_scan *scan, const hx_file_number *type, int64_t n);

#endif
