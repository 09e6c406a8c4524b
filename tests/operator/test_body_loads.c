/* Gravity and rotation, whose forces depend on the density: closed forms, sums, derivatives against
 * finite differences, and every device against the CPU.
 *
 *     test_body_loads [cpu | cuda] [quick] */
#include "core/mesh/region.h"
#include "core/problem/body_force.h"
#include "tests/lib/fixture.h"
#include "tests/lib/space_box.h"

static hx_device device;

typedef struct analysis {
    hx_mesh mesh;
    hx_problem problem;
    fixture_solver solver;
    hx_iteration record;
    double *u;
} analysis;

/* The mesh exists already. */
static int analyse(analysis *a, const hx_problem_params *params, const fixture_settings *settings)
{
    HX_TRY(hx_problem_create(&a->problem, &a->mesh, params));
    HX_TRY(fixture_solver_create(&a->solver, &device, &a->problem, settings));
    HX_TRY(hx_optimizer_step(&a->solver.opt, &a->record));
    a->u = malloc(3 * (size_t)a->mesh.n_node * sizeof *a->u);
    return hx_analysis_displacement(&a->solver.analysis, 0, a->u);
}

static void analysis_free(analysis *a)
{
    free(a->u);
    fixture_solver_free(&a->solver);
    hx_problem_free(&a->problem);
    hx_mesh_free(&a->mesh);
}

/* The mass law has no jump in value or slope and equals rho above the threshold. */
static void check_mass_law(void)
{
    const double at = HX_MASS_THRESHOLD, h = 1e-6;
    CHECK(hx_mass_of(0.3) == 0.3 && hx_mass_slope(0.3) == 1.0);
    CHECK_REL(hx_mass_of(at * (1.0 - 1e-12)), at, 1e-11);
    CHECK_REL(hx_mass_slope(at * (1.0 - 1e-12)), 1.0, 1e-10);
    CHECK_REL(hx_mass_of(0.05), 6e5 * pow(0.05, 6.0) - 5e6 * pow(0.05, 7.0), 1e-13);
    for (double rho = 0.01; rho < 0.2; rho += 0.0073)
        CHECK_REL((hx_mass_of(rho + h) - hx_mass_of(rho - h)) / (2.0 * h), hx_mass_slope(rho),
                  1e-6);
    double largest = 0.0; /* largest ratio of weight to stiffness for p = 3; it is 1 for solid */
    for (double rho = 0.001; rho < 1.0; rho += 0.001)
        test_worst(&largest, hx_mass_of(rho) / (rho * rho * rho));
    CHECK(largest < 110.0);
}

/* A bar along the x axis with sections of unequal length, held at x = 0, with Poisson's ratio 0 and
 * density rho. Linear elements are exact at their nodes for any load that their quadrature
 * integrates exactly. */
