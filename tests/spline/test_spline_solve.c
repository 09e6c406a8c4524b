/* Splines solved on the CPU: linear fields, sets and loads through the problem's interface,
 * multigrid with an assembled matrix at a contrast of 1e9, sensitivities by differences, stresses,
 * heat. */
#include "core/stress/stress.h"
#include "tests/lib/spline_model.h"

static hx_device device;

static void bend(const double x[3], double y[3])
{
    y[0] = x[0] + 0.1 * x[1] * x[2] - 0.05 * x[0] * x[1];
    y[1] = 1.2 * x[1] + 0.15 * x[0] * x[2];
    y[2] = 0.8 * x[2] - 0.1 * x[0] * x[1];
}

static void linear_field(const double x[3], double u[3])
{
    u[0] = 0.3 + 0.2 * x[0] - 0.1 * x[1] + 0.4 * x[2];
    u[1] = -0.2 + 0.5 * x[0] + 0.3 * x[1] + 0.1 * x[2];
    u[2] = 0.1 - 0.3 * x[0] + 0.2 * x[1] - 0.2 * x[2];
}

/* A problem on a row of patches along x, fixed at its start. */
static int make_problem(hx_problem *problem, const spline_model *s, size_t n_load,
                        const hx_load_spec *load, size_t n_support, const hx_support_spec *support)
{
    hx_problem_params params = fixture_problem();
    params.space = &s->space;
    params.support = support;
    params.n_support = n_support;
    params.load = load;
    params.n_load = n_load;
    params.density = 2.0;
    return hx_problem_create(problem, &s->mesh, &params);
}

static const hx_support_spec clamped[] = {
    {.set = "patch1:u-", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z}};

static int open_solver(fixture_solver *solver, const hx_problem *problem, const char *op,
                       const char *precond, double tolerance)
{
    fixture_settings settings = fixture_defaults();
    settings.op_kind = hx_operator_kind_of(hx_operator_kind_find("cpu", op), problem->components);
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = precond;
    settings.pcg.tolerance = tolerance;
    return fixture_solver_create(solver, &device, problem, &settings);
}

/* A linear field prescribed on all sides is the solution, and its stress is constant. */
static void check_patch(const int degree[3], const int n_span[3], const int twice[3])
{
    const hx_support_spec support[] = {
        clamped[0],
        {.set = "patch2:u+", .origin = "test", .fix = HX_FIX_X, .value = {0.1, 0.0, 0.0}}};
    spline_model s;
    hx_problem problem;
    fixture_solver solver;
    hx_stress stress;
    hx_cell_stress cell;
    double worst = 0.0, jump = 0.0;
    int64_t n_inner = 0;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, twice, 0, bend));
    CHECK_OK(make_problem(&problem, &s, 0, NULL, 2, support));
    for (int k = 0; k < 2; k++)
        for (int side = 0; side < 6; side++) {
            char name[64];
            int64_t n;
            int32_t *point;
            if (side == (k == 0 ? 1 : 0)) continue; /* glued */
            const hx_set *const set = hx_mesh_find_set(
                &s.mesh, hx_spline_side_text((hx_spline_side){k, side}, name, sizeof name));
            CHECK_OK(hx_space_set_points(&s.space, set, &n, &point));
            for (int64_t i = 0; i < n; i++) {
                const int64_t a = point[i];
                problem.supports.fixed[a] = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
                linear_field(s.space.xyz + 3 * a, problem.supports.prescribed + 3 * a);
            }
            free(point);
        }
    CHECK_OK(open_solver(&solver, &problem, "bsrsym", "jacobi", 1e-14));
    CHECK_OK(hx_analysis_solve_density(&solver.analysis, NULL, 1.0));
    CHECK(solver.analysis.record.reason == HX_PCG_CONVERGED);
    double *const u = malloc(3 * (size_t)s.space.n_point * sizeof *u);
    CHECK_OK(hx_analysis_point_displacement(&solver.analysis, 0, u));
    for (int64_t a = 0; a < s.space.n_point; a++) {
        double expected[3];
        n_inner += !problem.supports.fixed[a];
        linear_field(s.space.xyz + 3 * a, expected);
        for (int i = 0; i < 3; i++) test_worst(&worst, fabs(u[3 * a + i] - expected[i]));
    }
    hx_stress_create(&stress, &problem);
    const double l = problem.lambda, m = problem.mu, xx = l * (0.2 + 0.3 - 0.2) + 2.0 * m * 0.2,
                 xy = m * (-0.1 + 0.5), xz = m * (0.4 - 0.3);
    for (int64_t e = 0; e < s.mesh.n_elem; e++) {
        hx_stress_cell(&stress, e, 1.0, u, &cell);
        for (int q = 0; q < cell.n; q++) {
            test_worst(&jump, fabs(cell.value[q][0] - xx));
            test_worst(&jump, fabs(cell.value[q][3] - xy));
        }
        for (int a = 0; a < cell.n_corner; a++) {
            test_worst(&jump, fabs(cell.corner[a][0] - xx));
            test_worst(&jump, fabs(cell.corner[a][5] - xz));
        }
    }
    double *const nodal = malloc(3 * (size_t)s.mesh.n_node * sizeof *nodal);
    CHECK_OK(hx_analysis_displacement(&solver.analysis, 0, nodal));
    for (int64_t a = 0; a < s.mesh.n_node; a++) {
        double expected[3];
        linear_field(s.mesh.xyz + 3 * a, expected);
        for (int i = 0; i < 3; i++) test_worst(&worst, fabs(nodal[3 * a + i] - expected[i]));
    }
    CHECK(n_inner > 0);
    CHECK_MSG(worst <= 1e-10, "%.3g", worst);
    CHECK_MSG(jump <= 1e-9, "%.3g", jump);
    free(u);
    free(nodal);
    fixture_solver_free(&solver);
    hx_problem_free(&problem);
    spline_model_free(&s);
}

