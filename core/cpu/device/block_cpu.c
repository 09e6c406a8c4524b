/* Blocks of vectors on the CPU (block_ops.h). Sums run over fixed parts, so results are bitwise
 * independent of the number of threads. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../base/sum.h"
#include "../../base/vectorised.h"
#include "cpu_ops.h"

/* Rows of a chunk: those of all vectors stay in the caches. LANES: partial sums of a product. */
enum { CHUNK = 256, LANES = 8 };

/* g[j] += a'b[j] over `rows` entries. */
HX_INLINED void products_lanes(int64_t rows, const double *a, int n_b, const double *const b[],
                               int64_t at, double *g)
{
    for (int j = 0; j < n_b; j++) {
        const double *const bj = b[j] + at;
        double sum[LANES] = {0.0}, rest = 0.0;
        int64_t k = 0;
        for (; k + LANES <= rows; k += LANES)
            for (int l = 0; l < LANES; l++) sum[l] += a[k + l] * bj[k + l];
        for (; k < rows; k++) rest += a[k] * bj[k];
        g[j] += ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])) +
                rest;
    }
}
HX_VERSIONS(products,
            (int64_t rows, const double *a, int n_b, const double *const b[], int64_t at,
             double *g),
            (rows, a, n_b, b, at, g))

static int cpu_gram(hx_device *dev, int64_t n, int n_a, const double *const d_a[], int n_b,
                    const double *const d_b[], double *g)
{
    const size_t n_g = (size_t)n_a * (size_t)n_b;
    double *part;
    (void)dev;
    HX_TRY(hx_alloc(&part, (size_t)HX_N_PART * n_g, sizeof *part, "products of vectors"));
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        const int64_t last = hx_part_begin(n, p + 1);
        for (int64_t at = hx_part_begin(n, p); at < last; at += CHUNK)
            for (int i = 0; i < n_a; i++)
                products(last - at < CHUNK ? last - at : CHUNK, d_a[i] + at, n_b, d_b, at,
                         part + (size_t)p * n_g + (size_t)i * (size_t)n_b);
    }
    memset(g, 0, n_g * sizeof *g);
    for (size_t p = 0; p < HX_N_PART; p++)
        for (size_t i = 0; i < n_g; i++) g[i] += part[p * n_g + i];
    free(part);
    return HX_OK;
}

/* y += factor x */
HX_INLINED void add_lanes(int64_t rows, double factor, const double *x, double *y)
{
    for (int64_t k = 0; k < rows; k++) y[k] += factor * x[k];
}
HX_VERSIONS(add, (int64_t rows, double factor, const double *x, double *y), (rows, factor, x, y))

static int cpu_combine(hx_device *dev, int64_t n, int n_x, const double *const d_x[], int n_y,
                       const double *c, double *const d_y[])
{
    const int64_t n_chunk = (n + CHUNK - 1) / CHUNK;
    int failed = 0;
    (void)dev;
#pragma omp parallel reduction(| : failed)
    {
        double *sum = NULL;
        failed |= hx_alloc_raw(&sum, (size_t)n_y * CHUNK, sizeof *sum, "a combination") != HX_OK;
#pragma omp for schedule(static)
        for (int64_t chunk = 0; chunk < n_chunk; chunk++) {
            const int64_t at = chunk * CHUNK, rows = n - at < CHUNK ? n - at : CHUNK;
            if (!sum) continue;
            memset(sum, 0, (size_t)n_y * CHUNK * sizeof *sum);
            for (int i = 0; i < n_x; i++)
                for (int j = 0; j < n_y; j++)
                    if (c[i * n_y + j] != 0.0)
                        add(rows, c[i * n_y + j], d_x[i] + at, sum + (size_t)j * CHUNK);
            for (int j = 0; j < n_y; j++)
                memcpy(d_y[j] + at, sum + (size_t)j * CHUNK, (size_t)rows * sizeof *sum);
        }
        free(sum);
    }
    return failed ? HX_RAISE(HX_ENOMEM, "no memory for a combination of vectors") : HX_OK;
}

const hx_block_ops hx_cpu_block_ops = {
    .gram = cpu_gram,
    .combine = cpu_combine,
};
