/* NumPy's archive: a zip file of uncompressed arrays, with 64-bit sizes throughout. Sparse matrices
 * have the layout of scipy.sparse.save_npz: compressed rows. (NumPy's NEP 1; PKWARE's APPNOTE
 * 6.3.3, 4.3 and 4.5.3.) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/crc32.h"
#include "write_internal.h"

enum { ZIP64 = 45, LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 56 + 20 + 22, ALIGN = 64 };
#define ELSEWHERE 0xffffffffu /* the value is in the 64-bit record */

typedef struct member {
    char name[32];     /* "data.npy" */
    const char *type;  /* "<f8" */
    int n_byte, n_dim; /* bytes per item; number of dimensions */
    int64_t dim[2];    /* the first index is fastest */
    char head[2 * ALIGN];
    int64_t n_head, n_data;
    int64_t at, data_at; /* offsets of the local header and of the first item */
    uint32_t crc;        /* checksum of the data written so far */
} member;

typedef struct archive {
    int n;
    member member[5];
    int64_t central; /* offset of the central directory */
    int64_t total;
} archive;

static void add_array(archive *a, const char *name, const char *type, int n_byte, int n_dim,
                      int64_t rows, int64_t columns)
{
    member *const m = &a->member[a->n++];
    snprintf(m->name, sizeof m->name, "%s.npy", name);
    m->type = type;
    m->n_byte = n_byte;
    m->n_dim = n_dim;
    m->dim[0] = rows;
    m->dim[1] = columns;
    m->n_data = n_byte * (n_dim > 0 ? rows : 1) * (n_dim > 1 ? columns : 1);
}

/* Makes the array's own header: its dictionary, padded so that the data are aligned in the file. */
static void make_head(member *m)
{
    char shape[48] = "()", text[2 * ALIGN];
    if (m->n_dim == 1) snprintf(shape, sizeof shape, "(%" PRId64 ",)", m->dim[0]);
    if (m->n_dim == 2)
        snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ")", m->dim[0], m->dim[1]);
    const int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                           m->type, m->n_dim > 1 ? "True" : "False", shape);
    const int preamble = 10, n_text = (preamble + n + 1 + ALIGN - 1) / ALIGN * ALIGN - preamble;
    memcpy(m->head, "\x93NUMPY\x01\x00", 8);
    hx_put_bits_little((unsigned char *)m->head + 8, (uint64_t)n_text, 2);
    memset(m->head + preamble, ' ', (size_t)n_text);
    memcpy(m->head + preamble, text, (size_t)n);
    m->head[preamble + n_text - 1] = '\n';
    m->n_head = preamble + n_text;
    m->crc = hx_crc32(0, m->head, (size_t)m->n_head);
}

static int64_t n_name(const member *m)
{
    return (int64_t)strlen(m->name);
}

/* Computes all offsets. */
static void make_plan(archive *a)
{
    int64_t at = 0;
    for (int i = 0; i < a->n; i++) {
        member *const m = &a->member[i];
        make_head(m);
        m->at = at;
        m->data_at = at + LOCAL_BYTES + n_name(m) + 20 + m->n_head;
        at = m->data_at + m->n_data;
    }
    a->central = at;
    for (int i = 0; i < a->n; i++) at += CENTRAL_BYTES + n_name(&a->member[i]) + 28;
    a->total = at + END_BYTES;
}

/* Writes items of a member, starting at item `first`; items must arrive in order, for the
 * checksum. */
static int put_items(hx_block_file *out, member *m, int64_t first, int64_t n,
                     hx_block_encoder *encode, const void *what)
{
    return hx_block_put(out, m->data_at + first * m->n_byte, n, (size_t)m->n_byte, encode, what,
                        &m->crc);
}

static int put_short(hx_block_file *out, member *m, const void *bytes)
{
    m->crc = hx_crc32(m->crc, bytes, (size_t)m->n_data);
    return hx_block_put_bytes(out, m->data_at, bytes, (size_t)m->n_data);
}

/* Writes the fields that both headers have in common: version, flags, method (stored), date,
 * checksum, sizes, and lengths of the name and of the 64-bit record. The date is always 1980-01-01,
 * so that the file depends only on its content. */
static unsigned char *put_common(unsigned char *to, const member *m, int n_extra)
{
    to = hx_put_bits_little(to, ZIP64, 2);
    to = hx_put_bits_little(to, 0, 6);
    to = hx_put_bits_little(to, 0x21, 2);
    to = hx_put_bits_little(to, m->crc, 4);
    to = hx_put_bits_little(to, ELSEWHERE, 4);
    to = hx_put_bits_little(to, ELSEWHERE, 4);
    to = hx_put_bits_little(to, (uint64_t)n_name(m), 2);
    return hx_put_bits_little(to, (uint64_t)n_extra, 2);
}

