/* Eroded, made and dilated designs of one filtered field: values and derivatives of the reference
 * box, the derivatives of volume and mass, and runs whose designs have the prescribed volume.
 *
 *     test_variants [cpu | cuda] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 12, NY = 6, NZ = 4, N_ELEM = NX * NY * NZ };

static const hx_support_spec support = {
    .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
static const hx_load_spec load = {
    "right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};

/* The design of the reference box, at the centroids of elements along x, then y, then z. */
static void fill_box(double *rho)
{
    for (int e = 0; e < N_ELEM; e++) {
        const double x = e % NX + 0.5, y = e / NX % NY + 0.5, z = e / (NX * NY) + 0.5;
        rho[e] = 0.45 + 0.42 * sin(1.7 * x + 0.3) * cos(2.3 * y + 0.1) * cos(1.9 * z - 0.2);
    }
}

static fixture_settings make_settings(void)
{
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.4;
    settings.design.beta = fixture_constant(4.0);
    settings.design.erosion = 0.2;
    settings.design.dilation = 0.2;
    settings.filter = "density";
    settings.filter_params = (hx_filter_params){.radius = 1.5};
    settings.pcg.tolerance = 1e-12;
    return settings;
}

static void make_problem(hx_mesh *mesh, hx_problem *problem)
{
    const hx_generate_params size = {.nx = NX, .ny = NY, .nz = NZ};
    hx_problem_params params = fixture_problem();
    memset(mesh, 0, sizeof *mesh);
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), mesh, &size));
    CHECK_OK(fixture_finish(mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.density = 2.0;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static double sum_of(const double *a)
{
    double sum = 0.0;
    for (int e = 0; e < N_ELEM; e++) sum += a[e];
    return sum;
}

/* Computed with another program, to ten digits: compliance and its derivatives of the eroded design,
 * volumes of all. */
static void check_reference(const hx_problem *problem)
{
    fixture_settings settings = make_settings();
    fixture_solver s;
    hx_iteration record, made;
    double rho[N_ELEM], dc[N_ELEM], norm = 0.0, largest = 0.0;
    fill_box(rho);
    settings.density = rho;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_REL(record.compliance, 4.0824930634e5, 1e-8);
    CHECK_REL(record.volume, 3.9851164098e-1, 1e-9);
    CHECK_REL(s.opt.made_share, 3.9851164098e-1 / 7.4786417605e-1, 1e-9);
    CHECK(record.is_eroded && hx_optimizer_has_result(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int e = 0; e < N_ELEM; e++) norm = hypot(norm, dc[e]);
    for (int e = 0; e < N_ELEM; e++) test_worst(&largest, fabs(dc[e]));
    CHECK_REL(norm, 6.795112e5, 2e-7);
    CHECK_REL(sum_of(dc), -8.764947e6, 2e-7);
    CHECK_REL(dc[0], -7.673730e4, 2e-7);
    CHECK_REL(dc[144], -3.620310e4, 2e-7);
    CHECK_ABS(dc[287], -1.069015e3, 1e-8 * largest);
    CHECK_OK(hx_optimizer_return_result(&s.opt, &record, &made));
    CHECK_REL(made.compliance, 1.4091868913e4, 1e-8);
    CHECK(made.volume == record.volume && made.iteration == 1 && !made.is_eroded);
    CHECK(!hx_optimizer_has_result(&s.opt, &made));
    fixture_solver_free(&s);
}

/* Volume of the dilated design with the density of element e changed. */
static double dilated_at(fixture_solver *s, double *d_scratch, int e, double rho, double step)
{
    const double moved = rho + step;
    double mass, grey;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_filter_forward(&s->filter, s->opt.d_design, s->opt.d_physical));
    CHECK_OK(hx_filter_project(&s->filter, HX_DESIGN_DILATED, d_scratch));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_OK(device.ops->design->measure(&device, N_ELEM, d_scratch, s->opt.d_volume, NULL, &mass,
                                         &grey));
    return mass;
}

/* Volume and mass are those of the design that is made, with the scaled derivative of the dilated
 * one. */
static void check_amounts(const hx_problem *problem)
{
    const hx_constraint_spec spec = {.kind = &hx_response_compliance,
                                     .params = {.load_case = HX_ALL_CASES},
                                     .max = 1e5,
                                     .min = NAN};
    fixture_settings settings = make_settings();
    fixture_solver s;
    hx_iteration record;
    double rho[N_ELEM], dm[N_ELEM], dv[N_ELEM], share;
    fill_box(rho);
    settings.density = rho;
    settings.optimizer = (hx_optimizer_params){.objective = &hx_response_mass,
                                               .objective_params = {.load_case = HX_ALL_CASES},
                                               .n_constraint = 1,
                                               .constraint = &spec,
                                               .update = hx_update_find("mma")};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_REL(record.objective, 2.0 * N_ELEM * 3.9851164098e-1, 1e-9);
    CHECK_REL(record.response[0].value, 4.0824930634e5, 1e-8);
    share = s.opt.made_share;
    fixture_get(&device, N_ELEM, dm, s.opt.d_dc);
    fixture_get(&device, N_ELEM, dv, s.opt.d_dv);
    double *const d_scratch = fixture_put(&device, N_ELEM, rho);
    for (int e = 0; e < N_ELEM; e += 17) {
        const double h = 2e-3;
        const double slope = (dilated_at(&s, d_scratch, e, rho[e], -2.0 * h) -
                              8.0 * dilated_at(&s, d_scratch, e, rho[e], -h) +
                              8.0 * dilated_at(&s, d_scratch, e, rho[e], h) -
                              dilated_at(&s, d_scratch, e, rho[e], 2.0 * h)) /
                             (12.0 * h);
        CHECK_ABS(dv[e], share * slope, 1e-7);
        CHECK_ABS(dm[e], 2.0 * share * slope, 2e-7);
    }
    device.ops->release(&device, d_scratch);
    fixture_solver_free(&s);
}

/* The design that is made has the volume in every design, by both updates; at a steep projection it
 * is stiffer than the eroded one, and both consist of the same members. */
static void check_run(const hx_problem *problem, const char *update)
{
    fixture_settings settings = make_settings();
    fixture_solver s;
    hx_iteration record, made;
    double worst = 0.0;
    settings.pcg.tolerance = 1e-8;
    settings.design.move = 0.1;
    settings.design.beta = (hx_schedule){.value = 1.0, .last = 16.0, .factor = 2.0, .every = 12};
    settings.optimizer.update = hx_update_find(update);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int i = 0; i < 72; i++) {
        if (i > 0) hx_optimizer_advance(&s.opt);
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        if (i % 12 > 6 || i > 60) test_worst(&worst, fabs(record.volume - 0.4));
    }
    CHECK_OK(hx_optimizer_return_result(&s.opt, &record, &made));
    printf("%s: volume off by %.1e at most, compliance %.6g, of the eroded design %.6g\n", update,
           worst, made.compliance, record.compliance);
    CHECK(worst <= (strcmp(update, "oc") == 0 ? 1e-6 : 5e-3));
    CHECK(made.volume == record.volume);
    CHECK(made.compliance < record.compliance && record.compliance < 10.0 * made.compliance);
    fixture_solver_free(&s);
}

/* A displacement that is made smaller, and a compliance that is limited. */
static void take_displacement(fixture_settings *settings, hx_constraint_spec *spec)
{
    *spec = (hx_constraint_spec){.kind = &hx_response_compliance,
                                 .params = {.load_case = HX_ALL_CASES},
                                 .max = 1e6,
                                 .min = NAN};
    settings->optimizer = (hx_optimizer_params){
        .objective = hx_response_kind_find("displacement"),
        .objective_params = {.set = "top", .direction = {1.0, 0.0, 0.2}, .load_case = 0},
        .n_constraint = 1,
        .constraint = spec,
        .update = hx_update_find("mma")};
}

/* Value and derivative of the objective for one threshold. */
static double find_alone(const hx_problem *problem, double eta, const double *rho,
                         double *derivative)
{
    hx_constraint_spec spec;
    fixture_settings settings = make_settings();
    fixture_solver s;
    hx_iteration record;
    take_displacement(&settings, &spec);
    settings.design.eta = eta;
    settings.design.erosion = settings.design.dilation = 0.0;
    settings.density = rho;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, derivative));
    fixture_solver_free(&s);
    return record.objective;
}

