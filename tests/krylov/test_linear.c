/* PCG and the preconditioners with an operator other than K: an hx_linear with two unknowns per
 * point, with and without fixed entries. Preconditioners that need more are refused, and so is what
 * a device does not support. */
#include "tests/lib/fixture.h"

static hx_device device;

enum { COMPONENTS = 2, POINTS = 31, N = COMPONENTS * POINTS }; /* N is not a multiple of 3 */

/* A chain: the components of each point are coupled, and each point with the next. */
typedef struct chain {
    int64_t *d_fixed; /* entry 0 is fixed */
    double x[N], y[N];
} chain;

static double entry(int i, int j)
{
    if (i == j) return 2.5 + 0.1 * i;
    if (i / COMPONENTS == j / COMPONENTS) return 0.4;
    return abs(i - j) == COMPONENTS ? -1.0 : 0.0;
}

static int apply_all(const hx_linear *a, const double *d_x, double *d_y)
{
    chain *c = a->context;
    HX_TRY(a->dev->ops->download(a->dev, c->x, d_x, sizeof c->x));
    for (int i = 0; i < N; i++) {
        c->y[i] = 0.0;
        for (int j = 0; j < N; j++) c->y[i] += entry(i, j) * c->x[j];
    }
    return a->dev->ops->upload(a->dev, d_y, c->y, sizeof c->y);
}

static int constrain(const hx_linear *a, double *d_y)
{
    const chain *c = a->context;
    return a->dev->ops->vector->zero_entries(a->dev, 1, c->d_fixed, d_y);
}

static int apply(const hx_linear *a, const double *d_x, double *d_y)
{
    HX_TRY(apply_all(a, d_x, d_y));
    return a->constrain ? a->constrain(a, d_y) : HX_OK;
}

static int diagonal(const hx_linear *a, double *d_diagonal)
{
    double d[N];
    for (int i = 0; i < N; i++) d[i] = entry(i, i);
    HX_TRY(a->dev->ops->upload(a->dev, d_diagonal, d, sizeof d));
    return a->constrain ? a->constrain(a, d_diagonal) : HX_OK;
}

static hx_linear linear_of(chain *c)
{
    return (hx_linear){.dev = &device,
                       .name = "chain",
                       .n = N,
                       .components = COMPONENTS,
                       .context = c,
                       .apply = apply,
                       .diagonal = diagonal};
}

/* Solves for a known x from A x; a fixed entry has a prescribed value. */
static void test_solve(const char *precond, int is_fixed)
{
    static const int64_t first = 0;
    const hx_pcg_params params = {
        .criterion = HX_PCG_RELATIVE, .tolerance = 1e-13, .max_iterations = 10 * N};
    chain c = {0};
    hx_linear a = linear_of(&c);
    hx_precond pc;
    hx_pcg pcg;
    hx_pcg_result result = {.reason = HX_PCG_RUNNING};
    double exact[N], f[N], u[N], prescribed[N] = {0.0};
    uint64_t state = 7;
    for (int i = 0; i < N; i++) exact[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int i = 0; i < N; i++) {
        f[i] = 0.0;
        for (int j = 0; j < N; j++) f[i] += entry(i, j) * exact[j];
    }
    if (is_fixed) {
        prescribed[0] = exact[0];
        f[0] = 1e3; /* a load at a fixed entry is carried by the support */
        CHECK_OK(hx_device_put(&device, &c.d_fixed, &first, sizeof first));
        a.constrain = constrain;
        a.apply_all = apply_all;
        a.d_prescribed = fixture_put(&device, N, prescribed);
    }
    double *d_f = fixture_put(&device, N, f), *d_u = fixture_put(&device, N, prescribed);
    CHECK_OK(hx_precond_create(&pc, hx_precond_find(precond), &a, NULL));
    CHECK_OK(hx_precond_setup(&pc));
    CHECK_OK(hx_pcg_create(&pcg, &params, &a, &pc));
    CHECK_OK(hx_pcg_solve(&pcg, &a, &pc, d_f, d_u, &result));
    fixture_get(&device, N, u, d_u);
    const double error = test_max_difference(N, u, exact);
    CHECK_MSG(result.reason == HX_PCG_CONVERGED && error <= 1e-11, "%s, %s: %s, off by %g", precond,
              is_fixed ? "fixed" : "free", hx_pcg_reason_name(result.reason), error);
    hx_pcg_free(&pcg);
    hx_precond_free(&pc);
    device.ops->release(&device, d_f);
    device.ops->release(&device, d_u);
    device.ops->release(&device, c.d_fixed);
    device.ops->release(&device, (void *)(uintptr_t)a.d_prescribed);
}