static void check_bar(int rotates, double rho)
{
    const fixture_box box = {{7, 2, 2}, {3.5, 0.8, 0.6}, 0.0, 0};
    const double young = 210.0, density = 7.8, size = 9.81, length = 3.5, area = 0.8 * 0.6;
    const hx_support_spec support[] = {{"left", "test", HX_FIX_X, {0.0, 0.0, 0.0}},
                                       {"front", "test", HX_FIX_Y, {0.0, 0.0, 0.0}},
                                       {"bottom", "test", HX_FIX_Z, {0.0, 0.0, 0.0}}};
    const hx_load_spec gravity = {
        .origin = "test", .kind = HX_LOAD_GRAVITY, .value = {size, 0.0, 0.0}, .load_case = 1};
    const hx_load_spec rotation = {.origin = "test",
                                   .kind = HX_LOAD_CENTRIFUGAL,
                                   .value = {0.0, 0.0, 5.0},
                                   .point = {0.0, 0.0, 17.0},
                                   .speed = size,
                                   .load_case = 1};
    analysis a = {.u = NULL};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = rho;
    params.young = young;
    params.poisson = 0.0;
    params.density = density;
    params.support = support;
    params.n_support = 3;
    params.load = rotates ? &rotation : &gravity;
    params.n_load = 1;
    CHECK_OK(fixture_box_create(&a.mesh, &box));
    for (int64_t node = 0; node < a.mesh.n_node; node++) {
        double *x = a.mesh.xyz + 3 * node;
        *x = 0.6 * *x + 0.4 * *x * *x / length;
    }
    CHECK_OK(fixture_finish(&a.mesh, FIXTURE_SHUFFLED));
    CHECK_OK(analyse(&a, &params, &settings));
    const double e = young * rho * rho * rho, m = hx_mass_of(rho) * density;
    const double scale = rotates ? m * size * size / e : m * size / e;
    double error = 0.0, largest = 0.0;
    for (int64_t node = 0; node < a.mesh.n_node; node++) {
        const double x = a.mesh.xyz[3 * node];
        const double u = scale * (rotates ? 0.5 * length * length * x - x * x * x / 6.0
                                          : length * x - 0.5 * x * x);
        test_worst(&largest, u);
        test_worst(&error, fabs(a.u[3 * node] - u));
    }
    CHECK_REL(largest, scale * (rotates ? length * length * length / 3.0 : 0.5 * length * length),
              1e-13); /* u(L) of the closed form */
    CHECK_MSG(error <= 1e-9 * largest, "%s: displacement off by %.3g of the largest",
              rotates ? "rotation" : "gravity", error / largest);
    double total[3], reaction[3];
    const double force =
        rotates ? m * size * size * area * 0.5 * length * length : m * size * area * length;
    CHECK_OK(hx_analysis_load(&a.solver.analysis, 0, total));
    CHECK_OK(hx_analysis_reaction(&a.solver.analysis, 0, reaction));
    CHECK_REL(total[0], force, 1e-12);
    CHECK_REL(reaction[0], -force, 1e-9);
    analysis_free(&a);
}

enum { NX = 4, NY = 3, NZ = 3, N_ELEM = NX * NY * NZ, N_CASE = 2 };

static const double weight[N_CASE] = {0.7, 2.5};
static const hx_support_spec support[3] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
    {"corner-x", "test", HX_FIX_Z, {0.0, 0.0, 0.05}},
    {"right-top", "test", HX_FIX_X | HX_FIX_Y, {0.02, -0.03, 0.0}}};
static const hx_load_spec load[4] = {
    {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.1, -0.2, -0.7}, .load_case = 1},
    {.origin = "test",
     .kind = HX_LOAD_CENTRIFUGAL,
     .value = {1.0, 2.0, -0.5},
     .point = {-0.4, 0.1, 2.0},
     .speed = 0.6,
     .load_case = 2},
    {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.3, 0.0}, .load_case = 2},
    {"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.05}, 2}};

static int make_mesh(hx_mesh *mesh)
{
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.15, 1};
    const int32_t line[2] = {fixture_node(&box, NX, 1, NZ), fixture_node(&box, NX, 2, NZ)};
    HX_TRY(fixture_box_create(mesh, &box));
    HX_TRY(hx_mesh_add_node_set(mesh, "right-top", 2, line));
    return fixture_finish(mesh, FIXTURE_REORDERED);
}

static void fill_params(hx_problem_params *params, int prescribed)
{
    *params = fixture_problem();
    params->young = 7.0;
    params->density = 1.7;
    params->support = support;
    params->n_support = prescribed ? 3 : 1;
    params->load = load;
    params->n_load = 4;
    params->weight = weight;
    params->n_weight = N_CASE;
}

