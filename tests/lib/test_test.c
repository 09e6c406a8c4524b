/* The test framework itself: comparisons must fail on NaN and infinity, in any operand. */
#include "test.h"

static const double good[4] = {1.0, 2.0, 3.0, 4.0};

/* Returns the number of checks that failed since `before`, and removes them from the count. */
static int taken_back(int before)
{
    const int n = test_n_failed - before;
    test_n_failed = before;
    return n;
}

static void check_arrays(void)
{
    CHECK(test_max_difference(4, good, good) == 0.0);
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++)
        for (int b = 0; b < 4; b++) {
            double other[4] = {1.0, 2.0, 3.0, 4.0};
            other[i] = bad[b];
            CHECK(!(test_max_difference(4, other, good) <= 1e300));
            CHECK(!(test_max_difference(4, good, other) <= 1e300));
            CHECK(!(test_max_difference(4, other, other) <= 1e300)); /* inf - inf, NaN - NaN */
        }
    const double off[4] = {1.0, 2.5, 2.0, 4.0};
    CHECK(test_max_difference(4, off, good) == 1.0);
    CHECK(!(test_max_difference(0, good, good) <= 1.0)); /* comparing no entry proves nothing */
}

static void check_worst(void)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    double worst = 0.0, least = INFINITY;
    for (int i = 0; i < 4; i++) test_worst(&worst, good[3 - i] - 2.0);
    for (int i = 0; i < 4; i++) test_least(&least, good[i == 3 ? 0 : i + 1]);
    CHECK(worst == 2.0 && least == 1.0);
    for (int b = 0; b < 3; b++) {
        worst = 0.5, least = 0.5;
        test_worst(&worst, bad[b]);
        test_least(&least, bad[b]);
        for (int i = 0; i < 4; i++) { /* later values do not remove the NaN */
            test_worst(&worst, good[i]);
            test_least(&least, good[i]);
        }
        CHECK(!(worst <= 1e300) && !(worst >= 0.0));
        CHECK(!(least <= 1e300) && !(least >= 0.0));
        CHECK(!(0.0 <= 1e-9 * worst)); /* as a scale it makes no comparison succeed */
    }
    worst = INFINITY;
    test_worst(&worst, 1.0);
    CHECK(!(worst <= 1e300));
}

/* The macros fail when they must, and only then, and print the failed check. */
static void check_macros(void)
{
    const int before = test_n_failed;
    CHECK_REL(1.0 + 1e-9, 1.0, 1e-8);
    CHECK_ABS(1.0 + 1e-9, 1.0, 1e-8);
    CHECK(taken_back(before) == 0);
    printf("-- 14 failures, as must be\n");
    CHECK_REL(1.1, 1.0, 1e-2);
    CHECK_REL(NAN, 1.0, 1.0);
    CHECK_REL(1.0, NAN, 1.0);
    CHECK_REL(INFINITY, 1.0, 1.0);
    CHECK_REL(1.0, INFINITY, 1.0);
    CHECK_REL(INFINITY, INFINITY, 1.0);
    CHECK_REL(1.0, 1.0, NAN);
    CHECK_ABS(1.1, 1.0, 1e-2);
    CHECK_ABS(NAN, 1.0, 1.0);
    CHECK_ABS(1.0, NAN, 1.0);
    CHECK_ABS(INFINITY, INFINITY, 1.0);
    CHECK_ABS(2.0, 1.0, INFINITY);
    CHECK_ABS(2.0, 1.0, NAN);
    CHECK(test_max_difference(1, &good[0], &good[1]) <= 0.5);
    const int n = taken_back(before);
    printf("-- end\n");
    CHECK_MSG(n == 14, "%d", n);
}

int main(void)
{
    check_arrays();
    check_worst();
    check_macros();
    TEST_END();
}