static void test_patch(void)
{
    const int two[3] = {2, 2, 2}, some[3] = {2, 3, 2}, twice[3] = {1, 0, 0}, mixed[3] = {2, 1, 3};
    check_patch(two, some, twice);
    check_patch(mixed, some, twice);
}

/* Resultants of every load, and reactions that balance them. */
static void test_loads(void)
{
    const int degree[3] = {2, 3, 2}, n_span[3] = {3, 2, 2}, none[3] = {0, 0, 0};
    const hx_load_spec load[] = {
        {.set = "patch1:u+",
         .origin = "test",
         .kind = HX_LOAD_TOTAL_FORCE,
         .value = {1.0, 2.0, 3.0},
         .load_case = 1},
        {.set = "patch1:w+",
         .origin = "test",
         .kind = HX_LOAD_PRESSURE,
         .value = {0.5, 0.0, 0.0},
         .load_case = 2},
        {.set = "patch1:u+",
         .origin = "test",
         .kind = HX_LOAD_NODE_FORCE,
         .value = {0.0, 1.0, 0.0},
         .load_case = 3},
        {.set = "patch1:u+",
         .origin = "test",
         .kind = HX_LOAD_REMOTE,
         .value = {1.0, 0.0, 0.0},
         .moment = {0.2, 0.3, -0.1},
         .point = {2.0, 0.5, 1.0},
         .load_case = 4},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.0, -9.81}, .load_case = 5}};
    spline_model s;
    hx_problem problem;
    fixture_solver solver;
    double total[3], reaction[3], moment[3] = {0.0};
    CHECK_OK(spline_model_row(&s, 1, degree, n_span, none, 1, bend));
    CHECK_OK(make_problem(&problem, &s, 5, load, 1, clamped));
    hx_problem_total_force(&problem, 0, total);
    for (int i = 0; i < 3; i++) CHECK_REL(total[i], i + 1.0, 1e-12);
    hx_problem_total_force(&problem, 2, total);
    CHECK_REL(total[1], 9.0, 1e-12); /* 3 x 3 nodes of the image */
    hx_problem_total_force(&problem, 3, total);
    CHECK_REL(total[0], 1.0, 1e-12);
    for (int64_t a = 0; a < s.space.n_point;
         a++) { /* the work of rotations equals that of the moment */
        const double *const x = s.space.xyz + 3 * a, *const f = problem.cases.force[3] + 3 * a;
        for (int i = 0; i < 3; i++)
            moment[i] += x[(i + 1) % 3] * f[(i + 2) % 3] - x[(i + 2) % 3] * f[(i + 1) % 3];
    }
    CHECK_REL(moment[0], 0.2, 1e-12);
    CHECK_REL(moment[1], 0.3 + 1.0, 1e-12);
    CHECK_REL(moment[2], -0.1 - 0.5, 1e-12);
    CHECK_OK(open_solver(&solver, &problem, "bsr", "block-jacobi", 1e-12));
    double *const one = malloc((size_t)s.mesh.n_elem * sizeof *one);
    for (int64_t e = 0; e < s.mesh.n_elem; e++) one[e] = 1.0;
    CHECK_OK(hx_analysis_solve_density(&solver.analysis, one, 1.0));
    for (int c = 0; c < 5; c++) {
        CHECK_OK(hx_analysis_load(&solver.analysis, c, total));
        CHECK_OK(hx_analysis_reaction(&solver.analysis, c, reaction));
        for (int i = 0; i < 3; i++) CHECK(fabs(total[i] + reaction[i]) <= 1e-8);
    }
    double volume = 0.0;
    for (int64_t e = 0; e < s.mesh.n_elem; e++) {
        hx_spline_cell cell;
        hx_spline_place place;
        hx_space_spline_cell(&s.space, e, &cell, &place);
        for (int q = 0; q < cell.n; q++) volume += place.volume[q];
    }
    CHECK_REL(total[2], -9.81 * 2.0 * volume, 1e-12);
    hx_problem_total_body(&problem, 4, one, total);
    CHECK_REL(total[2], -9.81 * 2.0 * volume, 1e-12);
    free(one);
    fixture_solver_free(&solver);
    hx_problem_free(&problem);
    spline_model_free(&s);
}

