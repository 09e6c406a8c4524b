/* Output of the VTK writer: text, and records that are encoded block by block in parallel and
 * written in order, each process of a team its piece of them at its place of one file. Internal to
 * the writer. */
#ifndef HX_VTK_STREAM_H
#define HX_VTK_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../team/team_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the name of a field as VTK's own reader takes it, the 0 included. */
enum { HX_VTK_NAME = 256 };

/* Bytes that a character takes in a name: 1, 3 as %XX, 0: '_' stands for it. */
int hx_vtk_name_bytes(unsigned char c);

/* Bytes that a number of a text file takes at most, with its separator. */
enum { HX_VTK_TEXT_BYTES = 26 };

typedef struct hx_vtk_stream {
    const hx_team *team; /* that writes it (borrowed) */
    hx_team_file file;
    uint64_t at;          /* where the next text or records begin */
    unsigned char *block; /* [n_thread][block_bytes] (owned) */
    int n_thread;
    size_t block_bytes;
    int ascii;
    int counting;      /* 1: nothing is written, `total` grows */
    uint64_t total;    /* bytes; exact for a binary file, an upper bound for a text file */
    uint64_t finished; /* of them, if the others are as far as this process */
    void (*progress)(void *context, double share); /* NULL: silent */
    void *context;
} hx_vtk_stream;

/* Writes records begin .. end-1 to `to`; returns the place after them. Runs in several threads. */
typedef unsigned char *hx_vtk_encoder(const void *what, int64_t begin, int64_t end, int ascii,
                                      unsigned char *to);

/* Takes the blocks, each large enough for a record. */
int hx_vtk_stream_alloc(hx_vtk_stream *stream, size_t most_values);

/* Ends counting: opens the file. By all processes, like what follows. A text file's team is one. */
int hx_vtk_stream_open(hx_vtk_stream *stream, const char *path);

/* Bytes of the blocks. */
size_t hx_vtk_stream_bytes(void);

int hx_vtk_stream_text(hx_vtk_stream *stream, const char *fmt, ...) HX_PRINTF(2, 3);

/* Records of different lengths: this process' are first .. last - 1, of at most most_values numbers
 * each; n_value in all, n_before in those before. */
typedef struct hx_vtk_items {
    int64_t first, last;
    size_t most_values;
    uint64_t n_value, n_before;
} hx_vtk_items;

/* Numbers of n_byte bytes each. */
int hx_vtk_stream_items(hx_vtk_stream *stream, const hx_vtk_items *items, size_t n_byte,
                        hx_vtk_encoder *encode, const void *what);

/* n records of n_value numbers of n_byte bytes each, of which own[0] .. own[1] - 1 are this
 * process'.
 */
int hx_vtk_stream_records(hx_vtk_stream *stream, int64_t n, const int64_t own[2], size_t n_value,
                          size_t n_byte, hx_vtk_encoder *encode, const void *what);

/* rc: what this process came to; see hx_team_file_commit. */
int hx_vtk_stream_close(hx_vtk_stream *stream, int rc, int is_synced);

/* Removes what was not closed; accepts a zeroed struct. */
void hx_vtk_stream_free(hx_vtk_stream *stream);

/* One number, big-endian or as text; returns the place after it. */
static inline unsigned char *hx_vtk_put_bits(unsigned char *to, uint64_t bits, int n_byte)
{
    for (int i = 0; i < n_byte; i++) to[i] = (unsigned char)(bits >> (8 * (n_byte - 1 - i)));
    return to + n_byte;
}

static inline unsigned char *hx_vtk_put_int(unsigned char *to, int32_t value, int ascii,
                                            char separator)
{
    if (!ascii) return hx_vtk_put_bits(to, (uint32_t)value, 4);
    return to + snprintf((char *)to, HX_VTK_TEXT_BYTES, "%ld%c", (long)value, separator);
}

static inline unsigned char *hx_vtk_put_f64(unsigned char *to, double value, int ascii,
                                            char separator)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!ascii) return hx_vtk_put_bits(to, bits, 8);
    return to + snprintf((char *)to, HX_VTK_TEXT_BYTES, "%.17g%c", value, separator);
}

static inline unsigned char *hx_vtk_put_f32(unsigned char *to, float value, int ascii,
                                            char separator)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!ascii) return hx_vtk_put_bits(to, bits, 4);
    return to + snprintf((char *)to, HX_VTK_TEXT_BYTES, "%.9g%c", (double)value, separator);
}

static inline unsigned char *hx_vtk_put_u8(unsigned char *to, uint8_t value, int ascii,
                                           char separator)
{
    if (!ascii) return hx_vtk_put_bits(to, value, 1);
    return to + snprintf((char *)to, HX_VTK_TEXT_BYTES, "%u%c", (unsigned)value, separator);
}

#ifdef __cplusplus
}
#endif

#endif
