/* Binary STL and PLY, little-endian on any machine. */
#include <string.h>

#include "../base/atomic_file.h"
#include "surface_files.h"
#include "surface_internal.h"

/* Normal, corners, and two attribute bytes. */
static void encode_facet(const hx_surface *s, int64_t t, unsigned char *to)
{
    const double *x[3];
    double n[3];
    for (int k = 0; k < 3; k++) x[k] = s->xyz + 3 * (int64_t)s->tri[3 * t + k];
    hx_triangle_normal2(x[0], x[1], x[2], n);
    const double size = hx_norm3(n);
    for (int d = 0; d < 3; d++) to = hx_surface_put_float(to, size > 0.0 ? n[d] / size : 0.0);
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) to = hx_surface_put_float(to, x[k][d]);
    hx_surface_put_bytes(to, 0, 2);
}

static void encode_vertex(const hx_surface *s, int64_t v, unsigned char *to)
{
    for (int d = 0; d < 3; d++) to = hx_surface_put_double(to, s->xyz[3 * v + d]);
}

static void encode_triangle(const hx_surface *s, int64_t t, unsigned char *to)
{
    to = hx_surface_put_bytes(to, 3, 1);
    for (int k = 0; k < 3; k++) to = hx_surface_put_bytes(to, (uint32_t)s->tri[3 * t + k], 4);
}

int hx_surface_write_stl(const char *path, const hx_surface *surface, const hx_surface_about *about)
{
    int rc;
    hx_atomic_file file;
    unsigned char header[84] = {0};
    /* a header must not begin with "solid", since readers would take the file for text */
    snprintf((char *)header, 80, "binary STL, hextop: %s", about->title);
    hx_surface_put_bytes(header + 80, (uint64_t)surface->n_tri, 4);
    const hx_surface_records facets = {surface->n_tri, 50, encode_facet};
    HX_TRY(hx_atomic_file_open(&file, path));
    fwrite(header, sizeof header, 1, file.stream);
    HX_TRY_FAIL(hx_surface_put_records(file.stream, surface, &facets));
    return hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

int hx_surface_write_ply(const char *path, const hx_surface *surface, const hx_surface_about *about)
{
    int rc;
    hx_atomic_file file;
    const hx_surface_records vertices = {surface->n_vertex, 24, encode_vertex};
    const hx_surface_records triangles = {surface->n_tri, 13, encode_triangle};
    HX_TRY(hx_atomic_file_open(&file, path));
    fprintf(file.stream,
            "ply\nformat binary_little_endian 1.0\ncomment hextop: %.*s\nelement vertex %lld\n"
            "property double x\nproperty double y\nproperty double z\nelement face %lld\n"
            "property list uchar int vertex_indices\nend_header\n",
            (int)strcspn(about->title, "\r\n"), about->title, (long long)surface->n_vertex,
            (long long)surface->n_tri);
    HX_TRY_FAIL(hx_surface_put_records(file.stream, surface, &vertices));
    HX_TRY_FAIL(hx_surface_put_records(file.stream, surface, &triangles));
    return hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}