/* Multigrid iterations if moduli differ by 1e9; the solution equals the one with Jacobi. */
static void check_multigrid(const int degree[3], const int n_span[3], int n_patch, int most)
{
    const int none[3] = {0, 0, 0};
    char end[32];
    snprintf(end, sizeof end, "patch%d:u+", n_patch);
    const hx_load_spec load = {.set = end,
                               .origin = "test",
                               .kind = HX_LOAD_TRACTION,
                               .value = {0.0, 0.1, 1.0},
                               .load_case = 1};
    spline_model s;
    hx_problem problem;
    fixture_solver solver;
    double compliance;
    uint64_t state = 9;
    CHECK_OK(spline_model_row(&s, n_patch, degree, n_span, none, 0, bend));
    CHECK_OK(make_problem(&problem, &s, 1, &load, 1, clamped));
    double *const rho = malloc((size_t)s.mesh.n_elem * sizeof *rho);
    for (int64_t e = 0; e < s.mesh.n_elem; e++) { /* solid bars */
        double x[3];
        hx_mesh_centroid(&s.mesh, e, x);
        const int solid = fmod(3.0 * x[1] + 10.0, 1.0) < 0.5 || fmod(3.0 * x[2] + 10.0, 1.0) < 0.4;
        rho[e] = solid ? fixture_uniform(&state, 0.5, 1.0) : 1e-3;
    }
    CHECK_OK(open_solver(&solver, &problem, "bsr", "multigrid", 1e-8));
    CHECK_OK(hx_analysis_solve_density(&solver.analysis, rho, 3.0));
    CHECK(solver.analysis.record.reason == HX_PCG_CONVERGED);
    CHECK_OK(hx_analysis_compliance(&solver.analysis, &compliance));
    printf("degree %d, %lld spans, %lld control points: %d iterations, compliance %.9g\n",
           degree[0], (long long)s.mesh.n_elem, (long long)s.space.n_point,
           solver.analysis.record.pcg_iterations, compliance);
    CHECK(solver.analysis.record.pcg_iterations <= most);
    free(rho);
    fixture_solver_free(&solver);
    hx_problem_free(&problem);
    spline_model_free(&s);
}

static void test_multigrid(void)
{
    const int two[3] = {2, 2, 2}, three[3] = {3, 3, 3}, n[3] = {8, 8, 8}, n3[3] = {6, 6, 6};
    check_multigrid(two, n, 2, 20);
    check_multigrid(three, n3, 1, 20);
}

static double compliance_at(fixture_solver *s, double *rho, int64_t e, double value)
{
    double compliance;
    const double kept = rho[e];
    rho[e] = value;
    CHECK_OK(hx_analysis_solve_density(&s->analysis, rho, 3.0));
    CHECK_OK(hx_analysis_compliance(&s->analysis, &compliance));
    rho[e] = kept;
    return compliance;
}

