/* Inverses of small dense matrices, checked by multiplying with the matrix. */
#include "core/linalg/dense.h"
#include "tests/lib/fixture.h"

static double *new_matrix(int64_t n)
{
    double *a = calloc((size_t)(n * n), sizeof *a);
    CHECK(a != NULL);
    return a;
}

/* B B' + shift I, with uniformly distributed B[n][n]. */
static void fill(int64_t n, double shift, double *a)
{
    double *b = malloc((size_t)(n * n) * sizeof *b);
    uint64_t state = 11;
    CHECK(b != NULL);
    for (int64_t i = 0; i < n * n; i++) b[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = i == j ? shift : 0.0;
            for (int64_t k = 0; k < n; k++) sum += b[i * n + k] * b[j * n + k];
            a[i * n + j] = sum;
        }
    free(b);
}

static int is_within(double value, double expected, double bound)
{
    return fabs(value - expected) <= bound; /* false for NaN */
}

static void test_definite(int n)
{
    double *a = new_matrix(n), *held = new_matrix(n), *inverse = new_matrix(n);
    int bad = 0;
    fill(n, 0.5, a);
    memcpy(held, a, (size_t)(n * n) * sizeof *a);
    hx_dense_invert(n, a, inverse);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) sum += held[i * n + k] * inverse[k * n + j];
            bad += !is_within(sum, i == j, 1e-11);
        }
    CHECK_MSG(bad == 0, "%d entries of A A^-1, n = %d", bad, n);
    held[0] = -1.0;
    hx_dense_invert(n, held, inverse);
    CHECK(isnan(inverse[0]));
    free(a);
    free(held);
    free(inverse);
}

int main(void)
{
    static const int size[] = {1, 2, 6, 37};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) test_definite(size[i]);
    TEST_END();
}
