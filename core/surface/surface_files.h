/* Shared by the writers of surface files. Not installed. */
#ifndef HX_SURFACE_FILES_H
#define HX_SURFACE_FILES_H

#include <stdio.h>

#include "surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lower n bytes, the lowest first; a float; a double. Return where the next goes. */
unsigned char *hx_surface_put_bytes(unsigned char *to, uint64_t bits, int n);
unsigned char *hx_surface_put_float(unsigned char *to, double value);
unsigned char *hx_surface_put_double(unsigned char *to, double value);

/* Records of a file, encoded in parallel a block at a time. */
typedef struct hx_surface_records {
    int64_t n;
    size_t size; /* bytes of one */
    void (*encode)(const hx_surface *surface, int64_t i, unsigned char *to);
} hx_surface_records;

/* Errors of the stream are the caller's to ask for. HX_ENOMEM. */
int hx_surface_put_records(FILE *stream, const hx_surface *surface, const hx_surface_records *r);

/* The formats, as hx_surface_format.write. Binary STL: single precision. Binary PLY: shared
 * vertices in double precision. 3MF: a zip archive with the unit, digits of single precision. OBJ:
 * text, double precision. Binary glTF: single precision, turned and scaled to metres by the node's
 * matrix. HX_EIO. */
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

#ifdef __cplusplus
}
#endif

#endif
