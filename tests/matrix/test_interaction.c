/* K of spline patches by each method of a device, against B'DB summed here: degrees 1 to 4, plane
 * and solid, B-splines and weights that are not a tensor product, double knots. Earlier values have
 * no effect, and neither slabs nor threads change a bit. On the host: P5's counts, all rows.
 *
 *     test_interaction [cpu | cuda] [quick] */
#include "core/base/memory.h"
#include "core/matrix/interaction_ops.h"
#include "tests/lib/patch_sample.h"

static hx_device device;

/* P5, Tables 6 to 8 (as merged in the available text): n functions of degree p in each
 * direction. */
static const struct table_row {
    int dim, p, n;
    int64_t n_point, n_dof, n_cell, n_gauss, n_stored;
} table[] = {
    {2, 2, 225, 50625, 101250, 49729, 447561, 2554947},
    {2, 2, 500, 250000, 500000, 248004, 2232036, 12690072},
    {2, 2, 633, 400689, 801378, 398161, 3583449, 20359251},
    {2, 3, 225, 50625, 101250, 49284, 788544, 4936563},
    {2, 3, 320, 102400, 204800, 100489, 1607824, 10030368},
    {2, 3, 388, 150544, 301088, 148225, 2371600, 14773776},
    {2, 4, 160, 25600, 51200, 24336, 608400, 4058400},
    {2, 4, 225, 50625, 101250, 48841, 1221025, 8090675},
    {2, 4, 275, 75625, 151250, 73441, 1836025, 12129675},
    {3, 2, 19, 6859, 20577, 4913, 132651, 3182649},
    {3, 2, 26, 17576, 52728, 13824, 373248, 8606172},
    {3, 2, 33, 35937, 107811, 29791, 804357, 18142461},
    {3, 3, 19, 6859, 20577, 4096, 262144, 7982313},
    {3, 3, 21, 9261, 27783, 5832, 373248, 11085579},
    {3, 3, 26, 17576, 52728, 12167, 778688, 22134864},
    {3, 4, 15, 3375, 10125, 1331, 166375, 6849000},
    {3, 4, 17, 4913, 14739, 2197, 274625, 10594236},
    {3, 4, 19, 6859, 20577, 3375, 421875, 15503568},
};

static void test_counts(void)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct table_row *const row = &table[i];
        hx_interaction_counts counts;
        hx_interaction_count(row->dim, row->p, row->n, &counts);
        CHECK_MSG(counts.n_point == row->n_point && counts.n_dof == row->n_dof &&
                      counts.n_cell == row->n_cell && counts.n_gauss == row->n_gauss &&
                      counts.n_stored == row->n_stored,
                  "%dD degree %d n %d: stored %lld, P5 has %lld", row->dim, row->p, row->n,
                  (long long)counts.n_stored, (long long)row->n_stored);
    }
}

/* The counts by formula equal the actual ones. */
static void test_counts_of(int dim, int degree, int n)
{
    const int size[3] = {n, n, n};
    hx_interaction_counts counts;
    patch_sample s;
    patch_make(&s, dim, degree, size, 0, 0, 0);
    hx_interaction_count(dim, degree, n, &counts);
    const int64_t whole = s.patch.n_block * dim * dim;
    int64_t skyline = 0;
    for (int64_t row = 0; row < s.n_point; row++) {
        int r[3], at[3];
        hx_interaction_place(&s.patch, row, r);
        hx_interaction_column(&s.patch, r, 0, at);
        for (int i = 0; i < dim; i++)
            skyline += dim * (row - hx_interaction_point(&s.patch, at)) + i + 1;
    }
    CHECK(whole - s.n_point * (dim * (dim - 1) / 2) == counts.n_stored);
    CHECK(2 * s.patch.n_block - s.n_point == counts.n_block);
    CHECK(skyline == counts.n_skyline);
    CHECK(s.n_cell == counts.n_cell && s.patch.n_cell == counts.n_cell);
    patch_free(&s);
}

/* Runs a method; returns 0 if the device does not support it. */
static int run_way(void *state, const patch_sample *s, hx_interaction_way way, size_t budget,
                   double *value)
{
    const hx_interaction_ops *const ops = device.ops->interaction;
    const unsigned ways = s->dim == 3 ? ops->ways : ops->plane_ways;
    hx_interaction_time time;
    if (!(ways & 1u << way)) return 0;
    CHECK_OK(ops->run(state, way, budget, &time));
    CHECK_OK(ops->values(state, value));
    CHECK_MSG(time.gradients >= 0.0 && time.pairs >= 0.0, "seconds %g, %g", time.gradients,
              time.pairs);
    return 1;
}

static void check_ways(const patch_sample *s, const double *k, double *value, double *again)
{
    const size_t bytes = (size_t)s->patch.n_block * (size_t)(s->dim * s->dim) * sizeof *value;
    void *state = NULL;
    CHECK_OK(device.ops->interaction->open(&state, &device, &s->patch));
    for (int way = 0; way < HX_N_WAY; way++) {
        const char *const name = hx_interaction_way_name((hx_interaction_way)way);
        if (!run_way(state, s, (hx_interaction_way)way, (size_t)1 << 30, value)) continue;
        const double off = patch_off(s, k, value);
        CHECK_MSG(off <= 1e-13, "%s of %dD degree %d%s: off by %g", name, s->dim, s->degree,
                  s->weight ? " rational" : "", off);
        fixture_set_threads(1);
        run_way(state, s, (hx_interaction_way)way, 1, again);
        fixture_set_threads(2);
        CHECK_MSG(memcmp(value, again, bytes) == 0, "%s: other bits in slabs, on one thread", name);
    }
    device.ops->interaction->close(state);
}

static void test_ways(int dim, int degree, const int n[3], int twice, int rational)
{
    patch_sample s;
    double *k = NULL, *value = NULL, *again = NULL;
    patch_make(&s, dim, degree, n, twice, rational, 1);
    const size_t n_dof = (size_t)(dim * s.n_point);
    const size_t n_value = (size_t)s.patch.n_block * (size_t)(dim * dim);
    CHECK_OK(hx_alloc(&k, n_dof * n_dof, sizeof *k, "a dense K"));
    CHECK_OK(hx_alloc(&value, n_value, sizeof *value, "blocks"));
    CHECK_OK(hx_alloc(&again, n_value, sizeof *again, "blocks"));
    patch_dense(&s, k);
    check_ways(&s, k, value, again);
    free(k);
    free(value);
    free(again);
    patch_free(&s);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status) return status;
    if (!device.ops->interaction) TEST_SKIP("this device has no ways for patches");
    fixture_set_threads(2);
    test_counts();
    for (int degree = 1; degree <= 4; degree++) {
        const int small[3] = {degree + 3, degree + 2, degree + (degree < 4 ? 2 : 1)};
        const int plane[3] = {degree + 5, degree + 4, 1};
        test_counts_of(2, degree, degree + 4);
        test_counts_of(3, degree, degree + 2);
        for (int rational = 0; rational < (quick ? 1 : 2); rational++) {
            test_ways(2, degree, plane, rational, rational);
            test_ways(3, degree, small, 1, 1 - rational);
        }
    }
    hx_device_close(&device);
    TEST_END();
}
