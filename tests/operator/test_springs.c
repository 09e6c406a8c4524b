/* Springs to ground: a bar on a spring in closed form, K with springs against a dense model for
 * every operator, the first coarse matrix of multigrid, iterations, and which springs hold a body.
 *
 *     test_springs [cpu | cuda] [quick] */
#include "core/multigrid/coarse_springs.h"
#include "tests/lib/dense_model.h"

static int same(double a, double b)
{
    return fabs(a - b) <= 1e-13 * fabs(b);
}

/* A bar along x with Poisson's ratio 0, held in x by springs of total stiffness k at its left end
 * and pulled by F: u = F / k + F x / (E A). */
static void check_bar(hx_spring_share per, const char *precond)
{
    const fixture_box box = {{8, 3, 3}, {4.0, 1.5, 0.8}, 0.2, 0};
    const double area = 1.5 * 0.8, young = 30.0, force = 2.0, k = 11.0;
    const hx_support_spec support[2] = {{"front", "test", HX_FIX_Y, {0.0, 0.0, 0.0}},
                                        {"bottom", "test", HX_FIX_Z, {0.0, 0.0, 0.0}}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {force / area, 0.0, 0.0}, 1};
    const double size = per == HX_SPRING_AREA ? k / area : k;
    const hx_spring_spec spring = {"left", "test", {size, 0.0, 0.0}, per};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    hx_mesh mesh;
    hx_problem problem;
    settings.precond = precond;
    settings.pcg.tolerance = 1e-11;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    params.young = young;
    params.poisson = 0.0;
    params.support = support;
    params.n_support = 2;
    params.load = &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    double sum = 0.0;
    for (int64_t i = 0; i < problem.springs.n; i++) sum += problem.springs.stiffness[i];
    CHECK_REL(sum, k, 1e-13);
    CHECK(problem.springs.n == 16 && problem.springs.dof[3] % 3 == 0);
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.reason == HX_PCG_CONVERGED);
    double *u = malloc(3 * (size_t)mesh.n_node * sizeof *u), error = 0.0;
    CHECK_OK(hx_analysis_displacement(&s.analysis, 0, u));
    for (int64_t a = 0; a < mesh.n_node; a++)
        test_worst(&error, fabs(u[3 * a] - force / k - force * mesh.xyz[3 * a] / (young * area)));
    CHECK_MSG(error <= 1e-8 * force / k, "%s: displacement off by %g", precond, error);
    CHECK_REL(record.compliance, force * force * (1.0 / k + 4.0 / (young * area)), 1e-9);
    double reaction[3], held[3];
    CHECK_OK(hx_analysis_reaction(&s.analysis, 0, reaction));
    CHECK_OK(hx_analysis_spring_force(&s.analysis, 0, held));
    CHECK_ABS(reaction[0], 0.0, 1e-9);
    CHECK_REL(held[0], -force, 1e-9);
    CHECK_ABS(held[1], 0.0, 1e-12);
    free(u);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* Distribution of stiffness: by nodes, by area if there is a surface, and two springs on one
 * node. */
