/* The estimated error of an operator whose K is slightly wrong, against the compliance with the
 * exact one: a beam on soft springs, which is most sensitive to false stiffness against rigid
 * motions. */
#include "lib/fixture.h"

static const hx_operator_kind *exact;
static hx_device device;
static int64_t n_unknown;
static double false_spring;

/* K x plus a false spring at every unknown: the effect of rounding, because rows do not sum to
 * 0. */
static int apply(void *state, const double *d_x, double *d_y)
{
    HX_TRY(exact->apply(state, d_x, d_y));
    return device.ops->vector->axpy(&device, n_unknown, false_spring, d_x, d_y);
}

static const fixture_box box = {{12, 2, 2}, {12.0, 2.0, 2.0}, 0.2, 0};

static int create_problem(hx_problem *problem, const hx_mesh *mesh)
{
    static const hx_spring_spec spring = {"left", "test", {3e-3, 2e-3, 1e-3}, HX_SPRING_NODE};
    static const hx_load_spec load = {"right", "test", HX_LOAD_TOTAL_FORCE, {0.1, -0.3, 1.0}, 1};
    hx_problem_params params = fixture_problem();
    params.load = &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = 1;
    return hx_problem_create(problem, mesh, &params);
}

/* The compliance and its estimated error. */
static double solve(const hx_problem *problem, const hx_operator_kind *op_kind, double *error)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record = {.compliance = NAN};
    settings.op_kind = op_kind;
    settings.layout = hx_layout_first(op_kind);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_stiffness_error(&s.opt, error));
    fixture_solver_free(&s);
    return record.compliance;
}

int main(int argc, char **argv)
{
    hx_mesh mesh = {0};
    hx_problem problem = {0};
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    exact = hx_operator_kind_find(device.ops->name, "bsr");
    hx_operator_kind off = *exact;
    off.error = 1e-6;
    off.apply = apply;
    off.apply_dot = NULL;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(create_problem(&problem, &mesh));
    n_unknown = 3 * mesh.n_node;
    double error;
    const double compliance = solve(&problem, exact, &error);
    CHECK_ABS(error, 0.0, 1e-10);
    /* false springs of 1e-9 to 1e-6 with both signs: the estimate is first order, its error second
     * order */
    for (int i = 0; i < 8; i++) {
        false_spring = (i % 2 ? -1e-9 : 1e-9) * pow(10.0, i / 2);
        const double other = solve(&problem, &off, &error);
        const double true_error = (other - compliance) / compliance;
        CHECK_MSG(fabs(error - true_error) <= 1e-9 + 3.0 * true_error * true_error,
                  "false springs of %g: %g is said, %g is so", false_spring, error, true_error);
        CHECK(fabs(true_error) > 1e-3 * fabs(false_spring) / 1e-6);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
