/* Cholesky factorization within an envelope: solutions, dependent rows, threads. */
#include "core/linalg/skyline.h"
#include "tests/lib/fixture.h"

#define ADDED 3e-6 /* fraction of the diagonal that is added first, as by multigrid */

static void *allocate(int64_t n, size_t size)
{
    void *p = calloc((size_t)n, size);
    if (!p) abort();
    return p;
}

/* last[k] of an envelope whose width varies and is not monotonic. */
static void make_envelope(int64_t n, int64_t width, int64_t *last)
{
    uint64_t seed = 5;
    for (int64_t k = 0; k < n; k++) {
        last[k] = k + (int64_t)fixture_uniform(&seed, 0.0, (double)width + 1.0);
        if (last[k] >= n) last[k] = n - 1;
    }
}

/* A = sum of v v' over short vectors within the envelope, plus `shift` on the diagonal; rows differ
 * strongly in size. */
static void fill(int64_t n, const int64_t *last, double shift, hx_skyline *s, double *a)
{
    uint64_t seed = 9;
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int64_t k = 0; k < n; k++) {
        double *v = allocate(n, sizeof *v);
        for (int64_t j = k; j <= last[k]; j++) v[j] = fixture_uniform(&seed, -1.0, 1.0);
        for (int64_t i = k; i <= last[k]; i++)
            for (int64_t j = k; j <= last[k]; j++) a[i * n + j] += v[i] * v[j];
        free(v);
        a[k * n + k] += shift;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] *= (i % 3 ? 1.0 : 1e-4) * (j % 3 ? 1.0 : 1e-4);
    hx_skyline_clear(s);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            if (a[i * n + j] != 0.0) *hx_skyline_entry(s, i, j) = a[i * n + j];
}

static void set_vector(int64_t n, double *x)
{
    uint64_t seed = 3;
    for (int64_t k = 0; k < n; k++) x[k] = fixture_uniform(&seed, -1.0, 1.0);
}

/* b = (A + D) x. */
static void multiply(int64_t n, const double *a, const double *x, double *b)
{
    for (int64_t i = 0; i < n; i++) {
        b[i] = ADDED * a[i * n + i] * x[i];
        for (int64_t j = 0; j < n; j++) b[i] += a[i * n + j] * x[j];
    }
}

static void test_solution(int64_t n, int64_t width)
{
    int64_t *last = allocate(n, sizeof *last);
    double *a = allocate(n * n, sizeof *a), *x = allocate(n, sizeof *x), off = 0.0, entries, work;
    hx_skyline s;
    make_envelope(n, width, last);
    CHECK_OK(hx_skyline_create(&s, n, last));
    hx_skyline_cost(n, last, &entries, &work);
    CHECK((double)s.at[s.n_block] <= entries && work >= entries);
    for (int again = 0; again < 2; again++) { /* nothing of the first matrix is left */
        fill(n, last, 1.0 + again, &s, a);
        set_vector(n, x);
        multiply(n, a, x, s.vector);
        CHECK(hx_skyline_factorise(&s, ADDED) == 0);
        hx_skyline_solve(&s);
        for (int64_t k = 0; k < n; k++) test_worst(&off, fabs(s.vector[k] - x[k]));
    }
    CHECK_MSG(off <= 1e-9, "n = %d, width %d: off by %g", (int)n, (int)width, off);
    hx_skyline_free(&s);
    free(last);
    free(a);
    free(x);
}