static void check_shares(void)
{
    const fixture_box box = {{2, 1, 1}, {3.0, 1.0, 2.0}, 0.0, 0};
    const hx_spring_spec spring[] = {{"left", "test", {0.0, 0.0, 4.0}, HX_SPRING_NODE},
                                     {"left", "test", {0.0, 0.0, 1.0}, HX_SPRING_AREA},
                                     {"right-lower-edge", "test", {6.0, 2.0, 0.0}, HX_SPRING_TOTAL},
                                     {"origin", "test", {0.0, 0.0, 8.0}, HX_SPRING_TOTAL}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {1.0, 0.0, 0.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_mesh mesh;
    hx_problem problem;
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &load;
    params.n_load = 1;
    params.spring = spring;
    params.n_spring = 4;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK(problem.springs.n == 8); /* z of four nodes, x and y of two */
    for (int64_t k = 0; k < problem.springs.n; k++) {
        const double *x = mesh.xyz + problem.springs.dof[k] / 3 * 3;
        const int i = (int)(problem.springs.dof[k] % 3);
        const double at_origin = x[0] + x[1] + x[2] == 0.0 ? 8.0 : 0.0;
        const double want = i == 2 ? 4.0 + 0.5 + at_origin : i == 1 ? 1.0 : 3.0;
        CHECK_MSG(same(problem.springs.stiffness[k], want), "spring %d: %g, not %g", (int)k,
                  problem.springs.stiffness[k], want);
        CHECK(k == 0 || problem.springs.dof[k] > problem.springs.dof[k - 1]);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* Springs of random stiffness at every third degree of freedom, including fixed ones. */
static void add_springs(hx_problem *problem, double size)
{
    const int64_t n_dof = 3 * problem->mesh->n_node;
    uint64_t seed = 4;
    problem->springs.dof = malloc((size_t)n_dof * sizeof(int64_t));
    problem->springs.stiffness = malloc((size_t)n_dof * sizeof(double));
    for (int64_t k = 0; k < n_dof; k++) {
        if (fixture_uniform(&seed, 0.0, 1.0) > 0.3) continue;
        problem->springs.dof[problem->springs.n] = k;
        problem->springs.stiffness[problem->springs.n++] = size * fixture_uniform(&seed, 0.5, 2.0);
    }
}

/* Products, diagonals and blocks of every operator, with supports and without. */
static void check_products(model *m)
{
    const size_t bytes = N_DOF * sizeof(double);
    double x[N_DOF], y[N_DOF], want[N_DOF];
    uint64_t seed = 8;
    size_t i = 0;
    int layout_at = 0;
    hx_layout layout;
    const hx_operator_kind *op_kind;
    for (int k = 0; k < N_DOF; k++) x[k] = fixture_uniform(&seed, -1.0, 1.0);
    while ((op_kind = fixture_next_operator_kind(&device, &i, &layout_at, &layout))) {
        hx_operator op;
        double error[4] = {0.0, 0.0, 0.0, 0.0}, largest = 0.0;
        double *d_x = fixture_put(&device, N_DOF, x), *d_y = fixture_put(&device, N_DOF, x);
        double *d_block = fixture_put(&device, 6 * N_NODE, NULL), block[6 * N_NODE];
        CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, &m->problem, 0));
        CHECK_OK(hx_operator_set_modulus(&op, m->modulus));
        CHECK(!op.linear.apply_dot);
        for (int masked = 0; masked < 2; masked++) {
            CHECK_OK(masked ? hx_operator_apply(&op, d_x, d_y)
                            : hx_operator_apply_unmasked(&op, d_x, d_y));
            CHECK_OK(device.ops->download(&device, y, d_y, bytes));
            for (int r = 0; r < N_DOF; r++) {
                want[r] = 0.0;
                if (masked && is_fixed(m, r)) continue;
                for (int c = 0; c < N_DOF; c++) want[r] += m->k[r * N_DOF + c] * x[c];
            }
            for (int r = 0; r < N_DOF; r++) {
                test_worst(&largest, fabs(want[r]));
                test_worst(&error[masked], fabs(y[r] - want[r]));
            }
        }
        CHECK_OK(hx_operator_diagonal(&op, d_y));
        CHECK_OK(device.ops->download(&device, y, d_y, bytes));
        CHECK_OK(hx_operator_block_diagonal(&op, d_block));
        CHECK_OK(device.ops->download(&device, block, d_block, sizeof block));
        for (int r = 0; r < N_DOF; r++) {
            const double entry = is_fixed(m, r) ? 0.0 : m->k[r * N_DOF + r];
            static const int at[3] = {0, 3, 5};
            test_worst(&error[2], fabs(y[r] - entry));
            test_worst(&error[3], fabs(block[6 * (r / 3) + at[r % 3]] - masked_entry(m, r, r)));
        }
        for (int e = 0; e < 4; e++)
            CHECK_MSG(error[e] <= 1e-12 * largest, "%s %s: error %d: %g of %g", op_kind->name,
                      hx_layout_name(layout), e, error[e], largest);
        double *const d[] = {d_x, d_y, d_block};
        for (int e = 0; e < 3; e++) device.ops->release(&device, d[e]);
        hx_operator_free(&op);
    }
}

/* Products in single precision, without fixed rows. Solves in mixed precision would hide missing
 * springs, because their true residuals are computed in double precision. */
static void check_single_products(const model *m)
{
    size_t i = 0;
    int layout_at = 0, n_checked = 0;
    hx_layout layout;
    const hx_operator_kind *op_kind;
    uint64_t seed = 9;
    double x[N_DOF];
    float single[N_DOF];
    for (int k = 0; k < N_DOF; k++) single[k] = (float)fixture_uniform(&seed, -1.0, 1.0);
    for (int k = 0; k < N_DOF; k++) x[k] = (double)single[k];
    while ((op_kind = fixture_next_operator_kind(&device, &i, &layout_at, &layout))) {
        hx_operator op;
        double error = 0.0, largest = 0.0;
        float y[N_DOF], *d_x, *d_y;
        if (!op_kind->apply_single) continue;
        CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, &m->problem, 0));
        CHECK_OK(hx_operator_set_modulus(&op, m->modulus));
        if (op_kind->prepare_single) CHECK_OK(op_kind->prepare_single(op.state));
        CHECK_OK(device.ops->alloc(&device, sizeof single, &d_x));
        CHECK_OK(device.ops->alloc(&device, sizeof y, &d_y));
        CHECK_OK(device.ops->upload(&device, d_x, single, sizeof single));
        CHECK_OK(hx_operator_apply_single(&op, d_x, d_y));
        CHECK_OK(device.ops->download(&device, y, d_y, sizeof y));
        for (int r = 0; r < N_DOF; r++) {
            double want = 0.0;
            for (int c = 0; c < N_DOF && !is_fixed(m, r); c++) want += m->k[r * N_DOF + c] * x[c];
            test_worst(&largest, fabs(want));
            test_worst(&error, fabs((double)y[r] - want));
        }
        CHECK_MSG(error <= 3e-6 * largest, "%s %s in single precision: %g of %g", op_kind->name,
                  hx_layout_name(layout), error, largest);
        device.ops->release(&device, d_x);
        device.ops->release(&device, d_y);
        hx_operator_free(&op);
        n_checked++;
    }
    CHECK(n_checked > 0);
}

