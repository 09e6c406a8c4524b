/* Thermal compliance and its derivatives by each density against central differences: sources,
 * fluxes and convection in two cases, one or several temperatures, SIMP above a conductivity_min,
 * on every kind of element. Neither depends on the zero of the temperature scale.
 *
 *     test_heat_design [cpu | cuda] */
#include "tests/lib/mixed_model.h"

static hx_device device;

enum { NX = 4, NY = 3, NZ = 3 };

typedef struct model {
    const char *label, *filter;
    double penalty;
    int n_support, n_film, n_load, n_case, passive;
    int is_mixed;
} model;

static const hx_support_spec support[2] = {{"left", "test", HX_FIX_X, {300.0, 0.0, 0.0}},
                                           {"corner-x", "test", HX_FIX_X, {340.0, 0.0, 0.0}}};
static const hx_convection_spec film[2] = {{"right", "test", 0.8, 300.0},
                                           {"top", "test", 0.3, 320.0}};
static const hx_load_spec load[3] = {{NULL, "test", HX_LOAD_SOURCE, {2.0}, 1},
                                     {"core", "test", HX_LOAD_HEAT, {0.5}, 1},
                                     {"top", "test", HX_LOAD_FLUX, {-1.5}, 2}};
static const hx_passive_spec passive[1] = {{"core", "test", 1.0}};
static const double weight[2] = {0.7, 2.5};

static int make_mesh(hx_mesh *mesh)
{
    static const int32_t core[3] = {5, 6, 17};
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.2, 1};
    HX_TRY(fixture_box_create(mesh, &box));
    HX_TRY(hx_mesh_add_elem_set(mesh, "core", 3, core));
    return fixture_finish(mesh, FIXTURE_REORDERED);
}

static int make_mixed(hx_mesh *mesh, mixed_kind kind)
{
    static const int32_t core[3] = {5, 6, 17};
    const mixed_box box = {
        .kind = kind, .n = {3, 2, 5}, .length = {2.0, 1.2, 1.0}, .distort = 0.15, .seed = 4};
    HX_TRY(mixed_create(mesh, &box));
    HX_TRY(mixed_name_ends(mesh, &box));
    for (int32_t a = 0; a < mesh->n_node; a++)
        if (mesh->xyz[3 * (int64_t)a + 2] >= 1.0) HX_TRY(hx_mesh_add_node_set(mesh, "top", 1, &a));
    HX_TRY(hx_mesh_add_elem_set(mesh, "core", 3, core));
    mixed_turn(mesh, 11);
    return fixture_finish(mesh, FIXTURE_REORDERED);
}

static double objective_at(fixture_solver *s, int64_t e, double rho, double step)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK(record.reason == HX_PCG_CONVERGED);
    return record.compliance;
}

/* Checks that heat is balanced: it leaves where the temperature is prescribed, and through the
 * films. With one temperature, the compliance must be the incoming heat times (T - reference),
 * without a term for convection. */
static void check_value(const fixture_solver *s, const hx_problem *problem,
                        const hx_iteration *record)
{
    const size_t n = (size_t)problem->mesh->n_node;
    double *t = malloc(n * sizeof *t), sum = 0.0;
    for (int c = 0; c < problem->cases.n; c++) {
        double load_sum[3], reaction[3], convection;
        CHECK_OK(hx_analysis_displacement(&s->analysis, c, t));
        for (size_t i = 0; i < n; i++) sum += weight[c] * problem->cases.force[c][i] * t[i];
        CHECK_OK(hx_analysis_load(&s->analysis, c, load_sum));
        CHECK_OK(hx_analysis_reaction((hx_analysis *)&s->analysis, c, reaction));
        CHECK_OK(hx_analysis_film_heat(&s->analysis, c, &convection));
        CHECK_ABS(load_sum[0] + reaction[0] - convection, 0.0,
                  1e-9 * fabs(load_sum[0]) + 1e-12 * fabs(record->compliance));
    }
    if (!problem->is_mixed) CHECK_REL(record->compliance, sum, 1e-12);
    free(t);
}

static hx_problem_params params_of(const model *m)
{
    hx_problem_params params = fixture_problem();
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 7.0;
    params.conductivity_min = 0.3;
    params.support = support;
    params.n_support = (size_t)m->n_support;
    params.convection = film;
    params.n_convection = (size_t)m->n_film;
    params.load = load;
    params.n_load = (size_t)m->n_load;
    params.weight = weight;
    params.n_weight = (size_t)m->n_case;
    params.passive = passive;
    params.n_passive = (size_t)m->passive;
    return params;
}

