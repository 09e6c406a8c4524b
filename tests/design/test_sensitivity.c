/* Derivatives of the objective by each density against central differences of the analysis.
 *
 *     test_sensitivity [cpu | cuda] [quick] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 4, NY = 3, NZ = 3, N_ELEM = NX * NY * NZ };

typedef struct model {
    const char *label;
    double penalty;
    int n_case, passive, prescribed, loaded;
    int volume_weighted; /* parameter of the filter `none`: must have no effect */
} model;

static const hx_support_spec support[3] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
    {"corner-x", "test", HX_FIX_Z, {0.0, 0.0, 0.05}},
    {"right-top", "test", HX_FIX_X | HX_FIX_Y, {0.02, -0.03, 0.0}}};
static const hx_load_spec load[3] = {{"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
                                     {"top", "test", HX_LOAD_PRESSURE, {0.2}, 2},
                                     {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.05, 0.0}, 2}};
static const hx_passive_spec passive[2] = {{"core", "test", 1.0}, {"hole", "test", 0.01}};
static const double weight[2] = {0.7, 2.5};

static int make_mesh(hx_mesh *mesh)
{
    static const int32_t core[3] = {5, 6, 17}, hole[2] = {20, 35};
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.15, 1};
    const int32_t line[2] = {fixture_node(&box, NX, 1, NZ), fixture_node(&box, NX, 2, NZ)};
    HX_TRY(fixture_box_create(mesh, &box));
    HX_TRY(hx_mesh_distort(mesh, 0.1, 3));
    HX_TRY(hx_mesh_add_node_set(mesh, "right-top", 2, line));
    HX_TRY(hx_mesh_add_elem_set(mesh, "core", 3, core));
    HX_TRY(hx_mesh_add_elem_set(mesh, "hole", 2, hole));
    return fixture_finish(mesh, FIXTURE_REORDERED);
}

/* Objective and volume fraction with the density of element e changed from rho to rho + step; no
 * update is adopted. */
static double objective_at(fixture_solver *s, int64_t e, double rho, double step, double *volume)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    *volume = record.volume;
    return record.compliance;
}

/* The fields for output: the physical density is the design, E rho^p, and the energy, which gives
 * dc = -p / rho * energy. */
static void check_downloads(fixture_solver *s, const hx_problem *problem, const double *design,
                            const double *dc)
{
    double density[N_ELEM], modulus[N_ELEM], energy[N_ELEM];
    CHECK_OK(hx_optimizer_density(&s->opt, density));
    CHECK_OK(hx_analysis_modulus(&s->analysis, modulus));
    CHECK_OK(hx_optimizer_energy(&s->opt, energy));
    CHECK(memcmp(density, design, sizeof density) == 0);
    for (int e = 0; e < N_ELEM; e++) {
        CHECK_REL(modulus[e], problem->young * pow(design[e], s->design.penalty.value), 1e-14);
        CHECK_REL(dc[e], -s->design.penalty.value / design[e] * energy[e], 1e-13);
    }
}