static void compare_derivative(const double *d_derivative, const double *alone)
{
    double own[N_ELEM], largest = 0.0, error = 0.0;
    fixture_get(&device, N_ELEM, own, d_derivative);
    for (int e = 0; e < N_ELEM; e++) test_worst(&largest, fabs(alone[e]));
    for (int e = 0; e < N_ELEM; e++) test_worst(&error, fabs(own[e] - alone[e]));
    CHECK_MSG(error <= 1e-7 * largest, "%g of %g", error, largest);
}

/* All three designs: each has the values and derivatives of a run that has only its threshold, and
 * the largest objective falls. */
static void check_all(const hx_problem *problem)
{
    hx_constraint_spec spec;
    fixture_settings settings = make_settings();
    fixture_solver s;
    hx_iteration record;
    double rho[N_ELEM], alone[3][N_ELEM], value[3], first = 0.0, last = 0.0;
    fill_box(rho);
    for (int i = 0; i < 3; i++) value[i] = find_alone(problem, 0.3 + 0.2 * i, rho, alone[i]);
    take_displacement(&settings, &spec);
    settings.design.analyses_all = 1;
    settings.density = rho;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK(s.opt.update.n_row == 7); /* volume, and three each of compliance and objective */
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_REL(s.opt.side[0].response[0].now, value[2], 1e-8);
    CHECK_REL(record.objective, value[1], 1e-8);
    CHECK_REL(s.opt.side[1].response[0].now, value[0], 1e-8);
    CHECK_REL(s.opt.side[0].response[1].now, 4.0824930634e5, 1e-8);
    CHECK_REL(record.response[0].value, 1.4091868913e4, 1e-8);
    CHECK_REL(s.opt.side[1].response[1].now, 2.1786396112e3, 1e-8);
    compare_derivative(s.opt.side[0].d_derivative[0], alone[2]);
    compare_derivative(s.opt.d_dc, alone[1]);
    compare_derivative(s.opt.side[1].d_derivative[0], alone[0]);
    CHECK(!record.is_eroded && !hx_optimizer_has_result(&s.opt, &record));
    for (int i = 0; i < 40; i++) {
        hx_optimizer_advance(&s.opt);
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        last = fmax(record.objective,
                    fmax(s.opt.side[0].response[0].now, s.opt.side[1].response[0].now));
        if (i == 0) first = last;
    }
    printf("all: largest objective %.6g, then %.6g\n", first, last);
    CHECK(last < first && last < 0.0);
    fixture_solver_free(&s);
}