static void check_solution(model *m, const char *precond, hx_precision precision)
{
    fixture_settings settings = fixture_defaults();
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.precond = precond;
    settings.pcg.precision = precision;
    settings.pcg.tolerance = 1e-10;
    const hx_pcg_result result = solve(m, &settings, NULL);
    CHECK_MSG(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-7, "%s: %s, off by %g",
              settings.precond, hx_pcg_reason_name(result.reason), error_of(m));
}

/* Solutions with every preconditioner and precision, with and without prescribed displacements. */
static void check_solutions(model *m)
{
    for (size_t i = 0; hx_preconds[i]; i++)
        if (!hx_preconds[i]->runs_on || hx_preconds[i]->runs_on(device.ops))
            check_solution(m, hx_preconds[i]->name, HX_PRECISION_DOUBLE);
    check_solution(m, "jacobi", HX_PRECISION_MIXED);
}

static void check_dense(int prescribed)
{
    model m;
    CHECK_OK(make_model(&m, prescribed));
    add_springs(&m.problem, 0.4);
    for (int64_t k = 0; k < m.problem.springs.n; k++)
        m.k[m.problem.springs.dof[k] * (N_DOF + 1)] += m.problem.springs.stiffness[k];
    solve_dense(&m);
    check_products(&m);
    check_single_products(&m);
    check_solutions(&m);
    free_model(&m);
}