/* The forces sum up to mass times the acceleration of the centre of mass. */
static void check_sums(hx_optimizer *opt, const double *rho)
{
    const hx_problem *problem = opt->problem;
    const hx_mesh *mesh = problem->mesh;
    double mass = 0.0, moment[3] = {0.0, 0.0, 0.0};
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[24];
        const double m = 1.7 * hx_mass_of(rho[e]);
        for (int k = 0; k < 24; k++) x[k] = mesh->xyz[3 * mesh->conn[8 * e + k / 3] + k % 3];
        mass += m * hx_hex8_volume(x);
        for (int q = 0; q < 8; q++) {
            double inv[3][3], at[3];
            const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
            const double det = hx_hex8_jacobian(x, r, s, t, inv);
            hx_hex8_interpolate(x, r, s, t, at);
            for (int i = 0; i < 3; i++) moment[i] += m * det * at[i];
        }
    }
    double total[2][3], d[3], along = 0.0, axis2 = 0.0, sides = 0.0;
    const double *axis = load[1].value, *point = load[1].point;
    for (int c = 0; c < 2; c++) CHECK_OK(hx_analysis_load(opt->analysis, c, total[c]));
    for (int i = 0; i < 3; i++) {
        CHECK_REL(total[0][i], mass * load[0].value[i], 1e-12);
        d[i] = moment[i] - mass * point[i];
        along += d[i] * axis[i];
        axis2 += axis[i] * axis[i];
    }
    double fixed[3];
    hx_problem_total_force(problem, 1, fixed);
    for (int i = 0; i < 3; i++) {
        const double want =
            fixed[i] + mass * load[2].value[i] + 0.36 * (d[i] - along / axis2 * axis[i]);
        CHECK_ABS(total[1][i], want, 1e-12 * mass);
        sides += fabs(total[1][i]);
    }
    CHECK(sides > 0.0);
}

static double objective_at(fixture_solver *s, int64_t e, double rho, double step)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    return record.compliance;
}

/* dC/drho of two load cases against five-point differences, with densities on both sides of the
 * threshold of the mass law. */
static void check_derivatives(const hx_mesh *mesh, int prescribed, int64_t stride)
{
    hx_problem problem;
    hx_problem_params params;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], dc[N_ELEM], error = 0.0, largest = 0.0;
    uint64_t state = 7;
    int n_positive = 0;
    fill_params(&params, prescribed);
    for (int e = 0; e < N_ELEM; e++)
        density[e] =
            e % 4 == 0 ? fixture_uniform(&state, 0.06, 0.09) : fixture_uniform(&state, 0.15, 0.95);
    settings.design.volume_fraction = 0.5;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK(problem.cases.n == N_CASE && problem.cases.body[0].alone && !problem.cases.body[1].alone);
    const hx_case_load *const own = s.analysis.load;
    CHECK(own[0].d_f && !own[0].d_static && own[1].d_f && own[1].d_static);
    CHECK(hx_analysis_load_bytes(&problem, HX_PRECISION_DOUBLE) ==
          9 * sizeof(double) * (NX + 1) * (NY + 1) * (NZ + 1));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    check_sums(&s.opt, density);
    for (int e = 0; e < N_ELEM; e++) {
        test_worst(&largest, fabs(dc[e]));
        n_positive += dc[e] > 0.0;
    }
    for (int64_t e = 0; e < N_ELEM; e += stride) {
        static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
        const double h = 1e-3 * density[e];
        double c[4];
        for (int i = 0; i < 4; i++) c[i] = objective_at(&s, e, density[e], at[i] * h);
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        test_worst(&error, fabs(difference - dc[e]));
        CHECK_MSG(fabs(difference - dc[e]) <= 1e-7 * fabs(dc[e]) + 1e-9 * largest,
                  "element %d, density %g: difference %.12g, derivative %.12g", (int)e, density[e],
                  difference, dc[e]);
    }
    printf("%s: largest error %.1e of the largest derivative, %d of %d positive\n",
           prescribed ? "with prescribed displacements" : "loads by mass", error / largest,
           n_positive, N_ELEM);
    CHECK(n_positive > 0); /* a sign that the derivative of the stiffness does not produce */
    fixture_solver_free(&s);
    hx_problem_free(&problem);
}

