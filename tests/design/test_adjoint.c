/* Adjoint solves of a load that is spread over a face: at the tolerance of a run they leave no
 * larger errors in the derivative of a displacement than the displacements leave in that of the
 * compliance, in no more iterations. Their first guesses are extrapolated, and the derivative does
 * not depend on that.
 *
 *     test_adjoint [cpu | cuda] */
#include "tests/lib/response_rows.h"

static hx_device device;

enum { NX = 32, NY = 16, NZ = 16, N_ELEM = NX * NY * NZ, N_DESIGN = 6 };

static void make_problem(hx_problem *problem, const hx_mesh *mesh)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {
        "right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static void open_solver(fixture_solver *s, const hx_problem *problem, double tolerance,
                        int is_following)
{
    static const row tip = {.kind = "displacement", .set = "right", .direction = {0.0, 0.0, -1.0}};
    static hx_constraint_spec spec;
    fixture_settings settings = fixture_defaults();
    put_specs(&tip, 1, &spec);
    settings.design.volume_fraction = 0.0;
    settings.precond = "multigrid";
    settings.pcg.tolerance = tolerance;
    settings.op_kind = operator_of(&device, problem, "otf");
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = 1, .constraint = &spec, .update = &keeper};
    settings.follows = is_following;
    CHECK_OK(fixture_solver_create(s, &device, problem, &settings));
}

/* The k-th of a sequence of designs that change as those of a run: by up to a tenth, and in places
 * that have a size. */
static void put_design(const fixture_solver *s, int k)
{
    static double rho[N_ELEM];
    for (int e = 0; e < N_ELEM; e++) {
        const double x = e % NX + 0.5, y = e / NX % NY + 0.5, z = e / (NX * NY) + 0.5;
        rho[e] = 0.5 + 0.3 * sin(0.4 * x + 0.1) * cos(0.5 * z) +
                 0.02 * k * sin(0.3 * x) * cos(0.4 * y + 0.2 * z);
    }
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, rho, sizeof rho));
}

/* Derivatives of the compliance and of the displacement. */
typedef struct slopes {
    double of[2][N_ELEM];
} slopes;

static void get_slopes(const fixture_solver *s, slopes *to)
{
    fixture_get(&device, N_ELEM, to->of[0], s->opt.d_dc);
    fixture_get(&device, N_ELEM, to->of[1], s->opt.constraint[0].d_derivative);
}

static double error_of(const slopes *a, const slopes *exact, int i)
{
    double error = 0.0, norm = 0.0;
    for (int e = 0; e < N_ELEM; e++) {
        error += pow(a->of[i][e] - exact->of[i][e], 2.0);
        norm += pow(exact->of[i][e], 2.0);
    }
    return sqrt(error / norm);
}

static int adjoint_iterations(const fixture_solver *s)
{
    return s->analysis.record.pcg_iterations - s->analysis.load_case[0].pcg.iterations;
}

static void check(const hx_problem *problem)
{
    static slopes got, exact;
    fixture_solver run, alone;
    hx_iteration record;
    open_solver(&run, problem, 1e-5, 1);
    CHECK(run.opt.constraint[0].d_last != NULL);
    for (int k = 0; k < N_DESIGN; k++) {
        put_design(&run, k);
        CHECK_OK(hx_optimizer_step(&run.opt, &record));
        CHECK(record.reason == HX_PCG_CONVERGED && record.pcg_residual <= 1e-5);
    }
    get_slopes(&run, &got);
    open_solver(&alone, problem, 1e-12, 0);
    CHECK(!alone.opt.constraint[0].d_last);
    put_design(&alone, N_DESIGN - 1);
    CHECK_OK(hx_optimizer_step(&alone.opt, &record));
    get_slopes(&alone, &exact);
    const int own = run.analysis.load_case[0].pcg.iterations, adjoint = adjoint_iterations(&run);
    const double of_compliance = error_of(&got, &exact, 0), of_tip = error_of(&got, &exact, 1);
    printf("%d iterations, errors %.1e of the compliance; %d, %.1e of the displacement\n", own,
           of_compliance, adjoint, of_tip);
    CHECK(adjoint <= own);
    CHECK(of_tip <= 1.5 * of_compliance && of_compliance <= 1e-5);
    fixture_solver_free(&alone);
    fixture_solver_free(&run);
}

int main(int argc, char **argv)
{
    int quick;
    hx_mesh mesh;
    hx_problem problem;
    const hx_generate_params size = {.nx = NX, .ny = NY, .nz = NZ};
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), &mesh, &size));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    make_problem(&problem, &mesh);
    check(&problem);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
