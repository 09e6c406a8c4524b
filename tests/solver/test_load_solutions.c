/* Solutions for engineering loads against closed forms: Lame's tube under pressure, a tube in
 * torsion and a beam bent by moments at a point, equilibrium of a pin in a bore, load cases with
 * weights.
 *
 *     test_load_solutions [cpu | cuda] */
#include "core/base/vec3.h"
#include "tests/lib/tube.h"

static hx_device device;

/* A mesh, a problem on it and its analysis. */
typedef struct analysis {
    hx_mesh mesh;
    hx_problem problem;
    fixture_solver solver;
    hx_iteration record;
    double *u; /* [n_node][3] displacements of load case 1 */
} analysis;

/* Takes ownership of the raw mesh. */
static void analyse(analysis *a, const hx_problem_params *params)
{
    fixture_settings settings = fixture_defaults();
    settings.pcg.tolerance = 1e-10;
    CHECK_OK(fixture_finish(&a->mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&a->problem, &a->mesh, params));
    CHECK_OK(fixture_solver_create(&a->solver, &device, &a->problem, &settings));
    CHECK_OK(hx_optimizer_step(&a->solver.opt, &a->record));
    a->u = calloc((size_t)a->mesh.n_node * 3, sizeof *a->u);
    CHECK(a->u != NULL);
    if (a->u) CHECK_OK(hx_analysis_displacement(&a->solver.analysis, 0, a->u));
}

static void analysis_free(analysis *a)
{
    free(a->u);
    fixture_solver_free(&a->solver);
    hx_problem_free(&a->problem);
    hx_mesh_free(&a->mesh);
}

/* Errors of three meshes, each twice as fine as the one before, converge with second order. */
static void check_second_order(const double error[3], double last, const char *what)
{
    printf("%s: off by %.2e, %.2e, %.2e\n", what, error[0], error[1], error[2]);
    CHECK_MSG(error[0] / error[1] > 3.6 && error[0] / error[1] < 4.6, "%s", what);
    CHECK_MSG(error[1] / error[2] > 3.8 && error[1] / error[2] < 4.3, "%s", what);
    CHECK_MSG(fabs(error[2]) < last, "%s", what);
}

/* Lame: a quarter of a long tube under inner pressure p, plane strain.
 *     u_r = (1 + nu) / E p a^2 / (b^2 - a^2) ((1 - 2 nu) r + b^2 / r) */
static double lame_error(int n)
{
    const double p = 0.7, young = 2.5, nu = 0.3;
    const tube t = {
        .inner = 1.0, .outer = 2.0, .length = 0.3, .arc = 0.5 * TUBE_PI, .n = {n, 2 * n, 1}};
    const hx_support_spec support[4] = {{"start", "test", HX_FIX_Y},
                                        {"stop", "test", HX_FIX_X},
                                        {"low", "test", HX_FIX_Z},
                                        {"high", "test", HX_FIX_Z}};
    const hx_load_spec load = {
        .set = "bore", .origin = "test", .kind = HX_LOAD_PRESSURE, .value = {p}, .load_case = 1};
    hx_problem_params params = fixture_problem();
    analysis a = {.u = NULL};
    double error = 0.0, largest = 0.0;
    params.young = young;
    params.poisson = nu;
    params.support = support;
    params.n_support = 4;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(tube_create(&a.mesh, &t));
    analyse(&a, &params);
    for (int64_t node = 0; node < a.mesh.n_node; node++) {
        const double *x = a.mesh.xyz + 3 * node, *u = a.u + 3 * node;
        const double r = sqrt(x[0] * x[0] + x[1] * x[1]);
        const double exact = (1.0 + nu) / young * p / 3.0 * ((1.0 - 2.0 * nu) * r + 4.0 / r);
        const double off[2] = {u[0] - exact * x[0] / r, u[1] - exact * x[1] / r};
        test_worst(&error, sqrt(off[0] * off[0] + off[1] * off[1]));
        test_worst(&largest, exact);
        CHECK_ABS(u[2], 0.0, 1e-12);
    }
    analysis_free(&a);
    return error / largest;
}

