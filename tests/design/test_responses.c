/* Every kind of response: values and derivatives against those of another program, and derivatives
 * by the design against central differences, on every kind of cell, with several load cases, springs,
 * prescribed displacements, gravity, rigid sets, passive and linked elements, filters and a
 * projection. Adjoint solves are counted: none if the load is a multiple of that of its case.
 *
 *     test_responses [cpu | cuda] [quick] */
#include "core/base/vec3.h"
#include "core/design/response_set.h"
#include "tests/lib/mixed_model.h"
#include "tests/lib/spline_model.h"

static hx_device device;

enum { MOST_SPEC = 24, DIRECTIONS = 2 };

/* An update that keeps the design. */
static int create_nothing(hx_update *update)
{
    (void)update;
    return HX_OK;
}

static int keep(hx_update *update, hx_update_step *step)
{
    return device.ops->copy(&device, step->d_proposal, step->d_design,
                            (size_t)update->problem->mesh->n_elem * sizeof(double));
}

static void destroy_nothing(hx_update *update)
{
    (void)update;
}

static const hx_update_kind keeper = {.name = "keeper",
                                      .help = "keeps the design",
                                      .most_rows = 2 * MOST_SPEC,
                                      .is_upper_limit = 1,
                                      .create = create_nothing,
                                      .propose = keep,
                                      .destroy = destroy_nothing};

static const hx_operator_kind *operator_of(const hx_problem *problem, const char *name)
{
    return hx_operator_kind_of(hx_operator_kind_find(device.ops->name, name), problem->components);
}

/* A response of a test. */
typedef struct row {
    const char *kind, *set, *set_2;
    double direction[3];
    int is_magnitude, of_largest, load_case;
    double relaxation;
} row;

static int spec_is_upper(const row *r)
{
    const hx_response_kind *const kind = hx_response_kind_find(r->kind);
    return kind && kind->is_upper;
}

static void put_specs(const row *rows, int n, hx_constraint_spec *spec)
{
    for (int i = 0; i < n; i++)
        spec[i] = (hx_constraint_spec){.kind = hx_response_kind_find(rows[i].kind),
                                       .params = {.set = rows[i].set,
                                                  .set_2 = rows[i].set_2,
                                                  .is_magnitude = rows[i].is_magnitude,
                                                  .of_largest = rows[i].of_largest,
                                                  .load_case = rows[i].load_case,
                                                  .relaxation = rows[i].relaxation},
                                       .max = 1.0,
                                       .min = i % 2 || spec_is_upper(&rows[i]) ? NAN : -1.0};
    for (int i = 0; i < n; i++)
        memcpy(spec[i].params.direction, rows[i].direction, sizeof rows[i].direction);
}

/* The constants of a largest value; NULL: the response has none. */
static hx_largest_constants *constants_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    const int is_set = g->kind->prepare && g->kind != &hx_response_stress;
    const hx_response_set *const of_set = is_set ? g->impl : NULL;
    return of_set && of_set->largest ? hx_largest_constants_of(of_set->largest, g->params.load_case)
                                     : NULL;
}

/* The changing scale of stresses, which their derivative contains. */
static double scale_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    return g->kind == &hx_response_stress ? ((const hx_stress_limit *)g->impl)->scale : 1.0;
}

/* The value; of stresses the norm without that scale. */
static double value_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    return g->kind == &hx_response_stress ? ((const hx_stress_limit *)g->impl)->norm
                                          : s->opt.record[i].value;
}

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

/* ---- derivatives by central differences ---- */

/* Values at design + t p: those of the functions whose derivative was used at t = 0, where a largest
 * value had the constants `are`; NULL: those that are recorded. */
static void values_at(fixture_solver *s, const double *design, const double *p, double t,
                      const hx_largest_constants *are, double *value)
{
    const int64_t n = s->opt.problem->mesh->n_elem;
    double *const moved = malloc((size_t)n * sizeof *moved);
    hx_iteration record;
    if (!moved) abort();
    for (int64_t e = 0; e < n; e++) moved[e] = design[e] + t * p[e];
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, moved, (size_t)n * sizeof *moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    for (int i = 0; i < record.n_response; i++) {
        hx_response *const g = &s->opt.constraint[i];
        hx_largest_constants *const now = constants_of(s, i);
        value[i] = value_of(s, i);
        if (!now || !are) continue;
        *now = are[i];
        CHECK_OK(hx_response_prepare(g));
        CHECK_OK(g->kind->value(g, &value[i]));
    }
    free(moved);
}

