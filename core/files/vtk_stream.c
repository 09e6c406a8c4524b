#include "vtk_stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/memory.h"

/* A block per thread: large enough that a write costs little, small enough to stay in the cache. */
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

int hx_vtk_stream_open(hx_vtk_stream *stream, const char *path, size_t most_values)
{
    const size_t record = most_values * HX_VTK_TEXT_BYTES;
    stream->counting = 0;
    stream->n_thread = count_threads();
    stream->block_bytes = record > BLOCK_BYTES ? record : BLOCK_BYTES;
    HX_TRY(hx_alloc_raw(&stream->block, (size_t)stream->n_thread, stream->block_bytes,
                        "blocks of the VTK writer"));
    return hx_atomic_file_open(&stream->file, path);
}

int hx_vtk_stream_text(hx_vtk_stream *stream, const char *fmt, ...)
{
    char line[LINE_SIZE];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0 || n >= LINE_SIZE) return HX_RAISE(HX_EINTERNAL, "a line of the header is too long");
    if (stream->counting) {
        stream->total += (uint64_t)n;
        return HX_OK;
    }
    errno = 0;
    if (fwrite(line, 1, (size_t)n, stream->file.stream) != (size_t)n)
        return hx_atomic_file_refuse(stream->file.path, errno);
    stream->finished += (uint64_t)n;
    return HX_OK;
}

static void report(const hx_vtk_stream *stream)
{
    if (stream->progress && stream->total > 0)
        stream->progress(stream->context, (double)stream->finished / (double)stream->total);
}

int hx_vtk_stream_items(hx_vtk_stream *stream, const hx_vtk_items *items, size_t n_byte,
                        hx_vtk_encoder *encode, const void *what)
{
    const int64_t n = items->n;
    const size_t one = stream->ascii ? HX_VTK_TEXT_BYTES : n_byte;
    const size_t n_most = items->most_values * one;
    if (stream->counting) {
        stream->total += items->n_value * one;
        return HX_OK;
    }
    const double mean = (double)(items->n_value * one) / (double)(n > 0 ? n : 1);
    const int64_t n_record = (int64_t)(stream->block_bytes / n_most);
    const int64_t n_block = (n + n_record - 1) / n_record;
    int failed = 0, reason = 0;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(stream->n_thread)
    for (int64_t b = 0; b < n_block; b++) {
        const int64_t begin = b * n_record, end = b + 1 < n_block ? begin + n_record : n;
        unsigned char *const block = stream->block + (size_t)this_thread() * stream->block_bytes;
        size_t used = 0;
        int stop;
#pragma omp atomic read
        stop = failed;
        if (!stop) used = (size_t)(encode(what, begin, end, stream->ascii, block) - block);
#pragma omp ordered
        if (!failed) {
            errno = 0;
            if (fwrite(block, 1, used, stream->file.stream) != used) {
                reason = errno;
#pragma omp atomic write
                failed = 1;
            }
            stream->finished += (uint64_t)(mean * (double)(end - begin));
            report(stream);
        }
    }
    return failed ? hx_atomic_file_refuse(stream->file.path, reason) : HX_OK;
}

int hx_vtk_stream_records(hx_vtk_stream *stream, int64_t n, size_t n_value, size_t n_byte,
                          hx_vtk_encoder *encode, const void *what)
{
    const hx_vtk_items items = {n, n_value, (uint64_t)n * n_value};
    return hx_vtk_stream_items(stream, &items, n_byte, encode, what);
}

int hx_vtk_stream_close(hx_vtk_stream *stream, int is_synced)
{
    return is_synced ? hx_atomic_file_commit_synced(&stream->file)
                     : hx_atomic_file_commit(&stream->file);
}

void hx_vtk_stream_free(hx_vtk_stream *stream)
{
    hx_atomic_file_free(&stream->file);
    free(stream->block);
    memset(stream, 0, sizeof *stream);
}