static hx_iteration step_at(const hx_mesh *mesh, const hx_problem_params *params,
                            const fixture_settings *settings, double *dc)
{
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    CHECK_OK(hx_problem_create(&problem, mesh, params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    return record;
}

/* Compliance, derivatives and iterations with every temperature 1000 lower or 273.15 higher, and
 * supports and films in reverse order. */
static void check_zero(const hx_mesh *mesh, const model *m, const fixture_settings *settings,
                       const hx_iteration *record, const double *dc, double largest)
{
    static const double shift[3] = {-1000.0, 273.15, 0.0};
    double worst = 0.0, *const moved = malloc((size_t)mesh->n_elem * sizeof *moved);
    if (!moved) abort();
    for (int i = 0; i < 3; i++) {
        hx_problem_params params = params_of(m);
        hx_support_spec held[2];
        hx_convection_spec to[2];
        for (int k = 0; k < 2; k++) {
            held[k] = support[i == 2 && m->n_support == 2 ? 1 - k : k];
            to[k] = film[i == 2 && m->n_film == 2 ? 1 - k : k];
            held[k].value[0] += shift[i];
            to[k].ambient += shift[i];
        }
        params.support = held;
        params.convection = to;
        const hx_iteration now = step_at(mesh, &params, settings, moved);
        CHECK_REL(now.compliance, record->compliance, 1e-10);
        CHECK(abs(now.pcg_iterations - record->pcg_iterations) <= 1);
        for (int64_t e = 0; e < mesh->n_elem; e++) test_worst(&worst, fabs(moved[e] - dc[e]));
    }
    CHECK_MSG(worst <= 1e-9 * largest, "%s: derivatives with another zero differ by %g of %g",
              m->label, worst, largest);
    free(moved);
}

/* By each density, or by n_sample of them. */
static void check_model(const hx_mesh *mesh, const model *m, int64_t n_sample)
{
    const int64_t n = mesh->n_elem, step = n > n_sample ? n / n_sample : 1;
    hx_problem problem;
    const hx_problem_params params = params_of(m);
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    double worst = 0.0, largest = 0.0, *const density = malloc(4 * (size_t)n * sizeof *density);
    double *const dc = density + n, *const design = dc + n, *const modulus = design + n;
    uint64_t state = 99;
    settings.design.volume_fraction = 0.5;
    settings.design.penalty = fixture_constant(m->penalty);
    if (!density) abort();
    for (int64_t e = 0; e < n; e++) density[e] = fixture_uniform(&state, 0.15, 0.95);
    settings.op_kind = hx_operator_kind_of(hx_operator_kind_find(device.ops->name, "otf"), 1);
    settings.filter = m->filter;
    settings.filter_params.radius = 0.7;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    CHECK(problem.is_mixed == m->is_mixed);
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    check_value(&s, &problem, &record);
    fixture_get(&device, (size_t)n, design, s.opt.d_design);
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    CHECK_OK(hx_analysis_modulus(&s.analysis, modulus));
    for (int64_t e = 0; e < n; e++) {
        test_worst(&largest, fabs(dc[e]));
        if (strcmp(m->filter, "none") == 0)
            CHECK_REL(modulus[e], 0.3 + 6.7 * pow(design[e], m->penalty), 1e-14);
    }
    check_zero(mesh, m, &settings, &record, dc, largest);
    for (int64_t e = 0; e < n; e += step) {
        const double h = 1e-3 * design[e];
        double c[4];
        if (problem.passive.density && !isnan(problem.passive.density[e])) continue;
        for (int i = 0; i < 4; i++) { /* five points: the error is of order h^4 */
            static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
            c[i] = objective_at(&s, e, design[e], at[i] * h);
        }
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        CHECK_MSG(dc[e] < 0.0, "element %d: dc = %g", (int)e, dc[e]);
        test_worst(&worst, fabs(difference - dc[e]));
    }
    printf("%-22s %-44s compliance %.6g, largest error %.1e of the largest derivative\n",
           mesh->name, m->label, record.compliance, worst / largest);
    CHECK(worst <= 1e-7 * largest);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    free(density);
}

/* Every filter of the registry that maps the design. */
static void check_filters(const hx_mesh *mesh, int64_t n_sample)
{
    for (size_t i = 0; hx_filters[i]; i++) {
        char label[64];
        const char *const name = hx_filters[i]->name;
        if (!hx_filters[i]->maps_design) continue;
        snprintf(label, sizeof label, "%s filter", name);
        const model m = {label, name, 3.0, 1, 1, 2, 1, 0, 0};
        check_model(mesh, &m, n_sample);
    }
}

int main(int argc, char **argv)
{
    static const model models[] = {
        {"a source, held", "none", 3.0, 1, 0, 1, 1, 0, 0},
        {"sources, film, passive elements, two cases", "none", 3.0, 1, 1, 3, 2, 1, 0},
        {"only a film, penalty 1.7", "none", 1.7, 0, 1, 2, 1, 0, 0},
        {"two held, no source", "none", 3.0, 2, 0, 0, 1, 0, 1},
        {"two held, two ambients, sources, two cases", "none", 3.0, 2, 2, 3, 2, 0, 1},
        {"held below two ambients, sources, two cases", "none", 3.0, 1, 2, 3, 2, 0, 1},
    };
    const size_t n_model = sizeof models / sizeof models[0];
    hx_mesh mesh;
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    if (!device.ops->conduction) {
        hx_device_close(&device);
        TEST_SKIP("the device has no heat");
    }
    CHECK_OK(make_mesh(&mesh));
    for (size_t i = 0; i < n_model; i++) check_model(&mesh, &models[i], mesh.n_elem);
    check_filters(&mesh, mesh.n_elem);
    hx_mesh_free(&mesh);
    for (int kind = MIXED_HEXAHEDRA + 1; kind < MIXED_N_KIND; kind++) {
        CHECK_OK(make_mixed(&mesh, (mixed_kind)kind));
        for (size_t i = 1; i < n_model; i += 3) check_model(&mesh, &models[i], 16);
        check_filters(&mesh, 16);
        hx_mesh_free(&mesh);
    }
    hx_device_close(&device);
    TEST_END();
}
