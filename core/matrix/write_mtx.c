/* Matrix Market: text, a line per entry, numbers from 1 (Boisvert, Pozo and Remington, NISTIR 5935,
 * 1996). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "write_internal.h"

/* Upper bounds in bytes: a line (two numbers of 10 digits, a value, separators); the buffer for a
 * value's text; a value and its end (sign, point, 17 digits, "e-300"); a header. */
enum { LINE_BYTES = 48, VALUE_BYTES = 28, VALUE_MOST = 25, HEADER_MOST = 128 };

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

static int64_t mtx_bytes(const hx_matrix_shape *shape)
{
    const int64_t n_digit =
        shape->n_digit > 0 ? shape->n_digit : 2 * shape->n_entry * digits(shape->n_row);
    return HEADER_MOST + n_digit + shape->n_entry * (2 + VALUE_MOST);
}

typedef struct mtx_state {
    int64_t offset;
} mtx_state;

static unsigned char *put_mtx_number(unsigned char *to, int64_t value, char separator)
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
    char header[HEADER_MOST];
    const hx_matrix_shape *const s = &w->shape;
    snprintf(header, sizeof header,
             "%%%%MatrixMarket matrix coordinate real %s\n%" PRId64 " %" PRId64 " %" PRId64 "\n",
             s->half == HX_HALF_BOTH ? "general" : "symmetric", s->n_row, s->n_row, s->n_entry);
    return put_header(w->out, &((mtx_state *)w->state)->offset, header);
}

/* The row of entry k. */
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
        to = put_mtx_number(to, rows->first + row + 1, ' ');
        to = put_mtx_number(to, (int64_t)rows->col[k] + 1, ' ');
        to = put_value(to, rows->value[k]);
    }
    return to;
}

static int put_mtx_rows(hx_matrix_writer *w, const hx_csr_rows *rows)
{
    return hx_block_put_text(w->out, &((mtx_state *)w->state)->offset, rows->ptr[rows->n],
                             LINE_BYTES, put_entries, rows);
}

static unsigned char *put_values(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const double *const value = what;
    for (int64_t i = begin; i < end; i++) to = put_value(to, value[i]);
    return to;
}

/* Size of n encoded items in bytes. */
static int64_t text_bytes(int64_t n, hx_block_encoder *encode, const void *what)
{
    int64_t bytes = 0;
#pragma omp parallel for schedule(static) reduction(+ : bytes)
    for (int64_t i = 0; i < n; i++) {
        unsigned char line[LINE_BYTES];
        bytes += encode(what, i, i + 1, line) - line;
    }
    return bytes;
}

static int columns_header(const hx_columns *columns, char header[HEADER_MOST])
{
    return snprintf(header, HEADER_MOST,
                    "%%%%MatrixMarket matrix array real general\n%" PRId64 " %d\n", columns->n,
                    columns->n_column);
}

static int64_t columns_bytes(const hx_columns *columns)
{
    char header[HEADER_MOST];
    int64_t bytes = columns_header(columns, header);
    if (!columns->column) return bytes + columns->n_column * columns->n * VALUE_MOST;
    for (int i = 0; i < columns->n_column; i++)
        bytes += text_bytes(columns->n, put_values, columns->column[i]);
    return bytes;
}

static int write_columns(hx_block_file *out, const hx_columns *columns)
{
    char header[HEADER_MOST];
    int64_t offset = 0;
    columns_header(columns, header);
    HX_TRY(put_header(out, &offset, header));
    for (int i = 0; i < columns->n_column; i++)
        HX_TRY(hx_block_put_text(out, &offset, columns->n, VALUE_BYTES, put_values,
                                 columns->column[i]));
    return HX_OK;
}

static unsigned char *put_held(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const hx_held_list *const held = what;
    for (int64_t i = begin; i < end; i++) {
        to = put_mtx_number(to, (int64_t)held->index[i] + 1, ' ');
        to = put_mtx_number(to, 1, ' ');
        to = put_value(to, held->value[i]);
    }
    return to;
}

static int held_header(const hx_held_list *held, char header[HEADER_MOST])
{
    return snprintf(header, HEADER_MOST,
                    "%%%%MatrixMarket matrix coordinate real general\n%" PRId64 " 1 %" PRId64 "\n",
                    held->n_row, held->n);
}

static int64_t held_bytes(const hx_held_list *held)
{
    char header[HEADER_MOST];
    return held_header(held, header) + text_bytes(held->n, put_held, held);
}

static int write_held(hx_block_file *out, const hx_held_list *held)
{
    char header[HEADER_MOST];
    int64_t offset = 0;
    held_header(held, header);
    HX_TRY(put_header(out, &offset, header));
    return hx_block_put_text(out, &offset, held->n, LINE_BYTES, put_held, held);
}

static unsigned char *put_numbers(const void *what, int64_t begin, int64_t end, unsigned char *to)
{
    const int32_t *const number = what;
    for (int64_t i = begin; i < end; i++) to = put_mtx_number(to, (int64_t)number[i] + 1, '\n');
    return to;
}

static int numbers_header(const hx_number_list *list, char header[HEADER_MOST])
{
    return snprintf(header, HEADER_MOST,
                    "%%%%MatrixMarket matrix array integer general\n%" PRId64 " 1\n", list->n);
}

static int64_t numbers_bytes(const hx_number_list *list)
{
    char header[HEADER_MOST];
    return numbers_header(list, header) + text_bytes(list->n, put_numbers, list->number);
}

static int write_numbers(hx_block_file *out, const hx_number_list *list)
{
    char header[HEADER_MOST];
    int64_t offset = 0;
    numbers_header(list, header);
    HX_TRY(put_header(out, &offset, header));
    return hx_block_put_text(out, &offset, list->n, VALUE_BYTES, put_numbers, list->number);
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
    .rows = put_mtx_rows,
    .columns_bytes = columns_bytes,
    .held_bytes = held_bytes,
    .numbers_bytes = numbers_bytes,
    .columns = write_columns,
    .held = write_held,
    .numbers = write_numbers,
};
