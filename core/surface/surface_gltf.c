/* glTF 2.0 in one binary file. Its unit is the metre and its y axis points up, so the part's node
 * has a matrix that rotates and scales; the coordinates in the file are those of the part. One
 * normal per vertex. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/memory.h"
#include "surface_files.h"
#include "surface_internal.h"

static void encode_position(const hx_surface *s, int64_t v, unsigned char *to)
{
    for (int d = 0; d < 3; d++) to = hx_surface_put_float(to, s->xyz[3 * v + d]);
}

static void encode_corners(const hx_surface *s, int64_t t, unsigned char *to)
{
    for (int k = 0; k < 3; k++) to = hx_surface_put_bytes(to, (uint32_t)s->tri[3 * t + k], 4);
}

/* normal[n_vertex][3] of length 1: area-weighted mean over the triangles. The caller frees it. */
static int make_normals(const hx_surface *s, double **normal)
{
    HX_TRY(hx_alloc(normal, 3 * (size_t)s->n_vertex, sizeof **normal, "normals"));
    for (int64_t t = 0; t < s->n_tri; t++) {
        const int32_t *const c = s->tri + 3 * t;
        double n[3];
        hx_triangle_normal2(s->xyz + 3 * (int64_t)c[0], s->xyz + 3 * (int64_t)c[1],
                            s->xyz + 3 * (int64_t)c[2], n);
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) (*normal)[3 * (int64_t)c[k] + d] += n[d];
    }
    for (int64_t v = 0; v < s->n_vertex; v++) {
        double *const n = *normal + 3 * v, size = hx_norm3(n);
        for (int d = 0; d < 3; d++) n[d] = size > 0.0 ? n[d] / size : d == 2;
    }
    return HX_OK;
}

/* Writes the normals like coordinates. */
static int put_normals(FILE *stream, const hx_surface *s)
{
    double *normal = NULL;
    int rc = make_normals(s, &normal);
    hx_surface as = *s;
    as.xyz = normal;
    const hx_surface_records records = {s->n_vertex, 12, encode_position};
    if (rc == HX_OK) rc = hx_surface_put_records(stream, &as, &records);
    free(normal);
    return rc;
}

/* Escapes text for a JSON string; characters other than printable ASCII become '?'. */
static void escape(const char *text, char *to, size_t n_to)
{
    size_t n = 0;
    for (; *text && n + 3 < n_to; text++) {
        if (*text == '"' || *text == '\\') to[n++] = '\\';
        to[n++] = (char)(*text >= 0x20 && *text < 0x7f ? *text : '?');
    }
    to[n] = '\0';
}

/* Pads the JSON text with blanks to 4 bytes; returns its length. */
static size_t make_json(const hx_surface *s, const hx_surface_about *about, char *text,
                        size_t n_text)
{
    const double scale = about->metre > 0.0 ? about->metre : 1e-3;
    const long long n_vertex = s->n_vertex, n_tri = s->n_tri;
    float low[3], high[3];
    char title[128];
    for (int d = 0; d < 3; d++) {
        low[d] = HUGE_VALF;
        high[d] = -HUGE_VALF;
        for (int64_t v = 0; v < s->n_vertex; v++) {
            low[d] = fminf(low[d], (float)s->xyz[3 * v + d]);
            high[d] = fmaxf(high[d], (float)s->xyz[3 * v + d]);
        }
    }
    escape(about->title, title, sizeof title);
    size_t n = (size_t)snprintf(
        text, n_text,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"hextop\"},\"scene\":0,\"scenes\":[{"
        "\"nodes\":[0]}],\"nodes\":[{\"name\":\"%s\",\"mesh\":0,\"matrix\":[%.9g,0,0,0,0,0,%.9g,0,"
        "0,%.9g,0,0,0,0,0,1]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,"
        "\"NORMAL\":1},\"indices\":2,\"material\":0,\"mode\":4}]}],\"materials\":[{"
        "\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.6,0.65,0.7,1],\"metallicFactor\":0.1,"
        "\"roughnessFactor\":0.7}}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"
        "\"count\":%lld,\"type\":\"VEC3\",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]},{"
        "\"bufferView\":1,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\"},{"
        "\"bufferView\":2,\"componentType\":5125,\"count\":%lld,\"type\":\"SCALAR\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":%lld,\"target\":34962},{"
        "\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld,\"target\":34962},{\"buffer\":0,"
        "\"byteOffset\":%lld,\"byteLength\":%lld,\"target\":34963}],\"buffers\":[{\"byteLength\":"
        "%lld}]}",
        title, scale, -scale, scale, n_vertex, (double)low[0], (double)low[1], (double)low[2],
        (double)high[0], (double)high[1], (double)high[2], n_vertex, 3 * n_tri, 12 * n_vertex,
        12 * n_vertex, 12 * n_vertex, 24 * n_vertex, 12 * n_tri, 24 * n_vertex + 12 * n_tri);
    while (n % 4 != 0) text[n++] = ' ';
    return n;
}

int hx_surface_write_glb(const char *path, const hx_surface *surface, const hx_surface_about *about)
{
    int rc;
    hx_atomic_file file;
    char json[4096];
    unsigned char head[20], chunk[8], *to = head;
    const size_t n_json = make_json(surface, about, json, sizeof json - 4);
    const uint64_t n_bin = 24 * (uint64_t)surface->n_vertex + 12 * (uint64_t)surface->n_tri;
    const hx_surface_records positions = {surface->n_vertex, 12, encode_position};
    const hx_surface_records corners = {surface->n_tri, 12, encode_corners};
    if (28 + n_json + n_bin > UINT32_MAX)
        return HX_RAISE(HX_EIO,
                        "%s: the file would exceed the 4 GiB limit of .glb; write a .ply instead",
                        path);
    to = hx_surface_put_bytes(to, 0x46546c67u, 4); /* magic "glTF" */
    to = hx_surface_put_bytes(to, 2, 4);
    to = hx_surface_put_bytes(to, 28 + n_json + n_bin, 4);
    to = hx_surface_put_bytes(to, n_json, 4);
    hx_surface_put_bytes(to, 0x4e4f534au, 4); /* chunk type JSON */
    /* chunk type BIN */
    hx_surface_put_bytes(hx_surface_put_bytes(chunk, n_bin, 4), 0x004e4942u, 4);
    HX_TRY(hx_atomic_file_open(&file, path));
    fwrite(head, sizeof head, 1, file.stream);
    fwrite(json, n_json, 1, file.stream);
    fwrite(chunk, sizeof chunk, 1, file.stream);
    HX_TRY_FAIL(hx_surface_put_records(file.stream, surface, &positions));
    HX_TRY_FAIL(put_normals(file.stream, surface));
    HX_TRY_FAIL(hx_surface_put_records(file.stream, surface, &corners));
    return hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}
