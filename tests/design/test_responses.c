/* Every kind of response: values and derivatives against those of another program, values that
 * follow from others, and what is refused. test_response_differences.c compares derivatives with
 * central differences; test_responses_dist.c runs several processes.
 *
 *     test_responses [cpu | cuda] [quick] */
#include "core/base/vec3.h"
#include "tests/lib/response_models.h"
#include "tests/lib/response_rows.h"
#include "tests/lib/spline_model.h"

static hx_device device;

/* ---- values of another program ---- */

typedef struct reference {
    row of;
    double value, norm, sum, first, middle, last; /* derivative: 2-norm, sum, three entries */
} reference;

typedef struct model {
    int n[3]; /* elements */
    double length[3];
    hx_mesh mesh;
    hx_problem problem;
} model;

static int make_box(model *m, int fine)
{
    const hx_generate_params size = {.nx = 12 * fine, .ny = 6 * fine, .nz = 4 * fine};
    const int32_t tip = (int32_t)(12 * fine + (12 * fine + 1) * (6 * fine + 1) * 4 * fine);
    HX_TRY(hx_generate(hx_generator_find("cantilever"), &m->mesh, &size));
    for (int64_t i = 0; i < 3 * m->mesh.n_node; i++) m->mesh.xyz[i] /= fine;
    int32_t *const all = malloc((size_t)m->mesh.n_node * sizeof *all);
    for (int32_t i = 0; all && i < m->mesh.n_node; i++) all[i] = i;
    HX_TRY(hx_mesh_add_node_set(&m->mesh, "all", m->mesh.n_node, all));
    free(all);
    HX_TRY(hx_mesh_add_node_set(&m->mesh, "tip", 1, &tip));
    return fixture_finish(&m->mesh, FIXTURE_IN_ORDER);
}

static double *formula_density(const hx_mesh *mesh, int fine)
{
    double *const density = malloc((size_t)mesh->n_elem * sizeof *density);
    const int nx = 12 * fine, ny = 6 * fine;
    if (!density) abort();
    for (int e = 0; e < mesh->n_elem; e++) {
        const double x = (e % nx + 0.5) / fine, y = (e / nx % ny + 0.5) / fine,
                     z = (e / (nx * ny) + 0.5) / fine;
        density[e] = 0.45 + 0.42 * sin(1.7 * x + 0.3) * cos(2.3 * y + 0.1) * cos(1.9 * z - 0.2);
    }
    return density;
}

typedef enum { STATICS, GRAVITY, HEAT } physics_of;

static int make_reference_problem(model *m, physics_of physics)
{
    static const hx_support_spec clamped = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_support_spec cold = {.set = "left", .origin = "test", .fix = HX_FIX_X};
    static const hx_load_spec force[2] = {
        {"right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1},
        {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.01, 0.0}, 2}};
    static const hx_load_spec weight = {
        .origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.0, -1.0}, .load_case = 1};
    static const hx_load_spec source = {
        .origin = "test", .kind = HX_LOAD_SOURCE, .value = {1.0}, .load_case = 1};
    hx_problem_params params = fixture_problem();
    params.physics = physics == HEAT ? HX_PHYSICS_HEAT : HX_PHYSICS_ELASTICITY;
    params.conductivity = 1.0;
    params.density = 1.0;
    params.support = physics == HEAT ? &cold : &clamped;
    params.n_support = 1;
    params.load = physics == HEAT ? &source : physics == GRAVITY ? &weight : force;
    params.n_load = physics == STATICS ? 2 : 1;
    return hx_problem_create(&m->problem, &m->mesh, &params);
}

static void check_reference(const fixture_solver *s, int i, const reference *r, int64_t n)
{
    double *const dg = malloc((size_t)n * sizeof *dg), norm = 0.0, sum = 0.0;
    const hx_largest_constants *const are = constants_of(s, i);
    const double scale = are ? are->scale : scale_of(s, i),
                 value = value_of(s, i) / (are ? scale : 1.0);
    char label[64];
    CHECK(!are || are->shift == 0.0);
    snprintf(label, sizeof label, "%s%s%s", r->of.kind, r->of.set ? " " : "",
             r->of.set ? r->of.set : "");
    if (!dg) abort();
    fixture_get(&device, (size_t)n, dg, s->opt.constraint[i].d_derivative);
    for (int64_t e = 0; e < n; e++) {
        dg[e] /= scale;
        norm += dg[e] * dg[e];
        sum += dg[e];
    }
    const double got[6] = {value, sqrt(norm), sum, dg[0], dg[n / 2], dg[n - 1]};
    const double want[6] = {r->value, r->norm, r->sum, r->first, r->middle, r->last};
    double worst = 0.0;
    for (int k = 0; k < 6; k++) {
        const double exact = k == 0 ? 1e-8 : 5e-7, error = fabs(got[k] - want[k]);
        if (isnan(want[k])) continue;
        if (k > 0) test_worst(&worst, error / fabs(want[k]));
        CHECK_MSG(error <= exact * fabs(want[k]), "%s, number %d: %.12g, not %.12g", label, k,
                  got[k], want[k]);
    }
    printf("%-24s %.11g, derivatives to %.0e\n", label, value, worst);
    free(dg);
}

