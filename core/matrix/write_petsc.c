/* PETSc's binary files, big-endian. A matrix consists of its header, the lengths of the rows, all
 * columns, and all values (MatView of the AIJ format). PETSc's symmetric format reads only the
 * upper part of the rows. */
#include <string.h>

#include "write_internal.h"

enum { MATRIX_ID = 1211216, VECTOR_ID = 1211214, LIST_ID = 1211218, HEADER_BYTES = 16 };

static int is_petsc(const unsigned char *begin, size_t n)
{
    if (n < 4) return 0;
    const uint32_t id = (uint32_t)begin[0] << 24 | (uint32_t)begin[1] << 16 |
                        (uint32_t)begin[2] << 8 | (uint32_t)begin[3];
    return id == MATRIX_ID || id == VECTOR_ID || id == LIST_ID;
}

static int64_t petsc_bytes(const hx_matrix_shape *shape)
{
    return HEADER_BYTES + 4 * shape->n_row + 12 * shape->n_entry;
}

/* Writes n 32-bit numbers at the offset. */
static int put_header(hx_block_file *out, int64_t offset, int n, const int64_t *number)
{
    unsigned char bytes[HEADER_BYTES], *to = bytes;
    for (int i = 0; i < n; i++) to = hx_put_bits_big(to, (uint64_t)number[i], 4);
    return hx_block_put_bytes(out, offset, bytes, (size_t)(to - bytes));
}

static int begin_matrix(hx_matrix_writer *w)
{
    const hx_matrix_shape *const s = &w->shape;
    const int64_t header[] = {MATRIX_ID, s->n_row, s->n_row, s->n_entry};
    return put_header(w->out, 0, 4, header);
}

static unsigned char *put_lengths(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const int64_t *const ptr = what;
    for (int64_t i = begin; i < end; i++)
        to = hx_put_bits_big(to, (uint64_t)(ptr[i + 1] - ptr[i]), 4);
    return to;
}

static int put_petsc_rows(hx_matrix_writer *w, const hx_csr_rows *rows)
{
    const int64_t n = rows->ptr[rows->n], lengths = HEADER_BYTES,
                  columns = lengths + 4 * w->shape.n_row, values = columns + 4 * w->shape.n_entry;
    HX_TRY(hx_block_put(w->out, lengths + 4 * w->n_row, rows->n, 4, put_lengths, rows->ptr, NULL));
    HX_TRY(hx_block_put(w->out, columns + 4 * w->n_entry, n, 4, hx_put_i32_big, rows->col, NULL));
    return hx_block_put(w->out, values + 8 * w->n_entry, n, 8, hx_put_f64_big, rows->value, NULL);
}

/* Writes a vector at *offset, which is advanced. */
static int put_vector(hx_block_file *out, int64_t *offset, int64_t n, const double *value)
{
    const int64_t header[] = {VECTOR_ID, n};
    HX_TRY(put_header(out, *offset, 2, header));
    HX_TRY(hx_block_put(out, *offset + 8, n, 8, hx_put_f64_big, value, NULL));
    *offset += 8 + 8 * n;
    return HX_OK;
}

static int put_list(hx_block_file *out, int64_t *offset, int64_t n, const int32_t *number)
{
    const int64_t header[] = {LIST_ID, n};
    HX_TRY(put_header(out, *offset, 2, header));
    HX_TRY(hx_block_put(out, *offset + 8, n, 4, hx_put_i32_big, number, NULL));
    *offset += 8 + 4 * n;
    return HX_OK;
}

static int64_t columns_bytes(const hx_columns *columns)
{
    return columns->n_column * (8 + 8 * columns->n);
}

static int write_columns(hx_block_file *out, const hx_columns *columns)
{
    int64_t offset = 0;
    for (int i = 0; i < columns->n_column; i++)
        HX_TRY(put_vector(out, &offset, columns->n, columns->column[i]));
    return HX_OK;
}

static int64_t held_bytes(const hx_held_list *held)
{
    return 16 + 12 * held->n;
}

static int write_held(hx_block_file *out, const hx_held_list *held)
{
    int64_t offset = 0;
    HX_TRY(put_list(out, &offset, held->n, held->index));
    return put_vector(out, &offset, held->n, held->value);
}

static int64_t numbers_bytes(const hx_number_list *list)
{
    return 8 + 4 * list->n;
}

static int write_numbers(hx_block_file *out, const hx_number_list *list)
{
    int64_t offset = 0;
    return put_list(out, &offset, list->n, list->number);
}

const hx_matrix_file_kind hx_matrix_petsc = {
    .format = {.ending = ".petsc",
               .name = "PETSc binary",
               .load = "PETSc.Mat().load(PETSc.Viewer().createBinary('%s'))",
               .half = HX_HALF_UPPER,
               .most_entries = INT32_MAX},
    .is_one = is_petsc,
    .bytes = petsc_bytes,
    .n_state = 1,
    .begin = begin_matrix,
    .rows = put_petsc_rows,
    .columns_bytes = columns_bytes,
    .held_bytes = held_bytes,
    .numbers_bytes = numbers_bytes,
    .columns = write_columns,
    .held = write_held,
    .numbers = write_numbers,
};
