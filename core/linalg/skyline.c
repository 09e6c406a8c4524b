#include "skyline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vectorised.h"

enum { B = HX_SKYLINE_BLOCK };
/* Smallest pivot, relative to the added fraction of the diagonal, for a matrix with unit diagonal.
 * In a redundant space (the same rotation at every node is the motion 0), pivots would be zero, but
 * rounding to single precision leaves noise, which grows without pivoting. Therefore a fraction of
 * the diagonal that exceeds the noise is added, and rows whose pivot is below this part of it are
 * left out. */
#define LEAST_PIVOT (1.0 / 3.0)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* End of the rows of block b, given the end of the previous block's rows. */
static int64_t end_of(int64_t n, const int64_t *last, int64_t b, int64_t before)
{
    int64_t end = before;
    for (int64_t k = B * b; k < least(n, B * (b + 1)); k++)
        if (last[k] + 1 > end) end = last[k] + 1;
    return end;
}

void hx_skyline_cost(int64_t n, const int64_t *last, double *n_entry, double *n_operation)
{
    int64_t end = 0;
    *n_entry = *n_operation = 0.0;
    for (int64_t b = 0; B * b < n; b++) {
        end = end_of(n, last, b, end);
        const double width = (double)(end - B * b);
        *n_entry += B * width;
        *n_operation += B * width * width;
    }
}

int hx_skyline_create(hx_skyline *s, int64_t n, const int64_t *last)
{
    static const char *const what = "coarsest level";
    int rc;
    memset(s, 0, sizeof *s);
    s->n = n;
    s->n_block = (n + B - 1) / B;
    HX_TRY_FAIL(hx_alloc_raw(&s->end, (size_t)s->n_block, sizeof *s->end, what));
    HX_TRY_FAIL(hx_alloc_raw(&s->at, (size_t)s->n_block + 1, sizeof *s->at, what));
    s->at[0] = 0;
    for (int64_t b = 0; b < s->n_block; b++) {
        s->end[b] = end_of(n, last, b, b > 0 ? s->end[b - 1] : 0);
        s->at[b + 1] = s->at[b] + (s->end[b] - B * b) * least(B, n - B * b);
    }
    HX_TRY_FAIL(hx_alloc(&s->entry, (size_t)s->at[s->n_block], sizeof *s->entry, what));
    HX_TRY_FAIL(hx_alloc_raw(&s->scale, (size_t)n, sizeof *s->scale, what));
    HX_TRY_FAIL(hx_alloc_raw(&s->pivot, (size_t)n, sizeof *s->pivot, what));
    HX_TRY_FAIL(hx_alloc_raw(&s->vector, (size_t)n, sizeof *s->vector, what));
    return HX_OK;
fail:
    hx_skyline_free(s);
    return rc;
}

void hx_skyline_clear(hx_skyline *s)
{
    memset(s->entry, 0, (size_t)s->at[s->n_block] * sizeof *s->entry);
}

/* The rows of a block: row m is at row + m stride, n_row of them. */
typedef struct block_rows {
    double *row;
    int64_t first, stride;
    int n_row;
} block_rows;

static block_rows rows_of(const hx_skyline *s, int64_t b)
{
    const int64_t first = B * b;
    return (block_rows){s->entry + s->at[b], first, s->end[b] - first, (int)least(B, s->n - first)};
}

static void scale_entries(hx_skyline *s, double added)
{
    for (int64_t k = 0; k < s->n; k++) {
        const double d = *hx_skyline_entry(s, k, k);
        s->scale[k] = d > 0.0 ? 1.0 / sqrt(d) : 0.0;
    }
    for (int64_t b = 0; b < s->n_block; b++) {
        const block_rows u = rows_of(s, b);
        for (int m = 0; m < u.n_row; m++)
            for (int64_t j = 0; j < u.stride; j++)
                u.row[m * u.stride + j] *= s->scale[u.first + m] * s->scale[u.first + j];
        for (int m = 0; m < u.n_row; m++) u.row[m * u.stride + m] *= 1.0 + added;
    }
}

/* to -= factor * row */
HX_INLINED void subtract_skyline_row_lanes(int64_t n, double factor, const double *row, double *to)
{
    for (int64_t j = 0; j < n; j++) to[j] -= factor * row[j];
}
HX_VERSIONS(subtract_skyline_row, (int64_t n, double factor, const double *row, double *to),
            (n, factor, row, to))

/* to -= sum over m of factor[m] * row m, for a full block. */
HX_INLINED void subtract_skyline_rows_lanes(int64_t n, const double *factor, const double *row,
                                            int64_t stride, double *to)
{
    const double f0 = factor[0], f1 = factor[1], f2 = factor[2], f3 = factor[3], f4 = factor[4],
                 f5 = factor[5];
    const double *r0 = row, *r1 = row + stride, *r2 = r1 + stride, *r3 = r2 + stride,
                 *r4 = r3 + stride, *r5 = r4 + stride;
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        to[j] -= (f0 * r0[j] + f1 * r1[j]) + (f2 * r2[j] + f3 * r3[j]) + (f4 * r4[j] + f5 * r5[j]);
}
HX_VERSIONS(subtract_skyline_rows,
            (int64_t n, const double *factor, const double *row, int64_t stride, double *to),
            (n, factor, row, stride, to))

