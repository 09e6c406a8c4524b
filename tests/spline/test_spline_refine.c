/* Degree elevation and knot insertion: the map is unchanged at random points, knots and counts are
 * as requested, counts propagate through interfaces or are refused. */
#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "core/spline/spline_glue.h"
#include "core/spline/spline_refine.h"
#include "tests/lib/spline_box.h"
#include "tests/lib/test.h"

static uint64_t state = 7;

static double draw(double low, double high)
{
    return low + (high - low) * (double)(hx_random_next(&state) >> 11) * 0x1p-53;
}

/* Random degrees and spans, a double knot if the degree allows it, and weights that are not a
 * tensor product. */
static void make_patch(hx_spline *spline, const int degree[3], int is_rational)
{
    const int n_span[3] = {3, 2, 4};
    const int twice[3] = {degree[0] > 1 ? 2 : 0, 0, degree[2] > 1 ? 3 : 0};
    CHECK(box_row(spline, 1, degree, n_span, twice) == 0);
    hx_spline_patch *const patch = &spline->patch[0];
    const int64_t n = hx_spline_patch_points(patch);
    if (is_rational) CHECK_OK(hx_alloc(&patch->weight, (size_t)n, sizeof(double), "weights"));
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) patch->point[3 * i + c] += draw(-0.05, 0.05);
        if (is_rational) patch->weight[i] = draw(0.5, 2.0);
    }
}

/* Largest difference of the two maps, and of their derivatives, at random parameters and knots. */
static void compare(const hx_spline_patch *a, const hx_spline_patch *b)
{
    double worst = 0.0, worst_slope = 0.0;
    for (int k = 0; k < 60; k++) {
        double t[3], x[3], y[3], j[3][3], l[3][3];
        for (int d = 0; d < 3; d++) t[d] = k < 50 ? draw(0.0, 1.0) : (k >> d & 1);
        hx_spline_map(a, t, x, j);
        hx_spline_map(b, t, y, l);
        for (int c = 0; c < 9; c++) {
            if (c < 3) test_worst(&worst, fabs(x[c] - y[c]));
            test_worst(&worst_slope, fabs(j[c / 3][c % 3] - l[c / 3][c % 3]));
        }
    }
    CHECK_ABS(worst, 0.0, 1e-14); /* relative to a box with edge 1 */
    CHECK_ABS(worst_slope, 0.0, 1e-12);
}

static void test_map(void)
{
    for (int p = 1; p <= HX_SPLINE_MAX_DEGREE; p++)
        for (int q = p; q <= HX_SPLINE_MAX_DEGREE; q++)
            for (int is_rational = 0; is_rational < 2; is_rational++) {
                hx_spline before, after;
                const int degree[3] = {p, p > 1 ? p - 1 : p, p}, part[3] = {1, 3, 2};
                const uint64_t seed = state;
                make_patch(&before, degree, is_rational);
                state = seed;
                make_patch(&after, degree, is_rational);
                CHECK_OK(hx_spline_refine(&after, q, p == q && p == 2 ? 0 : 3, part));
                compare(&before.patch[0], &after.patch[0]);
                for (int d = 0; d < 3; d++) {
                    const hx_knots *const from = &before.patch[0].axis[d];
                    const hx_knots *const to = &after.patch[0].axis[d];
                    const int parts = p == q && p == 2 ? 1 : part[d];
                    CHECK(to->degree == q && to->n_span == parts * from->n_span);
                    for (int s = 1; s < from->n_span; s++) { /* the smoothness is unchanged */
                        const double knot = from->knot[from->span[s]];
                        CHECK(hx_knots_multiplicity(to, knot) ==
                              hx_knots_multiplicity(from, knot) + q - from->degree);
                    }
                    if (parts > 1) CHECK(hx_knots_multiplicity(to, to->knot[to->span[1]]) == 1);
                }
                hx_spline_free(&before);
                hx_spline_free(&after);
            }
}