static void check_refused(int rc, const char *what, const char *word)
{
    CHECK_MSG(rc == HX_EINPUT && strstr(hx_error_message(), word), "%s: %d, %s", what, rc,
              hx_error_message());
}

/* Preconditioners that need more than an hx_linear, or more components. */
static void test_refused(void)
{
    const hx_pcg_params mixed = {.precision = HX_PRECISION_MIXED, .tolerance = 1e-6};
    chain c = {0};
    const hx_linear a = linear_of(&c);
    hx_precond pc;
    hx_pcg pcg;
    check_refused(hx_precond_create(&pc, hx_precond_find("multigrid"), &a, NULL), "multigrid",
                  "'chain'");
    check_refused(hx_precond_create(&pc, hx_precond_find("block-jacobi"), &a, NULL), "block-jacobi",
                  "'chain'");
    CHECK_OK(hx_precond_create(&pc, hx_precond_find("jacobi"), &a, NULL));
    check_refused(hx_pcg_create(&pcg, &mixed, &a, &pc), "mixed", "'chain'");
    hx_precond_free(&pc);
}

/* A device without the optional tables: an error names each one that is needed, and everything else
 * works. */
static void test_optional(void)
{
    const fixture_box box = {{4, 2, 2}, {4.0, 2.0, 2.0}, 0.0, 0};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 0.0, -1.0}, 1};
    const hx_device_ops *const whole = device.ops;
    hx_device_ops least = *whole;
    hx_pcg_ops pcg_ops = *whole->pcg;
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_mesh mesh;
    hx_problem problem;
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    pcg_ops.start_single = NULL;
    least.pcg = &pcg_ops;
    least.rigid = NULL, least.body = NULL, least.multigrid = NULL, least.helmholtz = NULL;
    least.matrix_free = NULL;
    device.ops = &least;

    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    fixture_solver_free(&s);
    settings.precond = "multigrid";
    check_refused(fixture_solver_create(&s, &device, &problem, &settings), "multigrid",
                  "multigrid");
    settings.precond = "jacobi", settings.filter = "helmholtz";
    settings.filter_params.radius = 2.0;
    check_refused(fixture_solver_create(&s, &device, &problem, &settings), "helmholtz",
                  "helmholtz");
    settings.filter = "none", settings.pcg.precision = HX_PRECISION_MIXED;
    settings.op_kind = hx_operator_kind_find(whole->name, "otf");
    check_refused(fixture_solver_create(&s, &device, &problem, &settings), "mixed", "mixed");
    settings.pcg.precision = HX_PRECISION_DOUBLE;
    problem.rigid.n = 1;
    check_refused(fixture_solver_create(&s, &device, &problem, &settings), "rigid", "rigid");
    problem.rigid.n = 0;
    hx_body_field body = {.alone = 1};
    problem.cases.body = &body;
    check_refused(fixture_solver_create(&s, &device, &problem, &settings), "body", "mass");
    problem.cases.body = NULL;

    device.ops = whole;
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
        test_solve("none", is_fixed);
        test_solve("jacobi", is_fixed);
    }
    test_refused();
    test_optional();
    hx_device_close(&device);
    TEST_END();
}
