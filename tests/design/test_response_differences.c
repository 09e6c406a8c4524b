/* Derivatives of every kind of response by the design against central differences, on every kind of
 * cell, with several load cases, springs, prescribed displacements, gravity, rigid sets, passive
 * and linked elements, filters and a projection. Adjoint solves are counted: none if the load is a
 * multiple of that of its case. Reference values are in test_responses.c.
 *
 *     test_response_differences [cpu | cuda] [quick] */
#include "core/base/vec3.h"
#include "tests/lib/response_models.h"
#include "tests/lib/response_rows.h"
#include "tests/lib/spline_model.h"

static hx_device device;

enum { DIRECTIONS = 2 };

/* A step at design + t p: the values that are recorded, and derivatives. */
static void step_at(fixture_solver *s, const double *design, const double *p, double t,
                    double *value)
{
    hx_iteration record;
    response_move(s, design, p, t);
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    for (int i = 0; i < record.n_response; i++) value[i] = value_of(s, i);
}

/* Values at design + t p, without adjoint solves: those of the functions whose derivative was used
 * at t = 0, where a largest value had the constants `are`. */
static void values_at(fixture_solver *s, const double *design, const double *p, double t,
                      const hx_largest_constants *are, double *value)
{
    response_analyse(s, design, p, t);
    for (int i = 0; i < s->opt.n_constraint; i++) {
        hx_response *const g = &s->opt.constraint[i];
        hx_largest_constants *const now = constants_of(s, i);
        if (now) {
            *now = are[i];
            CHECK_OK(hx_response_prepare(g));
        }
        CHECK_OK(g->kind->value(g, &value[i]));
        if (has_scale(g->kind)) value[i] = value_of(s, i);
    }
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

/* Without adjoint solves the values are those of a step. A largest value is exact there only. */
static void check_values(const char *label, fixture_solver *s, const double *design,
                         const hx_largest_constants *are, const row *rows, const double *here)
{
    double value[MOST_SPEC];
    values_at(s, design, design, 0.0, are, value);
    for (int i = 0; i < s->opt.n_constraint; i++)
        CHECK_MSG(constants_of(s, i) || fabs(value[i] - here[i]) <= 1e-9 * fabs(here[i]),
                  "%s: %s, number %d: %.12g, in a step %.12g", label, rows[i].kind, i, value[i],
                  here[i]);
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
    step_at(s, design, p, 0.05, here); /* another design has other constants */
    step_at(s, design, p, 0.0, here);
    for (int i = 0; i < n; i++) {
        fixture_get(&device, (size_t)n_elem, dg + i * n_elem, s->opt.constraint[i].d_derivative);
        for (int64_t e = 0; e < n_elem; e++) dg[i * n_elem + e] /= scale_of(s, i);
        if (!constants_of(s, i)) continue;
        are[i] = *constants_of(s, i);
        check_exact(s, i, here[i]);
    }
    check_values(label, s, design, are, rows, here);
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
        const int is_set = g->kind->prepare && !has_scale(g->kind);
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
    settings.op_kind = operator_of(&device, problem, scene->op ? scene->op : "otf");
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
    {.kind = "local_volume", .radius = 0.85, .load_case = HX_ALL_CASES},
    {.kind = "local_volume", .radius = 5.0, .load_case = HX_ALL_CASES}, /* by Helmholtz */
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
    {.kind = "reaction", .set = "left", .is_magnitude = 1, .load_case = 1},
    {.kind = "local_volume", .radius = 0.85, .load_case = HX_ALL_CASES}};
enum { N_THERMAL = sizeof thermal / sizeof thermal[0] };

/* ---- the augmented Lagrangian of stress limits ---- */

enum { N_LAGRANGIAN = 3 };

/* The function that the update minimises, of the analysed design. */
static double merit_of(const fixture_solver *s)
{
    return s->opt.lagrangian.scale * s->opt.objective.now + s->opt.lagrangian.sum.now;
}

/* That function at design + t p, without adjoint solves. */
static double merit_at(fixture_solver *s, const double *design, const double *p, double t)
{
    hx_response *const volume = &s->opt.objective, *const sum = &s->opt.lagrangian.sum;
    set_multipliers(s, s->opt.problem->mesh->n_elem);
    response_analyse(s, design, p, t);
    CHECK_OK(volume->kind->value(volume, &volume->now));
    CHECK_OK(sum->kind->value(sum, &sum->now));
    return merit_of(s);
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
    hx_iteration record;
    if (!design || !p || !dg) abort();
    fixture_get(&device, (size_t)n, design, s->opt.d_design);
    fill_direction(s, NULL, &state, p);
    set_multipliers(s, n);
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    const double here = merit_of(s);
    fixture_get(&device, (size_t)n, dg, s->opt.d_dc);
    CHECK_REL(merit_at(s, design, p, 0.0), here, 1e-9);
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
    settings.op_kind = operator_of(&device, problem, op);
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

/* ---- adjoint solves ---- */

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

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_solves();
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
