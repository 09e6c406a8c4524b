/* Legacy VTK writer. Every value passes once through a buffer of 16 MiB; the only array it
 * allocates is the inverse of a renumbering, 4 bytes a node or element. */
#include "vtk.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomic_file.h"
#include "memory.h"

enum { BUFFER_SIZE = 1 << 24, LINE_SIZE = 1024, VTK_HEXAHEDRON = 12 };

/* Records of a fixed size are encoded in parallel, in so many parts of the buffer. */
enum { N_PART = 64, LARGEST_RECORD = 4096 };

typedef struct writer {
    hx_atomic_file file;
    unsigned char *buffer; /* [BUFFER_SIZE] (owned) */
    size_t used;
    bool ascii;
    int32_t *node_new, *elem_new; /* mesh's number of an original one; NULL = identity (owned) */
} writer;

static int flush(writer *w)
{
    const size_t used = w->used;
    w->used = 0;
    if (fwrite(w->buffer, 1, used, w->file.stream) != used)
        return HX_RAISE(HX_EIO, "%s: cannot write: %s", w->file.path, strerror(errno));
    return HX_OK;
}

static inline int reserve(writer *w, size_t n)
{
    return w->used + n > BUFFER_SIZE ? flush(w) : HX_OK;
}

static int put_text(writer *w, const char *fmt, ...) HX_PRINTF(2, 3);

static int put_text(writer *w, const char *fmt, ...)
{
    HX_TRY(reserve(w, LINE_SIZE));
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf((char *)w->buffer + w->used, LINE_SIZE, fmt, args);
    va_end(args);
    if (n < 0 || n >= LINE_SIZE) return HX_RAISE(HX_EINTERNAL, "a line of the header is too long");
    w->used += (size_t)n;
    return HX_OK;
}

static inline int put_big_endian(writer *w, uint64_t bits, int n_byte)
{
    HX_TRY(reserve(w, 8));
    unsigned char *const to = w->buffer + w->used;
    for (int i = 0; i < n_byte; i++) to[i] = (unsigned char)(bits >> (8 * (n_byte - 1 - i)) & 0xff);
    w->used += (size_t)n_byte;
    return HX_OK;
}

static int put_int(writer *w, int32_t value, char separator)
{
    return w->ascii ? put_text(w, "%ld%c", (long)value, separator)
                    : put_big_endian(w, (uint32_t)value, 4);
}

static int put_f64(writer *w, double value, char separator)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return w->ascii ? put_text(w, "%.17g%c", value, separator) : put_big_endian(w, bits, 8);
}

static int put_f32(writer *w, float value, char separator)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return w->ascii ? put_text(w, "%.9g%c", (double)value, separator) : put_big_endian(w, bits, 4);
}

static int put_u8(writer *w, uint8_t value, char separator)
{
    return w->ascii ? put_text(w, "%u%c", (unsigned)value, separator) : put_big_endian(w, value, 1);
}

static inline size_t mesh_index(const int32_t *inverse, int64_t original)
{
    return (size_t)(inverse ? inverse[original] : original);
}

/* put(w, what, i) for i = 0 .. n-1, each n_byte bytes in a binary file. */
static int put_records(writer *w, int64_t n, size_t n_byte,
                       int (*put)(writer *w, const void *what, int64_t i), const void *what)
{
    if (w->ascii || n_byte > LARGEST_RECORD) {
        for (int64_t i = 0; i < n; i++) HX_TRY(put(w, what, i));
        return HX_OK;
    }
    const int64_t n_batch = (int64_t)(BUFFER_SIZE / n_byte);
    for (int64_t first = 0; first < n; first += n_batch) {
        const int64_t n_here = n - first < n_batch ? n - first : n_batch;
        HX_TRY(flush(w));
#pragma omp parallel for schedule(static)
        for (int part = 0; part < N_PART; part++) {
            const int64_t begin = n_here * part / N_PART, end = n_here * (part + 1) / N_PART;
            writer own = *w; /* never full, hence never flushed */
            own.buffer += (size_t)begin * n_byte;
            for (int64_t i = begin; i < end; i++) (void)put(&own, what, first + i);
        }
        w->used = (size_t)n_here * n_byte;
    }
    return HX_OK;
}

