/* The words and numbers of a legacy VTK file, one after another through a fixed buffer. Internal to
 * the reader: knows words, counts and arrays, nothing of meshes. Every fault is HX_EINPUT whose
 * message starts with the path and the line (ASCII) or byte (binary), or HX_EIO. */
#ifndef HX_VTK_SCAN_H
#define HX_VTK_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_VTK_WORD_SIZE = 256 };

/* A type of number as the file spells it. kind: i, u, f; b = bits, s = strings (both only skipped).
 */
typedef struct hx_vtk_number {
    const char *name;
    int n_byte;
    char kind;
} hx_vtk_number;

typedef struct hx_vtk_scan {
    FILE *stream;                   /* (owned) */
    char *path;                     /* (owned) */
    unsigned char *buffer;          /* (owned) */
    size_t pos, len;                /* next and last byte in the buffer */
    int64_t offset;                 /* of the buffer's first byte in the file */
    int64_t size;                   /* of the file */
    int64_t line;                   /* 1-based, of the next byte; counts only in text */
    int64_t word_line, word_offset; /* where the last word began */
    int is_binary;                  /* set by the caller once it read the file's format line */
    char word[HX_VTK_WORD_SIZE];
    char shown[48]; /* see hx_vtk_scan_shown */
} hx_vtk_scan;

int hx_vtk_scan_open(hx_vtk_scan *scan, const char *path);
void hx_vtk_scan_free(hx_vtk_scan *scan);

/* Puts "path:line: " or "path: byte N: " before the message just raised. Returns code. */
int hx_vtk_scan_place(const hx_vtk_scan *scan, int code);

#define HX_VTK_RAISE(scan, ...) hx_vtk_scan_place((scan), HX_RAISE(HX_EINPUT, __VA_ARGS__))

/* Next word into scan->word. *found = 0 (and an empty word) at the end of the file. */
int hx_vtk_scan_word(hx_vtk_scan *scan, int *found);

/* As hx_vtk_scan_word; the end of the file is an error that names what was expected. */
int hx_vtk_scan_need(hx_vtk_scan *scan, const char *expected);

/* The last word for messages: unprintable bytes as '?', shortened. */
const char *hx_vtk_scan_shown(hx_vtk_scan *scan);

/* Rest of the current line without its end, cut to n_text - 1 bytes; *found = 0 at the end of the
 * file. text may be NULL. */
int hx_vtk_scan_line(hx_vtk_scan *scan, char *text, size_t n_text, int *found);

/* 1 if the next word is `word`, whatever its case; reads nothing. */
int hx_vtk_scan_next_is(hx_vtk_scan *scan, const char *word);

/* Next word as a number >= 0, below 2^62. */
int hx_vtk_scan_count(hx_vtk_scan *scan, const char *what, int64_t *count);

/* Next word as a type of number. */
int hx_vtk_scan_type(hx_vtk_scan *scan, const hx_vtk_number **type);

/* Passes the end of the line after which binary numbers start; nothing in ASCII. */
int hx_vtk_scan_begin(hx_vtk_scan *scan);

/* n * n_comp, checked against what the file can still hold: call it before allocating. */
int hx_vtk_scan_room(const hx_vtk_scan *scan, const hx_vtk_number *type, int64_t n, int64_t n_comp,
                     const char *what, int64_t *n_value);

/* The next n numbers. scan_int needs kind i or u, scan_real i, u or f. */
int hx_vtk_scan_int(hx_vtk_scan *scan, const hx_vtk_number *type, int64_t n, int64_t *value);
int hx_vtk_scan_real(hx_vtk_scan *scan, const hx_vtk_number *type, int64_t n, double *value);

/* Passes n values of any kind. */
int hx_vtk_scan_skip(hx_vtk_scan *scan, const hx_vtk_number *type, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