/* A largest value is recorded as the exact one, whatever was analysed before. */
static void check_exact(const fixture_solver *s, int i, double value)
{
    const hx_response *const g = &s->opt.constraint[i];
    const hx_problem *const problem = s->analysis.problem;
    const hx_set *const set = hx_mesh_find_set(problem->mesh, g->params.set);
    const double *const d = g->params.direction, size = hx_norm3(d);
    const int n = problem->components, c = g->params.load_case;
    double *const u = malloc((size_t)n * (size_t)problem->space.n_point * sizeof *u),
                  largest = -INFINITY;
    if (!u) abort();
    fixture_get(&device, (size_t)n * (size_t)problem->space.n_point, u, s->analysis.d_u[c]);
    for (int64_t k = 0; k < set->n_node; k++) {
        int32_t point[HX_SPLINE_CELL_POINTS];
        double share[HX_SPLINE_CELL_POINTS], at[3] = {0.0, 0.0, 0.0};
        const int n_point = hx_space_node_points(&problem->space, set->node[k], point, share);
        for (int j = 0; j < n_point; j++)
            for (int j2 = 0; j2 < n; j2++) at[j2] += share[j] * u[n * (int64_t)point[j] + j2];
        const double along = (at[0] * d[0] + at[1] * d[1] + at[2] * d[2]) / size;
        const double q = n == 1                   ? at[0] + problem->reference
                         : !(size > 0.0)          ? hx_norm3(at)
                         : g->params.is_magnitude ? fabs(along)
                                                  : along;
        if (!(q <= largest)) largest = q;
    }
    CHECK_REL(value, largest, 1e-13);
    free(u);
}

/* p: random, 0 at passive elements, equal within a group. */
static void fill_direction(const fixture_solver *s, const hx_groups *groups, uint64_t *state,
                           double *p)
{
    const hx_problem *const problem = s->opt.problem;
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) {
        p[e] = fixture_uniform(state, -1.0, 1.0);
        if (problem->passive.density && !isnan(problem->passive.density[e])) p[e] = 0.0;
    }
    for (int64_t g = 0; groups && g < groups->n_group; g++)
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            p[groups->member[m]] = p[groups->member[groups->start[g]]];
}

static int is_stress(const row *r)
{
    return strcmp(r->kind, "stress") == 0;
}

static int has_stress_points(const hx_problem *problem)
{
    return problem->space.element != HX_ELEMENT_LINEAR || hx_mesh_is_collapsed(problem->mesh);
}

static void check_gradients(const char *label, fixture_solver *s, const row *rows, int n,
                            const hx_groups *groups)
{
    const int64_t n_elem = s->opt.problem->mesh->n_elem;
    double *const design = malloc((size_t)n_elem * sizeof *design),
                  *const p = malloc((size_t)n_elem * sizeof *p),
                  *const dg = malloc((size_t)n_elem * MOST_SPEC * sizeof *dg), at[2][4][MOST_SPEC];
    double here[MOST_SPEC], worst = 0.0;
    hx_largest_constants are[MOST_SPEC];
    /* the second for stresses in cells with several points, where the largest changes its point */
    const double h[2] = {1e-3, 3e-5};
    const int has_points = is_stress(&rows[n - 1]) && has_stress_points(s->opt.problem);
    uint64_t state = 77;
    if (!design || !p || !dg) abort();
    fixture_get(&device, (size_t)n_elem, design, s->opt.d_design);
    fill_direction(s, groups, &state, p);
    values_at(s, design, p, 0.05, NULL, here); /* another design has other constants */
    values_at(s, design, p, 0.0, NULL, here);
    for (int i = 0; i < n; i++) {
        fixture_get(&device, (size_t)n_elem, dg + i * n_elem, s->opt.constraint[i].d_derivative);
        for (int64_t e = 0; e < n_elem; e++) dg[i * n_elem + e] /= scale_of(s, i);
        if (!constants_of(s, i)) continue;
        are[i] = *constants_of(s, i);
        check_exact(s, i, here[i]);
    }
    for (int k = 0; k < DIRECTIONS; k++) {
        fill_direction(s, groups, &state, p);
        for (int q = 0; q < 8; q++)
            if (q < 4 || has_points)
                values_at(s, design, p, (q % 4 < 2 ? q % 4 - 2 : q % 4 - 1) * h[q / 4], are,
                          at[q / 4][q % 4]);
        for (int i = 0; i < n; i++) {
            double slope = 0.0, size = 0.0;
            for (int64_t e = 0; e < n_elem; e++) {
                slope += dg[i * n_elem + e] * p[e];
                size += dg[i * n_elem + e] * p[e] * dg[i * n_elem + e] * p[e];
            }
            const int of = has_points && is_stress(&rows[i]);
            const double difference =
                (at[of][0][i] - 8.0 * at[of][1][i] + 8.0 * at[of][2][i] - at[of][3][i]) /
                (12.0 * h[of]);
            /* the reaction of the only support hardly depends on the design */
            const double scale = fmax(2e-3 * fabs(here[i]), fmax(fabs(slope), sqrt(size)));
            const double error = fabs(difference - slope) / scale;
            test_worst(&worst, error);
            CHECK_MSG(size > 0.0 && error <= 1e-6,
                      "%s: %s %s, number %d: %.10g by differences, %.10g, value %.8g", label,
                      rows[i].kind, rows[i].set ? rows[i].set : "", i, difference, slope, here[i]);
        }
    }
    printf("%-44s %2d responses, %.0e\n", label, n, worst);
    free(design);
    free(p);
    free(dg);
}