static void check_model(const hx_mesh *mesh, const model *m, int64_t stride)
{
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], dc[N_ELEM], dv[N_ELEM], design[N_ELEM], proposal[N_ELEM];
    uint64_t state = 99;
    settings.design.volume_fraction = 0.5;
    settings.design.penalty = fixture_constant(m->penalty);
    params.young = 7.0;
    params.support = support;
    params.n_support = m->prescribed ? 3 : 1;
    params.load = load;
    params.n_load = !m->loaded ? 0 : m->n_case == 1 ? 1 : 3;
    params.weight = weight;
    params.n_weight = (size_t)m->n_case;
    params.passive = passive;
    params.n_passive = m->passive ? 2 : 0;
    for (int e = 0; e < N_ELEM; e++) density[e] = fixture_uniform(&state, 0.15, 0.95);
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.filter_params.volume_weighted = m->volume_weighted;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK(problem.cases.n == m->n_case);
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    fixture_get(&device, N_ELEM, dv, s.opt.d_dv);
    fixture_get(&device, N_ELEM, design, s.opt.d_design);
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    check_downloads(&s, &problem, design, dc);

    /* sums over cases in the record */
    double sum = 0.0, residual = 0.0;
    int n_iteration = 0;
    for (int c = 0; c < m->n_case; c++) {
        sum += weight[c] * record.load_case[c].compliance;
        test_worst(&residual, record.load_case[c].pcg.residual);
        n_iteration += record.load_case[c].pcg.iterations;
    }
    CHECK_REL(record.compliance, sum, 1e-14);
    CHECK(record.pcg_residual == residual && record.pcg_iterations == n_iteration);
    if (!m->prescribed) CHECK(record.compliance > 0.0);
    if (!m->loaded) CHECK(record.compliance < 0.0); /* minus the energy: stiffer is lower */

    double error = 0.0, largest = 0.0;
    for (int e = 0; e < N_ELEM; e++) test_worst(&largest, fabs(dc[e]));
    for (int64_t e = 0; e < N_ELEM; e += stride) {
        const double h = 1e-3 * design[e];
        double c[4], v[4];
        const int is_passive = problem.passive.density && !isnan(problem.passive.density[e]);
        CHECK(design[e] == (is_passive ? (double)problem.passive.density[e] : density[e]));
        CHECK_MSG(dc[e] < 0.0, "element %d: dc = %g", (int)e, dc[e]);
        /* five points: the error is of order h^4 */
        for (int i = 0; i < 4; i++) {
            static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
            c[i] = objective_at(&s, e, design[e], at[i] * h, &v[i]);
        }
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        test_worst(&error, fabs(difference - dc[e]));
        CHECK_MSG(fabs(difference - dc[e]) <= 1e-7 * fabs(dc[e]) + 1e-9 * largest,
                  "%s: element %d: difference %.12g, derivative %.12g", m->label, (int)e,
                  difference, dc[e]);
        CHECK_REL((v[2] - v[1]) / (2.0 * h) * mesh->total_volume, dv[e], 1e-9);
        CHECK_REL(dv[e], problem.volume[e], 1e-14);
    }
    printf("%-48s largest error %.1e of the largest derivative\n", m->label, error / largest);
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    fixture_get(&device, N_ELEM, proposal, s.opt.d_proposal);
    double change = 0.0, grey = 0.0, free_volume = 0.0;
    for (int64_t e = 0; e < N_ELEM; e++) {
        const double rho = design[e];
        test_worst(&change, fabs(proposal[e] - rho));
        if (problem.passive.density && !isnan(problem.passive.density[e])) {
            CHECK(proposal[e] == rho);
            continue;
        }
        grey += 4.0 * problem.volume[e] * rho * (1.0 - rho);
        free_volume += problem.volume[e];
    }
    CHECK(record.change == change && change > 0.0 && change <= 0.2 + 1e-15);
    CHECK_REL(record.greyness, grey / free_volume, 1e-13);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
}

static void check_refusals(const hx_mesh *mesh)
{
    static const double bad[] = {0.0, -0.1, 1.5, NAN};
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM];
    params.support = support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    for (int i = 0; i < 4; i++) {
        fixture_settings settings = fixture_defaults();
        settings.design.move = bad[i];
        CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                    "must be above 0 and at most 1");
        settings = fixture_defaults();
        settings.design.damping = bad[i];
        CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                    "must be above 0 and at most 1");
        settings = fixture_defaults();
        for (int e = 0; e < N_ELEM; e++) density[e] = 0.5;
        density[0] = i == 0 ? INFINITY : bad[i];
        settings.density = density;
        CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                    "initial density of element ");
    }
    const fixture_settings settings = fixture_defaults();
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    const double nan = NAN;
    CHECK_OK(device.ops->upload(&device, s.opt.d_design + 3, &nan, sizeof nan));
    CHECK_FAILS(hx_optimizer_step(&s.opt, &record), HX_ENUMERIC, "is not finite");
    CHECK(strstr(hx_error_message(), "PCG: nan") != NULL);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
}

int main(int argc, char **argv)
{
    static const model list[] = {
        {"one case, p = 3", 3.0, 1, 0, 0, 1, 0},
        {"two weighted cases, p = 3", 3.0, 2, 0, 0, 1, 1},
        {"two weighted cases, p = 1.5, passive elements", 1.5, 2, 1, 0, 1, 0},
        {"p = 1", 1.0, 1, 0, 0, 1, 0},
        {"prescribed displacements, p = 3", 3.0, 1, 0, 1, 0, 0},
        {"prescribed displacements and two loads, p = 1.5", 1.5, 2, 1, 1, 1, 0},
    };
    hx_mesh mesh;
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    CHECK_OK(make_mesh(&mesh));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check_model(&mesh, &list[i], quick ? 5 : 1);
    check_refusals(&mesh);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
