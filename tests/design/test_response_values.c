/* Values and derivatives of responses against those of another program.
 *
 *     test_response_values [cpu | cuda] [quick] */
#include "tests/lib/response_rows.h"

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
    const double value = value_of(s, i), scale = scale_of(s, i);
    char label[64];
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
    settings.op_kind = operator_of(&m.problem, "otf");
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
    {{.kind = "volume", .load_case = HX_ALL_CASES}, 0.4502618658620, NAN, 1.0, NAN, NAN, NAN}};
static const reference fine_heat[] = {{{.kind = "compliance", .load_case = 0},
                                       1.3182603583e5,
                                       2.410643e4,
                                       -8.047241e5,
                                       -1.726648e3,
                                       -3.295438e2,
                                       -5.552480e-2}};

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_references(statics, sizeof statics / sizeof statics[0], STATICS, 1);
    check_references(gravity, 1, GRAVITY, 1);
    check_references(heat, 2, HEAT, 1);
    if (!quick) check_references(fine_statics, 3, STATICS, 2);
    if (!quick) check_references(fine_heat, 1, HEAT, 2);
    hx_device_close(&device);
    TEST_END();
}