/* The memory of means is at most what the account states. */
static void check_memory(const fixture_solver *s, int n)
{
    for (int i = 0; i < n; i++) {
        const hx_response *const g = &s->opt.constraint[i];
        const int is_set = g->kind->prepare && g->kind != &hx_response_stress;
        const hx_response_set *const of_set = is_set ? g->impl : NULL;
        size_t bytes = 0;
        for (int k = 0; of_set && k < of_set->n_vector; k++)
            bytes += ((size_t)of_set->vector[k].n + 1) * (sizeof(int64_t) + sizeof(double));
        CHECK(!of_set || bytes <= g->kind->bytes(s->opt.problem, &g->params));
    }
}

typedef struct chain_of {
    const char *label;
    const char *filter;
    double radius, beta;
    const char *op;
    int is_linked; /* by the plane y = 0.6 */
} chain_of;

static double *random_density(const hx_problem *problem)
{
    double *const density = malloc((size_t)problem->mesh->n_elem * sizeof *density);
    uint64_t state = 99;
    if (!density) abort();
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        density[e] = fixture_uniform(&state, 0.2, 0.9);
    return density;
}

static void check_scene(const chain_of *scene, const hx_problem *problem, const row *rows, int n)
{
    static const hx_symmetry_plane plane = {"plane", {0.0, 0.6, 0.0}, {0.0, 1.0, 0.0}};
    const hx_groups_params linked = {.plane = &plane, .n_plane = 1};
    fixture_solver s;
    hx_groups groups = {0};
    hx_constraint_spec spec[MOST_SPEC];
    fixture_settings settings = fixture_defaults();
    double *const density = random_density(problem);
    put_specs(rows, n, spec);
    settings.design.volume_fraction = 0.0;
    settings.design.beta = fixture_constant(scene->beta);
    settings.filter = scene->filter ? scene->filter : "none";
    settings.filter_params.radius = scene->radius;
    settings.filter_params.volume_weighted = 1;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.op_kind = operator_of(problem, scene->op ? scene->op : "otf");
    settings.layout = settings.op_kind->layouts & HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED)
                          ? HX_LAYOUT_INTERLEAVED
                          : HX_LAYOUT_ROWMAJOR;
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = n, .constraint = spec, .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    if (scene->is_linked) {
        CHECK_OK(hx_groups_create(&groups, problem, &linked));
        CHECK(groups.n_group > 0);
        CHECK_OK(hx_optimizer_link(&s.opt, &groups));
    }
    CHECK(hx_optimizer_bytes(problem, &settings.optimizer, s.filter.kind, &s.filter.params,
                             s.pc.kind) ==
          (size_t)s.opt.n_field * (size_t)problem->mesh->n_elem * sizeof(double));
    check_memory(&s, n);
    check_gradients(scene->label, &s, rows, n, scene->is_linked ? &groups : NULL);
    hx_groups_free(&groups);
    fixture_solver_free(&s);
    free(density);
}

