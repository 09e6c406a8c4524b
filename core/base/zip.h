/* A zip archive written member by member, compressed if zlib is available. Not installed. */
#ifndef HX_ZIP_H
#define HX_ZIP_H

#include <stdint.h>
#include <stdio.h>

#include "error.h"

enum { HX_ZIP_MEMBERS = 8 };

typedef struct hx_zip_member {
    const char *name; /* (borrowed) */
    uint32_t crc;
    uint64_t at, size, packed; /* offset of its header; bytes before and after compression */
} hx_zip_member;

typedef struct hx_zip {
    FILE *stream; /* (borrowed) seekable, at its beginning */
    int n;        /* number of members begun */
    hx_zip_member member[HX_ZIP_MEMBERS];
    void *packer;         /* state of the compressor for the open member (owned) */
    unsigned char *block; /* buffer of compressed bytes (owned) */
} hx_zip;

/* The caller checks the stream for errors of writing. HX_ENOMEM. */
int hx_zip_begin(hx_zip *zip, FILE *stream);

/* Begins the next member; name: ASCII, at most 64 characters. HX_ENOMEM. */
int hx_zip_open(hx_zip *zip, const char *name);
int hx_zip_put(hx_zip *zip, const void *bytes, size_t n);
/* Ends the open member. HX_EIO: the member or the archive has reached 4 GiB. */
int hx_zip_close(hx_zip *zip);

/* Writes the directory of the members. */
int hx_zip_end(hx_zip *zip);
/* Accepts a zeroed struct. */
void hx_zip_free(hx_zip *zip);

#endif
