/* The whole test framework: checks that count, print what failed, and set the exit status
 * (0 passed, 1 failed, 77 skipped). */
#ifndef HX_TEST_H
#define HX_TEST_H

#include <math.h>
#include <stdio.h>

static int test_n_check, test_n_failed;

#define CHECK_MSG(cond, ...)                                                                       \
    do {                                                                                           \
        test_n_check++;                                                                            \
        if (!(cond)) {                                                                             \
            test_n_failed++;                                                                       \
            printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #cond);                              \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

#define CHECK(cond) CHECK_MSG(cond, "%s", "")

/* |a - b| <= tol * |b|, false for NaN and infinity. */
#define CHECK_REL(a, b, tol)                                                                       \
    CHECK_MSG(isfinite((double)(b)) && fabs((double)(a) - (double)(b)) <= (tol)*fabs((double)(b)), \
              "%.12g against %.12g, relative %.3g > %.3g", (double)(a), (double)(b),               \
              fabs((double)(a) - (double)(b)) / fabs((double)(b)), (double)(tol))

/* |a - b| <= tol, false for NaN and infinity, of the tolerance too. */
#define CHECK_ABS(a, b, tol)                                                                       \
    CHECK_MSG(isfinite((double)(tol)) && fabs((double)(a) - (double)(b)) <= (tol),                 \
              "%.12g against %.12g", (double)(a), (double)(b))

/* A call that must succeed: prints the recorded message if it does not. Needs core/base/error.h. */
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        const int test_rc_ = (call);                                                               \
        CHECK_MSG(test_rc_ == 0, "%s (%s)", hx_error_message(), hx_error_where());                 \
    } while (0)

/* A call that must fail with this code and a message that contains `text`. */
#define CHECK_FAILS(call, code, text)                                                              \
    do {                                                                                           \
        const int test_rc_ = (call);                                                               \
        CHECK_MSG(test_rc_ == (code), "returned %d, expected %d", test_rc_, (code));               \
        CHECK_MSG(strstr(hx_error_message(), (text)) != NULL, "message: %s", hx_error_message());  \
    } while (0)

/* Keeps the largest value, starting from *worst = 0. NaN or infinity sets it to NaN permanently, so
 * that no bound holds (fmax and `d > worst` lose a NaN). Also for scales that are part of a bound,
 * since every value is small relative to infinity. */
static inline void test_worst(double *worst, double d)
{
    if (!isfinite(*worst) || !isfinite(d))
        *worst = NAN;
    else if (d > *worst)
        *worst = d;
}

/* Keeps the smallest value, starting from *least = INFINITY: a NaN sets it to NaN permanently,
 * which is never above a bound. */
static inline void test_least(double *least, double d)
{
    if (isnan(*least) || !isfinite(d))
        *least = NAN;
    else if (d < *least)
        *least = d;
}

/* Largest |a - b| of n entries; NaN if there is none, or one of either is not finite. */
static inline double test_max_difference(size_t n, const double *a, const double *b)
{
    double worst = n > 0 ? 0.0 : NAN;
    for (size_t i = 0; i < n; i++) test_worst(&worst, fabs(a[i] - b[i]));
    return worst;
}

#define TEST_SKIP(...)                                                                             \
    do {                                                                                           \
        printf("SKIPPED: ");                                                                       \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        return 77;                                                                                 \
    } while (0)

#define TEST_END()                                                                                 \
    do {                                                                                           \
        printf("%d checks, %d failed\n", test_n_check, test_n_failed);                             \
        return test_n_failed == 0 && test_n_check > 0 ? 0 : 1;                                     \
    } while (0)

#endif