static const row elastic[] = {
    {.kind = "compliance", .load_case = HX_ALL_CASES},
    {.kind = "compliance", .load_case = 1},
    {.kind = "volume", .load_case = HX_ALL_CASES},
    {.kind = "mass", .load_case = HX_ALL_CASES},
    {.kind = "displacement", .set = "right", .direction = {0.2, 0.4, -1.3}, .load_case = 0},
    {.kind = "displacement", .set = "right", .direction = {0.2, 0.4, -1.3}, .load_case = -1},
    {.kind = "displacement", .set = "right", .direction = {1.0, 0.3, 0.0}, .is_magnitude = 1},
    {.kind = "displacement", .set = "right", .load_case = 1},
    {.kind = "displacement", .set = "right", .load_case = HX_ALL_CASES},
    {.kind = "displacement", .set = "surface", .of_largest = 1, .load_case = 0},
    {.kind = "displacement",
     .set = "surface",
     .direction = {0.0, 1.0, 1.0},
     .of_largest = 1,
     .load_case = 1},
    {.kind = "displacement", .set = "right", .direction = {0.1, 0.0, 1.0}, .of_largest = 1},
    {.kind = "displacement",
     .set = "surface",
     .direction = {0.0, 1.0, 1.0},
     .is_magnitude = 1,
     .of_largest = 1,
     .load_case = 1},
    {.kind = "displacement", .set = "right", .set_2 = "inner", .direction = {0.0, 0.0, 1.0}},
    {.kind = "displacement", .set = "right", .set_2 = "inner", .load_case = 1},
    {.kind = "reaction", .set = "left", .direction = {0.3, 0.0, 1.0}, .load_case = 0},
    {.kind = "reaction", .set = "left", .direction = {0.3, 0.0, 1.0}, .is_magnitude = 1},
    {.kind = "reaction", .set = "left", .load_case = 1},
    {.kind = "reaction", .set = "left", .load_case = HX_ALL_CASES},
    {.kind = "stress", .load_case = 0, .relaxation = 0.5},
    {.kind = "stress", .load_case = HX_ALL_CASES},
    {.kind = "stress", .set = "hole", .load_case = 1, .relaxation = 0.8}};
enum { N_ELASTIC = sizeof elastic / sizeof elastic[0], N_STRESS = 3 };

static const row thermal[] = {
    {.kind = "compliance", .load_case = HX_ALL_CASES},
    {.kind = "compliance", .load_case = 1},
    {.kind = "temperature", .set = "right", .load_case = 0},
    {.kind = "temperature", .set = "right", .load_case = HX_ALL_CASES},
    {.kind = "temperature", .set = "surface", .of_largest = 1, .load_case = 1},
    {.kind = "temperature", .set = "right", .set_2 = "inner", .load_case = 0},
    {.kind = "temperature", .set = "right", .set_2 = "inner", .is_magnitude = 1, .load_case = 1},
    {.kind = "reaction", .set = "left", .load_case = 0},
    {.kind = "reaction", .set = "left", .is_magnitude = 1, .load_case = 1}};
enum { N_THERMAL = sizeof thermal / sizeof thermal[0] };

/* Adds the nodes of a set `inner`, on no boundary if there are any, those of an edge, and the set
 * `hole`. */
static int add_sets(hx_mesh *mesh, const double length[3])
{
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node), hole[2] = {1, 2};
    int64_t n = 0;
    if (!node) abort();
    for (int32_t i = 0; i < mesh->n_node; i++) {
        const double *const x = mesh->xyz + 3 * (int64_t)i;
        if (x[0] > 0.3 * length[0] && x[0] < 0.7 * length[0]) node[n++] = i;
    }
    int rc = hx_mesh_add_node_set(mesh, "inner", n, node);
    n = 0;
    for (int32_t i = 0; i < mesh->n_node; i++) {
        const double *const x = mesh->xyz + 3 * (int64_t)i;
        if (x[0] > 0.3 * length[0] && x[1] < 0.1 * length[1] && x[2] < 0.1 * length[2])
            node[n++] = i;
    }
    if (rc == HX_OK) rc = hx_mesh_add_node_set(mesh, "line", n, node);
    if (rc == HX_OK) rc = hx_mesh_add_elem_set(mesh, "hole", 2, hole);
    free(node);
    return rc;
}