/* Results of a device for random fields against the CPU: bitwise equal on a CPU, equal up to
 * rounding on a GPU. */
static void check_operations(void)
{
    const fixture_box box = {{9, 7, 5}, {2.0, 1.2, 1.0}, 0.2, 1};
    hx_device cpu;
    hx_mesh mesh;
    hx_problem problem;
    hx_problem_params params;
    uint64_t state = 11;
    CHECK_OK(hx_device_open(&cpu, hx_device_find("cpu")));
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    fill_params(&params, 0);
    params.n_support = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    const size_t n = (size_t)mesh.n_elem, n_dof = 3 * (size_t)mesh.n_node;
    double *rho = malloc(n * sizeof *rho), *u = malloc(n_dof * sizeof *u);
    double *f[2], *dc[2];
    for (size_t e = 0; e < n; e++) rho[e] = fixture_uniform(&state, 0.001, 1.0);
    for (size_t k = 0; k < n_dof; k++) u[k] = fixture_uniform(&state, -1.0, 1.0);
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &cpu : &device;
        hx_operator op;
        fixture_set_threads(k == 0 ? 1 : 2);
        f[k] = malloc(n_dof * sizeof *f[k]);
        dc[k] = malloc(n * sizeof *dc[k]);
        CHECK_OK(hx_operator_create(&op, dev, hx_operator_kind_find(dev->ops->name, "ebe"),
                                    HX_LAYOUT_INTERLEAVED, &problem, 0));
        double *d_rho = fixture_put(dev, n, rho), *d_u = fixture_put(dev, n_dof, u),
               *d_static = fixture_put(dev, n_dof, problem.cases.force[1]),
               *d_f = fixture_put(dev, n_dof, u), *d_dc = fixture_put(dev, n, rho);
        CHECK_OK(
            dev->ops->body->force(dev, &op.model, &problem.cases.body[1], d_rho, d_static, d_f));
        CHECK_OK(
            dev->ops->body->work(dev, &op.model, &problem.cases.body[1], 1.5, d_rho, d_u, d_dc));
        fixture_get(dev, n_dof, f[k], d_f);
        fixture_get(dev, n, dc[k], d_dc);
        double *const all[] = {d_rho, d_u, d_static, d_f, d_dc};
        for (int i = 0; i < 5; i++) dev->ops->release(dev, all[i]);
        hx_operator_free(&op);
    }
    fixture_set_threads(1);
    double error[2] = {0.0, 0.0}, largest[2] = {0.0, 0.0}, host = 0.0;
    double *force = malloc(n_dof * sizeof *force);
    CHECK_OK(hx_problem_nodal_force(&problem, 1, rho, force));
    for (size_t k = 0; k < n_dof; k++) {
        test_worst(&error[0], fabs(f[0][k] - f[1][k]));
        test_worst(&largest[0], fabs(f[0][k]));
        test_worst(&host, fabs(f[0][k] - force[k]));
    }
    for (size_t e = 0; e < n; e++) {
        test_worst(&error[1], fabs(dc[0][e] - dc[1][e]));
        test_worst(&largest[1], fabs(dc[0][e]));
    }
    const double tolerance = device.ops == cpu.ops ? 0.0 : 1e-14;
    CHECK_MSG(error[0] <= tolerance * largest[0], "forces off by %g of %g", error[0], largest[0]);
    CHECK_MSG(error[1] <= tolerance * largest[1], "work off by %g of %g", error[1], largest[1]);
    CHECK(host == 0.0);
    for (int k = 0; k < 2; k++) {
        free(f[k]);
        free(dc[k]);
    }
    free(force);
    free(rho);
    free(u);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&cpu);
}

