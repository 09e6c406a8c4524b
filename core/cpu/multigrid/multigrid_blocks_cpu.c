/* Block smoother for splines, with blocks of control points, on the host. */
#include <math.h>
#include <string.h>

#include "../../base/sum.h"
#include "../device/cpu_ops.h"
#include "../matrix/matrix_cpu.h"

enum { MOST = 81 }; /* maximum number of unknowns of a block: 3^3 control points with three each */

/* If a pivot of the block, scaled to a unit diagonal, is below this, it is rounding error; only the
 * block's diagonal is used then. */
static const double least_pivot = 1e-10;

/* a[n][n] := the entries between a block's unknowns, without those whose m is 0. */
static void gather_block(const hx_matrix *matrix, const int32_t *point, int n_point, const float *m,
                         double *a)
{
    const hx_device_pattern *const p = &matrix->pattern;
    const int c = matrix->spec.components, n = c * n_point;
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int r = 0; r < n_point; r++) {
        const int64_t row = point[r];
        const int n_entry = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]);
        const int32_t *const col = p->d_col + p->d_row_ptr[row];
        for (int k = 0, q = 0; k < n_entry && col[k] <= row; k++) {
            int stride;
            while (q < n_point && point[q] < col[k]) q++;
            if (q == n_point || point[q] != col[k]) continue;
            const double *const from =
                (const double *)matrix->d_value + hx_cpu_block(matrix, row, n_entry, k, &stride);
            for (int i = 0; i < c; i++)
                for (int j = 0; j < (q == r ? i + 1 : c); j++) {
                    if (!(m[c * row + i] > 0.0f && m[c * (int64_t)col[k] + j] > 0.0f)) continue;
                    a[(c * r + i) * n + c * q + j] = from[i * stride + j];
                }
        }
    }
}

/* Cholesky factor of the scaled matrix: the lower triangle a := L, D^-1/2 A D^-1/2 = L L';
 * d[n] := D^-1/2, or 0 for unknowns that are left out. Returns 0 if the matrix is not positive
 * definite. */
static int factorise(int n, double *a, double *d)
{
    for (int i = 0; i < n; i++) d[i] = a[i * n + i] > 0.0 ? 1.0 / sqrt(a[i * n + i]) : 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = d[i] > 0.0 && d[j] > 0.0 ? a[i * n + j] * d[i] * d[j] : i == j;
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > least_pivot)) return 0;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
    return 1;
}

/* inverse[n][n] := D^-1/2 L^-T L^-1 D^-1/2; the strict upper triangle of a is scratch. */
static void invert_block_matrix(int n, double *a, const double *d, float *inverse)
{
    double column[MOST];
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < n; i++) {
            double sum = i == c ? 1.0 : 0.0;
            for (int k = c; k < i; k++) sum -= a[i * n + k] * column[k];
            column[i] = i < c ? 0.0 : sum / a[i * n + i];
        }
        for (int i = n - 1; i >= c; i--) { /* computing the lower triangle suffices */
            double sum = column[i];
            for (int k = i + 1; k < n; k++) sum -= a[k * n + i] * column[k];
            column[i] = sum / a[i * n + i];
            inverse[i * n + c] = inverse[c * n + i] = (float)(column[i] * d[i] * d[c]);
        }
    }
}

static void invert_block(const hx_matrix *matrix, const hx_mg_blocks *blocks, int64_t b,
                         const float *m)
{
    double a[MOST * MOST], d[MOST];
    const int32_t *const point = blocks->d_point + blocks->d_first[b];
    const int n_point = blocks->d_first[b + 1] - blocks->d_first[b];
    const int c = matrix->spec.components, n = c * n_point;
    float *const inverse = blocks->d_inverse + blocks->d_at[b];
    gather_block(matrix, point, n_point, m, a);
    if (factorise(n, a, d)) {
        invert_block_matrix(n, a, d, inverse);
        return;
    }
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int i = 0; i < n; i++) inverse[i * n + i] = m[c * (int64_t)point[i / c] + i % c];
}

int hx_cpu_blocks_invert(hx_device *dev, const hx_mg_splitting *splitting)
{
    const hx_mg_blocks *const blocks = splitting->blocks;
    float *const d_m = splitting->d_m;
    (void)dev;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t b = 0; b < blocks->n; b++) invert_block(splitting->matrix, blocks, b, d_m);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < splitting->n; k++) d_m[k] = d_m[k] > 0.0f ? 1.0f : 0.0f;
    return HX_OK;
}

int hx_cpu_blocks_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                        float *d_t)
{
    const hx_mg_blocks *const blocks = splitting->blocks;
    const int c = splitting->components;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks->n; b++) {
        const int32_t *const point = blocks->d_point + blocks->d_first[b];
        const int n = c * (blocks->d_first[b + 1] - blocks->d_first[b]);
        const float *const inverse = blocks->d_inverse + blocks->d_at[b];
        float sum[MOST] = {0.0f};
        for (int j = 0; j < n; j++) {
            const int64_t k = c * (int64_t)point[j / c] + j % c;
            const float value = d_r ? d_t[k] - (float)d_r[k] : d_t[k];
            for (int i = 0; i < n; i++) sum[i] += inverse[j * n + i] * value;
        }
        for (int i = 0; i < n; i++) d_t[c * (int64_t)point[i / c] + i % c] = sum[i];
    }
    return HX_OK;
}

int hx_cpu_blocks_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                        const float *d_s, float *d_v, hx_mg_smoother *d_smoother)
{
    double part[HX_N_PART];
    (void)dev;
    (void)d_m; /* d_s is already 0 where d_m is 0 */
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        part[i] = 0.0;
        for (int64_t k = hx_part_begin(n, i); k < hx_part_begin(n, i + 1); k++)
            part[i] += (double)d_t[k] * (double)d_s[k];
    }
    const float scale = hx_mg_power_result(d_smoother, 1.0, hx_sum_parts(part));
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_v[k] = scale * d_s[k];
    return HX_OK;
}