enum { PRESCRIBED = 1, RIGID = 2, PASSIVE = 4, SPRINGS = 8, WEIGHT = 16, ALL_OF_THEM = 31 };

static int make_elastic(hx_problem *problem, const hx_mesh *mesh, const hx_space *space, int with)
{
    static const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"inner", "test", HX_FIX_Y, {0.0, -0.03, 0.0}}};
    static const hx_passive_spec passive = {"hole", "test", 0.7};
    static const hx_spring_spec spring = {"right", "test", {0.3, 0.5, 0.2}, HX_SPRING_TOTAL};
    static const double weight[2] = {0.7, 2.5};
    const hx_load_spec load[3] = {
        {.set = "right",
         .origin = "test",
         .kind = with & RIGID ? HX_LOAD_REMOTE_RIGID : HX_LOAD_NODE_FORCE,
         .value = {0.1, 0.0, -0.3},
         .load_case = 1,
         .moment = {0.0, 0.2, 0.0},
         .point = {3.0, 0.5, 0.5}},
        {"inner", "test", HX_LOAD_NODE_FORCE, {0.02, 0.05, 0.0}, 2},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.2, 0.1, -0.7}, .load_case = 2}};
    hx_problem_params params = fixture_problem();
    params.young = 7.0;
    params.density = 0.4;
    params.space = space;
    params.support = support;
    params.n_support = with & PRESCRIBED ? 2 : 1;
    params.load = load;
    params.n_load = with & WEIGHT ? 3 : 2;
    params.passive = &passive;
    params.n_passive = with & PASSIVE ? 1 : 0;
    params.spring = &spring;
    params.n_spring = with & SPRINGS ? 1 : 0;
    params.weight = weight;
    params.n_weight = 2;
    return hx_problem_create(problem, mesh, &params);
}

static int make_thermal(hx_problem *problem, const hx_mesh *mesh, const hx_space *space, int with)
{
    static const hx_support_spec support[2] = {{"left", "test", HX_FIX_X, {20.0}},
                                               {"right", "test", HX_FIX_X, {35.0}}};
    static const hx_load_spec load[2] = {
        {.origin = "test", .kind = HX_LOAD_SOURCE, .value = {3.0}, .load_case = 1},
        {"inner", "test", HX_LOAD_NODE_HEAT, {0.5}, 2}};
    static const hx_convection_spec film = {"surface", "test", 0.4, 25.0};
    static const double weight[2] = {0.7, 2.5};
    hx_problem_params params = fixture_problem();
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    params.space = space;
    params.support = support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    params.convection = &film;
    params.n_convection = with & SPRINGS ? 1 : 0;
    params.weight = weight;
    params.n_weight = 2;
    return hx_problem_create(problem, mesh, &params);
}

/* ---- the augmented Lagrangian of stress limits ---- */

enum { N_LAGRANGIAN = 3 };

/* lambda_e = 0.02 (1 + e mod 3) and mu = 10, which steps must not have changed. */
static void set_multipliers(fixture_solver *s, int64_t n_elem)
{
    double *const lambda = malloc((size_t)n_elem * sizeof *lambda);
    if (!lambda) abort();
    for (int64_t e = 0; e < n_elem; e++) lambda[e] = 0.02 * (1 + (double)(e % 3));
    for (int i = 0; i < s->opt.lagrangian.list.n; i++) {
        hx_stress_limit *const limit = s->opt.lagrangian.limit[i]->impl;
        limit->weight = 10.0;
        limit->n_design = 0;
        for (int c = 0; c < limit->n_case; c++)
            if (limit->of[c].d_lambda)
                CHECK_OK(device.ops->upload(&device, limit->of[c].d_lambda, lambda,
                                            (size_t)n_elem * sizeof *lambda));
    }
    free(lambda);
}

/* The function that the update minimises, at design + t p. */
static double merit_at(fixture_solver *s, const double *design, const double *p, double t)
{
    const int64_t n = s->opt.problem->mesh->n_elem;
    double *const moved = malloc((size_t)n * sizeof *moved);
    hx_iteration record;
    if (!moved) abort();
    for (int64_t e = 0; e < n; e++) moved[e] = design[e] + t * p[e];
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, moved, (size_t)n * sizeof *moved));
    set_multipliers(s, n);
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    free(moved);
    return s->opt.lagrangian.scale * s->opt.objective.now + s->opt.lagrangian.sum.now;
}

