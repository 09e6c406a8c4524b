#include "vtk_stream.h"

#include <stdarg.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/memory.h"

/* Block size per thread: large enough to amortize a write, small enough to stay in the cache. */
enum { BLOCK_BYTES = 1 << 20, MOST_THREADS = 32, LINE_SIZE = 1024 };

static int this_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

static int count_threads(void)
{
    int n = 1;
#ifdef _OPENMP
    n = omp_get_max_threads();
#endif
    return n < MOST_THREADS ? n : MOST_THREADS;
}

size_t hx_vtk_stream_bytes(void)
{
    return (size_t)count_threads() * BLOCK_BYTES;
}

int hx_vtk_stream_alloc(hx_vtk_stream *stream, size_t most_values)
{
    const size_t record = most_values * HX_VTK_TEXT_BYTES;
    stream->n_thread = count_threads();
    stream->block_bytes = record > BLOCK_BYTES ? record : BLOCK_BYTES;
    return hx_alloc_raw(&stream->block, (size_t)stream->n_thread, stream->block_bytes,
                        "blocks of the VTK writer");
}

int hx_vtk_stream_open(hx_vtk_stream *stream, const char *path)
{
    stream->counting = 0;
    return hx_comm_file_open(&stream->file, stream->comm, path, stream->total);
}

/* Only the first rank writes texts. */
int hx_vtk_stream_text(hx_vtk_stream *stream, const char *fmt, ...)
{
    char line[LINE_SIZE];
    int reason = 0;
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0 || n >= LINE_SIZE) return HX_RAISE(HX_EINTERNAL, "a line of the header is too long");
    if (stream->counting) {
        stream->total += (uint64_t)n;
        return HX_OK;
    }
    if (stream->comm->rank == 0)
        reason = hx_comm_file_write_at(&stream->file, stream->at, line, (size_t)n);
    stream->at += (uint64_t)n;
    stream->finished += (uint64_t)n;
    return reason ? hx_atomic_file_refuse(stream->file.path, reason) : HX_OK;
}

static void report(const hx_vtk_stream *stream)
{
    if (stream->progress && stream->total > 0)
        stream->progress(stream->context, (double)stream->finished / (double)stream->total);
}

/* Writes this rank's piece from *at on; *at := the end of that piece. */
static int put_piece(hx_vtk_stream *stream, const hx_vtk_items *items, size_t one,
                     hx_vtk_encoder *encode, const void *what, uint64_t *at)
{
    const int64_t first = items->first, last = items->last;
    const double mean = (double)(items->n_value * one) / (double)(last > first ? last - first : 1);
    const int64_t n_record = (int64_t)(stream->block_bytes / (items->most_values * one));
    const int64_t n_block = (last - first + n_record - 1) / n_record;
    int failed = 0, reason = 0;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(stream->n_thread)
    for (int64_t b = 0; b < n_block; b++) {
        const int64_t begin = first + b * n_record, end = b + 1 < n_block ? begin + n_record : last;
        unsigned char *const block = stream->block + (size_t)this_thread() * stream->block_bytes;
        size_t used = 0;
        int stop;
#pragma omp atomic read
        stop = failed;
        if (!stop) used = (size_t)(encode(what, begin, end, stream->ascii, block) - block);
#pragma omp ordered
        {
            if (!failed) {
                reason = hx_comm_file_write_at(&stream->file, *at, block, used);
                if (reason) {
#pragma omp atomic write
                    failed = 1;
                }
                *at += used;
                stream->finished += (uint64_t)(mean * (double)(end - begin));
                report(stream);
            }
        }
    }
    return failed ? hx_atomic_file_refuse(stream->file.path, reason) : HX_OK;
}

int hx_vtk_stream_items(hx_vtk_stream *stream, const hx_vtk_items *items, size_t n_byte,
                        hx_vtk_encoder *encode, const void *what)
{
    const size_t one = stream->ascii ? HX_VTK_TEXT_BYTES : n_byte;
    uint64_t at = stream->at + items->n_before * one;
    if (stream->counting) {
        stream->total += items->n_value * one;
        return HX_OK;
    }
    HX_TRY(put_piece(stream, items, one, encode, what, &at));
    stream->at = stream->ascii ? at : stream->at + items->n_value * one;
    return HX_OK;
}

int hx_vtk_stream_records(hx_vtk_stream *stream, int64_t n, const int64_t own[2], size_t n_value,
                          size_t n_byte, hx_vtk_encoder *encode, const void *what)
{
    const hx_vtk_items items = {own[0], own[1], n_value, (uint64_t)n * n_value,
                                (uint64_t)own[0] * n_value};
    return hx_vtk_stream_items(stream, &items, n_byte, encode, what);
}

int hx_vtk_stream_close(hx_vtk_stream *stream, int rc, int is_synced)
{
    return hx_comm_file_commit(&stream->file, rc, is_synced);
}

void hx_vtk_stream_free(hx_vtk_stream *stream)
{
    hx_comm_file_free(&stream->file);
    free(stream->block);
    memset(stream, 0, sizeof *stream);
}
