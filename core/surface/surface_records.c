/* Numbers of binary surface files in little-endian order, and records of them written in blocks. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_files.h"

enum { BLOCK = 1 << 16 }; /* records */

unsigned char *hx_surface_put_bytes(unsigned char *to, uint64_t bits, int n)
{
    for (int i = 0; i < n; i++) *to++ = (unsigned char)(bits >> 8 * i);
    return to;
}

unsigned char *hx_surface_put_float(unsigned char *to, double value)
{
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return hx_surface_put_bytes(to, bits, 4);
}

unsigned char *hx_surface_put_double(unsigned char *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hx_surface_put_bytes(to, bits, 8);
}

int hx_surface_put_records(FILE *stream, const hx_surface *surface, const hx_surface_records *r)
{
    unsigned char *block = NULL;
    HX_TRY(hx_alloc_raw(&block, BLOCK, r->size, "block of the surface file"));
    for (int64_t begin = 0; begin < r->n; begin += BLOCK) {
        const int64_t end = begin + BLOCK < r->n ? begin + BLOCK : r->n;
#pragma omp parallel for schedule(static)
        for (int64_t i = begin; i < end; i++)
            r->encode(surface, i, block + (size_t)(i - begin) * r->size);
        fwrite(block, r->size, (size_t)(end - begin), stream); /* the commit checks for errors */
    }
    free(block);
    return HX_OK;
}