/* One tuple of a field, by its original number; in ASCII a line of its own. */
static int put_tuple(writer *w, const void *what, int64_t number)
{
    const hx_vtk_field *const field = what;
    const int32_t *inverse = field->where == HX_VTK_POINT ? w->node_new : w->elem_new;
    const size_t n = (size_t)field->n_comp, first = mesh_index(inverse, number) * n;
    for (size_t k = 0; k < n; k++) {
        const char separator = k + 1 < n ? ' ' : '\n';
        const size_t i = first + k;
        switch (field->type) {
        case HX_VTK_F64:
            HX_TRY(put_f64(w, ((const double *)field->data)[i], separator));
            break;
        case HX_VTK_F32:
            HX_TRY(put_f32(w, ((const float *)field->data)[i], separator));
            break;
        case HX_VTK_I32:
            HX_TRY(put_int(w, ((const int32_t *)field->data)[i], separator));
            break;
        case HX_VTK_U8:
            HX_TRY(put_u8(w, ((const uint8_t *)field->data)[i], separator));
            break;
        }
    }
    return HX_OK;
}

/* inverse[orig[i]] = i; NULL for NULL. */
static int invert(int64_t n, const int32_t *orig, int32_t **inverse)
{
    *inverse = NULL;
    if (!orig) return HX_OK;
    HX_TRY(hx_alloc_raw(inverse, (size_t)n, sizeof **inverse, "numbering for the VTK file"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) (*inverse)[orig[i]] = (int32_t)i;
    return HX_OK;
}

static int put_header(writer *w, const char *title)
{
    char line[256] = "";
    if (title) snprintf(line, sizeof line, "%s", title);
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = ' ';
    return put_text(w, "# vtk DataFile Version 3.0\n%s\n%s\nDATASET UNSTRUCTURED_GRID\n", line,
                    w->ascii ? "ASCII" : "BINARY");
}

static int put_point(writer *w, const void *what, int64_t i)
{
    const hx_mesh *mesh = what;
    const double *xyz = mesh->xyz + 3 * mesh_index(w->node_new, i);
    HX_TRY(put_f64(w, xyz[0], ' '));
    HX_TRY(put_f64(w, xyz[1], ' '));
    return put_f64(w, xyz[2], '\n');
}

static int put_cell(writer *w, const void *what, int64_t i)
{
    const hx_mesh *mesh = what;
    const int32_t *conn = mesh->conn + 8 * mesh_index(w->elem_new, i);
    HX_TRY(put_int(w, 8, ' '));
    for (int k = 0; k < 8; k++) {
        const int32_t node = mesh->node_orig ? mesh->node_orig[conn[k]] : conn[k];
        HX_TRY(put_int(w, node, k < 7 ? ' ' : '\n'));
    }
    return HX_OK;
}

static int put_cell_type(writer *w, const void *what, int64_t i)
{
    (void)what, (void)i;
    return put_int(w, VTK_HEXAHEDRON, '\n');
}

static int put_mesh(writer *w, const hx_mesh *mesh)
{
    HX_TRY(put_text(w, "POINTS %lld double\n", (long long)mesh->n_node));
    HX_TRY(put_records(w, mesh->n_node, 3 * sizeof(double), put_point, mesh));
    HX_TRY(
        put_text(w, "\nCELLS %lld %lld\n", (long long)mesh->n_elem, 9 * (long long)mesh->n_elem));
    HX_TRY(put_records(w, mesh->n_elem, 9 * sizeof(int32_t), put_cell, mesh));
    HX_TRY(put_text(w, "\nCELL_TYPES %lld\n", (long long)mesh->n_elem));
    HX_TRY(put_records(w, mesh->n_elem, sizeof(int32_t), put_cell_type, mesh));
    return put_text(w, "\n");
}

/* A name as VTK stores it: blanks become '_', what VTK would take for markup becomes %XX. */
static int encode_name(const char *name, char *text, size_t n_text)
{
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (n + 4 > n_text)
            return HX_RAISE(HX_EINPUT, "field name '%.60s...' is too long for a VTK file", name);
        if (isspace(*c) || iscntrl(*c))
            text[n++] = '_';
        else if (*c > 126 || *c == '"' || *c == '%')
            n += (size_t)snprintf(text + n, 4, "%%%02X", *c);
        else
            text[n++] = (char)*c;
    }
    text[n] = '\0';
    return n > 0 ? HX_OK : HX_RAISE(HX_EINTERNAL, "a field for the VTK file has no name");
}

static bool is_attribute(const hx_vtk_field *field)
{
    return field->n_comp == 1 || field->n_comp == 3;
}