static void check_references(const reference *list, int n, physics_of physics, int fine)
{
    model m = {0};
    fixture_solver s;
    hx_iteration record;
    hx_constraint_spec spec[MOST_SPEC];
    row rows[MOST_SPEC];
    fixture_settings settings = fixture_defaults();
    for (int i = 0; i < n; i++) rows[i] = list[i].of;
    put_specs(rows, n, spec);
    CHECK_OK(make_box(&m, fine));
    CHECK_OK(make_reference_problem(&m, physics));
    double *const density = formula_density(&m.mesh, fine);
    settings.design.volume_fraction = 0.0;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.op_kind = operator_of(&device, &m.problem, "otf");
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = n, .constraint = spec, .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    for (int i = 0; i < n; i++) check_reference(&s, i, &list[i], m.mesh.n_elem);
    CHECK(record.n_response == n && record.response == s.opt.record);
    fixture_solver_free(&s);
    free(density);
    hx_problem_free(&m.problem);
    hx_mesh_free(&m.mesh);
}

static const reference statics[] = {
    {{.kind = "compliance", .load_case = 0},
     8.4997340125e3,
     4.814288e3,
     -5.162185e4,
     -7.394314e2,
     -6.411498e1,
     -1.104027e0},
    {{.kind = "compliance", .load_case = 1},
     1.0934093623e1,
     6.173935e0,
     -6.762946e1,
     -1.160002e0,
     -8.180335e-1,
     -2.271150e-2},
    {{.kind = "displacement", .set = "tip", .direction = {0.0, 0.0, 2.0}},
     -1.1618385708e3,
     6.910128e2,
     7.024706e3,
     1.170779e2,
     8.207016e0,
     5.445627e-3},
    {{.kind = "displacement", .set = "tip", .direction = {0.0, 0.0, 2.0}, .is_magnitude = 1},
     1.1618385708e3,
     6.910128e2,
     -7.024706e3,
     -1.170779e2,
     -8.207016e0,
     -5.445627e-3},
    {{.kind = "displacement", .set = "right", .of_largest = 1, .load_case = 1},
     3.2086171249e1,
     1.802869e1,
     -1.986358e2,
     -3.400443e0,
     -2.350827e0,
     -8.037779e-2},
    {{.kind = "stress", .load_case = 0, .relaxation = 0.5},
     1.5692981079e1,
     1.176876e1,
     -8.193710e1,
     -9.647485e-1,
     -1.805162e-1,
     -8.959509e-5},
    {{.kind = "volume", .load_case = HX_ALL_CASES}, 0.4503851552434, NAN, 1.0, NAN, NAN, NAN},
    {{.kind = "mass", .load_case = HX_ALL_CASES},
     0.4503851552434 * 288.0,
     NAN,
     288.0,
     NAN,
     NAN,
     NAN}};
static const reference gravity[] = {{{.kind = "compliance", .load_case = 0},
                                     4.3958723334e5,
                                     3.079830e5,
                                     -6.501677e5,
                                     -5.876605e4,
                                     -4.890776e3,
                                     1.547216e4}};
static const reference heat[] = {{{.kind = "compliance", .load_case = 0},
                                  1.2109963232e5,
                                  6.179286e4,
                                  -7.145528e5,
                                  -6.764245e3,
                                  -4.565788e3,
                                  -1.089810e1},
                                 {{.kind = "temperature", .set = "all", .of_largest = 1},
                                  5.5223268814e2,
                                  2.556001e2,
                                  -3.270876e3,
                                  -2.233870e1,
                                  -1.504088e1,
                                  -2.344585e-1}};