/* dC / drho = -p rho^(p - 1) u'Ku against differences; the energies sum to the compliance. */
static void check_sensitivities(int is_rational)
{
    const int degree[3] = {2, 3, 2}, n_span[3] = {3, 2, 2}, twice[3] = {2, 0, 0};
    const hx_load_spec load = {.set = "patch2:u+",
                               .origin = "test",
                               .kind = HX_LOAD_TRACTION,
                               .value = {0.0, 0.1, 1.0},
                               .load_case = 1};
    spline_model s;
    hx_problem problem;
    fixture_solver solver;
    uint64_t state = 4;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, twice, is_rational, bend));
    CHECK_OK(make_problem(&problem, &s, 1, &load, 1, clamped));
    CHECK_OK(open_solver(&solver, &problem, "bsr", "jacobi", 1e-13));
    const size_t n = (size_t)s.mesh.n_elem;
    double *const rho = malloc(n * sizeof *rho), *const energy = malloc(n * sizeof *energy);
    for (size_t e = 0; e < n; e++) rho[e] = fixture_uniform(&state, 0.3, 1.0);
    const double compliance = compliance_at(&solver, rho, 0, rho[0]);
    double *const d_energy = fixture_put(&device, n, NULL);
    double *const d_work = fixture_put(&device, n, NULL);
    CHECK_OK(hx_analysis_energy(&solver.analysis, d_energy, d_work));
    fixture_get(&device, n, energy, d_energy);
    double sum = 0.0;
    for (size_t e = 0; e < n; e++) sum += rho[e] * rho[e] * rho[e] * energy[e];
    CHECK_REL(sum, compliance, 1e-9);
    for (int64_t e = 0; e < (int64_t)n; e += 5) {
        const double h = 1e-4, slope = -3.0 * rho[e] * rho[e] * energy[e];
        const double up = compliance_at(&solver, rho, e, rho[e] + h);
        const double down = compliance_at(&solver, rho, e, rho[e] - h);
        CHECK_REL((up - down) / (2.0 * h), slope, 1e-6);
    }
    device.ops->release(&device, d_energy);
    device.ops->release(&device, d_work);
    free(rho);
    free(energy);
    fixture_solver_free(&solver);
    hx_problem_free(&problem);
    spline_model_free(&s);
}

/* Temperatures are linear along a bar with prescribed temperatures at its ends; the flux through a
 * film. */
static void test_heat(void)
{
    const int degree[3] = {2, 2, 3}, n_span[3] = {3, 2, 2}, none[3] = {0, 0, 0};
    const hx_support_spec support[] = {
        {.set = "patch1:u-", .origin = "test", .fix = HX_FIX_X, .value = {20.0, 0.0, 0.0}}};
    const hx_convection_spec film = {
        .set = "patch2:u+", .origin = "test", .coefficient = 0.5, .ambient = 120.0};
    spline_model s;
    hx_problem problem;
    fixture_solver solver;
    hx_problem_params params = fixture_problem();
    double worst = 0.0;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, none, 0, NULL));
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.0;
    params.space = &s.space;
    params.support = support;
    params.n_support = 1;
    params.convection = &film;
    params.n_convection = 1;
    CHECK_OK(hx_problem_create(&problem, &s.mesh, &params));
    CHECK_OK(open_solver(&solver, &problem, "bsr", "multigrid", 1e-12));
    CHECK_OK(hx_analysis_solve_density(&solver.analysis, NULL, 1.0));
    double *const t = malloc((size_t)s.mesh.n_node * sizeof *t);
    CHECK_OK(hx_analysis_displacement(&solver.analysis, 0, t));
    const double flux = 100.0 / (1.0 / 0.5 + 2.0 / 2.0); /* length 2 */
    for (int64_t a = 0; a < s.mesh.n_node; a++)
        test_worst(&worst,
                   fabs(t[a] + problem.reference - (20.0 + flux / 2.0 * s.mesh.xyz[3 * a])));
    CHECK_MSG(worst <= 1e-8, "%.3g", worst);
    free(t);
    fixture_solver_free(&solver);
    hx_problem_free(&problem);
    spline_model_free(&s);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1); /* few cells: more threads would only wait */
    test_patch();
    test_loads();
    test_multigrid();
    check_sensitivities(0);
    check_sensitivities(1);
    test_heat();
    hx_device_close(&device);
    TEST_END();
}