static void check_merit(const char *label, fixture_solver *s)
{
    const int64_t n = s->opt.problem->mesh->n_elem;
    double *const design = malloc((size_t)n * sizeof *design),
                  *const p = malloc((size_t)n * sizeof *p),
                  *const dg = malloc((size_t)n * sizeof *dg);
    double at[4], slope = 0.0;
    const double h = has_stress_points(s->opt.problem) ? 3e-5 : 1e-3;
    uint64_t state = 78;
    if (!design || !p || !dg) abort();
    fixture_get(&device, (size_t)n, design, s->opt.d_design);
    fill_direction(s, NULL, &state, p);
    merit_at(s, design, p, 0.0);
    fixture_get(&device, (size_t)n, dg, s->opt.d_dc);
    for (int q = 0; q < 4; q++) at[q] = merit_at(s, design, p, (q < 2 ? q - 2 : q - 1) * h);
    for (int64_t e = 0; e < n; e++) slope += dg[e] * p[e];
    const double difference = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h);
    CHECK_MSG(fabs(difference - slope) <= 1e-6 * fabs(slope),
              "%s: %.10g by differences, %.10g by the adjoint", label, difference, slope);
    printf("%-44s augmented Lagrangian, %.0e\n", label, fabs(difference / slope - 1.0));
    free(design);
    free(p);
    free(dg);
}

/* Three limits: of all elements in case 1 and in every case, and of a set, if the mesh has it. */
static void check_lagrangian(const char *label, const hx_problem *problem, const char *op,
                             double limit)
{
    const hx_constraint_spec all[N_LAGRANGIAN] = {
        {.kind = &hx_response_stress,
         .params = {.load_case = 0, .relaxation = 0.5, .is_lagrangian = 1},
         .max = limit,
         .min = NAN},
        {.kind = &hx_response_stress,
         .params = {.load_case = HX_ALL_CASES, .is_lagrangian = 1},
         .max = 1.5 * limit,
         .min = NAN},
        {.kind = &hx_response_stress,
         .params = {.set = "hole", .load_case = 1, .relaxation = 0.5, .is_lagrangian = 1},
         .max = 0.1 * limit,
         .min = NAN}};
    fixture_settings settings = fixture_defaults();
    double *const density = random_density(problem);
    fixture_solver s;
    settings.design.volume_fraction = 0.0;
    settings.filter = "density";
    settings.filter_params.radius = 0.7;
    settings.filter_params.volume_weighted = 1;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.op_kind = operator_of(problem, op);
    settings.layout = settings.op_kind->layouts & HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED)
                          ? HX_LAYOUT_INTERLEAVED
                          : HX_LAYOUT_ROWMAJOR;
    settings.optimizer = (hx_optimizer_params){.objective = &hx_response_volume,
                                               .objective_params = {.load_case = HX_ALL_CASES},
                                               .n_constraint = N_LAGRANGIAN,
                                               .constraint = all,
                                               .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK(s.opt.update.n_row == 0 && s.opt.lagrangian.list.n == N_LAGRANGIAN);
    CHECK(hx_optimizer_bytes(problem, &settings.optimizer, s.filter.kind, &s.filter.params,
                             s.pc.kind) ==
          (size_t)s.opt.n_field * (size_t)problem->mesh->n_elem * sizeof(double));
    check_merit(label, &s);
    CHECK(s.opt.lagrangian.sum.n_solve > 0 && s.opt.lagrangian.sum.n_solve % 2 == 0); /* per case */
    fixture_solver_free(&s);
    free(density);
}

/* Box A against another program. */
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
    settings.op_kind = operator_of(&m.problem, "otf");
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

