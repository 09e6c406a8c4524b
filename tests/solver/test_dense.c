/* Inverses of small dense matrices: against what they must give with the matrix, of known rank. */
#include "core/solver/dense.h"
#include "tests/lib/fixture.h"

static double *new_matrix(int64_t n)
{
    double *a = calloc((size_t)(n * n), sizeof *a);
    CHECK(a != NULL);
    return a;
}

/* B B' + shift I, B[n][rank] uniform: positive definite, or of that rank if shift is 0. */
static void fill(int64_t n, int64_t rank, double shift, double *a)
{
    double *b = malloc((size_t)(n * rank) * sizeof *b);
    uint64_t state = 11;
    CHECK(b != NULL);
    for (int64_t i = 0; i < n * rank; i++) b[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = i == j ? shift : 0.0;
            for (int64_t k = 0; k < rank; k++) sum += b[i * rank + k] * b[j * rank + k];
            a[i * n + j] = sum;
        }
    free(b);
}

static int is_within(double value, double expected, double bound)
{
    return fabs(value - expected) <= bound; /* a NaN is not */
}

static void test_definite(int n)
{
    double *a = new_matrix(n), *held = new_matrix(n), *inverse = new_matrix(n);
    int bad = 0;
    fill(n, n, 0.5, a);
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

/* A G A = A and G = G', G 0 on n - rank rows; with rows of badly different size. */
static void test_semidefinite(int64_t n, int64_t rank, double scale)
{
    double *a = new_matrix(n), *held = new_matrix(n), *ag = new_matrix(n), *work;
    float *g = malloc((size_t)(n * n) * sizeof *g);
    int bad = 0, n_empty = 0, skew = 0;
    work = malloc((size_t)((n + 2) * n) * sizeof *work);
    CHECK(g && work);
    fill(n, rank, 0.0, a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] *= (i % 2 ? scale : 1.0) * (j % 2 ? scale : 1.0);
    memcpy(held, a, (size_t)(n * n) * sizeof *a);
    hx_dense_invert_semidefinite(n, a, work, g);
    for (int64_t i = 0; i < n; i++) {
        int is_empty = 1;
        for (int64_t j = 0; j < n; j++) {
            skew += g[i * n + j] != g[j * n + i];
            is_empty = is_empty && g[i * n + j] == 0.0f;
            for (int64_t k = 0; k < n; k++) ag[i * n + j] += held[i * n + k] * (double)g[k * n + j];
        }
        n_empty += is_empty;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < n; k++) sum += ag[i * n + k] * held[k * n + j];
            const double size = sqrt(held[i * n + i] * held[j * n + j]);
            bad += !is_within(sum, held[i * n + j], 2e-4 * size);
        }
    CHECK_MSG(bad == 0, "%d entries of A G A, n = %d of rank %d", bad, (int)n, (int)rank);
    CHECK_MSG(n_empty == (int)(n - rank), "%d empty rows, n = %d of rank %d", n_empty, (int)n,
              (int)rank);
    CHECK(skew == 0);
    free(a);
    free(held);
    free(ag);
    free(work);
    free(g);
}

/* Rows of zeros, as of nodes that carry nothing. */
static void test_empty_rows(void)
{
    double a[9] = {4.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 5.0}, work[15];
    const double expected[9] = {5.0, 0.0, -2.0, 0.0, 0.0, 0.0, -2.0, 0.0, 4.0};
    float g[9];
    hx_dense_invert_semidefinite(3, a, work, g);
    for (int i = 0; i < 9; i++) CHECK(is_within((double)g[i], expected[i] / 16.0, 1e-7));
}

/* The same bits for any number of threads. */
static void test_threads(void)
{
    enum { N = 300, RANK = 290 };
    double *a = new_matrix(N), *work = malloc((N + 2) * N * sizeof *work);
    float *g[2] = {malloc(N * N * sizeof(float)), malloc(N * N * sizeof(float))};
    const int most = fixture_threads();
    CHECK(work && g[0] && g[1]);
    for (int i = 0; i < 2; i++) {
        fixture_set_threads(i == 0 ? 1 : 2);
        fill(N, RANK, 0.0, a);
        hx_dense_invert_semidefinite(N, a, work, g[i]);
    }
    fixture_set_threads(most);
    free(a);
    CHECK(memcmp(g[0], g[1], N * N * sizeof(float)) == 0);
    free(work);
    free(g[0]);
    free(g[1]);
}

int main(void)
{
    static const int size[] = {1, 2, 6, 37};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        test_definite(size[i]);
        test_semidefinite(size[i], size[i], 1.0);
        test_semidefinite(size[i], size[i], 1e-5);
    }
    test_semidefinite(37, 30, 1.0);
    test_semidefinite(64, 9, 1e-4);
    test_empty_rows();
    test_threads();
    TEST_END();
}
