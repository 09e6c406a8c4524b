/* Every kind of response: derivatives by the design against central differences, on every kind of
 * cell, with several load cases, springs, prescribed displacements, gravity, rigid sets, passive and
 * linked elements, filters and a projection. Adjoint solves are counted: none if the load is a
 * multiple of that of its case. Values against those of another program: test_response_values.c.
 *
 *     test_responses [cpu | cuda] [quick] */
#include "core/base/vec3.h"
#include "tests/lib/mixed_model.h"
#include "tests/lib/response_rows.h"
#include "tests/lib/spline_model.h"

/* ---- derivatives by central differences ---- */

/* Values at design + t p. */
static void values_at(fixture_solver *s, const double *design, const double *p, double t,
                      double *value)
{
    const int64_t n = s->opt.problem->mesh->n_elem;
    double *const moved = malloc((size_t)n * sizeof *moved);
    hx_iteration record;
    if (!moved) abort();
    for (int64_t e = 0; e < n; e++) moved[e] = design[e] + t * p[e];
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, moved, (size_t)n * sizeof *moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    for (int i = 0; i < record.n_response; i++) value[i] = value_of(s, i);
    free(moved);
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

static void check_gradients(const char *label, fixture_solver *s, const row *rows, int n,
                            const hx_groups *groups)
{
    const int64_t n_elem = s->opt.problem->mesh->n_elem;
    double *const design = malloc((size_t)n_elem * sizeof *design),
                  *const p = malloc((size_t)n_elem * sizeof *p),
                  *const dg = malloc((size_t)n_elem * MOST_SPEC * sizeof *dg), at[4][MOST_SPEC];
    double here[MOST_SPEC], worst = 0.0;
    const double h = 1e-3;
    uint64_t state = 77;
    if (!design || !p || !dg) abort();
    fixture_get(&device, (size_t)n_elem, design, s->opt.d_design);
    for (int64_t e = 0; e < n_elem; e++) p[e] = 0.0;
    values_at(s, design, p, 0.0, here);
    for (int i = 0; i < n; i++) {
        fixture_get(&device, (size_t)n_elem, dg + i * n_elem, s->opt.constraint[i].d_derivative);
        for (int64_t e = 0; e < n_elem; e++) dg[i * n_elem + e] /= scale_of(s, i);
    }
    for (int k = 0; k < DIRECTIONS; k++) {
        fill_direction(s, groups, &state, p);
        for (int q = 0; q < 4; q++) values_at(s, design, p, (q < 2 ? q - 2 : q - 1) * h, at[q]);
        for (int i = 0; i < n; i++) {
            double slope = 0.0, size = 0.0;
            for (int64_t e = 0; e < n_elem; e++) {
                slope += dg[i * n_elem + e] * p[e];
                size += dg[i * n_elem + e] * p[e] * dg[i * n_elem + e] * p[e];
            }
            const double difference =
                (at[0][i] - 8.0 * at[1][i] + 8.0 * at[2][i] - at[3][i]) / (12.0 * h);
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
        const hx_response_set *const of_set = g->kind->prepare ? g->impl : NULL;
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
    {.kind = "displacement", .set = "right", .set_2 = "inner", .direction = {0.0, 0.0, 1.0}},
    {.kind = "displacement", .set = "right", .set_2 = "inner", .load_case = 1},
    {.kind = "reaction", .set = "left", .direction = {0.3, 0.0, 1.0}, .load_case = 0},
    {.kind = "reaction", .set = "left", .direction = {0.3, 0.0, 1.0}, .is_magnitude = 1},
    {.kind = "reaction", .set = "left", .load_case = 1},
    {.kind = "reaction", .set = "left", .load_case = HX_ALL_CASES}};
enum { N_ELASTIC = sizeof elastic / sizeof elastic[0] };

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

/* Adds the nodes of a set `inner`, on no boundary if there are any, and the set `hole`. */
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
        hx_problem_free(&problem);
    }
    for (int k = 0; k < 2; k++) {
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
    const int n = is_heat ? N_THERMAL : N_ELASTIC;
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

/* Number of adjoint solves of a response of case 1, for a load along z at the nodes of `right`. */
static int count_solves(const row *of, int prescribed)
{
    static const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"inner", "test", HX_FIX_Y, {0.0, 0.01, 0.0}}};
    static const hx_load_spec load[2] = {
        {"right", "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -3.0}, 1},
        {"right", "test", HX_LOAD_TOTAL_FORCE, {0.1, 0.0, 0.0}, 2}};
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
        settings.op_kind = operator_of(problem, "otf");
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
    {{.kind = "compliance", .set = "left"}, 1.0, NAN, "'compliance' does not take a set"},
    {{.kind = "worst_compliance"}, 1.0, NAN, "worst_compliance can be minimised but not limited"},
    {{.kind = "mass"}, 1.0, NAN, "the mass needs material.density"},
    {{.kind = "temperature", .set = "left"}, 1.0, NAN, "only physics = \"heat\" has temperatures"},
    {{.kind = "displacement"}, 1.0, NAN, "'displacement' needs a set"},
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
    {{.kind = "reaction", .set = "rihgt"}, 1.0, NAN, "no set 'rihgt'"}};
static const refusal of_heat[] = {
    {{.kind = "displacement", .set = "right"}, 1.0, NAN, "physics = \"heat\" has no displacements"},
    {{.kind = "temperature", .set = "left"}, 1.0, NAN, "supports prescribe the temperature of set"},
    {{.kind = "temperature", .set = "right", .is_magnitude = 1}, 1.0, NAN, "give set_2"}};

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

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_solves();
    check_relations();
    check_refusals();
    check_chains();
    check_spline(0);
    check_spline(1);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        check_cells((mixed_kind)kind, HX_ELEMENT_LINEAR, quick);
        if (!quick || kind == MIXED_LAYERS)
            check_cells((mixed_kind)kind, HX_ELEMENT_QUADRATIC, quick);
    }
    hx_device_close(&device);
    TEST_END();
}
