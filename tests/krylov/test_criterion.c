/* The criterion `compliance`: the remaining energy that PCG estimates is compared with that of a
 * dense solution and of solves to rounding accuracy, for a sequence of designs in which each solve
 * starts from the previous solution.
 *
 *     test_criterion [cpu | cuda] [quick]
 *
 * quick: without the run to convergence. */
#include "tests/lib/dense_model.h"

/* |exact - u|_K^2, and 2 f'u - u'Ku of the exact solution. */
static double true_error(const model *m, double *energy)
{
    double error = 0.0;
    *energy = 0.0;
    for (int i = 0; i < N_DOF; i++) {
        double ke = 0.0, ku = 0.0;
        for (int j = 0; j < N_DOF; j++) {
            ke += m->k[i * N_DOF + j] * (m->exact[j] - m->u[j]);
            ku += m->k[i * N_DOF + j] * m->exact[j];
        }
        error += ke * (m->exact[i] - m->u[i]);
        *energy += (2.0 * m->f[i] - ku) * m->exact[i];
    }
    return error;
}

/* Factor by which a solve may exceed the requested error: the estimate is not an upper bound. */
#define MOST_TIMES 3.0

typedef struct dense_case {
    const char *precond;
    hx_precision precision;
} dense_case;

static void check_dense(model *m, const dense_case *c, double contrast)
{
    fixture_settings settings = fixture_defaults();
    double most = 0.0, energy;
    const double rounding = c->precision == HX_PRECISION_MIXED ? 1e-9 : 1e-10;
    settings.design.volume_fraction = 0.4;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.precond = c->precond;
    settings.pcg.criterion = HX_PCG_COMPLIANCE;
    settings.pcg.precision = c->precision;
    for (double tolerance = 1e-2; tolerance > 1e-9; tolerance *= 0.1) {
        settings.pcg.tolerance = tolerance;
        const hx_pcg_result result = solve(m, &settings, NULL);
        const double error = true_error(m, &energy);
        CHECK_MSG(result.reason == HX_PCG_CONVERGED && result.fell_back == 0, "%s",
                  hx_pcg_reason_name(result.reason));
        CHECK(result.error <= tolerance * fabs(result.energy) * (1.0 + 1e-12));
        CHECK_MSG(error <= MOST_TIMES * tolerance * fabs(energy),
                  "%s, contrast %g: off by %.3g, not %g", c->precond, contrast,
                  error / fabs(energy), tolerance);
        CHECK_MSG(fabs(result.energy + error - energy) <= rounding * fabs(energy),
                  "%s: energy %.15g, exact less the error %.15g", c->precond, result.energy,
                  energy - error);
        test_worst(&most, error / (tolerance * fabs(energy)));
    }
    printf("%s, %s, contrast %g: error at most %.2f of the tolerance\n", c->precond,
           hx_precision_name(c->precision), contrast, most);
}

/* PCG stops at rounding accuracy if the tolerance cannot be reached, at once if it starts from the
 * exact solution, and with an unknown error if no iteration is allowed. */
static void check_ends(model *m)
{
    fixture_settings settings = fixture_defaults();
    double exact[N_DOF];
    settings.design.volume_fraction = 0.4;
    settings.pcg.criterion = HX_PCG_COMPLIANCE;
    settings.pcg.tolerance = 1e-300;
    memcpy(exact, m->exact, sizeof exact);
    hx_pcg_result result = solve(m, &settings, NULL);
    CHECK(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10);
    CHECK_MSG(result.residual <= 1e-12, "%g", result.residual);
    settings.pcg.tolerance = 1e-6;
    result = solve(m, &settings, exact);
    CHECK(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-12);
    settings.pcg.max_iterations = 0;
    result = solve(m, &settings, NULL);
    CHECK(result.reason == HX_PCG_MAX_ITER && isinf(result.error));
}

/* --- designs --- */

