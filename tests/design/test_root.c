/* The search for the root of an increasing function: it ends at the root from both sides and on flat
 * functions, and the slope of a search before saves evaluations. */
#include "core/design/root.h"
#include "tests/lib/test.h"

static double line(double x)
{
    return 0.3 * (x - 2.0);
}

static double bend(double x)
{
    return tanh(0.4 * (x - 1.0)) + 0.05 * (x - 1.0);
}

/* Rises in a step, as the volume does under a steep projection. */
static double step(double x)
{
    return tanh(50.0 * (x + 3.0));
}

static double cubic(double x)
{
    return (x - 0.5) * (x - 0.5) * (x - 0.5) + 1e-3 * (x - 0.5);
}

/* Number of evaluations until |f| <= 1e-6; root->slope remains. */
static int search(double (*f)(double), double x, double slope, hx_root *root)
{
    *root = (hx_root){.slope = slope};
    for (int n = 1; n <= 60; n++) {
        const double value = f(x);
        if (fabs(value) <= 1e-6) return n;
        x = hx_root_next(root, x, value);
        if (!isfinite(x)) return 61;
    }
    return 61;
}

int main(void)
{
    double (*const f[])(double) = {line, bend, step, cubic};
    const double start[] = {-6.0, -1.0, 0.0, 0.7, 3.0, 9.0};
    int n_cold = 0, n_warm = 0;
    for (size_t i = 0; i < sizeof f / sizeof f[0]; i++)
        for (size_t k = 0; k < sizeof start / sizeof start[0]; k++) {
            hx_root root;
            const int n = search(f[i], start[k], 0.0, &root);
            CHECK_MSG(n <= 40, "function %d from %g: %d evaluations", (int)i, start[k], n);
        }
    for (double x = 1.01; x < 1.2; x += 0.02) { /* near the root, as in successive designs */
        hx_root cold, warm;
        n_cold += search(bend, x, 0.0, &cold);
        CHECK_REL(cold.slope, 0.45, 0.05);
        n_warm += search(bend, x + 0.01, cold.slope, &warm);
    }
    printf("%d evaluations without a slope, %d with that of the search before\n", n_cold, n_warm);
    CHECK(n_warm <= 0.8 * n_cold);
    CHECK(search(line, 9.0, 0.3, &(hx_root){0}) == 2); /* a line is met by its slope */
    TEST_END();
}