/* Writes the name and the 64-bit record: two sizes and, in the directory, the offset. */
static unsigned char *put_extra(unsigned char *to, const member *m, int n_extra)
{
    const uint64_t size = (uint64_t)(m->n_head + m->n_data);
    memcpy(to, m->name, (size_t)n_name(m));
    to = hx_put_bits_little(to + n_name(m), 1, 2);
    to = hx_put_bits_little(to, (uint64_t)n_extra - 4, 2);
    to = hx_put_bits_little(to, size, 8);
    to = hx_put_bits_little(to, size, 8);
    return n_extra > 20 ? hx_put_bits_little(to, (uint64_t)m->at, 8) : to;
}

static int put_local(hx_block_file *out, const member *m)
{
    unsigned char bytes[256], *to = bytes;
    to = hx_put_bits_little(to, 0x04034b50u, 4);
    to = put_common(to, m, 20);
    to = put_extra(to, m, 20);
    memcpy(to, m->head, (size_t)m->n_head);
    return hx_block_put_bytes(out, m->at, bytes, (size_t)(to - bytes + m->n_head));
}

static unsigned char *put_central(unsigned char *to, const member *m)
{
    to = hx_put_bits_little(to, 0x02014b50u, 4);
    to = hx_put_bits_little(to, ZIP64, 2);
    to = put_common(to, m, 28);
    to = hx_put_bits_little(to, 0, 6); /* no comment, first disk */
    to = hx_put_bits_little(to, 0, 4);
    to = hx_put_bits_little(to, ELSEWHERE, 4);
    return put_extra(to, m, 28);
}

/* Writes the end of the directory: the 64-bit record, its locator, and the 32-bit record. */
static unsigned char *put_end(unsigned char *to, const archive *a, int64_t end)
{
    const uint64_t n = (uint64_t)a->n, size = (uint64_t)(end - a->central);
    to = hx_put_bits_little(to, 0x06064b50u, 4);
    to = hx_put_bits_little(to, 44, 8);
    to = hx_put_bits_little(to, ZIP64, 2);
    to = hx_put_bits_little(to, ZIP64, 2);
    to = hx_put_bits_little(to, 0, 8);
    to = hx_put_bits_little(to, n, 8);
    to = hx_put_bits_little(to, n, 8);
    to = hx_put_bits_little(to, size, 8);
    to = hx_put_bits_little(to, (uint64_t)a->central, 8);
    to = hx_put_bits_little(to, 0x07064b50u, 4);
    to = hx_put_bits_little(to, 0, 4);
    to = hx_put_bits_little(to, (uint64_t)end, 8);
    to = hx_put_bits_little(to, 1, 4);
    to = hx_put_bits_little(to, 0x06054b50u, 4);
    to = hx_put_bits_little(to, 0, 4);
    to = hx_put_bits_little(to, n, 2);
    to = hx_put_bits_little(to, n, 2);
    to = hx_put_bits_little(to, size, 4);
    to = hx_put_bits_little(to, ELSEWHERE, 4);
    return hx_put_bits_little(to, 0, 2);
}

/* Writes the headers, which contain the checksums. */
static int end_archive(hx_block_file *out, const archive *a)
{
    unsigned char bytes[1024], *to = bytes;
    for (int i = 0; i < a->n; i++) HX_TRY(put_local(out, &a->member[i]));
    for (int i = 0; i < a->n; i++) to = put_central(to, &a->member[i]);
    to = put_end(to, a, a->central + (to - bytes));
    return hx_block_put_bytes(out, a->central, bytes, (size_t)(to - bytes));
}

static int is_npz(const unsigned char *begin, size_t n)
{
    return n >= 4 && memcmp(begin, "PK\x03\x04", 4) == 0;
}

enum { INDICES, INDPTR, FORMAT, SHAPE, DATA };

static int is_wide(const hx_matrix_shape *shape)
{
    return shape->wide || shape->n_entry > INT32_MAX;
}

static void matrix_archive(archive *a, const hx_matrix_shape *shape)
{
    const int n_byte = is_wide(shape) ? 8 : 4;
    const char *const type = is_wide(shape) ? "<i8" : "<i4";
    memset(a, 0, sizeof *a);
    add_array(a, "indices", type, n_byte, 1, shape->n_entry, 0);
    add_array(a, "indptr", type, n_byte, 1, shape->n_row + 1, 0);
    add_array(a, "format", "|S3", 3, 0, 0, 0);
    add_array(a, "shape", "<i8", 8, 1, 2, 0);
    add_array(a, "data", "<f8", 8, 1, shape->n_entry, 0);
}

static int64_t npz_bytes(const hx_matrix_shape *shape)
{
    archive a;
    matrix_archive(&a, shape);
    make_plan(&a);
    return a.total;
}

