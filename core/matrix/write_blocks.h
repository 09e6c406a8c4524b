/* A file whose blocks are encoded and written in parallel. Internal to the writers. */
#ifndef HX_WRITE_BLOCKS_H
#define HX_WRITE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "../base/atomic_file.h"

typedef struct hx_block_file {
    hx_atomic_file file;
    int n_thread;
    unsigned char *block;               /* [n_thread] blocks, allocated by the first put (owned) */
    int (*is_cancelled)(void *context); /* or NULL */
    void *context;
} hx_block_file;

/* Encodes items begin .. end - 1 to `to`; returns the position behind them. Runs in several
 * threads. */
typedef unsigned char *hx_block_encoder(const void *what, int64_t begin, int64_t end,
                                        unsigned char *to);

/* All functions return HX_EIO with the system's message if writing fails, or HX_EIO if it was
 * cancelled. */
int hx_block_open(hx_block_file *f, const char *path);

/* Writes n items of n_byte bytes each at `offset`. *crc, if not NULL, is updated with their
 * bytes. */
int hx_block_put(hx_block_file *f, int64_t offset, int64_t n, size_t n_byte,
                 hx_block_encoder *encode, const void *what, uint32_t *crc);

/* Writes n items of at most n_most bytes each starting at *offset, which is advanced by their
 * size. */
int hx_block_put_text(hx_block_file *f, int64_t *offset, int64_t n, size_t n_most,
                      hx_block_encoder *encode, const void *what);

/* Writes bytes unchanged. */
int hx_block_put_bytes(hx_block_file *f, int64_t offset, const void *bytes, size_t n);

/* Completes the file, still without its final name. */
int hx_block_finish(hx_block_file *f);
/* Renames the completed file to its final name. */
int hx_block_commit(hx_block_file *f);
/* Removes a file that has no final name; accepts a zeroed struct. */
void hx_block_free(hx_block_file *f);

/* Encoders of arrays in little and big endian: int32, int32 as 64 bits, double. */
hx_block_encoder hx_put_i32_little, hx_put_i32_as_i64_little, hx_put_f64_little;
hx_block_encoder hx_put_i32_big, hx_put_f64_big;

/* Encodes one value; returns the position behind it. */
unsigned char *hx_put_bits_little(unsigned char *to, uint64_t bits, int n_byte);
unsigned char *hx_put_bits_big(unsigned char *to, uint64_t bits, int n_byte);

#endif
