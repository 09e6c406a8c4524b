/* Places of a file filled in parallel: what one writer needs of the disk. Internal to the writers.
 */
#ifndef HX_WRITE_BLOCKS_H
#define HX_WRITE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "../base/atomic_file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_block_file {
    hx_atomic_file file;
    int n_thread;
    unsigned char *block;               /* [n_thread] blocks, from the first put on (owned) */
    int (*is_cancelled)(void *context); /* or NULL */
    void *context;
} hx_block_file;

/* Bytes of items begin .. end - 1 to `to`; returns the place after them. Runs in several threads.
 */
typedef unsigned char *hx_block_encoder(const void *what, int64_t begin, int64_t end,
                                        unsigned char *to);

/* HX_EIO of all: what the system says, or it is cancelled. */
int hx_block_open(hx_block_file *f, const char *path);

/* n items of n_byte bytes each at `offset`. *crc, if not NULL: that of what came before, continued.
 */
int hx_block_put(hx_block_file *f, int64_t offset, int64_t n, size_t n_byte,
                 hx_block_encoder *encode, const void *what, uint32_t *crc);

/* n items of at most n_most bytes each from *offset on, which grows by what they take. */
int hx_block_put_text(hx_block_file *f, int64_t *offset, int64_t n, size_t n_most,
                      hx_block_encoder *encode, const void *what);

/* Bytes as they are. */
int hx_block_put_bytes(hx_block_file *f, int64_t offset, const void *bytes, size_t n);

/* All is written: it waits for its name. */
int hx_block_finish(hx_block_file *f);
/* Gives the name to what is finished. */
int hx_block_commit(hx_block_file *f);
/* Removes what has no name yet; accepts a zeroed struct. */
void hx_block_free(hx_block_file *f);

/* Encoders of arrays, little- and big-endian: int32, int32 as 64 bits, double. */
hx_block_encoder hx_put_i32_little, hx_put_i32_as_i64_little, hx_put_f64_little;
hx_block_encoder hx_put_i32_big, hx_put_f64_big;

/* One number; returns the place after it. */
unsigned char *hx_put_bits_little(unsigned char *to, uint64_t bits, int n_byte);
unsigned char *hx_put_bits_big(unsigned char *to, uint64_t bits, int n_byte);

#ifdef __cplusplus
}
#endif

#endif
