/* The update `mma` under a steep projection: a cantilever of least volume under a displacement.
 * Every rise of beta changes the functions, but after some designs the limit is met again, and it
 * stays so. With asymptotes beyond the width of the projection, single steps remove the members
 * that carry the load.
 *
 *     test_projected_limits [cpu | cuda] */
#include "tests/lib/fixture.h"

static hx_device device;

/* Designs per beta from 1 to 32, and those after which the limit is met. */
enum { PER_BETA = 20, RECOVERY = 6, N_DESIGN = 6 * PER_BETA };

static const hx_support_spec support = {
    .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
static const hx_load_spec load = {"right", "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -3e-3}, 1};

static void check_run(const hx_problem *problem, double start, double move)
{
    hx_constraint_spec limit = {.kind = hx_response_kind_find("displacement"),
                                .params = {.set = "right", .direction = {0.0, 0.0, -1.0}},
                                .max = 0.3,
                                .min = NAN};
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record = {0};
    double worst = 0.0;
    int since = 0, i = 0;
    settings.design.volume_fraction = 0.0;
    settings.design.start = start;
    settings.design.move = move;
    settings.design.beta =
        (hx_schedule){.value = 1.0, .last = 32.0, .factor = 2.0, .every = PER_BETA};
    settings.filter = "density";
    settings.filter_params = (hx_filter_params){.radius = 1.5};
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-8;
    settings.optimizer = (hx_optimizer_params){.objective = hx_response_kind_find("volume"),
                                               .n_constraint = 1,
                                               .constraint = &limit,
                                               .update = hx_update_find("mma")};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (i = 0; i < N_DESIGN; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        since = record.raised ? 0 : since + 1;
        if (i > PER_BETA && since > RECOVERY) test_worst(&worst, record.violation);
        hx_optimizer_advance(&s.opt);
    }
    printf("start %.2f, move %.2f: largest violation %.4f, at the end %.4f, volume %.4f\n", start,
           move, worst, record.violation, record.volume);
    CHECK(record.beta == 32.0);
    CHECK_MSG(worst <= 0.05, "the limit was missed by %.3g of it", worst);
    CHECK(record.violation <= 1e-3);
    CHECK(record.volume < 0.25);
    fixture_solver_free(&s);
}

int main(int argc, char **argv)
{
    static const fixture_box box = {{16, 4, 8}, {16.0, 4.0, 8.0}, 0.0, 0};
    hx_mesh mesh;
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    check_run(&problem, 0.02, 0.2);
    check_run(&problem, 0.6, 0.2);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
