/* Output of the VTK writer: text, and records that are encoded block by block in parallel and
 * written in order; each rank of a communicator writes its piece at its position in one file.
 * Internal to the writer. */
#ifndef HX_VTK_STREAM_H
#define HX_VTK_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../comm/comm_file.h"

/* Bytes of a field's name that VTK's own reader accepts, including the terminating 0. */
enum { HX_VTK_NAME = 256 };

/* Bytes that a character takes in a name: 1; 3 as %XX; 0: it is replaced by '_'. */
int hx_vtk_name_bytes(unsigned char c);

/* Maximum number of bytes of a number in a text file, with its separator. */
enum { HX_VTK_TEXT_BYTES = 26 };

typedef struct hx_vtk_stream {
    const hx_comm *comm; /* ranks that write it (borrowed) */
    hx_comm_file file;
    uint64_t at;          /* where the next text or records begin */
    unsigned char *block; /* [n_thread][block_bytes] (owned) */
    int n_thread;
    size_t block_bytes;
    int ascii;
    int counting;   /* 1: nothing is written, only `total` grows */
    uint64_t total; /* bytes; exact for a binary file, an upper bound for a text file */
    /* estimate of the bytes written by all ranks, assuming that all progress equally */
    uint64_t finished;
    void (*progress)(void *context, double share); /* NULL: no reports */
    void *context;
} hx_vtk_stream;

/* Encodes records begin .. end-1 into `to`; returns the position after them. Runs in several
 * threads. */
typedef unsigned char *hx_vtk_encoder(const void *what, int64_t begin, int64_t end, int ascii,
                                      unsigned char *to);

/* Allocates the blocks, each large enough for a record. */
int hx_vtk_stream_alloc(hx_vtk_stream *stream, size_t most_values);

/* Ends counting and opens the file. Collective, like the functions that follow. A text file can be
 * written by one rank only. */
int hx_vtk_stream_open(hx_vtk_stream *stream, const char *path);

/* Size of the blocks in bytes. */
size_t hx_vtk_stream_bytes(void);

int hx_vtk_stream_text(hx_vtk_stream *stream, const char *fmt, ...) HX_PRINTF(2, 3);

/* Records of different lengths. This rank has first .. last - 1, of at most most_values numbers
 * each; there are n_value numbers in total, and n_before in the preceding records. */
typedef struct hx_vtk_items {
    int64_t first, last;
    size_t most_values;
    uint64_t n_value, n_before;
} hx_vtk_items;

/* Writes numbers of n_byte bytes each. */
int hx_vtk_stream_items(hx_vtk_stream *stream, const hx_vtk_items *items, size_t n_byte,
                        hx_vtk_encoder *encode, const void *what);

/* Writes n records of n_value numbers of n_byte bytes each, of which this rank has own[0] .. own[1]
 * - 1. */
int hx_vtk_stream_records(hx_vtk_stream *stream, int64_t n, const int64_t own[2], size_t n_value,
                          size_t n_byte, hx_vtk_encoder *encode, const void *what);

/* rc: result of this rank; see hx_comm_file_commit. */
int hx_vtk_stream_close(hx_vtk_stream *stream, int rc, int is_synced);

/* Removes a file that was not closed; accepts a zeroed struct. */
void hx_vtk_stream_free(hx_vtk_stream *stream);

/* Writes one number, big-endian or as text; returns the position after it. */
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

#endif