typedef enum { CASES, SPRINGS, RIGID, PRESCRIBED, HEAT, N_KIND } kind;
static const char *const kind_name[] = {"two cases", "springs", "rigid set", "prescribed", "heat"};
static const hx_support_spec fixed = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
static const hx_support_spec moved[2] = {{"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}},
                                         {"right-lower-edge", "test", HX_FIX_Z, {0.0, 0.0, -0.5}}};
static const hx_support_spec cooled = {"left", "test", HX_FIX_X, {280.0, 0.0, 0.0}};
static const hx_support_spec sliding = {"left", "test", HX_FIX_X | HX_FIX_Y, {0.0}};
static const hx_spring_spec spring = {"left", "test", {0.0, 0.0, 0.3}, HX_SPRING_TOTAL};
static const hx_convection_spec film = {"top", "test", 0.8, 300.0};
static const hx_load_spec bent[2] = {{"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
                                     {"top", "test", HX_LOAD_PRESSURE, {0.2}, 2}};
static const hx_load_spec pulled = {.set = "right",
                                    .origin = "test",
                                    .kind = HX_LOAD_REMOTE_RIGID,
                                    .value = {0.4, -0.2, 1.0},
                                    .moment = {0.1, 0.3, -0.2},
                                    .point = {3.0, 0.4, -0.7},
                                    .load_case = 1};
static const hx_load_spec warmed = {NULL, "test", HX_LOAD_SOURCE, {2.0}, 1};
static const double weights[2] = {0.3, 1.5};

static int make_problem(hx_problem *problem, const hx_mesh *mesh, kind k)
{
    hx_problem_params params = fixture_problem();
    params.support = k == PRESCRIBED ? moved
                     : k == HEAT     ? &cooled
                     : k == SPRINGS  ? &sliding
                                     : &fixed;
    params.n_support = k == PRESCRIBED ? 2 : 1;
    params.load = k == RIGID ? &pulled : k == HEAT ? &warmed : bent;
    params.n_load = k == CASES ? 2 : 1;
    params.spring = &spring;
    params.n_spring = k == SPRINGS;
    if (k == CASES) {
        params.weight = weights;
        params.n_weight = 2;
    }
    if (k == HEAT) {
        params.physics = HX_PHYSICS_HEAT;
        params.conductivity = 2.0;
        params.conductivity_min = 0.01;
        params.convection = &film;
        params.n_convection = 1;
    }
    return hx_problem_create(problem, mesh, &params);
}

/* Number of designs of a run. FEW covers the first designs, in which wrong sensitivities would show
 * (with `jacobi` and a rigid set, compliances differ by 1.5e-4 at design 5, 1.0e-4 at 6, 5e-5 at
 * 8); MANY is enough for convergence. */
enum { FEW = 8, MANY = 40 };
#define TOLERANCE 1e-6

/* Compliance of the last design of a run, solved to rounding accuracy. */
static double analyse(fixture_solver *exact, const double *d_rho, double penalty)
{
    double compliance;
    CHECK_OK(hx_analysis_solve(&exact->analysis, d_rho, penalty));
    CHECK_OK(hx_analysis_compliance(&exact->analysis, &compliance));
    return compliance;
}

/* Sum over the elements of the errors of their energies, relative to the sum of all energies: the
 * error of the sensitivities. */
static double energies_off(fixture_solver *s, fixture_solver *exact, int64_t n, double *all)
{
    double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    double off = 0.0;
    *all = 0.0;
    CHECK(a && b);
    CHECK_OK(hx_optimizer_energy(&s->opt, a));
    CHECK_OK(hx_analysis_energy(&exact->analysis, exact->opt.d_energy, exact->opt.d_dv));
    CHECK_OK(hx_optimizer_energy(&exact->opt, b));
    for (int64_t e = 0; a && b && e < n; e++) {
        off += fabs(a[e] - b[e]);
        *all += b[e];
    }
    free(a);
    free(b);
    return off / *all;
}

/* A run with this criterion: the error of every design's compliance is within the tolerance, and
 * the error of its sensitivities is at most 2 |e|_K / |u|_K, the bound by the Cauchy-Schwarz
 * inequality. Returns the last design's compliance, solved to rounding accuracy. */
static double run_by_compliance(const hx_problem *problem, const fixture_settings *settings,
                                int n_design, const char *label)
{
    fixture_settings tight = *settings;
    fixture_solver s, exact;
    double compliance = NAN, energy, most = 0.0, sensitivity = 0.0;
    int n_iteration = 0;
    tight.pcg.criterion = HX_PCG_RELATIVE;
    tight.pcg.tolerance = 1e-11;
    tight.precond = "multigrid";
    CHECK_OK(fixture_solver_create(&s, &device, problem, settings));
    CHECK_OK(fixture_solver_create(&exact, &device, problem, &tight));
    for (int i = 0; i < n_design; i++) {
        hx_iteration record;
        if (i > 0) hx_optimizer_advance(&s.opt);
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        compliance = analyse(&exact, s.opt.d_physical, record.penalty);
        const double off = energies_off(&s, &exact, problem->mesh->n_elem, &energy);
        const double lacks = (compliance - record.compliance) / energy;
        CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
        CHECK(record.pcg_error > 0.0 && record.pcg_error <= TOLERANCE * (1.0 + 1e-9));
        CHECK_MSG(lacks >= -1e-9 && lacks <= MOST_TIMES * TOLERANCE,
                  "%s, design %d: compliance %.12g of %.12g, %.3g off", label, i + 1,
                  record.compliance, compliance, lacks);
        CHECK_MSG(off <= 2.1 * sqrt(fmax(lacks, 1e-9)), "%s, design %d: energies off by %g", label,
                  i + 1, off);
        test_worst(&most, lacks / TOLERANCE);
        test_worst(&sensitivity, off);
        n_iteration += record.pcg_iterations;
    }
    printf("%s: %d iterations, error %.2f of the tolerance, sensitivities off by %.1e\n", label,
           n_iteration, most, sensitivity);
    fixture_solver_free(&exact);
    fixture_solver_free(&s);
    return compliance;
}

/* The run with the criterion |r| <= tolerance |f|. */
static double run_by_residual(const hx_problem *problem, const fixture_settings *settings,
                              int n_design, double tolerance)
{
    fixture_settings tight = *settings;
    fixture_solver s;
    hx_iteration record;
    tight.pcg.criterion = HX_PCG_RELATIVE;
    tight.pcg.tolerance = tolerance;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &tight));
    for (int i = 0; i < n_design; i++) {
        if (i > 0) hx_optimizer_advance(&s.opt);
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        CHECK(record.pcg_error == 0.0);
    }
    s.pcg.params.tolerance = 1e-11;
    const double compliance = analyse(&s, s.opt.d_physical, record.penalty);
    fixture_solver_free(&s);
    return compliance;
}

