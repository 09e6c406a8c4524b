/* The fused coarse cycle, in one kernel launch, against the same steps launched one by one.
 *
 *     test_multigrid_fused [cuda] [quick] */
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/hard_models.h"

enum { DOF = HX_MG_DOF, ROUNDINGS = 5 };

static hx_device device;
static const char *context;
static int n_from[HX_FUSED_LEVELS + 1]; /* number of cycles by their number of smoothed levels */

/* The result of a cycle from level l for b. */
static double *solve(hx_multigrid *mg, int l, const float *b)
{
    const size_t n = (size_t)(DOF * mg->level[l].n_node);
    float *d_x, *const x = malloc(n * sizeof *x);
    double *const to = new_doubles(n);
    if (!x) abort();
    CHECK_OK(device.ops->upload(&device, mg->level[l].d_b, b, n * sizeof *b));
    CHECK_OK(hx_mg_cycle(mg, NULL, l, NULL, NULL, &d_x));
    CHECK_OK(device.ops->download(&device, x, d_x, n * sizeof *x));
    for (size_t k = 0; k < n; k++) to[k] = (double)x[k];
    free(x);
    return to;
}

static double largest(size_t n, const double *a, const double *b)
{
    double most = 0.0;
    for (size_t k = 0; k < n; k++) test_worst(&most, fabs(a[k] - (b ? b[k] : 0.0)));
    return most;
}

/* For soft motions the last level amplifies small differences. The two cycles may differ by as much
 * as two cycles whose b differs by rounding, and by at most `most` times the largest motion. */
static void compare(hx_multigrid *mg, int pass, double most)
{
    const int l = mg->fused.first, n_level = mg->fused.n_level;
    const size_t n = (size_t)(DOF * mg->level[l].n_node);
    float *const b = malloc(n * sizeof *b), *const m = malloc(n * sizeof *m);
    uint64_t seed = 5 + (uint64_t)pass;
    if (!b || !m) abort();
    CHECK_OK(device.ops->download(&device, m, mg->level[l].d_m, n * sizeof *m));
    /* the force that a unit displacement causes by the row's own stiffness */
    for (size_t k = 0; k < n; k++)
        b[k] = m[k] > 0.0f ? (float)fixture_uniform(&seed, -1.0, 1.0) / m[k] : 0.0f;
    double *const here = solve(mg, l, b), *const again = solve(mg, l, b);
    mg->fused.n_level = 0;
    double *const launched = solve(mg, l, b);
    double rounding = 0.0;
    /* with few soft motions, a single perturbation may excite none of them */
    for (int time = 0; time < ROUNDINGS; time++) {
        float *const c = malloc(n * sizeof *c);
        if (!c) abort();
        for (size_t k = 0; k < n; k++)
            c[k] = nextafterf(b[k], fixture_uniform(&seed, -1.0, 1.0) > 0.0 ? INFINITY : -INFINITY);
        double *const near = solve(mg, l, c);
        test_worst(&rounding, largest(n, near, launched));
        free(near);
        free(c);
    }
    mg->fused.n_level = n_level;
    CHECK_MSG(memcmp(here, again, n * sizeof *here) == 0, "%s: two runs differ bitwise", context);
    const double size = largest(n, launched, NULL), off = largest(n, here, launched) / size;
    rounding /= size;
    CHECK_MSG(off <= 1e-6 + 10.0 * rounding && off < most,
              "%s: off by %g, by rounding %g, at most %g", context, off, rounding, most);
    if (pass == 0)
        printf("%s: %lld nodes, %d levels, %d steps, %d blocks: off by %.1e, by rounding %.1e\n",
               context, (long long)mg->level[l].n_node, n_level, mg->fused.n_step,
               mg->fused.n_block, off, rounding);
    n_from[n_level]++;
    free(b);
    free(m);
    free(here);
    free(again);
    free(launched);
}

static void check(const sample *of, double most, int n_pass)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    model m;
    context = of->name;
    make_model(&m, of);
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m.modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    hx_multigrid *const mg = s.pc.impl;
    CHECK_OK(hx_mg_direct_wait(mg));
    CHECK_MSG(mg->fused.n_level > 0, "%s: no cycle in one launch", context);
    for (int pass = 0; pass < n_pass && mg->fused.n_level > 0; pass++) compare(mg, pass, most);
    fixture_solver_free(&s);
    free_model(&m);
}

int main(int argc, char **argv)
{
    static const sample large[] = {
        {.name = "2,541 nodes", .part = {.n = {80, 40, 40}}, .pattern = beams, .contrast = 1e9},
        {.name = "above 28 a block",
         .part = {.n = {104, 52, 52}},
         .pattern = beams,
         .contrast = 1e9},
        {.name = "long",
         .part = {.n = {400, 24, 24}, .distort = 0.1},
         .pattern = beams,
         .contrast = 1e3},
        {.name = "flat", .part = {.n = {160, 160, 8}}, .pattern = solid, .contrast = 1.0},
        {.name = "two levels", .part = {.n = {108, 44, 40}}, .pattern = solid, .contrast = 1.0},
        {.name = "two of a beam", .part = {.n = {396, 20, 20}}, .pattern = solid, .contrast = 1.0},
        {.name = "three of a rod", .part = {.n = {28800, 4, 4}}, .pattern = solid, .contrast = 1.0},
    };
    /* a few times the effect of rounding */
    static const double most[] = {0.01, 5e-6, 5e-6, 5e-6, 1e-3, 0.05, 0.05};
    int quick = 0, n_block, n_node;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    if (!device.ops->multigrid->fused) TEST_SKIP("this device has no fused coarse cycle");
    device.ops->multigrid->fused->room(&device, &n_block, &n_node);
    if (n_block == 0) TEST_SKIP("it is unknown how many blocks run at a time here");
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        check(&large[i], most[i], quick ? 2 : 20);
    hx_device_close(&device);
    printf("cycles of 1, 2, 3 levels: %d, %d, %d\n", n_from[1], n_from[2], n_from[3]);
    CHECK(n_block * n_node < 3696 || (n_from[1] > 0 && n_from[2] > 0 && n_from[3] > 0));
    TEST_END();
}
