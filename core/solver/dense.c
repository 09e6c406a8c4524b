#include "dense.h"

#include <math.h>
#include <string.h>

#include "../base/vectorised.h"

void hx_dense_invert(int n, double *a, double *inverse)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(a[i * n + i]) : a[i * n + j] / a[j * n + j];
        }
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < n; i++) {
            double sum = i == c;
            for (int k = 0; k < i; k++) sum -= a[i * n + k] * inverse[k * n + c];
            inverse[i * n + c] = sum / a[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            double sum = inverse[i * n + c];
            for (int k = i + 1; k < n; k++) sum -= a[k * n + i] * inverse[k * n + c];
            inverse[i * n + c] = sum / a[i * n + i];
        }
    }
}

/* Below this, a pivot of a matrix with unit diagonal is what rounding to single precision left of
 * 0: the coarse spaces of multigrid are redundant (the same rotation everywhere is the motion 0).
 */
#define LEAST_PIVOT 3e-6

/* to -= factor * row */
HX_INLINED void subtract_row_lanes(int64_t n, double factor, const double *row, double *to)
{
    for (int64_t j = 0; j < n; j++) to[j] -= factor * row[j];
}
HX_VERSIONS(subtract_row, (int64_t n, double factor, const double *row, double *to),
            (n, factor, row, to))

static void swap_rows(double *a, int64_t n, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < n; k++) {
        const double held = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = held;
    }
    for (int64_t k = 0; k < n; k++) {
        const double held = a[k * n + i];
        a[k * n + i] = a[k * n + j];
        a[k * n + j] = held;
    }
}

/* Cholesky with diagonal pivoting of a symmetric positive semidefinite a[n][n] with unit diagonal:
 * a[k][i] = L[i][k] for i >= k, rows and columns permuted as `place` says. Returns the rank. */
static int64_t factorise(int64_t n, double *a, int64_t *place)
{
    for (int64_t k = 0; k < n; k++) place[k] = k;
    for (int64_t k = 0; k < n; k++) {
        double *row = a + k * n;
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (a[i * n + i] > a[best * n + best]) best = i;
        if (!(a[best * n + best] > LEAST_PIVOT)) return k;
        if (best != k) {
            const int64_t held = place[k];
            place[k] = place[best];
            place[best] = held;
            swap_rows(a, n, k, best);
        }
        const double root = sqrt(row[k]);
        row[k] = root;
        for (int64_t i = k + 1; i < n; i++) row[i] /= root;
#pragma omp parallel for schedule(static) if (n - k > 192)
        for (int64_t i = k + 1; i < n; i++)
            subtract_row(n - k - 1, row[i], row + k + 1, a + i * n + k + 1);
    }
    return n;
}

/* x[rank] := the solution of L L' x = unit vector c. */
HX_INLINED void solve_unit_lanes(int64_t n, int64_t rank, const double *a, int64_t c, double *x)
{
    memset(x, 0, (size_t)n * sizeof *x);
    x[c] = 1.0;
    for (int64_t k = c; k < rank; k++) {
        const double *row = a + k * n;
        x[k] /= row[k];
        const double xk = x[k];
        for (int64_t i = k + 1; i < rank; i++) x[i] -= xk * row[i];
    }
    for (int64_t k = rank - 1; k >= 0; k--) {
        const double *row = a + k * n;
        double sum = x[k];
#pragma omp simd reduction(+ : sum)
        for (int64_t i = k + 1; i < rank; i++) sum -= row[i] * x[i];
        x[k] = sum / row[k];
    }
}
HX_VERSIONS(solve_unit, (int64_t n, int64_t rank, const double *a, int64_t c, double *x),
            (n, rank, a, c, x))

void hx_dense_invert_semidefinite(int64_t n, double *a, double *work, float *inverse)
{
    double *scale = work + n * n;
    int64_t *place = (int64_t *)(work + n * n + n);
    for (int64_t i = 0; i < n; i++) scale[i] = a[i * n + i] > 0.0 ? 1.0 / sqrt(a[i * n + i]) : 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] *= scale[i] * scale[j];
    const int64_t rank = factorise(n, a, place);
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t c = 0; c < rank; c++) solve_unit(n, rank, a, c, work + c * n);
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++) {
            const double mean = 0.5 * (work[i * n + j] + work[j * n + i]);
            inverse[place[i] * n + place[j]] = (float)(scale[place[i]] * scale[place[j]] * mean);
        }
}
