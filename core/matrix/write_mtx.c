/* Matrix Market: text, a line an entry, numbers from 1 (Boisvert, Pozo and Remington, NISTIR 5935,
 * 1996). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "write_internal.h"

/* Bytes of a line at most: two numbers of 10 digits, a value of 24 characters, separators. */
enum { LINE_BYTES = 48, VALUE_BYTES = 28 };

static int is_mtx(const unsigned char *begin, size_t n)
{
    static const char magic[] = "%%MatrixMarket";
    return n >= sizeof magic - 1 && memcmp(begin, magic, sizeof magic - 1) == 0;
}

static int digits(int64_t value)
{
    int n = 1;
    while (value >= 10) {
        value /= 10;
        n++;
    }
    return n;
}

/* Most numbers have as many digits as the largest, and most values 19 to 23 characters. */
static int64_t mtx_bytes(const hx_matrix_shape *shape)
{
    return shape->n_entry * (2 * digits(shape->n_row) + 20);
}

typedef struct mtx_state {
    int64_t offset;
} mtx_state;

static unsigned char *put_number(unsigned char *to, int64_t value, char separator)
{
    unsigned char text[20];
    int n = 0;
    do {
        text[n++] = (unsigned char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0) *to++ = text[--n];
    *to++ = (unsigned char)separator;
    return to;
}

static unsigned char *put_value(unsigned char *to, double value)
{
    return to + snprintf((char *)to, VALUE_BYTES, "%.17g\n", value);
}

static int put_header(hx_block_file *out, int64_t *offset, const char *header)
{
    HX_TRY(hx_block_put_bytes(out, *offset, header, strlen(header)));
    *offset += (int64_t)strlen(header);
    return HX_OK;
}

static int begin_matrix(hx_matrix_writer *w)
{
    char header[160];
    const hx_matrix_shape *const s = &w->shape;
    snprintf(header, sizeof header,
             "%%%%MatrixMarket matrix coordinate real %s\n%" PRId64 " %" PRId64 " %" PRId64 "\n",
             s->half == HX_HALF_BOTH ? "general" : "symmetric", s->n_row, s->n_row, s->n_entry);
    return put_header(&w->out, &((mtx_state *)w->state)->offset, header);
}

/* The row that entry k is in. */
static int64_t row_of(const hx_csr_rows *rows, int64_t k)
{
    int64_t low = 0, high = rows->n;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (rows->ptr[middle] <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static unsigned char *put_entries(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const hx_csr_rows *const rows = what;
    int64_t row = row_of(rows, begin);
    for (int64_t k = begin; k < end; k++) {
        while (rows->ptr[row + 1] <= k) row++;
        to = put_number(to, rows->first + row + 1, ' ');
        to = put_number(to, (int64_t)rows->col[k] + 1, ' ');
        to = put_value(to, rows->value[k]);
    }
    return to;
}

static int put_rows(hx_matrix_writer *w, const hx_csr_rows *rows)
{
    return hx_block_put_text(&w->out, &((mtx_state *)w->state)->offset, rows->ptr[rows->n],
                             LINE_BYTES, put_entries, rows);
}

static int end_matrix(hx_matrix_writer *w)
{
    (void)w;
    return HX_OK;
}

static unsigned char *put_values(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const double *const value = what;
    for (int64_t i = begin; i < end; i++) to = put_value(to, value[i]);
    return to;
}

/* A header and then a part after the other, each n items of `what`. */
static int write_parts(const char *path, const char *header, int n_part, int64_t n, size_t n_most,
                       hx_block_encoder *encode, const void *const *what)
{
    hx_block_file out = {0};
    int64_t offset = 0;
    int rc;
    HX_TRY_FAIL(hx_block_open(&out, path, n_part * n * (int64_t)n_most / 2));
    HX_TRY_FAIL(put_header(&out, &offset, header));
    for (int i = 0; i < n_part; i++)
        HX_TRY_FAIL(hx_block_put_text(&out, &offset, n, n_most, encode, what[i]));
    rc = hx_block_close(&out);
fail:
    hx_block_free(&out);
    return rc;
}

static int write_columns(const char *path, const char *name, int64_t n, int n_column,
                         const double *const *column)
{
    char header[128];
    (void)name;
    snprintf(header, sizeof header, "%%%%MatrixMarket matrix array real general\n%" PRId64 " %d\n",
             n, n_column);
    return write_parts(path, header, n_column, n, VALUE_BYTES, put_values,
                       (const void *const *)column);
}

typedef struct held_list {
    const int32_t *index;
    const double *value;
} held_list;

static unsigned char *put_held(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const held_list *const held = what;
    for (int64_t i = begin; i < end; i++) {
        to = put_number(to, (int64_t)held->index[i] + 1, ' ');
        to = put_number(to, 1, ' ');
        to = put_value(to, held->value[i]);
    }
    return to;
}

static int write_held(const char *path, int64_t n_row, int64_t n, const int32_t *index,
                      const double *value)
{
    char header[128];
    const held_list held = {index, value};
    const void *const part = &held;
    snprintf(header, sizeof header,
             "%%%%MatrixMarket matrix coordinate real general\n%" PRId64 " 1 %" PRId64 "\n", n_row,
             n);
    return write_parts(path, header, 1, n, LINE_BYTES, put_held, &part);
}

static unsigned char *put_numbers(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const int32_t *const number = what;
    for (int64_t i = begin; i < end; i++) to = put_number(to, (int64_t)number[i] + 1, '\n');
    return to;
}

static int write_numbers(const char *path, const char *name, int64_t n, const int32_t *number)
{
    char header[128];
    const void *const part = number;
    (void)name;
    snprintf(header, sizeof header,
             "%%%%MatrixMarket matrix array integer general\n%" PRId64 " 1\n", n);
    return write_parts(path, header, 1, n, VALUE_BYTES, put_numbers, &part);
}

const hx_matrix_file_kind hx_matrix_mtx = {
    .format = {.ending = ".mtx",
               .name = "Matrix Market",
               .load = "scipy.io.mmread('%s').tocsr()",
               .half = HX_HALF_LOWER,
               .most_entries = INT64_MAX / 64},
    .is_one = is_mtx,
    .bytes = mtx_bytes,
    .n_state = sizeof(mtx_state),
    .begin = begin_matrix,
    .rows = put_rows,
    .end = end_matrix,
    .columns = write_columns,
    .held = write_held,
    .numbers = write_numbers,
};