static int put_field(writer *w, const hx_mesh *mesh, const hx_vtk_field *field)
{
    static const char *const type_name[] = {"double", "float", "int", "unsigned_char"};
    static const size_t type_size[] = {8, 4, 4, 1};
    const int64_t n = field->where == HX_VTK_POINT ? mesh->n_node : mesh->n_elem;
    const char *type = type_name[field->type];
    char name[200];
    HX_TRY(encode_name(field->name, name, sizeof name));
    if (field->n_comp == 1)
        HX_TRY(put_text(w, "SCALARS %s %s 1\nLOOKUP_TABLE default\n", name, type));
    else if (field->n_comp == 3)
        HX_TRY(put_text(w, "VECTORS %s %s\n", name, type));
    else
        HX_TRY(put_text(w, "%s %d %lld %s\n", name, field->n_comp, (long long)n, type));
    HX_TRY(put_records(w, n, (size_t)field->n_comp * type_size[field->type], put_tuple, field));
    return put_text(w, "\n");
}

static int put_fields(writer *w, const hx_mesh *mesh, hx_vtk_where where, const hx_vtk_field *field,
                      size_t n_field)
{
    size_t n_here = 0, n_other = 0;
    for (size_t i = 0; i < n_field; i++) {
        if (field[i].where != where) continue;
        if (field[i].n_comp < 1 || !field[i].data || !field[i].name)
            return HX_RAISE(HX_EINTERNAL, "field %zu for the VTK file is incomplete", i);
        n_here++;
        if (!is_attribute(&field[i])) n_other++;
    }
    if (n_here == 0) return HX_OK;

    if (where == HX_VTK_CELL)
        HX_TRY(put_text(w, "CELL_DATA %lld\n", (long long)mesh->n_elem));
    else
        HX_TRY(put_text(w, "POINT_DATA %lld\n", (long long)mesh->n_node));
    for (size_t i = 0; i < n_field; i++)
        if (field[i].where == where && is_attribute(&field[i]))
            HX_TRY(put_field(w, mesh, &field[i]));
    if (n_other > 0) HX_TRY(put_text(w, "FIELD FieldData %zu\n", n_other));
    for (size_t i = 0; i < n_field; i++)
        if (field[i].where == where && !is_attribute(&field[i]))
            HX_TRY(put_field(w, mesh, &field[i]));
    return HX_OK;
}

int hx_vtk_write(const char *path, const hx_mesh *mesh, const char *title, hx_vtk_format format,
                 const hx_vtk_field *field, size_t n_field)
{
    int rc = HX_OK;
    writer w;
    memset(&w, 0, sizeof w);
    w.ascii = format == HX_VTK_ASCII;
    HX_TRY_FAIL(hx_alloc_raw(&w.buffer, BUFFER_SIZE, 1, "buffer of the VTK writer"));
    HX_TRY_FAIL(invert(mesh->n_node, mesh->node_orig, &w.node_new));
    HX_TRY_FAIL(invert(mesh->n_elem, mesh->elem_orig, &w.elem_new));
    HX_TRY_FAIL(hx_atomic_file_open(&w.file, path));
    HX_TRY_FAIL(put_header(&w, title));
    HX_TRY_FAIL(put_mesh(&w, mesh));
    HX_TRY_FAIL(put_fields(&w, mesh, HX_VTK_CELL, field, n_field));
    HX_TRY_FAIL(put_fields(&w, mesh, HX_VTK_POINT, field, n_field));
    HX_TRY_FAIL(flush(&w));
    HX_TRY_FAIL(hx_atomic_file_commit(&w.file));

fail:
    hx_atomic_file_free(&w.file);
    free(w.buffer);
    free(w.node_new);
    free(w.elem_new);
    return rc;
}

/* A JSON string with its quotes. */
static void put_json_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20)
            fprintf(stream, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}

int hx_vtk_write_series(const char *path, size_t n, const char *const *file, const double *time)
{
    hx_atomic_file out;
    HX_TRY(hx_atomic_file_open(&out, path));
    fprintf(out.stream, "{\n  \"file-series-version\" : \"1.0\",\n  \"files\" : [\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(out.stream, "    { \"name\" : ");
        put_json_string(out.stream, file[i]);
        fprintf(out.stream, ", \"time\" : %.17g }%s\n", time[i], i + 1 < n ? "," : "");
    }
    fprintf(out.stream, "  ]\n}\n");
    return hx_atomic_file_commit(&out); /* also reports a failed fprintf */
}