/* sum[m] = row m times x, for a full block. */
HX_INLINED void dot_skyline_rows_lanes(int64_t n, const double *row, int64_t stride,
                                       const double *x, double *sum)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0, s5 = 0.0;
    const double *r0 = row, *r1 = row + stride, *r2 = r1 + stride, *r3 = r2 + stride,
                 *r4 = r3 + stride, *r5 = r4 + stride;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5)
    for (int64_t j = 0; j < n; j++) {
        s0 += r0[j] * x[j];
        s1 += r1[j] * x[j];
        s2 += r2[j] * x[j];
        s3 += r3[j] * x[j];
        s4 += r4[j] * x[j];
        s5 += r5[j] * x[j];
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
    sum[4] = s4;
    sum[5] = s5;
}
HX_VERSIONS(dot_skyline_rows,
            (int64_t n, const double *row, int64_t stride, const double *x, double *sum),
            (n, row, stride, x, sum))

/* Factorizes the rows of a block, from which the contributions of earlier blocks have been
 * subtracted. Returns the number of rejected pivots. */
static int factorise_block(hx_skyline *s, double least_pivot, block_rows u)
{
    int n_refused = 0;
    for (int m = 0; m < u.n_row; m++) {
        double *row = u.row + m * u.stride;
        for (int k = 0; k < m; k++)
            subtract_skyline_row(u.stride - m, u.row[k * u.stride + m], u.row + k * u.stride + m,
                                 row + m);
        const int is_kept = row[m] > least_pivot;
        const double inverse = is_kept ? 1.0 / sqrt(row[m]) : 0.0;
        n_refused += row[m] <= least_pivot && s->scale[u.first + m] > 0.0; /* NaN is not counted */
        s->pivot[u.first + m] = inverse;
        for (int64_t j = m; j < u.stride; j++) row[j] *= inverse;
    }
    return n_refused;
}

int64_t hx_skyline_factorise(hx_skyline *s, double added)
{
    int64_t n_refused = 0;
    scale_entries(s, added);
    for (int64_t b = 0; b < s->n_block; b++) {
        const block_rows u = rows_of(s, b);
        n_refused += factorise_block(s, LEAST_PIVOT * added, u);
        const int64_t begin = u.first + u.n_row, end = u.first + u.stride;
        /* only the last block may have fewer rows, and no row follows it */
#pragma omp parallel for schedule(static, 6) if (end - begin > 192)
        for (int64_t i = begin; i < end; i++) {
            /* subtract the contribution of the block */
            double factor[B], *to = hx_skyline_entry(s, i, i);
            const int64_t at = i - u.first;
            for (int m = 0; m < B; m++) factor[m] = u.row[m * u.stride + at];
            subtract_skyline_rows(u.stride - at, factor, u.row + at, u.stride, to);
        }
    }
    return n_refused;
}

/* Forward substitution for the unknowns of a block, with the transpose of its upper triangle. */
static void solve_forward(const hx_skyline *s, block_rows u, double *y)
{
    for (int m = 0; m < u.n_row; m++) {
        for (int k = 0; k < m; k++) y[u.first + m] -= u.row[k * u.stride + m] * y[u.first + k];
        y[u.first + m] *= s->pivot[u.first + m];
    }
    if (u.stride > u.n_row)
        subtract_skyline_rows(u.stride - B, y + u.first, u.row + B, u.stride, y + u.first + B);
}

static void solve_back(const hx_skyline *s, block_rows u, double *y)
{
    double sum[B] = {0.0};
    if (u.stride > u.n_row)
        dot_skyline_rows(u.stride - B, u.row + B, u.stride, y + u.first + B, sum);
    for (int m = u.n_row - 1; m >= 0; m--) {
        double x = y[u.first + m] - sum[m];
        for (int k = m + 1; k < u.n_row; k++) x -= u.row[m * u.stride + k] * y[u.first + k];
        y[u.first + m] = x * s->pivot[u.first + m];
    }
}

void hx_skyline_solve(const hx_skyline *s)
{
    double *y = s->vector;
    for (int64_t k = 0; k < s->n; k++) y[k] *= s->scale[k];
    for (int64_t block = 0; block < s->n_block; block++) solve_forward(s, rows_of(s, block), y);
    for (int64_t block = s->n_block; block-- > 0;) solve_back(s, rows_of(s, block), y);
    for (int64_t k = 0; k < s->n; k++) y[k] *= s->scale[k];
}

void hx_skyline_free(hx_skyline *s)
{
    free(s->end);
    free(s->at);
    free(s->entry);
    free(s->scale);
    free(s->pivot);
    free(s->vector);
    memset(s, 0, sizeof *s);
}