/* Every second row is empty or equal to the one before: the solution satisfies A, and x'b > 0. */
static void test_semidefinite(void)
{
    enum { N = 50 };
    int64_t last[N];
    double b[N], energy = 0.0;
    hx_skyline s;
    for (int64_t k = 0; k < N; k++) last[k] = k + 2 < N ? k + 2 : N - 1;
    CHECK_OK(hx_skyline_create(&s, N, last));
    for (int64_t k = 0; k + 1 < N; k += 2) {
        *hx_skyline_entry(&s, k, k) = 4.0;
        if (k % 4 != 0) continue;
        *hx_skyline_entry(&s, k, k + 1) = 4.0;
        *hx_skyline_entry(&s, k + 1, k + 1) = 4.0;
    }
    for (int64_t k = 0; k < N; k++) s.vector[k] = b[k] = k % 4 == 3 ? 0.0 : 8.0;
    CHECK(hx_skyline_factorise(&s, ADDED) == 0); /* empty rows are not counted */
    hx_skyline_solve(&s);
    for (int64_t k = 0; k < N; k++) {
        CHECK(isfinite(s.vector[k]));
        energy += s.vector[k] * b[k];
        if (k % 4 == 3) CHECK(s.vector[k] == 0.0);
        if (k % 4 == 2) CHECK_REL(s.vector[k], 2.0, 1e-5);
        if (k % 4 == 0 && k + 1 < N) CHECK_REL(s.vector[k] + s.vector[k + 1], 2.0, 1e-5);
    }
    CHECK(energy > 0.0);
    hx_skyline_free(&s);
}

/* Groups of three equal rows, which noise makes indefinite by 1e-5: rows are left out and reported
 * until the added fraction exceeds the noise; then the matrix is positive definite. */
static void test_noise(void)
{
    enum { N = 60 };
    int64_t last[N], n_refused = -1, n_tried = 0;
    double b[N], energy = 0.0, added = ADDED;
    hx_skyline s;
    for (int64_t k = 0; k < N; k++) last[k] = k + 2 < N ? k + 2 : N - 1;
    CHECK_OK(hx_skyline_create(&s, N, last));
    for (; n_refused != 0 && added < 1e-3; added *= 4.0, n_tried++) {
        hx_skyline_clear(&s);
        for (int64_t k = 0; k < N; k++)
            for (int64_t j = k; j < N && j / 3 == k / 3; j++)
                *hx_skyline_entry(&s, k, j) = j == k ? 2.0 : 2.0 * (1.0 + 1e-5);
        n_refused = hx_skyline_factorise(&s, added);
        CHECK(n_tried > 0 || n_refused > 0);
    }
    CHECK_MSG(n_refused == 0 && added > 1e-5 && added < 1e-3, "%d rows left out at %g",
              (int)n_refused, added);
    set_vector(N, b);
    memcpy(s.vector, b, sizeof b);
    hx_skyline_solve(&s);
    for (int64_t k = 0; k < N; k++) {
        CHECK(isfinite(s.vector[k]));
        energy += s.vector[k] * b[k];
    }
    CHECK(energy > 0.0);
    hx_skyline_free(&s);
}

/* Results are bitwise equal for any number of threads. */
static void test_threads(void)
{
    enum { N = 900, WIDTH = 400 };
    int64_t *last = allocate(N, sizeof *last);
    double *a = allocate(N * N, sizeof *a), *x[2];
    const int most = fixture_threads();
    make_envelope(N, WIDTH, last);
    for (int i = 0; i < 2; i++) {
        hx_skyline s;
        fixture_set_threads(i == 0 ? 1 : 3);
        CHECK_OK(hx_skyline_create(&s, N, last));
        fill(N, last, 1.0, &s, a);
        set_vector(N, s.vector);
        CHECK(hx_skyline_factorise(&s, ADDED) == 0);
        hx_skyline_solve(&s);
        x[i] = allocate(N, sizeof *x[i]);
        memcpy(x[i], s.vector, N * sizeof *x[i]);
        hx_skyline_free(&s);
    }
    fixture_set_threads(most);
    CHECK(memcmp(x[0], x[1], N * sizeof *x[0]) == 0);
    free(x[0]);
    free(x[1]);
    free(a);
    free(last);
}

int main(void)
{
    test_solution(1, 0);
    test_solution(5, 3);
    test_solution(6, 5);
    test_solution(37, 9);
    test_solution(240, 31);
    test_semidefinite();
    test_noise();
    test_threads();
    TEST_END();
}