static void check_refusals(const hx_mesh *mesh)
{
    hx_problem problem;
    hx_problem_params params;
    hx_load_spec wrong = load[1];
    fill_params(&params, 0);
    params.n_weight = 0;
    params.load = &wrong;
    params.n_load = 1;
    wrong.load_case = 1;
    params.density = 0.0;
    CHECK_FAILS(hx_problem_create(&problem, mesh, &params), HX_EINPUT,
                "a load by mass needs material.density");
    params.density = 1.0;
    memset(wrong.value, 0, sizeof wrong.value);
    CHECK_FAILS(hx_problem_create(&problem, mesh, &params), HX_EINPUT, "has no direction");
    wrong.kind = HX_LOAD_GRAVITY;
    CHECK_FAILS(hx_problem_create(&problem, mesh, &params), HX_EINPUT, "loads of zero force");
    wrong.value[1] = 1e-160;
    CHECK_FAILS(hx_problem_create(&problem, mesh, &params), HX_EINPUT, "too small for double");
    wrong.value[1] = INFINITY;
    CHECK_FAILS(hx_problem_create(&problem, mesh, &params), HX_EINPUT, "is not finite");
}

/* Designs converge if weight dominates the load: positive derivatives cause neither oscillation nor
 * a loss of volume. */
static void check_designs(void)
{
    enum { N_STEP = 40 };
    const fixture_box box = {{12, 6, 6}, {12.0, 6.0, 6.0}, 0.0, 0};
    const hx_support_spec left = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec loads[] = {
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.0, -1.0}, .load_case = 1},
        {"right-lower-edge", "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -40.0}, 1}};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_mesh mesh;
    hx_problem problem;
    hx_iteration record;
    double value[N_STEP];
    params.density = 2.0;
    params.support = &left;
    params.n_support = 1;
    params.load = loads;
    params.n_load = 2;
    settings.filter = "sensitivity";
    settings.design.volume_fraction = 0.3;
    settings.filter_params.radius = 2.0;
    settings.pcg.tolerance = 1e-5;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    for (int i = 0; i < N_STEP; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        value[i] = record.compliance;
        CHECK_REL(record.volume, 0.3, 1e-9);
        hx_optimizer_advance(&s.opt);
    }
    printf("weight: %g at first, %g, %g at last\n", value[0], value[N_STEP - 2], value[N_STEP - 1]);
    CHECK(value[N_STEP - 1] < 0.3 * value[0]);
    CHECK_REL(value[N_STEP - 1], value[N_STEP - 2], 0.03);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

static void bend(const double x[3], double y[3])
{
    const double angle = 0.8 * x[0], r = 2.0 - x[1];
    y[0] = r * cos(angle);
    y[1] = r * sin(angle);
    y[2] = x[2] + 0.1 * x[0] * x[1];
}

/* Load case 1 is gravity, case 2 rotation, case 3 both. */
static int make_cases(space_box *b, mixed_kind kind, hx_element element, curved_map map)
{
    const mixed_box box = {
        .kind = kind, .n = {3, 2, 5}, .length = {1.5, 1.0, 1.2}, .distort = 0.1, .seed = 6};
    const hx_support_spec held = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec gravity = {NULL, "test", HX_LOAD_GRAVITY, {0.3, -0.2, 0.9}, 1};
    const hx_load_spec rotation = {NULL, "test", HX_LOAD_CENTRIFUGAL, {0.3, 1.0, 0.2},
                                   2,    {0.0},  {3.0, 0.1, -2.0},    0.7};
    hx_load_spec each[4] = {gravity, rotation, gravity, rotation};
    hx_problem_params params = fixture_problem();
    hx_region left = {.kind = HX_REGION_PLANE, .tolerance = 1e-6};
    HX_TRY(space_box_bent(b, &box, element, map));
    left.axis[map ? 1 : 0] = 1.0;
    HX_TRY(hx_mesh_add_region(&b->mesh, "left", &left));
    each[2].load_case = each[3].load_case = 3;
    params.density = 1.3;
    params.support = &held, params.n_support = 1;
    params.load = each, params.n_load = 4;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* max |a + b - c| relative to max |c|. */
static double off_the_sum(size_t n, double *const v[3])
{
    double worst = 0.0, largest = 0.0;
    for (size_t k = 0; k < n; k++) {
        test_worst(&worst, fabs(v[0][k] + v[1][k] - v[2][k]));
        test_worst(&largest, fabs(v[2][k]));
    }
    return worst / largest;
}

/* Forces on the host and on the device, and work: the first two load cases add up to the third. */
static void check_sum(const space_box *b, const char *name)
{
    const size_t n = 3 * (size_t)b->space.n_point, n_elem = (size_t)b->mesh.n_elem;
    const hx_operator_kind *const op_kind = hx_operator_kind_find(device.ops->name, "bsr");
    const size_t size[3] = {n, n, n_elem};
    double *v[3][3], *const rho = malloc(n_elem * sizeof *rho), *const u = calloc(n, sizeof *u);
    uint64_t state = 3;
    hx_operator op;
    if (!rho || !u) abort();
    for (size_t e = 0; e < n_elem; e++) rho[e] = fixture_uniform(&state, 0.05, 1.0);
    for (size_t k = 0; k < n; k++) u[k] = fixture_uniform(&state, -1.0, 1.0);
    CHECK_OK(hx_operator_create(&op, &device, op_kind, hx_layout_first(op_kind), &b->problem, 0));
    double *const d_rho = fixture_put(&device, n_elem, rho), *const d_u =
                                                                 fixture_put(&device, n, u);
    for (int c = 0; c < 3; c++) {
        const hx_body_field *const field = hx_problem_body(&b->problem, c);
        for (int k = 0; k < 3; k++) v[k][c] = calloc(size[k], sizeof **v[k]);
        double *const d_f = fixture_put(&device, n, v[1][c]);
        double *const d_dc = fixture_put(&device, n_elem, v[2][c]);
        CHECK_OK(hx_problem_nodal_force(&b->problem, c, rho, v[0][c]));
        CHECK_OK(device.ops->body->force(&device, &op.model, field, d_rho, NULL, d_f));
        CHECK_OK(device.ops->body->work(&device, &op.model, field, 1.5, d_rho, d_u, d_dc));
        fixture_get(&device, n, v[1][c], d_f);
        fixture_get(&device, n_elem, v[2][c], d_dc);
        device.ops->release(&device, d_f);
        device.ops->release(&device, d_dc);
    }
    for (int k = 0; k < 3; k++) {
        static const char *const what[3] = {"forces", "forces by the device", "work"};
        const double off = off_the_sum(size[k], v[k]);
        CHECK_MSG(off <= 1e-13, "%s: %s do not add up by %.3g", name, what[k], off);
        for (int c = 0; c < 3; c++) free(v[k][c]);
    }
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_u);
    hx_operator_free(&op);
    free(rho);
    free(u);
}

static void check_sums_of_cases(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int form = 0; form < 3; form++) { /* linear, quadratic, curved */
            char name[64];
            space_box b;
            snprintf(name, sizeof name, "%s, form %d", mixed_name[kind], form);
            CHECK_OK(make_cases(&b, (mixed_kind)kind,
                                form == 0 ? HX_ELEMENT_LINEAR : HX_ELEMENT_QUADRATIC,
                                form == 2 ? bend : NULL));
            check_sum(&b, name);
            space_box_free(&b);
        }
}

int main(int argc, char **argv)
{
    hx_mesh mesh;
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_mass_law();
    check_bar(0, 1.0);
    check_bar(0, 0.05);
    check_bar(1, 1.0);
    check_bar(1, 0.4);
    CHECK_OK(make_mesh(&mesh));
    check_derivatives(&mesh, 0, quick ? 5 : 1);
    check_derivatives(&mesh, 1, quick ? 5 : 1);
    check_refusals(&mesh);
    hx_mesh_free(&mesh);
    check_operations();
    check_sums_of_cases();
    check_designs();
    hx_device_close(&device);
    TEST_END();
}