static const reference fine_statics[] = {
    {{.kind = "compliance", .load_case = 0},
     4.1008222152e4,
     4.943120e4,
     -3.273142e5,
     -8.277942e2,
     -9.648980e0,
     -1.881527e-2},
    {{.kind = "displacement", .set = "tip", .direction = {0.0, 0.0, 1.0}},
     -2.7508570564e3,
     6.883636e2,
     1.845411e4,
     7.219079e1,
     1.243258e-1,
     9.336541e-4},
    {{.kind = "stress", .load_case = 0, .relaxation = 0.5},
     2.4312392648e2,
     3.562001e3,
     -4.773500e3,
     -6.802538e-4,
     7.031272e-5,
     3.294042e-5},
    {{.kind = "volume", .load_case = HX_ALL_CASES}, 0.4502618658620, NAN, 1.0, NAN, NAN, NAN}};
static const reference fine_heat[] = {{{.kind = "compliance", .load_case = 0},
                                       1.3182603583e5,
                                       2.410643e4,
                                       -8.047241e5,
                                       -1.726648e3,
                                       -3.295438e2,
                                       -5.552480e-2}};

/* The augmented Lagrangian of stresses in the box against another program. */
static void check_lagrangian_reference(void)
{
    static const double want[6] = {1.0575137396e-1, 5.565539e-1,  -3.958531e0,
                                   -6.171609e-2,    -1.221107e-2, -4.764855e-6};
    const hx_constraint_spec spec = {
        .kind = &hx_response_stress,
        .params = {.load_case = 0, .relaxation = 0.5, .is_lagrangian = 1},
        .max = 12.600757428,
        .min = NAN};
    model m = {0};
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    CHECK_OK(make_box(&m, 1));
    CHECK_OK(make_reference_problem(&m, STATICS));
    const int64_t n = m.mesh.n_elem;
    double *const density = formula_density(&m.mesh, 1), *const dg = malloc((size_t)n * sizeof *dg);
    double norm = 0.0, sum = 0.0;
    if (!dg) abort();
    settings.design.volume_fraction = 0.0;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.op_kind = operator_of(&device, &m.problem, "otf");
    settings.optimizer = (hx_optimizer_params){.objective = &hx_response_volume,
                                               .objective_params = {.load_case = HX_ALL_CASES},
                                               .n_constraint = 1,
                                               .constraint = &spec,
                                               .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
    set_multipliers(&s, n);
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    fixture_get(&device, (size_t)n, dg, s.opt.lagrangian.d_derivative);
    for (int64_t e = 0; e < n; e++) {
        norm += dg[e] * dg[e];
        sum += dg[e];
    }
    const double got[6] = {s.opt.lagrangian.sum.now, sqrt(norm), sum, dg[0], dg[n / 2], dg[n - 1]};
    for (int k = 0; k < 6; k++) {
        const double exact = k == 0 ? 1e-8 : 5e-7;
        CHECK_MSG(fabs(got[k] - want[k]) <= exact * fabs(want[k]),
                  "augmented Lagrangian, number %d: %.12g, not %.12g", k, got[k], want[k]);
    }
    CHECK_REL(record.response[0].value, 25.201514856, 1e-9);
    CHECK_REL(record.response[0].violation, 1.0, 1e-8);
    CHECK_REL(s.opt.lagrangian.scale * record.objective, 0.4503851552434, 1e-12);
    printf("augmented Lagrangian of stresses %.11g\n", got[0]);
    fixture_solver_free(&s);
    free(density);
    free(dg);
    hx_problem_free(&m.problem);
    hx_mesh_free(&m.mesh);
}

/* ---- values that follow from others ---- */

/* Values of the first design of a box. */
static void first_values(int is_heat, const row *rows, int n, double *value, double *largest)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {4, 2, 2}, .length = {2.0, 1.2, 1.0}};
    hx_constraint_spec spec[MOST_SPEC];
    fixture_settings settings = fixture_defaults();
    hx_mesh mesh = {0};
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    put_specs(rows, n, spec);
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(mixed_name_ends(&mesh, &box));
    CHECK_OK(add_sets(&mesh, box.length));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(is_heat ? make_thermal(&problem, &mesh, NULL, 0)
                     : make_elastic(&problem, &mesh, NULL, WEIGHT));
    double *const density = random_density(&problem), *const u = malloc(3 * (size_t)mesh.n_node *
                                                                        sizeof *u);
    if (!u) abort();
    settings.design.volume_fraction = 0.0;
    settings.density = density;
    settings.op_kind = operator_of(&device, &problem, "otf");
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = n, .constraint = spec, .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    for (int i = 0; i < n; i++) value[i] = record.response[i].value;
    CHECK_OK(hx_analysis_displacement(&s.analysis, 0, u));
    *largest = 0.0;
    for (int64_t i = 0; i < mesh.n_node; i++) {
        const double q = is_heat ? fabs(u[i]) : hx_norm3(u + 3 * i);
        test_worst(largest, q);
    }
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(density);
    free(u);
}

