#include "write_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/crc32.h"
#include "../base/memory.h"
#include "../base/threads.h"

/* A block per thread: large enough that a write has little overhead, small enough for the cache. */
enum { BLOCK_BYTES = 1 << 20, MOST_THREADS = 32 };
/* Threads that write numbers without encoding. A file accepts one write at a time, so more threads
 * only wait for each other; six reach the 3.8 GB/s of the disk
 * (doc/notebook/2026-11-25-matrices-on-a-gpu.md). */
enum { PUT_THREADS = 6 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int hx_block_open(hx_block_file *f, const char *path)
{
    f->n_thread = (int)smaller(hx_most_threads(), MOST_THREADS);
    return hx_atomic_file_open(&f->file, path);
}

static int make_blocks(hx_block_file *f)
{
    if (f->block) return HX_OK;
    return hx_alloc_raw(&f->block, (size_t)f->n_thread, BLOCK_BYTES, "blocks of the writer");
}

/* Returns 0 or errno. */
static int write_at(const hx_block_file *f, int64_t offset, const unsigned char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t done = pwrite(fileno(f->file.stream), bytes, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : ENOSPC;
        bytes += done;
        offset += done;
        n -= (size_t)done;
    }
    return 0;
}

/* 1 if another block failed or the operation was cancelled. Thread-safe. */
static int must_stop(const hx_block_file *f, int *reason)
{
    int known;
#pragma omp atomic read
    known = *reason;
    if (known) return 1;
    if (!f->is_cancelled || !f->is_cancelled(f->context)) return 0;
#pragma omp atomic write
    *reason = ECANCELED;
    return 1;
}

static int refuse_block_file(const hx_block_file *f, int reason)
{
    if (reason == ECANCELED)
        return HX_RAISE(HX_EIO, "%s: not written, because the operation was cancelled",
                        f->file.path);
    return reason ? hx_atomic_file_refuse(f->file.path, reason) : HX_OK;
}

static unsigned char *my_block(const hx_block_file *f)
{
    return f->block + (size_t)hx_this_thread() * BLOCK_BYTES;
}

int hx_block_put(hx_block_file *f, int64_t offset, int64_t n, size_t n_byte,
                 hx_block_encoder *encode, const void *what, uint32_t *crc)
{
    const int64_t n_item = BLOCK_BYTES / (int64_t)n_byte, n_block = (n + n_item - 1) / n_item;
    /* NOLINTNEXTLINE(clang-analyzer-deadcode*): the pragma reads it */
    const int n_thread = f->n_thread < PUT_THREADS ? f->n_thread : PUT_THREADS;
    static const uint32_t one = 1;
    const int is_little = *(const unsigned char *)&one == 1;
    const int is_plain = is_little ? encode == hx_put_f64_little || encode == hx_put_i32_little
                                   : encode == hx_put_f64_big || encode == hx_put_i32_big;
    uint32_t *sum = NULL;
    int reason = 0;
    HX_TRY(make_blocks(f));
    if (crc) HX_TRY(hx_alloc(&sum, (size_t)n_block, sizeof *sum, "check sums"));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread)
    for (int64_t b = 0; b < n_block; b++) {
        if (must_stop(f, &reason)) continue;
        const int64_t begin = b * n_item, end = smaller(begin + n_item, n);
        const unsigned char *block = (const unsigned char *)what + begin * (int64_t)n_byte;
        size_t used = (size_t)(end - begin) * n_byte;
        if (!is_plain) {
            block = my_block(f);
            used = (size_t)(encode(what, begin, end, my_block(f)) - block);
        }
        if (sum) sum[b] = hx_crc32(0, block, used);
        const int failed = write_at(f, offset + begin * (int64_t)n_byte, block, used);
        if (failed) {
#pragma omp atomic write
            reason = failed;
        }
    }
    for (int64_t b = 0; sum && b < n_block; b++)
        *crc = hx_crc32_join(*crc, sum[b],
                             (uint64_t)(smaller((b + 1) * n_item, n) - b * n_item) * n_byte);
    free(sum);
    return refuse_block_file(f, reason);
}

