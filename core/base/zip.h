/* A zip archive written member by member, compressed where zlib is there. Not installed. */
#ifndef HX_ZIP_H
#define HX_ZIP_H

#include <stdint.h>
#include <stdio.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_ZIP_MEMBERS = 8 };

typedef struct hx_zip_member {
    const char *name; /* (borrowed) */
    uint32_t crc;
    uint64_t at, size, packed; /* place of its header; bytes, and as they are in the file */
} hx_zip_member;

typedef struct hx_zip {
    FILE *stream; /* (borrowed); seekable, at its begin */
    int n;        /* members begun */
    hx_zip_member member[HX_ZIP_MEMBERS];
    void *packer;         /* of the member that is open (owned) */
    unsigned char *block; /* what was packed (owned) */
} hx_zip;

/* Errors of the stream are the caller's to ask for. HX_ENOMEM. */
int hx_zip_begin(hx_zip *zip, FILE *stream);

/* The next member; name: ASCII, at most 64 characters. HX_ENOMEM. */
int hx_zip_open(hx_zip *zip, const char *name);
int hx_zip_put(hx_zip *zip, const void *bytes, size_t n);
/* HX_EIO: the member or the archive has 4 GiB. */
int hx_zip_close(hx_zip *zip);

/* The directory of members. */
int hx_zip_end(hx_zip *zip);
/* Accepts a zeroed struct. */
void hx_zip_free(hx_zip *zip);

#ifdef __cplusplus
}
#endif

#endif
