/* Shared by the writers of surface files. Not installed. */
#ifndef HX_SURFACE_FILES_H
#define HX_SURFACE_FILES_H

#include <stdio.h>

#include "surface.h"

/* Write the lower n bytes in little-endian order; a float; a double. Return the position behind
 * them. */
unsigned char *hx_surface_put_bytes(unsigned char *to, uint64_t bits, int n);
unsigned char *hx_surface_put_float(unsigned char *to, double value);
unsigned char *hx_surface_put_double(unsigned char *to, double value);

/* Records of a file, encoded in parallel in blocks. */
typedef struct hx_surface_records {
    int64_t n;
    size_t size; /* bytes per record */
    void (*encode)(const hx_surface *surface, int64_t i, unsigned char *to);
} hx_surface_records;

/* The caller checks the stream for errors. HX_ENOMEM. */
int hx_surface_put_records(FILE *stream, const hx_surface *surface, const hx_surface_records *r);

/* The formats, see hx_surface_format.write. Binary STL: single precision. Binary PLY: shared
 * vertices in double precision. 3MF: a zip archive with a unit and the digits of single precision.
 * OBJ: text, double precision. Binary glTF: single precision, rotated and scaled to metres by the
 * node's matrix. HX_EIO. */
int hx_surface_write_stl(const char *path, const hx_surface *surface,
                         const hx_surface_about *about);
int hx_surface_write_ply(const char *path, const hx_surface *surface,
                         const hx_surface_about *about);
int hx_surface_write_3mf(const char *path, const hx_surface *surface,
                         const hx_surface_about *about);
int hx_surface_write_obj(const char *path, const hx_surface *surface,
                         const hx_surface_about *about);
int hx_surface_write_glb(const char *path, const hx_surface *surface,
                         const hx_surface_about *about);

#endif