/* One box of cells with everything that the physics knows. */
static void check_cells(mixed_kind kind, hx_element element, int quick)
{
    const mixed_box box = {.kind = kind,
                           .n = {4, 2, kind == MIXED_LAYERS ? 5 : 2},
                           .length = {2.0, 1.2, 1.0},
                           .distort = 0.1,
                           .seed = 3 + (uint64_t)kind};
    const char *const op = element == HX_ELEMENT_QUADRATIC ? "csr" : NULL;
    char label[64];
    hx_mesh mesh = {0};
    hx_space space = {0};
    hx_problem problem;
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(mixed_name_ends(&mesh, &box));
    CHECK_OK(add_sets(&mesh, box.length));
    mixed_turn(&mesh, 11);
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_space_create(&space, &mesh, element));
    for (int k = 0; k < (quick ? 1 : 3); k++) {
        static const int with[3] = {WEIGHT | SPRINGS | PASSIVE, PRESCRIBED | WEIGHT,
                                    RIGID | SPRINGS | PASSIVE};
        static const char *const name[3] = {"weight, springs, passive", "prescribed, weight",
                                            "rigid, springs, passive"};
        CHECK_OK(make_elastic(&problem, &mesh, &space, with[k]));
        snprintf(label, sizeof label, "%s%s, %s", mixed_name[kind], op ? " quadratic" : "",
                 name[k]);
        const chain_of scene = {.label = label,
                                .filter = k == 1 ? "none" : "density",
                                .radius = 0.7,
                                .beta = k == 2 ? 2.0 : 0.0,
                                .op = op};
        check_scene(&scene, &problem, elastic, N_ELASTIC);
        if (k == 0) check_lagrangian(label, &problem, op ? op : "otf", 8.0);
        hx_problem_free(&problem);
    }
    for (int k = 0; k < (fixture_has_heat(&device, element) ? 2 : 0); k++) {
        CHECK_OK(make_thermal(&problem, &mesh, &space, k ? SPRINGS : 0));
        snprintf(label, sizeof label, "%s%s, heat%s", mixed_name[kind], op ? " quadratic" : "",
                 k ? ", convection" : "");
        const chain_of scene = {
            .label = label, .filter = k ? "density" : "none", .radius = 0.7, .op = op};
        check_scene(&scene, &problem, thermal, N_THERMAL);
        hx_problem_free(&problem);
    }
    hx_space_free(&space);
    hx_mesh_free(&mesh);
}

static void bend(const double x[3], double y[3])
{
    y[0] = x[0];
    y[1] = x[1] + 0.1 * x[0] * x[0];
    y[2] = x[2] * (1.0 + 0.2 * x[1]);
}

static const char *side_of(const char *set)
{
    static const char *const name[4][2] = {{"left", "patch1:u-"},
                                           {"right", "patch1:u+"},
                                           {"inner", "patch1:v+"},
                                           {"surface", "patch1:w+"}};
    for (int i = 0; set && i < 4; i++)
        if (strcmp(name[i][0], set) == 0) return name[i][1];
    return set;
}

/* Rational functions, whose control points do not lie in the part. */
static void check_spline(int is_heat)
{
    static const int degree[3] = {2, 2, 2}, n_span[3] = {3, 2, 2}, twice[3] = {0, 0, 0};
    static const hx_support_spec support = {
        .set = "patch1:u-", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_support_spec cold = {"patch1:u-", "test", HX_FIX_X, {20.0}};
    static const hx_load_spec pull[2] = {
        {"patch1:u+", "test", HX_LOAD_TOTAL_FORCE, {0.1, 0.0, -0.3}, 1},
        {"patch1:v+", "test", HX_LOAD_TRACTION, {0.02, 0.05, 0.0}, 2}};
    static const hx_load_spec warm[2] = {
        {.origin = "test", .kind = HX_LOAD_SOURCE, .value = {3.0}, .load_case = 1},
        {"patch1:v+", "test", HX_LOAD_FLUX, {0.5}, 2}};
    const int n = is_heat ? N_THERMAL : N_ELASTIC - N_STRESS; /* no stresses of splines */
    const chain_of chain = {.label = is_heat ? "spline, heat" : "spline",
                            .op = is_heat ? "csr" : "bsrsym"};
    hx_problem_params params = fixture_problem();
    spline_model m;
    hx_problem problem;
    row rows[MOST_SPEC];
    CHECK_OK(spline_model_row(&m, 1, degree, n_span, twice, 1, bend));
    for (int i = 0; i < n; i++) {
        rows[i] = is_heat ? thermal[i] : elastic[i];
        rows[i].set = side_of(rows[i].set);
        rows[i].set_2 = side_of(rows[i].set_2);
    }
    if (is_heat) params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    params.density = 0.4;
    params.space = &m.space;
    params.support = is_heat ? &cold : &support;
    params.n_support = 1;
    params.load = is_heat ? warm : pull;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(&problem, &m.mesh, &params));
    check_scene(&chain, &problem, rows, n);
    hx_problem_free(&problem);
    spline_model_free(&m);
}

