#include "lobpcg_ritz.h"

#include <math.h>
#include <string.h>

#include "../linalg/symmetric_eigen.h"

enum { SQUARE = HX_RITZ_MOST * HX_RITZ_MOST, ROWS = SQUARE + HX_RITZ_MOST, N_ARRAY = 10 };

size_t hx_ritz_doubles(void)
{
    return (size_t)N_ARRAY * ROWS;
}

void hx_ritz_place(hx_ritz *ritz, double *memory)
{
    double **const array[N_ARRAY] = {&ritz->k, &ritz->m, &ritz->x, &ritz->p, &ritz->value,
                                     &ritz->a, &ritz->b, &ritz->c, &ritz->d, &ritz->e};
    for (int i = 0; i < N_ARRAY; i++) *array[i] = memory + (size_t)i * ROWS;
}

void hx_ritz_multiply(int n_a, int n_b, int n_c, const double *a, const double *b, double *c)
{
    memset(c, 0, (size_t)(n_a * n_c) * sizeof *c);
    for (int i = 0; i < n_a; i++)
        for (int k = 0; k < n_b; k++)
            for (int j = 0; j < n_c; j++) c[i * n_c + j] += a[i * n_b + k] * b[k * n_c + j];
}

void hx_ritz_multiply_left(int n_a, int n_b, int n_c, const double *a, const double *b, double *c)
{
    memset(c, 0, (size_t)(n_a * n_c) * sizeof *c);
    for (int k = 0; k < n_b; k++)
        for (int i = 0; i < n_a; i++)
            for (int j = 0; j < n_c; j++) c[i * n_c + j] += a[k * n_a + i] * b[k * n_c + j];
}

/* g := t'h t with the n_t columns of t[n][n_t]; made symmetric. */
static void reduce(int n, int n_t, const double *t, const double *h, double *work, double *g)
{
    hx_ritz_multiply(n, n, n_t, h, t, work);
    hx_ritz_multiply_left(n_t, n, n_t, t, work, g);
    for (int i = 0; i < n_t; i++)
        for (int j = 0; j < i; j++)
            g[i * n_t + j] = g[j * n_t + i] = 0.5 * (g[i * n_t + j] + g[j * n_t + i]);
}

/* Squared length, beside its predecessors, of a vector that is left out: rounding errors of Gram
 * matrices are some 1e-16, and their factors lose as much accuracy as the length falls below 1. */
#define LEAST 1e-9

/* t[n][returned]: an orthonormal basis of n vectors with Gram matrix g; a second pass removes the
 * rounding errors of the first. Uses a, b and e. */
static int find_basis(hx_ritz *ritz, int n, const double *g, double *t)
{
    int n_first, n_second;
    hx_gram_basis(n, g, LEAST, ritz->e, ritz->a, &n_first);
    reduce(n, n_first, ritz->a, g, ritz->e, ritz->b);
    hx_gram_basis(n_first, ritz->b, LEAST, ritz->e, t, &n_second);
    memcpy(ritz->b, t, (size_t)(n_first * n_second) * sizeof *t);
    hx_ritz_multiply(n, n_first, n_second, ritz->a, ritz->b, t);
    return n_second;
}

int hx_ritz_solve(hx_ritz *ritz, int n_x)
{
    const int n = ritz->n;
    double *const t = ritz->c;
    const int n_t = find_basis(ritz, n, ritz->m, t);
    if (n_t < n_x) return -1;
    reduce(n, n_t, t, ritz->k, ritz->e, ritz->a);
    if (hx_symmetric_eigen(n_t, ritz->a, ritz->value, ritz->b) != 0) return -1;
    for (int i = 0; i < n_t; i++) /* the first n_x columns */
        for (int j = 0; j < n_x; j++) ritz->d[i * n_x + j] = ritz->b[i * n_t + j];
    hx_ritz_multiply(n, n_t, n_x, t, ritz->d, ritz->x);
    return 0;
}

/* z -= x (x'M z), for the n_z columns of z. Uses a, b and e. */
static void leave_new_vectors(hx_ritz *ritz, int n_x, int n_z, double *z)
{
    const int n = ritz->n;
    hx_ritz_multiply(n, n, n_z, ritz->m, z, ritz->a);
    hx_ritz_multiply_left(n_x, n, n_z, ritz->x, ritz->a, ritz->b);
    hx_ritz_multiply(n, n_x, n_z, ritz->x, ritz->b, ritz->e);
    for (int i = 0; i < n * n_z; i++) z[i] -= ritz->e[i];
}

int hx_ritz_directions(hx_ritz *ritz, int n_x, int n_old, int n_of, const int *of)
{
    const int n = ritz->n;
    double *const z = ritz->c;
    memset(z, 0, (size_t)(n * n_of) * sizeof *z);
    for (int i = n_old; i < n; i++)
        for (int j = 0; j < n_of; j++) z[i * n_of + j] = ritz->x[i * n_x + of[j]];
    hx_ritz_multiply(n, n, n_of, ritz->m, z, ritz->a);
    for (int j = 0; j < n_of; j++) { /* to unit length */
        double square = 0.0;
        for (int i = 0; i < n; i++) square += z[i * n_of + j] * ritz->a[i * n_of + j];
        for (int i = 0; i < n; i++) z[i * n_of + j] *= square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    }
    for (int pass = 0; pass < 2; pass++) leave_new_vectors(ritz, n_x, n_of, z);
    reduce(n, n_of, z, ritz->m, ritz->e, ritz->d);
    memcpy(ritz->p, ritz->d, (size_t)(n_of * n_of) * sizeof *ritz->p);
    const int n_p = find_basis(ritz, n_of, ritz->p, ritz->d);
    hx_ritz_multiply(n, n_of, n_p, z, ritz->d, ritz->p);
    return n_p;
}
