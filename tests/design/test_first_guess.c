/* Extrapolated first guesses: their energy is lower than that of the last solutions, and solves
 * give the same solutions in no more iterations.
 *
 *     test_first_guess [cpu | cuda] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 12, NY = 6, NZ = 6, N_ELEM = NX * NY * NZ, N_CASE = 2, N_BEFORE = 4 };

static const hx_support_spec support[2] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
    {"corner-x", "test", HX_FIX_Z, {0.0, 0.0, 0.05}}};
static const hx_load_spec load[2] = {{"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
                                     {"right", "test", HX_LOAD_PRESSURE, {0.2}, 2}};

static void make_problem(hx_problem *problem, const hx_mesh *mesh, int n_support)
{
    hx_problem_params params = fixture_problem();
    params.support = support;
    params.n_support = (size_t)n_support;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static void open_solver(fixture_solver *s, const hx_problem *problem, const char *precond)
{
    fixture_settings settings = fixture_defaults();
    settings.precond = precond;
    CHECK_OK(fixture_solver_create(s, &device, problem, &settings));
    s->analysis.warm_start = 1;
}

/* Solves the k-th of a sequence of steadily changing designs. */
static void solve(fixture_solver *s, int k, double tolerance)
{
    double rho[N_ELEM];
    uint64_t state = 5;
    for (int e = 0; e < N_ELEM; e++) {
        const double begin = fixture_uniform(&state, 0.2, 0.6);
        rho[e] = begin + 0.02 * k * fixture_uniform(&state, -1.0, 1.5);
    }
    s->pcg.params.tolerance = tolerance;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, rho, sizeof rho));
    CHECK_OK(hx_analysis_solve(&s->analysis, s->opt.d_design, 3.0));
    CHECK(s->analysis.record.reason == HX_PCG_CONVERGED);
}

/* u'Ku / 2 - f'u of a case; its distance from the minimum is half the energy of the error. */
static double potential(fixture_solver *s, int c)
{
    const hx_linear *const k = &s->op.linear;
    const hx_vector_ops *const vector = device.ops->vector;
    const double *const d_u = s->analysis.d_u[c];
    void *d_t;
    double energy, work;
    CHECK_OK(device.ops->alloc(&device, (size_t)k->n * sizeof(double), &d_t));
    CHECK_OK(k->apply(k, d_u, d_t));
    CHECK_OK(vector->dot(&device, k->n, d_u, d_t, &energy));
    CHECK_OK(hx_analysis_force(&s->analysis, c, d_t));
    CHECK_OK(vector->dot(&device, k->n, d_u, d_t, &work));
    device.ops->release(&device, d_t);
    return 0.5 * energy - work;
}

static void check(const hx_problem *problem, const char *precond)
{
    fixture_solver plain, following;
    double guess[2][N_CASE];
    int n_iteration[2] = {0, 0};
    open_solver(&plain, problem, precond);
    open_solver(&following, problem, precond);
    CHECK_OK(hx_analysis_follow(&following.analysis));
    CHECK(!plain.analysis.d_last && following.analysis.d_last);
    for (int k = 0; k < N_BEFORE; k++)
        for (int i = 0; i < 2; i++) solve(i == 0 ? &plain : &following, k, 1e-10);
    for (int i = 0; i < 2; i++) { /* tolerance so loose that the guess is returned unchanged */
        fixture_solver *const s = i == 0 ? &plain : &following;
        solve(s, N_BEFORE, 1e3);
        CHECK(s->analysis.record.pcg_iterations == 0);
        for (int c = 0; c < N_CASE; c++) guess[i][c] = potential(s, c);
    }
    for (int i = 0; i < 2; i++) {
        fixture_solver *const s = i == 0 ? &plain : &following;
        solve(s, N_BEFORE, 1e-10);
        n_iteration[i] = s->analysis.record.pcg_iterations;
    }
    for (int c = 0; c < N_CASE; c++) {
        const double lowest = potential(&plain, c), before = guess[0][c] - lowest,
                     after = guess[1][c] - lowest;
        printf("%s, case %d: energy of the error %.2e, along the change %.2e\n", precond, c + 1,
               before, after);
        CHECK_MSG(after >= -1e-12 * fabs(lowest) && after <= 0.1 * before,
                  "%s, case %d: %g of %g is left", precond, c + 1, after, before);
        CHECK_REL(potential(&following, c), lowest, 1e-12);
    }
    printf("%s: %d iterations, %d\n", precond, n_iteration[0], n_iteration[1]);
    CHECK(n_iteration[1] <= n_iteration[0]);
    fixture_solver_free(&plain);
    fixture_solver_free(&following);
}

/* A rigid set stays rigid even if the design did not change and the last change consists of
 * single-precision rounding: the compliance equals that of a solve from zero. */
static void check_rigid(const hx_mesh *mesh)
{
    const hx_load_spec rigid[2] = {{.set = "right",
                                    .origin = "test",
                                    .kind = HX_LOAD_REMOTE_RIGID,
                                    .value = {0.1, -0.2, -0.3},
                                    .moment = {0.2, 0.4, -0.1},
                                    .load_case = 1},
                                   {"top", "test", HX_LOAD_PRESSURE, {0.2}, 1}};
    const int design[] = {0, 0, 1, 1, 3};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    fixture_solver following;
    params.support = support;
    params.n_support = 1;
    params.load = rigid;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    open_solver(&following, &problem, "jacobi");
    CHECK_OK(hx_analysis_follow(&following.analysis));
    for (int i = 0; i < 5; i++) {
        double compliance[2];
        fixture_solver plain;
        open_solver(&plain, &problem, "jacobi");
        solve(&plain, design[i], 1e-11);
        solve(&following, design[i], 1e-11);
        CHECK_OK(hx_analysis_compliance(&plain.analysis, &compliance[0]));
        CHECK_OK(hx_analysis_compliance(&following.analysis, &compliance[1]));
        CHECK_REL(compliance[1], compliance[0], 1e-9);
        fixture_solver_free(&plain);
    }
    fixture_solver_free(&following);
    hx_problem_free(&problem);
}

/* Not enabled if an analysis starts from zero or displacements are prescribed. */
static void check_refused(const hx_problem *problem, int warm_start)
{
    fixture_solver s;
    open_solver(&s, problem, "jacobi");
    s.analysis.warm_start = warm_start;
    CHECK_OK(hx_analysis_follow(&s.analysis));
    CHECK(!s.analysis.d_last);
    fixture_solver_free(&s);
}

int main(int argc, char **argv)
{
    int quick;
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.0, 1.0}, 0.1, 1};
    hx_mesh mesh;
    hx_problem problem, prescribed;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    make_problem(&problem, &mesh, 1);
    make_problem(&prescribed, &mesh, 2);
    check(&problem, "jacobi");
    check(&problem, "multigrid");
    check_rigid(&mesh);
    check_refused(&problem, 0);
    check_refused(&prescribed, 1);
    hx_problem_free(&prescribed);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