static void check_lame(void)
{
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = lame_error(3 << k);
    check_second_order(error, 2e-3, "tube under pressure");
}

/* Torsion: a moment distributed over the end of a tube in proportion to the distance from the axis
 * is Saint-Venant's exact traction; the tube twists by T L / (G J). */
static double torsion_error(int n)
{
    const double torque = 0.9, young = 2.0, nu = 0.25;
    tube t = {.inner = 1.0,
              .outer = 2.0,
              .length = 3.0,
              .arc = 2.0 * TUBE_PI,
              .n = {n / 2, 4 * n, n},
              .origin = {0.3, -0.2, 0.1},
              .axis = {{0.6, 0.8, 0.0}, {0.0, 0.0, 1.0}, {0.8, -0.6, 0.0}}};
    const hx_support_spec support = {"low", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    hx_load_spec load = {.set = "high", .origin = "test", .kind = HX_LOAD_REMOTE, .load_case = 1};
    hx_problem_params params = fixture_problem();
    analysis a = {.u = NULL};
    double turn = 0.0;
    for (int i = 0; i < 3; i++) load.moment[i] = torque * t.axis[2][i];
    params.young = young;
    params.poisson = nu;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(tube_create(&a.mesh, &t));
    analyse(&a, &params);
    const hx_set *const end = hx_mesh_find_set(&a.mesh, "high");
    for (int64_t k = 0; k < end->n_node; k++) {
        const int64_t node = end->node[k];
        double d[3], across[3];
        for (int i = 0; i < 3; i++) d[i] = a.mesh.xyz[3 * node + i] - t.origin[i];
        hx_cross3(t.axis[2], d, across);
        turn += hx_dot3(a.u + 3 * node, across) / hx_dot3(across, across) / (double)end->n_node;
    }
    analysis_free(&a);
    const double shear = young / (2.0 * (1.0 + nu)), j = 0.5 * TUBE_PI * (16.0 - 1.0);
    return turn / (torque * t.length / (shear * j)) - 1.0;
}

static void check_torsion(void)
{
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = torsion_error(4 << k);
    check_second_order(error, 5e-3, "tube in torsion");
}

/* A beam is bent by a force beyond its end. A couple at the point compensates the moment of the
 * lever arm, so that a pure moment M remains, and the end deflects by M l^2 / (2 E I) for nu = 0.
 * Trilinear elements are too stiff by a fraction proportional to h^2 (see test_physics). */
static double bending_error(int nz)
{
    const double length = 8.0, moment = 0.4, force = 3.0, arm = 5.0;
    const fixture_box box = {{8 * nz, 1, nz}, {length, 1.0, 1.0}, 0.0, 0};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load[2] = {{.set = "right",
                                   .origin = "test",
                                   .kind = HX_LOAD_REMOTE,
                                   .value = {0.0, 0.0, force},
                                   .moment = {0.0, moment, 0.0},
                                   .point = {length + arm, 0.5, 0.5},
                                   .load_case = 1},
                                  {.set = "right",
                                   .origin = "test",
                                   .kind = HX_LOAD_REMOTE,
                                   .value = {0.0, 0.0, -force},
                                   .moment = {0.0, force * arm, 0.0},
                                   .point = {length, 0.5, 0.5},
                                   .load_case = 1}};
    hx_problem_params params = fixture_problem();
    analysis a = {.u = NULL};
    double deflection = 0.0;
    params.poisson = 0.0;
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(fixture_box_create(&a.mesh, &box));
    analyse(&a, &params);
    const hx_set *const end = hx_mesh_find_set(&a.mesh, "right");
    for (int64_t k = 0; k < end->n_node; k++)
        deflection += a.u[3 * (int64_t)end->node[k] + 2] / (double)end->n_node;
    analysis_free(&a);
    /* a moment about y moves the end of a beam along x downwards: (omega x r)_z = -omega_y x;
     * relative to the computed deflection, since that ratio is proportional to h^2 */
    return -(moment * length * length / (2.0 / 12.0)) / deflection - 1.0;
}

static void check_bending(void)
{
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = bending_error(2 << k);
    check_second_order(error, 0.02, "beam under a moment");
}

/* The force of the pin equals the reaction of the support. */
static void check_pin(void)
{
    const tube t = {.inner = 8.0,
                    .outer = 12.0,
                    .length = 10.0,
                    .arc = 2.0 * TUBE_PI,
                    .n = {2, 24, 3},
                    .distort = 0.2};
    const hx_support_spec support = {"outside", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {.set = "bore",
                               .origin = "test",
                               .kind = HX_LOAD_BEARING,
                               .value = {3.0, -5.0, 1.0},
                               .load_case = 1};
    hx_problem_params params = fixture_problem();
    analysis a = {.u = NULL};
    double reaction[3], work = 0.0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(tube_create(&a.mesh, &t));
    analyse(&a, &params);
    CHECK_OK(hx_analysis_reaction(&a.solver.analysis, 0, reaction));
    for (int i = 0; i < 3; i++) CHECK_ABS(reaction[i], -load.value[i], 1e-8);
    for (int64_t i = 0; i < 3 * a.mesh.n_node; i++) work += a.problem.cases.force[0][i] * a.u[i];
    CHECK(work > 0.0);
    CHECK_REL(a.record.compliance, work, 1e-12);
    analysis_free(&a);
}

/* Load cases with weights: the objective is their weighted sum, each case has the same result as by
 * itself, and the solution for two simultaneous loads is the sum of the solutions. */
static void check_cases(void)
{
    const fixture_box box = {{6, 4, 3}, {3.0, 2.0, 1.0}, 0.2, 1};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const double weight[2] = {1.5, 0.25};
    hx_load_spec load[2] = {{"top", "test", HX_LOAD_PRESSURE, {0.6}, 1},
                            {"right", "test", HX_LOAD_TRACTION, {0.3, -0.5, -1.0}, 2}};
    hx_problem_params params = fixture_problem();
    analysis both = {.u = NULL}, one[2] = {{.u = NULL}, {.u = NULL}}, sum = {.u = NULL};
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    params.weight = weight;
    params.n_weight = 2;
    CHECK_OK(fixture_box_create(&both.mesh, &box));
    analyse(&both, &params);
    params.n_load = params.n_weight = 1;
    for (int c = 0; c < 2; c++) {
        params.load = load + c;
        params.weight = weight + c;
        load[c].load_case = 1;
        CHECK_OK(fixture_box_create(&one[c].mesh, &box));
        analyse(&one[c], &params);
        CHECK_REL(both.record.load_case[c].compliance, one[c].record.load_case[0].compliance, 1e-8);
        CHECK_REL(one[c].record.compliance, weight[c] * one[c].record.load_case[0].compliance,
                  1e-14);
    }
    CHECK_REL(both.record.compliance, one[0].record.compliance + one[1].record.compliance, 1e-8);
    params.load = load;
    params.n_load = 2;
    params.n_weight = 0;
    CHECK_OK(fixture_box_create(&sum.mesh, &box));
    analyse(&sum, &params);
    double error = 0.0, largest = 0.0;
    for (int64_t i = 0; i < 3 * sum.mesh.n_node; i++) {
        test_worst(&error, fabs(sum.u[i] - one[0].u[i] - one[1].u[i]));
        test_worst(&largest, fabs(sum.u[i]));
    }
    CHECK(largest > 0.0);
    CHECK_ABS(error, 0.0, 1e-7 * largest);
    /* the largest residual is reported, whichever case has it */
    for (int last = 0; last < 2; last++) {
        analysis order = {.u = NULL};
        double residual = 0.0;
        load[0].load_case = 2 - last;
        load[1].load_case = 1 + last;
        CHECK_OK(fixture_box_create(&order.mesh, &box));
        analyse(&order, &params);
        for (int c = 0; c < 2; c++) test_worst(&residual, order.record.load_case[c].pcg.residual);
        CHECK(order.record.pcg_residual == residual);
        analysis_free(&order);
    }
    analysis_free(&sum);
    analysis_free(&one[0]);
    analysis_free(&one[1]);
    analysis_free(&both);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    check_lame();
    check_torsion();
    check_bending();
    check_pin();
    check_cases();
    hx_device_close(&device);
    TEST_END();
}