/* Filters, projection and linked elements. */
static void check_chains(void)
{
    static const chain_of list[] = {
        {.label = "helmholtz", .filter = "helmholtz", .radius = 0.5},
        {.label = "helmholtz, projection", .filter = "helmholtz", .radius = 0.5, .beta = 3.0},
        {.label = "density, projection, linked",
         .filter = "density",
         .radius = 0.6,
         .beta = 3.0,
         .is_linked = 1},
        {.label = "linked", .is_linked = 1}};
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {4, 4, 2}, .length = {2.0, 1.2, 1.0}};
    hx_mesh mesh = {0};
    hx_problem problem;
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(mixed_name_ends(&mesh, &box));
    CHECK_OK(add_sets(&mesh, box.length));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(make_elastic(&problem, &mesh, NULL, PRESCRIBED | SPRINGS | WEIGHT));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check_scene(&list[i], &problem, elastic, N_ELASTIC);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* ---- several processes are tested in test_responses_dist.c; here: solves, messages ---- */

/* Number of adjoint solves of a response of case 1, for a load along z on its set. */
static int count_solves(const row *of, int prescribed)
{
    static const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"inner", "test", HX_FIX_Y, {0.0, 0.01, 0.0}}};
    const char *const set = of->set && strcmp(of->set, "left") != 0 ? of->set : "right";
    const hx_load_spec load[2] = {{set, "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -3.0}, 1},
                                  {set, "test", HX_LOAD_TOTAL_FORCE, {0.1, 0.0, 0.0}, 2}};
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {4, 2, 2}, .length = {2.0, 1.2, 1.0}};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    hx_constraint_spec spec;
    hx_mesh mesh = {0};
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    put_specs(of, 1, &spec);
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(mixed_name_ends(&mesh, &box));
    CHECK_OK(add_sets(&mesh, box.length));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    params.support = support;
    params.n_support = prescribed ? 2 : 1;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    double *const density = random_density(&problem);
    settings.design.volume_fraction = 0.0;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = 1, .constraint = &spec, .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    const int n = s.opt.constraint[0].n_solve;
    check_gradients("counted", &s, of, 1, NULL);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(density);
    return n;
}

static void check_solves(void)
{
    row r = {.kind = "displacement", .set = "right", .direction = {0.0, 0.0, 2.0}};
    CHECK(count_solves(&r, 0) == 0); /* the load of case 1, times -1/3 */
    CHECK(count_solves(&r, 1) == 1); /* u also answers to the prescribed displacement */
    r.set = "inner";                 /* spans no faces */
    CHECK(count_solves(&r, 0) == 0);
    r.set = "line"; /* nodes of unequal distances */
    CHECK(count_solves(&r, 0) == 0);
    r.set = "right";
    r.is_magnitude = 1;
    CHECK(count_solves(&r, 0) == 0);
    r.load_case = 1;
    CHECK(count_solves(&r, 0) == 1);
    r.load_case = HX_ALL_CASES;
    CHECK(count_solves(&r, 0) == 1); /* that of case 2 */
    r.direction[0] = 0.1;
    CHECK(count_solves(&r, 0) == 2);
    r = (row){.kind = "reaction", .set = "left", .direction = {0.0, 0.0, 1.0}};
    CHECK(count_solves(&r, 1) == 1);
    r = (row){.kind = "compliance", .load_case = 1};
    CHECK(count_solves(&r, 1) == 0);
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
    settings.op_kind = operator_of(&problem, "otf");
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
        settings.op_kind =
            operator_of(problem, problem->space.element == HX_ELEMENT_SPLINE ? "bsrsym" : "otf");
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
    CHECK_OK(spline_model_row(&m, 1, degree, n_span, twice, 1, bend));
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
    check_solves();
    check_relations();
    check_refusals();
    check_refused_spline();
    check_chains();
    check_spline(0);
    if (fixture_has_heat(&device, HX_ELEMENT_SPLINE)) check_spline(1);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        check_cells((mixed_kind)kind, HX_ELEMENT_LINEAR, quick);
        if (!quick || kind == MIXED_LAYERS)
            check_cells((mixed_kind)kind, HX_ELEMENT_QUADRATIC, quick);
    }
    hx_device_close(&device);
    TEST_END();
}
