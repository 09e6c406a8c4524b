#include "netcdf_check.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/input_file.h"

typedef struct header {
    FILE *stream;
    int64_t left;    /* number of bytes of the file that have not been read */
    int count_bytes; /* size of counts in bytes: 4, or 8 in the fifth form */
    int place_bytes; /* size of file offsets in bytes */
    int is_bad;
} header;

static int64_t take_integer(header *h, int n_byte)
{
    unsigned char bytes[8];
    uint64_t value = 0;
    if (h->is_bad || h->left < n_byte ||
        fread(bytes, 1, (size_t)n_byte, h->stream) != (size_t)n_byte) {
        h->is_bad = 1;
        return 0;
    }
    h->left -= n_byte;
    for (int k = 0; k < n_byte; k++) value = value << 8 | bytes[k];
    if (value > INT64_MAX / 16) h->is_bad = 1;
    return h->is_bad ? 0 : (int64_t)value;
}

/* Skips n values of n_byte bytes, padded to a multiple of 4. */
static void pass(header *h, int64_t n, int n_byte)
{
    if (h->is_bad || n > h->left / n_byte) {
        h->is_bad = 1;
        return;
    }
    const int64_t n_all = (n * n_byte + 3) / 4 * 4;
    if (n_all > h->left || fseeko(h->stream, (off_t)n_all, SEEK_CUR) != 0) h->is_bad = 1;
    h->left -= n_all;
}

/* Reads the number of entries of a list with that tag, each of at least 8 bytes. */
static int64_t take_list(header *h, int64_t tag)
{
    const int64_t found = take_integer(h, 4), n = take_integer(h, h->count_bytes);
    if ((found != tag && (found != 0 || n != 0)) || n > h->left / 8) h->is_bad = 1;
    return h->is_bad ? 0 : n;
}

static void pass_name(header *h)
{
    pass(h, take_integer(h, h->count_bytes), 1);
}

static void pass_attributes(header *h)
{
    static const int size[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    for (int64_t i = take_list(h, 12); i > 0 && !h->is_bad; i--) {
        pass_name(h);
        const int64_t type = take_integer(h, 4);
        if (type < 1 || type > 11) h->is_bad = 1;
        if (!h->is_bad) pass(h, take_integer(h, h->count_bytes), size[type]);
    }
}

static void pass_header(header *h)
{
    (void)take_integer(h, 4); /* the number of records may be "unknown", all bits set */
    h->is_bad = 0;
    if (h->count_bytes == 8) (void)take_integer(h, 4);
    for (int64_t i = take_list(h, 10); i > 0 && !h->is_bad; i--) {
        pass_name(h);
        (void)take_integer(h, h->count_bytes);
    }
    pass_attributes(h);
    for (int64_t i = take_list(h, 11); i > 0 && !h->is_bad; i--) {
        pass_name(h);
        pass(h, take_integer(h, h->count_bytes), h->count_bytes);
        pass_attributes(h);
        (void)take_integer(h, 4);
        (void)take_integer(h, h->count_bytes);
        (void)take_integer(h, h->place_bytes);
    }
}

int hx_netcdf_check(const char *path)
{
    header h = {.count_bytes = 4, .place_bytes = 4};
    char magic[4] = "";
    const char *why;
    h.stream = hx_input_open(path, &why);
    if (!h.stream) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    fseeko(h.stream, 0, SEEK_END);
    h.left = (int64_t)ftello(h.stream) - 4;
    rewind(h.stream);
    const int is_classic = fread(magic, 1, 4, h.stream) == 4 && memcmp(magic, "CDF", 3) == 0;
    if (magic[3] == 2 || magic[3] == 5) h.place_bytes = 8;
    if (magic[3] == 5) h.count_bytes = 8;
    if (is_classic) pass_header(&h);
    fclose(h.stream);
    if (!h.is_bad) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: not an Exodus file, or a damaged one: its header is truncated",
                    path);
}