int hx_block_put_text(hx_block_file *f, int64_t *offset, int64_t n, size_t n_most,
                      hx_block_encoder *encode, const void *what)
{
    const int64_t n_item = BLOCK_BYTES / (int64_t)n_most, n_block = (n + n_item - 1) / n_item;
    int64_t end_of_file = *offset;
    int reason = 0;
    HX_TRY(make_blocks(f));
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(f->n_thread)
    for (int64_t b = 0; b < n_block; b++) {
        if (must_stop(f, &reason)) continue;
        const int64_t begin = b * n_item, end = smaller(begin + n_item, n);
        unsigned char *const block = my_block(f);
        const size_t used = (size_t)(encode(what, begin, end, block) - block);
        int64_t mine = 0;
#pragma omp ordered
        {
            mine = end_of_file;
            end_of_file += (int64_t)used;
        }
        const int failed = write_at(f, mine, block, used);
        if (failed) {
#pragma omp atomic write
            reason = failed;
        }
    }
    *offset = end_of_file;
    return refuse_block_file(f, reason);
}

int hx_block_put_bytes(hx_block_file *f, int64_t offset, const void *bytes, size_t n)
{
    int reason = 0;
    if (!must_stop(f, &reason)) reason = write_at(f, offset, bytes, n);
    return refuse_block_file(f, reason);
}

int hx_block_finish(hx_block_file *f)
{
    free(f->block);
    f->block = NULL;
    return hx_atomic_file_finish(&f->file);
}

int hx_block_commit(hx_block_file *f)
{
    if (!f->file.is_finished)
        return HX_RAISE(HX_EINTERNAL, "an unfinished file cannot be committed");
    return hx_atomic_file_commit(&f->file);
}

void hx_block_free(hx_block_file *f)
{
    hx_atomic_file_free(&f->file);
    free(f->block);
    memset(f, 0, sizeof *f);
}

unsigned char *hx_put_bits_little(unsigned char *to, uint64_t bits, int n_byte)
{
    for (int i = 0; i < n_byte; i++) to[i] = (unsigned char)(bits >> (8 * i));
    return to + n_byte;
}

unsigned char *hx_put_bits_big(unsigned char *to, uint64_t bits, int n_byte)
{
    for (int i = 0; i < n_byte; i++) to[i] = (unsigned char)(bits >> (8 * (n_byte - 1 - i)));
    return to + n_byte;
}

static inline uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Shifts of a constant width: compilers make plain or swapped stores of them. */
#define PUT4(to, v, a, b, c, d)                                                                    \
    ((to)[0] = (unsigned char)((v) >> (a)), (to)[1] = (unsigned char)((v) >> (b)),                 \
     (to)[2] = (unsigned char)((v) >> (c)), (to)[3] = (unsigned char)((v) >> (d)))

unsigned char *hx_put_i32_little(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const int32_t *const value = what;
    for (int64_t i = begin; i < end; i++, to += 4) PUT4(to, (uint32_t)value[i], 0, 8, 16, 24);
    return to;
}

unsigned char *hx_put_i32_as_i64_little(const void *what, int64_t begin, int64_t end,
                                        unsigned char *to)
{
    const int32_t *const value = what;
    for (int64_t i = begin; i < end; i++)
        to = hx_put_bits_little(to, (uint64_t)(int64_t)value[i], 8);
    return to;
}

unsigned char *hx_put_f64_little(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const double *const value = what;
    for (int64_t i = begin; i < end; i++, to += 8) {
        const uint64_t v = bits_of_double(value[i]);
        PUT4(to, v, 0, 8, 16, 24);
        PUT4(to + 4, v, 32, 40, 48, 56);
    }
    return to;
}

unsigned char *hx_put_i32_big(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const int32_t *const value = what;
    for (int64_t i = begin; i < end; i++, to += 4) PUT4(to, (uint32_t)value[i], 24, 16, 8, 0);
    return to;
}

unsigned char *hx_put_f64_big(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const double *const value = what;
    for (int64_t i = begin; i < end; i++, to += 8) {
        const uint64_t v = bits_of_double(value[i]);
        PUT4(to, v, 56, 48, 40, 32);
        PUT4(to + 4, v, 24, 16, 8, 0);
    }
    return to;
}
