#include "symmetric_eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rotates rows and columns p and q of a, and columns p and q of v, so that a[p][q] vanishes. */
static void rotate(int n, double *a, double *v, int p, int q)
{
    const double apq = a[p * n + q];
    const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    const double t = copysign(1.0, theta) / (fabs(theta) + hypot(1.0, theta));
    const double c = 1.0 / hypot(1.0, t), s = t * c, app = a[p * n + p], aqq = a[q * n + q];
    for (int k = 0; k < n; k++) {
        const double akp = a[k * n + p], akq = a[k * n + q];
        const double vkp = v[k * n + p], vkq = v[k * n + q];
        a[k * n + p] = a[p * n + k] = c * akp - s * akq;
        a[k * n + q] = a[q * n + k] = s * akp + c * akq;
        v[k * n + p] = c * vkp - s * vkq;
        v[k * n + q] = s * vkp + c * vkq;
    }
    a[p * n + p] = app - t * apq;
    a[q * n + q] = aqq + t * apq;
    a[p * n + q] = a[q * n + p] = 0.0;
}

/* Ascending, by selection. */
static void sort(int n, double *value, double *vector)
{
    for (int i = 0; i + 1 < n; i++) {
        int least = i;
        for (int k = i + 1; k < n; k++)
            if (value[k] < value[least]) least = k;
        if (least == i) continue;
        const double other = value[i];
        value[i] = value[least];
        value[least] = other;
        for (int k = 0; k < n; k++) {
            const double of_i = vector[k * n + i];
            vector[k * n + i] = vector[k * n + least];
            vector[k * n + least] = of_i;
        }
    }
}

/* After PATIENT sweeps, entries that are rounding errors of the largest one are left: those of
 * eigenvalues that are zero but for rounding never become small beside them. */
enum { MOST_SWEEPS = 60, PATIENT = 15 };

static double largest_entry(int n, const double *a)
{
    double largest = 0.0;
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

int hx_symmetric_eigen(int n, double *a, double *value, double *vector)
{
    const double rounding = DBL_EPSILON * largest_entry(n, a);
    int is_done = 0;
    for (int i = 0; i < n * n; i++)
        if (!isfinite(a[i])) return -1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) vector[i * n + k] = i == k;
    for (int sweep = 0; sweep < MOST_SWEEPS && !is_done; sweep++) {
        is_done = 1;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                const double size = sqrt(fabs(a[p * n + p])) * sqrt(fabs(a[q * n + q]));
                const double least = sweep < PATIENT ? DBL_EPSILON * size : rounding;
                if (fabs(a[p * n + q]) <= least) continue;
                rotate(n, a, vector, p, q);
                is_done = 0;
            }
    }
    for (int i = 0; i < n; i++) value[i] = a[i * n + i];
    sort(n, value, vector);
    return is_done ? 0 : -1;
}

void hx_gram_basis(int n, const double *g, double least, double *work, double *basis, int *n_basis)
{
    /* column k of `work`, with rows of the kept vectors: R of g = R'R; scale: 1 / length */
    double *const r = work, *const scale = work + n * n;
    int kept = 0;
    memset(basis, 0, (size_t)(n * n) * sizeof *basis);
    for (int k = 0; k < n; k++) scale[k] = g[k * n + k] > 0.0 ? 1.0 / sqrt(g[k * n + k]) : 0.0;
    for (int k = 0; k < n; k++) {
        /* basis columns so far times vector k, then the rest of its squared length */
        double left = scale[k] > 0.0 ? 1.0 : 0.0;
        for (int j = 0; j < kept; j++) {
            double sum = 0.0;
            for (int i = 0; i < k; i++) sum += basis[i * n + j] * g[i * n + k];
            r[j] = sum * scale[k];
            left -= r[j] * r[j];
        }
        if (!(left > least)) continue;
        const double factor = 1.0 / sqrt(left);
        for (int i = 0; i < k; i++) {
            double sum = 0.0;
            for (int j = 0; j < kept; j++) sum += basis[i * n + j] * r[j];
            basis[i * n + kept] = -factor * sum;
        }
        basis[k * n + kept++] = factor * scale[k];
    }
    *n_basis = kept;
    for (int i = 0; i < n; i++) /* rows of n become rows of kept */
        memmove(basis + i * kept, basis + i * n, (size_t)kept * sizeof *basis);
}