/* Refining by nothing changes no bit. */
static void test_nothing(void)
{
    const int degree[3] = {3, 2, 1}, one[3] = {1, 1, 0};
    hx_spline before, after;
    const uint64_t seed = state;
    make_patch(&before, degree, 1);
    state = seed;
    make_patch(&after, degree, 1);
    CHECK_OK(hx_spline_refine(&after, 0, 3, one));
    const size_t n = (size_t)hx_spline_patch_points(&before.patch[0]);
    CHECK(hx_spline_patch_points(&after.patch[0]) == (int64_t)n);
    CHECK(memcmp(before.patch[0].point, after.patch[0].point, 3 * n * sizeof(double)) == 0);
    CHECK(memcmp(before.patch[0].weight, after.patch[0].weight, n * sizeof(double)) == 0);
    hx_spline_free(&before);
    hx_spline_free(&after);
}

/* Three boxes, the middle one rotated: its direction 2 runs along their direction 1, backwards. */
static void make_row(hx_spline *spline)
{
    const int degree[3] = {2, 1, 3}, n_span[3] = {1, 2, 1}, plain[3] = {0, 0, 0};
    const int to[3] = {1, 2, 0}, flip[3] = {0, 1, 1};
    CHECK(box_row(spline, 3, degree, n_span, plain) == 0);
    CHECK(box_turn(&spline->patch[1], to, flip) == 0);
    CHECK_OK(hx_spline_find_interfaces(spline, NULL));
    CHECK(spline->n_interface == 2);
}

static void test_follow(void)
{
    hx_spline spline;
    const int some[9] = {2, 0, 0, 0, 0, 3, 1, 0, 2}; /* patch 2: directions 0, 1, 2 are z, x, y */
    make_row(&spline);
    CHECK_OK(hx_spline_refine(&spline, 3, 9, some));
    CHECK(spline.patch[0].axis[0].n_span == 2 && spline.patch[1].axis[1].n_span == 1);
    CHECK(spline.patch[0].axis[1].n_span == 6 && spline.patch[1].axis[2].n_span == 6);
    CHECK(spline.patch[0].axis[2].n_span == 2 && spline.patch[1].axis[0].n_span == 2);
    CHECK(spline.patch[2].axis[1].n_span == 6 && spline.patch[2].axis[2].n_span == 2);
    CHECK_OK(hx_spline_glue(&spline)); /* coincident sides stay coincident */
    CHECK(spline.n_cell == 6 * 2 * (2 + 1 + 1));
    hx_spline_free(&spline);
}

static void test_refusals(void)
{
    hx_spline spline;
    const int all[3] = {1, 2, 3}, high[3] = {1, 1, HX_SPLINE_MAX_PARTS + 1}, low[3] = {1, -1, 1};
    const int many[3] = {10000, 10000, 10000};
    make_row(&spline);
    CHECK_FAILS(hx_spline_refine(&spline, 0, 3, all), HX_EINPUT,
                "patch1:u+ and patch2:v-: 2 parts");
    CHECK(strstr(hx_error_message(), "2 parts per span along v of patch 1 meet") != NULL);
    CHECK_FAILS(hx_spline_refine(&spline, 0, 4, many), HX_EINPUT, "4 counts for 3 patches");
    CHECK_FAILS(hx_spline_refine(&spline, 0, 3, high), HX_EINPUT, "have 10001 parts");
    CHECK_FAILS(hx_spline_refine(&spline, 0, 3, low), HX_EINPUT, "have -1 parts");
    CHECK_FAILS(hx_spline_refine(&spline, 0, 3, many), HX_EINPUT, "6e+12 spans");
    CHECK_FAILS(hx_spline_refine(&spline, 5, 0, NULL), HX_EINPUT, "the degree is 5");
    CHECK_FAILS(hx_spline_refine(&spline, 2, 0, NULL), HX_EINPUT,
                "patch 1 has degree 3 along w and degrees cannot be lowered");
    hx_spline_free(&spline);
}

int main(void)
{
    test_map();
    test_nothing();
    test_follow();
    test_refusals();
    TEST_END();
}
