/* y = A x on the CPU, over fixed parts of the rows, so that results are bitwise independent of the
 * number of threads. */
#include <string.h>

#include "../../base/sum.h"
#include "../../base/vectorised.h"
#include "matrix_cpu.h"

typedef double eight __attribute__((vector_size(64)));

/* Eight of the nine numbers of a block are in one vector, and the components of x that they
 * multiply in another. */
HX_INLINED void bsr3_rows_lanes(const int64_t *ptr, const int32_t *col, const double *value,
                                int64_t first, int64_t end, const double *x, double *y)
{
    for (int64_t r = first; r < end; r++) {
        eight sum = {0.0};
        double last = 0.0;
        for (int64_t k = ptr[r]; k < ptr[r + 1]; k++) {
            const double *const a = value + 9 * k, *const b = x + 3 * (int64_t)col[k];
            const double x0 = b[0], x1 = b[1], x2 = b[2];
            const eight times = {x0, x1, x2, x0, x1, x2, x0, x1};
            eight block;
            memcpy(&block, a, sizeof block);
            sum += block * times;
            last += a[8] * x2;
        }
        y[3 * r] = sum[0] + sum[1] + sum[2];
        y[3 * r + 1] = sum[3] + sum[4] + sum[5];
        y[3 * r + 2] = sum[6] + sum[7] + last;
    }
}
HX_VERSIONS(bsr3_rows,
            (const int64_t *ptr, const int32_t *col, const double *value, int64_t first,
             int64_t end, const double *x, double *y),
            (ptr, col, value, first, end, x, y))

/* Rows of numbers from ptr on: csr, and bsr with one unknown per point. The remainder of a row
 * after multiples of eight is summed separately. */
HX_INLINED void number_rows_lanes(const int64_t *ptr, const int32_t *col, const double *value,
                                  int64_t first, int64_t end, const double *x, double *y)
{
    for (int64_t r = first; r < end; r++) {
        double sum[8] = {0.0}, rest = 0.0;
        int64_t k = ptr[r];
        for (; k + 8 <= ptr[r + 1]; k += 8)
            for (int i = 0; i < 8; i++) sum[i] += value[k + i] * x[col[k + i]];
        for (; k < ptr[r + 1]; k++) rest += value[k] * x[col[k]];
        for (int i = 0; i < 4; i++) sum[i] += sum[i + 4];
        y[r] = sum[0] + sum[1] + (sum[2] + sum[3]) + rest;
    }
}
HX_VERSIONS(number_rows,
            (const int64_t *ptr, const int32_t *col, const double *value, int64_t first,
             int64_t end, const double *x, double *y),
            (ptr, col, value, first, end, x, y))

/* Multiplies the rows of points first .. end - 1. */
static void multiply_rows(const hx_matrix *m, int64_t first, int64_t end, const double *x,
                          double *y)
{
    const int c = m->spec.components;
    if (m->spec.format == HX_FORMAT_CSR)
        number_rows(m->d_ptr, m->d_col, m->d_value, c * first, c * end, x, y);
    else if (c == 3)
        bsr3_rows(m->pattern.d_row_ptr, m->pattern.d_col, m->d_value, first, end, x, y);
    else
        number_rows(m->pattern.d_row_ptr, m->pattern.d_col, m->d_value, first, end, x, y);
}

int hx_cpu_matrix_multiply(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y)
{
    const int64_t n_row = m->pattern.n_row;
    (void)dev;
    if (m->spec.part == HX_PART_LOWER) {
        hx_cpu_lower_multiply(m, d_x, d_y);
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++)
        multiply_rows(m, hx_part_begin(n_row, i), hx_part_begin(n_row, i + 1), d_x, d_y);
    return HX_OK;
}

int hx_cpu_matrix_multiply_dot(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y,
                               double *d_sum)
{
    const int64_t n_row = m->pattern.n_row;
    const int c = m->spec.components;
    double sum[HX_N_PART];
    if (m->spec.part == HX_PART_LOWER) HX_TRY(hx_cpu_matrix_multiply(dev, m, d_x, d_y));
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        const int64_t first = hx_part_begin(n_row, i), end = hx_part_begin(n_row, i + 1);
        if (m->spec.part == HX_PART_FULL) multiply_rows(m, first, end, d_x, d_y);
        double dot[4] = {0.0};
        for (int64_t k = c * first; k < c * end; k++) dot[k & 3] += d_x[k] * d_y[k];
        sum[i] = dot[0] + dot[1] + dot[2] + dot[3];
    }
    *d_sum = hx_sum_parts(sum);
    return HX_OK;
}

int hx_cpu_matrix_multiply_single(hx_device *dev, const hx_matrix *m, const float *d_x, float *d_y,
                                  double *d_work)
{
    const int64_t n = m->pattern.n_row * m->spec.components;
    double *const y = d_work + n;
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_work[k] = (double)d_x[k];
    HX_TRY(hx_cpu_matrix_multiply(dev, m, d_work, y));
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_y[k] = (float)y[k];
    return HX_OK;
}