/* 1 if the device has the preconditioner, and the operator the blocks that it may need. */
static int applies(const hx_precond_kind *precond, const hx_problem *problem,
                   const fixture_settings *settings)
{
    fixture_settings with = *settings;
    fixture_solver s;
    if (precond->runs_on && !precond->runs_on(device.ops)) return 0;
    with.precond = precond->name;
    if (fixture_solver_create(&s, &device, problem, &with) < 0) {
        CHECK_MSG(problem->components == 1, "%s: %s", precond->name, hx_error_message());
        return 0;
    }
    fixture_solver_free(&s);
    return 1;
}

static void check_designs(const hx_mesh *mesh, kind k, int quick)
{
    fixture_settings settings = fixture_defaults();
    hx_problem problem;
    char label[64];
    settings.design.volume_fraction = 0.4;
    CHECK_OK(make_problem(&problem, mesh, k));
    settings.op_kind =
        hx_operator_kind_of(hx_operator_kind_find(device.ops->name, "otf"), problem.components);
    settings.filter = "sensitivity";
    settings.filter_params.radius = 0.3;
    settings.pcg.criterion = HX_PCG_COMPLIANCE;
    settings.pcg.tolerance = TOLERANCE;
    settings.precond = "multigrid";
    const double tight = run_by_residual(&problem, &settings, FEW, 1e-8);
    for (size_t i = 0; hx_preconds[i]; i++) {
        settings.precond = hx_preconds[i]->name;
        if (!applies(hx_preconds[i], &problem, &settings)) continue;
        snprintf(label, sizeof label, "%s, %s", kind_name[k], hx_preconds[i]->name);
        const double compliance = run_by_compliance(&problem, &settings, FEW, label);
        CHECK_REL(compliance, tight, 1e-4);
    }
    settings.precond = "multigrid";
    if (k == CASES && !quick)
        CHECK_REL(run_by_compliance(&problem, &settings, MANY, "to its end"),
                  run_by_residual(&problem, &settings, MANY, 1e-8), 1e-5);
    hx_problem_free(&problem);
}

int main(int argc, char **argv)
{
    static const dense_case dense[] = {{"jacobi", HX_PRECISION_DOUBLE},
                                       {"none", HX_PRECISION_DOUBLE},
                                       {"block-jacobi", HX_PRECISION_DOUBLE},
                                       {"jacobi", HX_PRECISION_MIXED},
                                       {"none", HX_PRECISION_MIXED}};
    const fixture_box box = {{12, 6, 6}, {2.0, 1.0, 1.0}, 0.15, 0};
    hx_mesh mesh;
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status) return status;
    fixture_set_threads(1);
    for (int prescribed = 0; prescribed < 2; prescribed++) {
        model m;
        CHECK_OK(make_model(&m, prescribed));
        for (size_t i = 0; i < sizeof dense / sizeof dense[0]; i++) {
            set_modulus(&m, 10.0, 3);
            check_dense(&m, &dense[i], 10.0);
            set_modulus(&m, 1e4, 8);
            check_dense(&m, &dense[i], 1e4);
        }
        set_modulus(&m, 10.0, 3);
        check_ends(&m);
        free_model(&m);
    }
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    for (int k = 0; k < N_KIND; k++) check_designs(&mesh, (kind)k, quick);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