static void check_relations(void)
{
    static const row shift[] = {
        {.kind = "displacement", .set = "right", .direction = {0.0, 0.0, 1.0}},
        {.kind = "displacement", .set = "inner", .direction = {0.0, 0.0, 1.0}},
        {.kind = "displacement", .set = "right", .set_2 = "inner", .direction = {0.0, 0.0, 2.0}},
        {.kind = "displacement", .set = "right", .direction = {0.0, 1.0, 0.0}},
        {.kind = "displacement", .set = "right", .direction = {1.0, 0.0, 0.0}},
        {.kind = "displacement", .set = "right"},
        {.kind = "displacement", .set = "surface", .of_largest = 1},
        {.kind = "reaction", .set = "left", .direction = {1.0, 0.0, 0.0}},
        {.kind = "reaction", .set = "left", .direction = {0.0, 1.0, 0.0}},
        {.kind = "reaction", .set = "left", .direction = {0.0, 0.0, 1.0}},
        {.kind = "reaction", .set = "left"}};
    static const row warm[] = {{.kind = "temperature", .set = "right"},
                               {.kind = "temperature", .set = "inner"},
                               {.kind = "temperature", .set = "right", .set_2 = "inner"},
                               {.kind = "temperature", .set = "surface", .of_largest = 1},
                               {.kind = "reaction", .set = "left"}};
    double v[MOST_SPEC], largest;
    first_values(0, shift, sizeof shift / sizeof shift[0], v, &largest);
    CHECK_REL(v[2], v[0] - v[1], 1e-9);
    CHECK_REL(v[5], sqrt(v[0] * v[0] + v[3] * v[3] + v[4] * v[4]), 1e-9);
    CHECK_REL(v[6], largest, 1e-9); /* on the surface */
    CHECK_REL(v[10], sqrt(v[7] * v[7] + v[8] * v[8] + v[9] * v[9]), 1e-9);
    CHECK_REL(v[9], 2.7, 1e-9); /* nine nodes, -0.3 each */
    first_values(1, warm, sizeof warm / sizeof warm[0], v, &largest);
    CHECK(v[0] > 20.0 && v[1] > 20.0);
    CHECK_REL(v[2], v[0] - v[1], 1e-9);
    CHECK_REL(v[3], 20.0 + largest, 1e-9);
    CHECK_REL(v[4], -3.0 * 2.0 * 1.2, 1e-9); /* what the source supplies */
}

/* ---- what is refused ---- */

typedef struct refusal {
    row of;
    double max, min;
    const char *words;
} refusal;

static void check_refused(const hx_problem *problem, const refusal *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hx_constraint_spec spec;
        fixture_solver s;
        fixture_settings settings = fixture_defaults();
        put_specs(&list[i].of, 1, &spec);
        spec.params.origin = "part.cfg:7: constraints[0]";
        spec.max = list[i].max;
        spec.min = list[i].min;
        settings.design.volume_fraction = 0.0;
        settings.op_kind = operator_of(
            &device, problem, problem->space.element == HX_ELEMENT_SPLINE ? "bsrsym" : "otf");
        settings.layout = hx_layout_first(settings.op_kind);
        settings.optimizer =
            (hx_optimizer_params){.n_constraint = 1, .constraint = &spec, .update = &keeper};
        CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                    list[i].words);
        CHECK_MSG(strncmp(hx_error_message(), "part.cfg:7: constraints[0]: ", 28) == 0, "%s",
                  hx_error_message());
    }
}

