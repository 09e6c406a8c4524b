/* The format is PKWARE's APPNOTE 6.3: local headers, whose checksums and sizes are filled in once a
 * member is complete, and a directory at the end. All times are 1980-01-01, so that a file depends
 * only on its content. */
#include "zip.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#ifdef HX_HAVE_ZLIB
#include <zlib.h>
#endif

#include "crc32.h"
#include "memory.h"

enum { BLOCK = 1 << 16, STORED = 0, DEFLATED = 8, VERSION = 20, HEADER = 26 };

#ifdef HX_HAVE_ZLIB
static const int method = DEFLATED;
#else
static const int method = STORED;
#endif

static unsigned char *put_bits(unsigned char *to, uint64_t bits, int n)
{
    for (int i = 0; i < n; i++) *to++ = (unsigned char)(bits >> 8 * i);
    return to;
}

/* Writes the fields from "version needed" to "length of the extra field", which both headers
 * share. */
static unsigned char *put_common(unsigned char *to, const hx_zip_member *m)
{
    to = put_bits(to, VERSION, 2);
    to = put_bits(to, 0, 2);
    to = put_bits(to, (uint64_t)method, 2);
    to = put_bits(to, 0, 2);
    to = put_bits(to, 0x21, 2);
    to = put_bits(to, m->crc, 4);
    to = put_bits(to, m->packed, 4);
    to = put_bits(to, m->size, 4);
    to = put_bits(to, strlen(m->name), 2);
    return put_bits(to, 0, 2);
}

static void write_local(hx_zip *zip, const hx_zip_member *m)
{
    unsigned char bytes[4 + HEADER];
    put_common(put_bits(bytes, 0x04034b50u, 4), m);
    fwrite(bytes, sizeof bytes, 1, zip->stream);
    fwrite(m->name, strlen(m->name), 1, zip->stream);
}

int hx_zip_begin(hx_zip *zip, FILE *stream)
{
    memset(zip, 0, sizeof *zip);
    zip->stream = stream;
    return hx_alloc_raw(&zip->block, BLOCK, 1, "block of a zip archive");
}

#ifdef HX_HAVE_ZLIB
static int begin_packing(hx_zip *zip)
{
    z_stream *z = NULL;
    HX_TRY(hx_alloc(&z, 1, sizeof *z, "compression"));
    zip->packer = z;
    if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return HX_OK;
    free(z);
    zip->packer = NULL;
    return HX_RAISE(HX_ENOMEM, "no memory for compression");
}

static int pack_bytes(hx_zip *zip, const void *bytes, size_t n, int flush)
{
    z_stream *const z = zip->packer;
    hx_zip_member *const m = &zip->member[zip->n - 1];
    z->next_in = (Bytef *)(uintptr_t)bytes; /* zlib does not write to it */
    z->avail_in = (uInt)n;
    do {
        z->next_out = zip->block;
        z->avail_out = BLOCK;
        if (deflate(z, flush) == Z_STREAM_ERROR)
            return HX_RAISE(HX_EINTERNAL, "compression by zlib failed");
        m->packed += BLOCK - z->avail_out;
        fwrite(zip->block, BLOCK - z->avail_out, 1, zip->stream);
    } while (z->avail_out == 0);
    return HX_OK;
}

static void end_packing(hx_zip *zip)
{
    if (zip->packer) deflateEnd(zip->packer);
    free(zip->packer);
    zip->packer = NULL;
}
#endif

int hx_zip_open(hx_zip *zip, const char *name)
{
    if (zip->n == HX_ZIP_MEMBERS)
        return HX_RAISE(HX_EINTERNAL, "more than %d members in a zip archive", zip->n);
    hx_zip_member *const m = &zip->member[zip->n++];
    *m = (hx_zip_member){.name = name, .at = (uint64_t)ftello(zip->stream)};
    write_local(zip, m);
#ifdef HX_HAVE_ZLIB
    return begin_packing(zip);
#else
    return HX_OK;
#endif
}

int hx_zip_put(hx_zip *zip, const void *bytes, size_t n)
{
    hx_zip_member *const m = &zip->member[zip->n - 1];
    m->crc = hx_crc32(m->crc, bytes, n);
    m->size += n;
#ifdef HX_HAVE_ZLIB
    return pack_bytes(zip, bytes, n, Z_NO_FLUSH);
#else
    m->packed += n;
    fwrite(bytes, n, 1, zip->stream);
    return HX_OK;
#endif
}

int hx_zip_close(hx_zip *zip)
{
    hx_zip_member *const m = &zip->member[zip->n - 1];
#ifdef HX_HAVE_ZLIB
    HX_TRY(pack_bytes(zip, NULL, 0, Z_FINISH));
    end_packing(zip);
#endif
    const off_t end = ftello(zip->stream);
    if (m->size > UINT32_MAX || (uint64_t)end > UINT32_MAX)
        return HX_RAISE(HX_EIO, "%s would exceed 4 GiB, the limit of a zip archive", m->name);
    fseeko(zip->stream, (off_t)m->at, SEEK_SET);
    write_local(zip, m);
    fseeko(zip->stream, end, SEEK_SET);
    return HX_OK;
}

int hx_zip_end(hx_zip *zip)
{
    const uint64_t begin = (uint64_t)ftello(zip->stream);
    unsigned char bytes[64];
    for (int i = 0; i < zip->n; i++) {
        const hx_zip_member *const m = &zip->member[i];
        unsigned char *to = put_bits(bytes, 0x02014b50u, 4);
        to = put_common(put_bits(to, VERSION, 2), m);
        to = put_bits(to, 0, 6);
        to = put_bits(to, 0, 4);
        to = put_bits(to, m->at, 4);
        fwrite(bytes, (size_t)(to - bytes), 1, zip->stream);
        fwrite(m->name, strlen(m->name), 1, zip->stream);
    }
    unsigned char *to = put_bits(bytes, 0x06054b50u, 4);
    to = put_bits(to, 0, 4);
    to = put_bits(to, (uint64_t)zip->n, 2);
    to = put_bits(to, (uint64_t)zip->n, 2);
    to = put_bits(to, (uint64_t)ftello(zip->stream) - begin, 4);
    to = put_bits(to, begin, 4);
    to = put_bits(to, 0, 2);
    fwrite(bytes, (size_t)(to - bytes), 1, zip->stream);
    return HX_OK;
}

void hx_zip_free(hx_zip *zip)
{
#ifdef HX_HAVE_ZLIB
    end_packing(zip);
#endif
    free(zip->block);
    memset(zip, 0, sizeof *zip);
}