/* Iterations for a solid box held at its left end by springs of stiffness k per area, or fixed. */
static int iterations(double k, const char *precond)
{
    const fixture_box box = {{24, 8, 8}, {24.0, 8.0, 8.0}, 0.1, 0};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 0.1, -1.0}, 1};
    const hx_spring_spec spring = {"left", "test", {k, k, k}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    hx_mesh mesh;
    hx_problem problem;
    settings.precond = precond;
    settings.pcg.tolerance = 1e-8;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    params.support = &support;
    params.n_support = k > 0.0 ? 0 : 1;
    params.spring = &spring;
    params.n_spring = k > 0.0 ? 1 : 0;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    return record.pcg_iterations;
}

static void check_iterations(void)
{
    static const double stiffness[] = {1e-4, 1e-2, 1.0, 1e2, 1e4};
    const int fixed = iterations(0.0, "multigrid");
    for (int i = 0; i < 5; i++) {
        const int n = iterations(stiffness[i], "multigrid");
        printf("multigrid: %d iterations on springs of %g per area, %d fixed\n", n, stiffness[i],
               fixed);
        CHECK_MSG(n <= fixed + 8, "%d iterations on springs, %d fixed", n, fixed);
    }
}

/* dC/drho of a part on springs under a load and its own weight, against differences. */
static void check_derivatives(void)
{
    enum { N = 18 };
    const fixture_box box = {{3, 3, 2}, {3.0, 2.0, 1.0}, 0.15, 1};
    const hx_support_spec support = {"corner-x", "test", HX_FIX_Z, {0.0, 0.0, 0.02}};
    const hx_load_spec load[] = {
        {"top", "test", HX_LOAD_PRESSURE, {0.2}, 1},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.3, -0.1}, .load_case = 1}};
    const hx_spring_spec spring = {"left", "test", {0.3, 0.2, 0.1}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    hx_mesh mesh;
    hx_problem problem;
    double density[N], dc[N];
    uint64_t state = 3;
    settings.design.volume_fraction = 0.5;
    for (int e = 0; e < N; e++) density[e] = fixture_uniform(&state, 0.2, 0.9);
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    params.density = 1.0;
    params.support = &support;
    params.n_support = 1;
    params.spring = &spring;
    params.n_spring = 1;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int e = 0; e < N; e += 3) {
        double c[2];
        for (int i = 0; i < 2; i++) {
            const double moved = density[e] + (i ? 1e-4 : -1e-4);
            CHECK_OK(device.ops->upload(&device, s.opt.d_design + e, &moved, sizeof moved));
            CHECK_OK(hx_optimizer_step(&s.opt, &record));
            c[i] = record.compliance;
        }
        CHECK_OK(device.ops->upload(&device, s.opt.d_design + e, &density[e], sizeof(double)));
        CHECK_MSG(fabs((c[1] - c[0]) / 2e-4 - dc[e]) <= 1e-5 * fabs(dc[e]) + 1e-8,
                  "element %d: %g, %g", e, (c[1] - c[0]) / 2e-4, dc[e]);
    }
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

static void check_refusals(void)
{
    const fixture_box box = {{2, 2, 2}, {1.0, 1.0, 1.0}, 0.0, 0};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {1.0, 0.0, 0.0}, 1};
    hx_spring_spec spring = {"left", "test", {1.0, 0.0, 1.0}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    hx_mesh mesh;
    hx_problem problem;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.load = &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = 1;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, "translation along y");
    spring.stiffness[1] = 1e-3;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params)); /* held by springs only */
    hx_problem_free(&problem);
    spring.set = "right-lower-edge";
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT,
                "a stiffness per area needs a surface");
    spring.per = HX_SPRING_TOTAL;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, "rotation about an axis");
    spring.stiffness[0] = -1.0;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, "not negative");
    memset(spring.stiffness, 0, sizeof spring.stiffness);
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, "0 in every direction");
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_shares();
    check_refusals();
    check_bar(HX_SPRING_TOTAL, "jacobi");
    check_bar(HX_SPRING_AREA, "multigrid");
    check_dense(0);
    check_dense(1);
    check_derivatives();
    check_iterations();
    hx_device_close(&device);
    TEST_END();
}