static const refusal of_elasticity[] = {
    {{.kind = "compliance"}, NAN, NAN, "compliance has no limit; give max, min or both"},
    {{.kind = "compliance"}, 0.0, NAN, "the limit of compliance is 0"},
    {{.kind = "compliance"}, 1.0, 2.0, "no compliance lies between min = 2 and max = 1"},
    {{.kind = "compliance"}, INFINITY, NAN, "a limit of compliance is not a finite number"},
    {{.kind = "compliance", .load_case = 2}, 1.0, NAN, "there is no load case 3; there are 2"},
    {{.kind = "compliance", .set = "left"},
     1.0,
     NAN,
     "set: constraint 1 'compliance' does not take this key; its keys are kind, max, min, name, "
     "case"},
    {{.kind = "worst_compliance"}, 1.0, NAN, "worst_compliance can be minimised but not limited"},
    {{.kind = "mass"}, 1.0, NAN, "the mass needs material.density"},
    {{.kind = "temperature", .set = "left"}, 1.0, NAN, "only physics = \"heat\" has temperatures"},
    {{.kind = "displacement"}, 1.0, NAN, "'displacement' needs a set"},
    {{.kind = "displacement", .set = "right", .is_magnitude = 1},
     1.0,
     NAN,
     "magnitude: a displacement without direction is a length"},
    {{.kind = "displacement", .set = "rihgt"}, 1.0, NAN, "no set 'rihgt', did you mean 'right'?"},
    {{.kind = "displacement", .set = "right", .set_2 = "rihgt"}, 1.0, NAN, "no set 'rihgt'"},
    {{.kind = "displacement", .set = "left"},
     1.0,
     NAN,
     "supports prescribe the displacement of set 'left', so no design changes it"},
    {{.kind = "displacement", .set = "right", .set_2 = "inner", .of_largest = 1},
     1.0,
     NAN,
     "set_2 is subtracted from a mean"},
    {{.kind = "reaction", .set = "right"}, 1.0, NAN, "no support holds set 'right', so it has no"},
    {{.kind = "reaction", .set = "rihgt"}, 1.0, NAN, "no set 'rihgt'"},
    {{.kind = "stress", .set = "rihgt"}, 1.0, NAN, "no set 'rihgt', did you mean 'right'?"},
    {{.kind = "stress", .set = "right"}, 1.0, NAN, "set 'right' has no elements"},
    {{.kind = "stress", .relaxation = 1.5}, 1.0, NAN, "relaxation = 1.5 is not in [0, 1]"},
    {{.kind = "stress"}, 1.0, 0.5, "stress can only be limited from above"},
    {{.kind = "compliance", .relaxation = 0.5},
     1.0,
     NAN,
     "relaxation: constraint 1 'compliance' does not take this key"}};
static const refusal of_heat[] = {
    {{.kind = "displacement", .set = "right"}, 1.0, NAN, "physics = \"heat\" has no displacements"},
    {{.kind = "stress"}, 1.0, NAN, "physics = \"heat\" has no stresses"},
    {{.kind = "temperature", .set = "left"}, 1.0, NAN, "supports prescribe the temperature of set"},
    {{.kind = "temperature", .set = "right", .is_magnitude = 1},
     1.0,
     NAN,
     "magnitude: it removes the sign of a difference"},
    {{.kind = "reaction", .set = "left", .direction = {0.0, 0.0, 1.0}},
     1.0,
     NAN,
     "direction: constraint 1 'reaction' does not take this key in heat; its keys are kind, max, "
     "min, "
     "name, set, case, magnitude"}};

static void check_refusals(void)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load[2] = {{"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -3.0}, 1},
                                         {"right", "test", HX_LOAD_NODE_FORCE, {0.1, 0.0, 0.0}, 2}};
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {4, 2, 2}, .length = {2.0, 1.2, 1.0}};
    hx_problem_params params = fixture_problem();
    hx_mesh mesh = {0};
    hx_problem problem;
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(mixed_name_ends(&mesh, &box));
    CHECK_OK(add_sets(&mesh, box.length));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    check_refused(&problem, of_elasticity, sizeof of_elasticity / sizeof of_elasticity[0]);
    hx_problem_free(&problem);
    CHECK_OK(make_thermal(&problem, &mesh, NULL, 0));
    check_refused(&problem, of_heat, sizeof of_heat / sizeof of_heat[0]);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* Stresses of splines are refused by name, by both methods. */
static void check_refused_spline(void)
{
    static const int degree[3] = {2, 2, 2}, n_span[3] = {3, 2, 2}, twice[3] = {0, 0, 0};
    static const hx_support_spec support = {
        .set = "patch1:u-", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {
        "patch1:u+", "test", HX_LOAD_TOTAL_FORCE, {0.1, 0.0, -0.3}, 1};
    static const refusal list[] = {{{.kind = "stress", .relaxation = 0.5},
                                    1.0,
                                    NAN,
                                    "stresses of splines cannot be limited or minimized"}};
    hx_problem_params params = fixture_problem();
    spline_model m;
    hx_problem problem;
    CHECK_OK(spline_model_row(&m, 1, degree, n_span, twice, 1, NULL));
    params.space = &m.space;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, &m.mesh, &params));
    check_refused(&problem, list, 1);
    hx_problem_free(&problem);
    spline_model_free(&m);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_references(statics, sizeof statics / sizeof statics[0], STATICS, 1);
    check_references(gravity, 1, GRAVITY, 1);
    check_references(heat, 2, HEAT, 1);
    if (!quick) check_references(fine_statics, 4, STATICS, 2);
    if (!quick) check_references(fine_heat, 1, HEAT, 2);
    check_lagrangian_reference();
    check_relations();
    check_refusals();
    check_refused_spline();
    hx_device_close(&device);
    TEST_END();
}
