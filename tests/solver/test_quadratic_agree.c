/* Quadratic elements on a device against those on the host: solutions with each operator that
 * stores a matrix and each preconditioner, under loads that include body forces; iterations of
 * multigrid; bitwise equal results of two runs.
 *
 *     test_quadratic_agree [cpu | cuda] */
#include "core/mesh/region.h"
#include "tests/lib/space_box.h"

static hx_device device, host;

/* A box held at x = 0 and by springs below, pulled at its end, with weight and rotation. */
static int make_part(space_box *b, const mixed_box *box)
{
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[3] = {
        {"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
        {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1},
        {NULL, "test", HX_LOAD_CENTRIFUGAL, {0.0, 1.0, 0.2}, 1, {0}, {0.3, 0.1, 0.2}, 0.4}};
    const hx_spring_spec spring = {"bottom", "test", {0.2, 0.1, 0.3}, HX_SPRING_AREA};
    const hx_region left = {.kind = HX_REGION_PLANE, .axis = {1, 0, 0}, .tolerance = 1e-6};
    const hx_region bottom = {.kind = HX_REGION_PLANE, .axis = {0, 0, 1}, .tolerance = 1e-6};
    hx_problem_params params = fixture_problem();
    hx_region right = left;
    HX_TRY(space_box_mesh(b, box, HX_ELEMENT_QUADRATIC));
    right.point[0] = b->mesh.box_max[0];
    HX_TRY(hx_mesh_add_region(&b->mesh, "left", &left));
    HX_TRY(hx_mesh_add_region(&b->mesh, "right", &right));
    HX_TRY(hx_mesh_add_region(&b->mesh, "bottom", &bottom));
    params.density = 1.0;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = 3;
    params.spring = &spring, params.n_spring = 1;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* Solution u at all points for densities rho; returns the number of iterations. */
static int solve(const space_box *b, hx_device *dev, const hx_operator_kind *op_kind,
                 hx_layout layout, const char *precond, const double *rho, double *u)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    settings.op_kind = op_kind;
    settings.layout = layout;
    settings.precond = precond;
    CHECK_OK(fixture_solver_create(&s, dev, &b->problem, &settings));
    CHECK_OK(hx_analysis_solve_density(&s.analysis, rho, 3.0));
    CHECK(s.analysis.record.reason == HX_PCG_CONVERGED);
    CHECK_OK(hx_analysis_point_displacement(&s.analysis, 0, u));
    const int iterations = s.analysis.record.pcg_iterations;
    fixture_solver_free(&s);
    return iterations;
}

static double difference(size_t n, const double *expected, const double *found)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(expected[k]));
    return test_max_difference(n, expected, found) / largest;
}

static int solve_host(const space_box *b, const char *op, const char *precond, const double *rho,
                      double *u)
{
    return solve(b, &host, hx_operator_kind_find("cpu", op), HX_LAYOUT_ROWMAJOR, precond, rho, u);
}

/* Each operator of the device with multigrid and with 3x3 blocks; rounded operators with a wider
 * tolerance. */
static void check_operators(const space_box *b, const char *name, const double *rho)
{
    const size_t n = 3 * (size_t)b->space.n_point;
    double *const u = malloc(3 * n * sizeof *u), *const again = u + n, *const expected = again + n;
    int n_operator = 0;
    if (!u) abort();
    solve_host(b, "csr", "jacobi", rho, expected);
    const int on_host = solve_host(b, "bsr", "multigrid", rho, u);
    CHECK(difference(n, expected, u) <= 1e-10);
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, device.ops->name) != 0 || !op_kind->space_bytes) continue;
        for (int l = 0; l < HX_N_LAYOUT; l++) {
            const hx_layout layout = (hx_layout)l;
            const double tolerance = op_kind->error > 0.0 ? 1e-5 : 1e-10;
            if (!(op_kind->layouts & HX_LAYOUT_BIT(layout))) continue;
            n_operator++;
            const int first = solve(b, &device, op_kind, layout, "multigrid", rho, u);
            const double off = difference(n, expected, u);
            CHECK_MSG(off <= tolerance, "%s, %s %s: %.3g", name, op_kind->name,
                      hx_layout_name(layout), off);
            CHECK_MSG(abs(first - on_host) <= 1, "%s, %s: %d iterations, %d on the host", name,
                      op_kind->name, first, on_host);
            CHECK(solve(b, &device, op_kind, layout, "multigrid", rho, again) == first);
            CHECK_MSG(memcmp(u, again, n * sizeof *u) == 0, "%s, %s: two runs differ", name,
                      op_kind->name);
            solve(b, &device, op_kind, layout, "block-jacobi", rho, u);
            CHECK(difference(n, expected, u) <= tolerance);
        }
    }
    printf("%s: %d operators, %lld points, %d iterations of multigrid\n", name, n_operator,
           (long long)b->space.n_point, on_host);
    CHECK(n_operator >= 3);
    free(u);
}

/* Body loads on the device, added to the others, against the sum of the problem. */
static void check_forces(const space_box *b, const char *name, const double *rho)
{
    const size_t n = 3 * (size_t)b->space.n_point, n_elem = (size_t)b->mesh.n_elem;
    const hx_operator_kind *op_kind = hx_operator_kind_find(device.ops->name, "bsr");
    const hx_body_field *field = hx_problem_body(&b->problem, 0);
    hx_operator op;
    double *const f = malloc(2 * n * sizeof *f), *const expected = f + n;
    if (!f) abort();
    CHECK(field != NULL);
    CHECK_OK(hx_problem_nodal_force(&b->problem, 0, rho, expected));
    CHECK_OK(hx_operator_create(&op, &device, op_kind, hx_layout_first(op_kind), &b->problem, 0));
    double *const d_rho = fixture_put(&device, n_elem, rho);
    double *const d_f = fixture_put(&device, n, b->problem.cases.force[0]);
    CHECK_OK(device.ops->body->force(&device, &op.model, field, d_rho, d_f, d_f));
    fixture_get(&device, n, f, d_f);
    CHECK_MSG(difference(n, expected, f) <= 1e-13, "%s: %.3g", name, difference(n, expected, f));
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_f);
    hx_operator_free(&op);
    free(f);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(hx_device_open(&host, hx_device_find("cpu")));
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {.kind = (mixed_kind)kind,
                               .n = {6, 3, 5},
                               .length = {2, 1, 1},
                               .distort = 0.1,
                               .seed = 6};
        space_box b;
        uint64_t state = 11;
        CHECK_OK(make_part(&b, &box));
        double *const rho = malloc((size_t)b.mesh.n_elem * sizeof *rho);
        if (!rho) abort();
        for (int64_t e = 0; e < b.mesh.n_elem; e++) rho[e] = fixture_uniform(&state, 0.2, 1.0);
        check_forces(&b, mixed_name[kind], rho);
        check_operators(&b, mixed_name[kind], rho);
        free(rho);
        space_box_free(&b);
    }
    hx_device_close(&host);
    hx_device_close(&device);
    TEST_END();
}
