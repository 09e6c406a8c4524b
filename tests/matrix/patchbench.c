/* Times K of solid NURBS patches by the method `gather`, and compares it with `pairs`.
 *
 *     patchbench cpu|cuda P N [P N ...]
 *
 * N functions of degree P in each direction with unequal weights, like `hextop matrix --bench p5`.
 * Prints medians and quartiles of the device time. */
#include <stdio.h>

#include "core/base/memory.h"
#include "core/base/quantile.h"
#include "core/matrix/interaction_ops.h"
#include "tests/lib/fixture.h"

/* MOST_BYTES: size limit of matrices that are compared. */
enum { N_WARM = 2, N_RUN = 11, MOST_KNOT = 1024 };
#define BUDGET ((size_t)2000000000)
#define MOST_BYTES 1e9

static void place_points(const double *knot, int p, int n, double *point, double *weight)
{
    for (int64_t k = 0; k < (int64_t)n * n * n; k++) {
        const int64_t at[3] = {k % n, k / n % n, k / n / n};
        double *const x = point + 3 * k;
        for (int d = 0; d < 3; d++) {
            x[d] = 0.0;
            for (int i = 1; i <= p; i++) x[d] += knot[at[d] + i] / (p * (n - p));
        }
        weight[k] = 1.0 + 0.1 * x[0] + 0.1 * x[1] * x[1] + 0.1 * x[0] * x[2];
    }
}

static int make_patch(hx_interaction *in, int p, int n)
{
    const hx_form form = {.kind = HX_FORM_ELASTICITY, .lambda = 0.576923, .mu = 0.384615};
    const size_t n_point = (size_t)n * (size_t)n * (size_t)n;
    double knot[MOST_KNOT], *point = NULL, *weight = NULL;
    hx_knots knots[3];
    for (int i = 0; i <= n + p; i++) knot[i] = i <= p ? 0.0 : i >= n ? n - p : i - p;
    for (int d = 0; d < 3; d++) HX_TRY(hx_knots_create(&knots[d], p, n, knot));
    HX_TRY(hx_alloc_raw(&point, 3 * n_point, sizeof *point, "control points"));
    HX_TRY(hx_alloc_raw(&weight, n_point, sizeof *weight, "weights"));
    place_points(knot, p, n, point, weight);
    HX_TRY(hx_interaction_create(in, 3, knots, point, weight, NULL, &form));
    for (int d = 0; d < 3; d++) hx_knots_free(&knots[d]);
    free(point);
    free(weight);
    return HX_OK;
}

/* Compares the stored values of `gather` with those of `pairs`. */
static int compare(const hx_interaction_ops *ops, void *state, size_t n)
{
    hx_interaction_time time;
    double *value = NULL, *other = NULL, largest = 0.0;
    HX_TRY(hx_alloc_raw(&value, n, sizeof *value, "values"));
    HX_TRY(hx_alloc_raw(&other, n, sizeof *other, "values"));
    HX_TRY(ops->values(state, value));
    HX_TRY(ops->run(state, HX_WAY_PAIRS, BUDGET, &time));
    HX_TRY(ops->values(state, other));
    for (size_t i = 0; i < n; i++) test_worst(&largest, fabs(other[i]));
    const double off = test_max_difference(n, value, other) / largest;
    printf("  off %.1e of pairs", off);
    CHECK_MSG(off <= 1e-13, "off by %g", off);
    free(value);
    free(other);
    return HX_OK;
}

static int measure(hx_device *dev, int p, int n)
{
    const hx_interaction_ops *const ops = dev->ops->interaction;
    hx_interaction in;
    hx_interaction_time time;
    double seconds[N_RUN], q[3];
    void *state = NULL;
    HX_TRY(make_patch(&in, p, n));
    HX_TRY(ops->open(&state, dev, &in));
    for (int i = -N_WARM; i < N_RUN; i++) {
        HX_TRY(ops->run(state, HX_WAY_GATHER, BUDGET, &time));
        if (i >= 0) seconds[i] = time.gradients + time.pairs;
    }
    hx_sort_values(seconds, N_RUN);
    for (int i = 0; i < 3; i++) q[i] = hx_quantile(seconds, N_RUN, 0.25 * (i + 1));
    printf("p = %d, n = %d: %9.3f ms  (%.3f to %.3f)  %.2f M spans/s", p, n, 1e3 * q[1], 1e3 * q[0],
           1e3 * q[2], 1e-6 * (double)in.n_cell / q[1]);
    const size_t n_value = 9 * (size_t)in.n_block;
    if (8.0 * (double)n_value <= MOST_BYTES) HX_TRY(compare(ops, state, n_value));
    printf("\n");
    ops->close(state);
    hx_interaction_free(&in);
    return HX_OK;
}

int main(int argc, char **argv)
{
    hx_device device;
    int quick;
    const int status = fixture_open(&device, argc > 2 ? 2 : argc, argv, &quick);
    if (status) return status;
    if (!device.ops->interaction) TEST_SKIP("this device has no ways for patches");
    for (int i = 2; i + 1 < argc; i += 2) {
        const int p = atoi(argv[i]), n = atoi(argv[i + 1]);
        if (p < 1 || p > 4 || n <= p || n + p >= MOST_KNOT) {
            fprintf(stderr, "degrees are 1 to 4, functions more and at most some 1000\n");
            return 2;
        }
        CHECK_OK(measure(&device, p, n));
    }
    hx_device_close(&device);
    TEST_END();
}