typedef struct pointers {
    int64_t before; /* number of entries of the preceding rows */
    int n_byte;
    const int64_t *ptr;
} pointers;

static unsigned char *put_pointers(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const pointers *const p = what;
    for (int64_t i = begin; i < end; i++)
        to = hx_put_bits_little(to, (uint64_t)(p->before + p->ptr[i]), p->n_byte);
    return to;
}

static int begin_matrix(hx_matrix_writer *w)
{
    archive *const a = w->state;
    unsigned char shape[16], *to = shape;
    matrix_archive(a, &w->shape);
    make_plan(a);
    for (int i = 0; i < 2; i++) to = hx_put_bits_little(to, (uint64_t)w->shape.n_row, 8);
    HX_TRY(put_short(w->out, &a->member[SHAPE], shape));
    return put_short(w->out, &a->member[FORMAT], "csr");
}

static int put_npz_rows(hx_matrix_writer *w, const hx_csr_rows *rows)
{
    archive *const a = w->state;
    member *const m = a->member;
    const int64_t n = rows->ptr[rows->n];
    const pointers p = {w->n_entry, m[INDPTR].n_byte, rows->ptr};
    hx_block_encoder *const encode =
        is_wide(&w->shape) ? hx_put_i32_as_i64_little : hx_put_i32_little;
    HX_TRY(put_items(w->out, &m[INDPTR], w->n_row, rows->n, put_pointers, &p));
    HX_TRY(put_items(w->out, &m[INDICES], w->n_entry, n, encode, rows->col));
    return put_items(w->out, &m[DATA], w->n_entry, n, hx_put_f64_little, rows->value);
}

static int end_matrix(hx_matrix_writer *w)
{
    static const int64_t last = 0;
    archive *const a = w->state;
    member *const m = &a->member[INDPTR];
    const pointers p = {w->n_entry, m->n_byte, &last};
    HX_TRY(put_items(w->out, m, w->n_row, 1, put_pointers, &p));
    return end_archive(w->out, a);
}

static int64_t columns_archive(archive *a, const hx_columns *columns)
{
    memset(a, 0, sizeof *a);
    add_array(a, columns->name, "<f8", 8, 2, columns->n, columns->n_column);
    make_plan(a);
    return a->total;
}

static int64_t columns_bytes(const hx_columns *columns)
{
    archive a;
    return columns_archive(&a, columns);
}

static int write_columns(hx_block_file *out, const hx_columns *columns)
{
    archive a;
    columns_archive(&a, columns);
    for (int i = 0; i < columns->n_column; i++)
        HX_TRY(put_items(out, a.member, i * columns->n, columns->n, hx_put_f64_little,
                         columns->column[i]));
    return end_archive(out, &a);
}

static int64_t held_archive(archive *a, const hx_held_list *held)
{
    memset(a, 0, sizeof *a);
    add_array(a, "index", "<i8", 8, 1, held->n, 0);
    add_array(a, "value", "<f8", 8, 1, held->n, 0);
    make_plan(a);
    return a->total;
}

static int64_t held_bytes(const hx_held_list *held)
{
    archive a;
    return held_archive(&a, held);
}

static int write_held(hx_block_file *out, const hx_held_list *held)
{
    archive a;
    held_archive(&a, held);
    HX_TRY(put_items(out, &a.member[0], 0, held->n, hx_put_i32_as_i64_little, held->index));
    HX_TRY(put_items(out, &a.member[1], 0, held->n, hx_put_f64_little, held->value));
    return end_archive(out, &a);
}

static int64_t numbers_archive(archive *a, const hx_number_list *list)
{
    memset(a, 0, sizeof *a);
    add_array(a, list->name, "<i8", 8, 1, list->n, 0);
    make_plan(a);
    return a->total;
}

static int64_t numbers_bytes(const hx_number_list *list)
{
    archive a;
    return numbers_archive(&a, list);
}

static int write_numbers(hx_block_file *out, const hx_number_list *list)
{
    archive a;
    numbers_archive(&a, list);
    HX_TRY(put_items(out, a.member, 0, list->n, hx_put_i32_as_i64_little, list->number));
    return end_archive(out, &a);
}

const hx_matrix_file_kind hx_matrix_npz = {
    .format = {.ending = ".npz",
               .name = "NumPy archive",
               .load = "scipy.sparse.load_npz('%s')",
               .half = HX_HALF_LOWER,
               .most_entries = INT64_MAX / 64},
    .is_one = is_npz,
    .bytes = npz_bytes,
    .n_state = sizeof(archive),
    .begin = begin_matrix,
    .rows = put_npz_rows,
    .end = end_matrix,
    .columns_bytes = columns_bytes,
    .held_bytes = held_bytes,
    .numbers_bytes = numbers_bytes,
    .columns = write_columns,
    .held = write_held,
    .numbers = write_numbers,
};