/* A run with all three designs that is resumed after its third design is the same run. */
static void check_resumed(const hx_problem *problem)
{
    hx_constraint_spec spec;
    fixture_settings settings = make_settings();
    fixture_solver s;
    hx_iteration record;
    hx_snapshot image = {0};
    double want[N_ELEM], got[N_ELEM];
    int iterations = 0;
    take_displacement(&settings, &spec);
    settings.design.analyses_all = 1;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf"); /* deterministic */
    for (int run = 0; run < 2; run++) {
        CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
        if (run == 1) {
            hx_snapshot_begin(&image, HX_SNAPSHOT_LOAD);
            CHECK_OK(hx_optimizer_snapshot(&s.opt, &image));
            CHECK_OK(hx_snapshot_check_all(&image));
        }
        for (int i = run == 0 ? 0 : 3; i < 6; i++) {
            CHECK_OK(hx_optimizer_step(&s.opt, &record));
            if (i == 2) {
                hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE);
                CHECK_OK(hx_optimizer_snapshot(&s.opt, &image));
            }
            if (i < 5) hx_optimizer_advance(&s.opt);
        }
        fixture_get(&device, N_ELEM, run == 0 ? want : got, s.opt.d_proposal);
        if (run == 0) iterations = record.pcg_iterations;
        CHECK(record.pcg_iterations == iterations);
        fixture_solver_free(&s);
    }
    CHECK(memcmp(want, got, sizeof want) == 0);
    hx_snapshot_free(&image);
}

/* Thresholds outside (0, 1), variants without a projection, an update that compares values. */
static void check_refused(const hx_problem *problem)
{
    fixture_settings settings = make_settings();
    fixture_solver s;
    settings.design.erosion = 0.5;
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT, "thresholds");
    settings = make_settings();
    settings.design.beta = fixture_constant(0.0);
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT, "projection");
    settings = make_settings();
    settings.optimizer.update = hx_update_find("gcmma");
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT, "gcmma");
    settings = make_settings();
    settings.design.analyses_all = 1;
    settings.optimizer = (hx_optimizer_params){.objective = &hx_response_mass,
                                               .objective_params = {.load_case = HX_ALL_CASES},
                                               .update = hx_update_find("mma")};
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "three designs cannot be analysed to minimise the mass");
}

int main(int argc, char **argv)
{
    hx_mesh mesh;
    hx_problem problem;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    make_problem(&mesh, &problem);
    check_reference(&problem);
    check_amounts(&problem);
    check_run(&problem, "oc");
    check_run(&problem, "mma");
    check_all(&problem);
    check_resumed(&problem);
    check_refused(&problem);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
