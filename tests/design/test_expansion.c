/* Thermal expansion on every kind of cell: values and derivatives against those of another program,
 * bars that expand freely and that are clamped, loads against those of the host, and derivatives of
 * responses by the design against central differences, with forces, gravity, several load cases,
 * materials, passive elements, a filter and a projection.
 *
 *     test_expansion [cpu | cuda] */
#include "core/design/stress_limit.h"
#include "core/stress/stress.h"
#include "tests/lib/mixed_model.h"

static hx_device device;

enum { MOST_ROW = 8 };

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
                                      .most_rows = MOST_ROW,
                                      .is_upper_limit = 1,
                                      .create = create_nothing,
                                      .propose = keep,
                                      .destroy = destroy_nothing};

typedef struct row {
    const char *kind, *set;
    double direction[3];
    int load_case;
    double relaxation;
} row;

static void put_specs(const row *rows, int n, hx_constraint_spec *spec)
{
    for (int i = 0; i < n; i++) {
        spec[i] = (hx_constraint_spec){.kind = hx_response_kind_find(rows[i].kind),
                                       .params = {.set = rows[i].set,
                                                  .load_case = rows[i].load_case,
                                                  .relaxation = rows[i].relaxation},
                                       .max = 1.0,
                                       .min = NAN};
        memcpy(spec[i].params.direction, rows[i].direction, sizeof rows[i].direction);
    }
}

static const hx_operator_kind *operator_of(const hx_problem *problem)
{
    const char *const name = problem->space.element == HX_ELEMENT_LINEAR ? "otf" : "csr";
    return hx_operator_kind_of(hx_operator_kind_find(device.ops->name, name), 3);
}

static fixture_settings settings_of(const hx_problem *problem, const double *density, int n,
                                    const hx_constraint_spec *spec)
{
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.0;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    settings.op_kind = operator_of(problem);
    settings.layout = settings.op_kind->layouts & HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED)
                          ? HX_LAYOUT_INTERLEAVED
                          : HX_LAYOUT_ROWMAJOR;
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = n, .constraint = spec, .update = &keeper};
    return settings;
}

static double *make_density(int64_t n, double low, double high)
{
    double *const density = malloc((size_t)n * sizeof *density);
    uint64_t state = 99;
    if (!density) abort();
    for (int64_t e = 0; e < n; e++) density[e] = fixture_uniform(&state, low, high);
    return density;
}

/* ---- values of another program: a box of 12 x 6 x 4 unit cubes ---- */

typedef struct reference {
    row of;
    double number[6]; /* value; derivative: 2-norm, sum, three entries */
} reference;

static const reference references[] = {
    {{.kind = "compliance"},
     {3.5904571612e4, 8.511822e3, 9.402689e4, -4.860529e2, 2.497848e2, 1.412913e3}},
    {{.kind = "displacement", .set = "tip", .direction = {0.0, 0.0, 1.0}},
     {-1.1445053533e3, 6.938990e2, 7.025557e3, 1.344299e2, 6.130100e0, 5.433133e-3}}};
enum { N_REFERENCE = 2 };

static void check_numbers(const fixture_solver *s, int i, const hx_mesh *mesh)
{
    const reference *const r = &references[i];
    const int64_t n = mesh->n_elem;
    double *const dg = malloc((size_t)n * sizeof *dg), got[6] = {s->opt.record[i].value};
    if (!dg) abort();
    fixture_get(&device, (size_t)n, dg, s->opt.constraint[i].d_derivative);
    for (int64_t e = 0; e < n; e++) {
        const int64_t number = hx_mesh_elem_number(mesh, e);
        got[1] += dg[e] * dg[e];
        got[2] += dg[e];
        if (number == 0) got[3] = dg[e];
        if (number == 144) got[4] = dg[e];
        if (number == 287) got[5] = dg[e];
    }
    got[1] = sqrt(got[1]);
    for (int k = 0; k < 6; k++) {
        const double exact = k == 0 ? 1e-8 : 5e-7;
        CHECK_MSG(fabs(got[k] - r->number[k]) <= exact * fabs(r->number[k]),
                  "%s, number %d: %.12g, not %.12g", r->of.kind, k, got[k], r->number[k]);
    }
    printf("%-24s %.11g\n", r->of.kind, got[0]);
    free(dg);
}

static void check_references(fixture_order order)
{
    static const hx_support_spec clamped = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load[2] = {
        {"right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1},
        {.origin = "test", .kind = HX_LOAD_TEMPERATURE_CHANGE, .value = {50.0}, .load_case = 1}};
    const hx_generate_params size = {.nx = 12, .ny = 6, .nz = 4};
    const int32_t tip = 12 + 13 * 7 * 4;
    hx_constraint_spec spec[N_REFERENCE];
    row rows[N_REFERENCE];
    hx_mesh mesh;
    hx_problem problem;
    hx_iteration record;
    fixture_solver s;
    hx_problem_params params = fixture_problem();
    for (int i = 0; i < N_REFERENCE; i++) rows[i] = references[i].of;
    put_specs(rows, N_REFERENCE, spec);
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), &mesh, &size));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "tip", 1, &tip));
    CHECK_OK(fixture_finish(&mesh, order));
    params.support = &clamped, params.n_support = 1;
    params.load = load, params.n_load = 2;
    params.expansion = 0.2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    double *const density = make_density(mesh.n_elem, 0.0, 1.0);
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const int64_t k = hx_mesh_elem_number(&mesh, e);
        const double x = (double)(k % 12) + 0.5, y = (double)(k / 12 % 6) + 0.5,
                     z = (double)(k / 72) + 0.5;
        density[e] = 0.45 + 0.42 * sin(1.7 * x + 0.3) * cos(2.3 * y + 0.1) * cos(1.9 * z - 0.2);
    }
    const fixture_settings settings = settings_of(&problem, density, N_REFERENCE, spec);
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    for (int i = 0; i < N_REFERENCE; i++) check_numbers(&s, i, &mesh);
    fixture_solver_free(&s);
    free(density);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* ---- boxes of any kind of cell ---- */

typedef struct part {
    mixed_box box;
    hx_mesh mesh;
    hx_space space;
    char label[48];
} part;

/* Nodes of the planes x = 0, y = 0, z = 0 and of the other end in x. */
static int add_planes(hx_mesh *mesh, const double length[3])
{
    static const char *const name[4] = {"x0", "y0", "z0", "x1"};
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node);
    int rc = HX_OK;
    if (!node) abort();
    for (int i = 0; i < 4 && rc == HX_OK; i++) {
        int64_t n = 0;
        for (int32_t a = 0; a < mesh->n_node; a++) {
            const double x = mesh->xyz[3 * (int64_t)a + i % 3];
            if (i < 3 ? x <= 0.0 : x >= length[0]) node[n++] = a;
        }
        rc = hx_mesh_add_node_set(mesh, name[i], n, node);
    }
    free(node);
    return rc;
}

static void make_part(part *p, mixed_kind kind, hx_element element)
{
    const int32_t hole[2] = {1, 2}, insert[3] = {4, 6, 7};
    memset(p, 0, sizeof *p);
    p->box = (mixed_box){.kind = kind,
                         .n = {4, 2, kind == MIXED_LAYERS ? 5 : 2},
                         .length = {2.0, 1.2, 1.0},
                         .distort = 0.1,
                         .seed = 3 + (uint64_t)kind};
    snprintf(p->label, sizeof p->label, "%s%s", mixed_name[kind],
             element == HX_ELEMENT_LINEAR ? "" : ", quadratic");
    CHECK_OK(mixed_create(&p->mesh, &p->box));
    CHECK_OK(add_planes(&p->mesh, p->box.length));
    CHECK_OK(hx_mesh_add_elem_set(&p->mesh, "hole", 2, hole));
    CHECK_OK(hx_mesh_add_elem_set(&p->mesh, "insert", 3, insert));
    mixed_turn(&p->mesh, 11);
    CHECK_OK(fixture_finish(&p->mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_space_create(&p->space, &p->mesh, element));
}

static void free_part(part *p)
{
    hx_space_free(&p->space);
    hx_mesh_free(&p->mesh);
}

/* ---- bars ---- */

typedef struct tensor {
    double expected[6], worst;
    double size;
} tensor;

static int see_stress(void *context, int64_t first, int64_t n, const hx_cell_stress *cell)
{
    tensor *const t = context;
    (void)first;
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < 6; i++) {
            for (int q = 0; q < cell[k].n; q++)
                test_worst(&t->worst, fabs(cell[k].value[q][i] - t->expected[i]) / t->size);
            for (int a = 0; a < cell[k].n_corner; a++)
                test_worst(&t->worst, fabs(cell[k].corner[a][i] - t->expected[i]) / t->size);
        }
    return HX_OK;
}

/* u_i = slope_i x_i, and the stress. */
static void check_state(const part *p, fixture_solver *s, const hx_problem *problem,
                        const double slope[3], double held)
{
    const int64_t n_point = p->space.n_point;
    double *const u = malloc(3 * (size_t)n_point * sizeof *u), worst = 0.0;
    double *const modulus = malloc((size_t)p->mesh.n_elem * sizeof *modulus);
    hx_stress stress;
    tensor t = {.expected = {held}, .size = problem->young * slope[1]};
    if (!u || !modulus) abort();
    CHECK_OK(hx_analysis_point_displacement(&s->analysis, 0, u));
    CHECK_OK(hx_analysis_modulus(&s->analysis, modulus));
    for (int64_t k = 0; k < 3 * n_point; k++)
        test_worst(&worst, fabs(u[k] - slope[k % 3] * p->space.xyz[k]) / slope[1]);
    hx_stress_create(&stress, problem);
    hx_stress_select(&stress, 0);
    CHECK_OK(hx_stress_each(&stress, modulus, u, see_stress, &t));
    CHECK_MSG(worst <= 1e-10, "%s: displacements are off by %.1e", p->label, worst);
    CHECK_MSG(t.worst <= 1e-10, "%s: stresses are off by %.1e", p->label, t.worst);
    printf("%-28s %s: displacements to %.0e, stresses to %.0e\n", p->label,
           held != 0.0 ? "clamped" : "free", worst, t.worst);
    free(u);
    free(modulus);
}

/* A bar on rollers expands freely at any densities; held at both ends it has the stress -E
 * alpha dT. */
static void check_bar(const part *p, int is_clamped)
{
    static const hx_support_spec roller[4] = {{.set = "x0", .origin = "test", .fix = HX_FIX_X},
                                              {.set = "y0", .origin = "test", .fix = HX_FIX_Y},
                                              {.set = "z0", .origin = "test", .fix = HX_FIX_Z},
                                              {.set = "x1", .origin = "test", .fix = HX_FIX_X}};
    static const hx_load_spec hot = {
        .origin = "test", .kind = HX_LOAD_TEMPERATURE_CHANGE, .value = {80.0}, .load_case = 1};
    const double s = 80.0 * 12e-6;
    const double slope[3] = {is_clamped ? 0.0 : s, is_clamped ? 1.3 * s : s,
                             is_clamped ? 1.3 * s : s};
    hx_problem problem;
    fixture_solver solver;
    hx_iteration record;
    const row some = {.kind = "volume", .load_case = HX_ALL_CASES};
    hx_constraint_spec spec;
    hx_problem_params params = fixture_problem();
    params.young = 7.0, params.expansion = 12e-6;
    params.space = &p->space;
    params.support = roller, params.n_support = is_clamped ? 4 : 3;
    params.load = &hot, params.n_load = 1;
    put_specs(&some, 1, &spec);
    CHECK_OK(hx_problem_create(&problem, &p->mesh, &params));
    double *const density = make_density(p->mesh.n_elem, is_clamped ? 1.0 : 0.2, 1.0);
    const fixture_settings settings = settings_of(&problem, density, 1, &spec);
    CHECK_OK(fixture_solver_create(&solver, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&solver.opt, &record));
    check_state(p, &solver, &problem, slope, is_clamped ? -7.0 * s : 0.0);
    fixture_solver_free(&solver);
    free(density);
    hx_problem_free(&problem);
}

/* ---- loads and derivatives ---- */

/* Case 1: a force and a uniform temperature; case 2: gravity and a temperature of a set; case 3: a
 * temperature change only. The set `insert` has another material. */
static int make_problem(hx_problem *problem, const part *p)
{
    static const hx_support_spec support = {"x0", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    static const hx_load_spec load[5] = {
        {"x1", "test", HX_LOAD_NODE_FORCE, {0.1, 0.0, -0.3}, 1},
        {.origin = "test", .kind = HX_LOAD_TEMPERATURE_CHANGE, .value = {0.3}, .load_case = 1},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.2, 0.1, -0.7}, .load_case = 2},
        {"insert", "test", HX_LOAD_TEMPERATURE_CHANGE, {-0.8}, 2},
        {.origin = "test", .kind = HX_LOAD_TEMPERATURE_CHANGE, .value = {0.4}, .load_case = 3}};
    static const hx_passive_spec passive = {"hole", "test", 0.7};
    static const hx_material_spec material = {"insert", "test", 11.0, 0.9, NAN, 0.5};
    static const double weight[3] = {0.7, 2.5, 1.2};
    hx_problem_params params = fixture_problem();
    params.young = 7.0, params.density = 0.4, params.expansion = 0.2;
    params.space = &p->space;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = 5;
    params.passive = &passive, params.n_passive = 1;
    params.material = &material, params.n_material = 1;
    params.weight = weight, params.n_weight = 3;
    return hx_problem_create(problem, &p->mesh, &params);
}

static const row rows[] = {
    {.kind = "compliance", .load_case = HX_ALL_CASES},
    {.kind = "compliance", .load_case = 1},
    {.kind = "displacement", .set = "x1", .direction = {0.2, 0.4, -1.3}, .load_case = 0},
    {.kind = "displacement", .set = "x1", .direction = {1.0, 0.3, 0.0}, .load_case = HX_ALL_CASES},
    {.kind = "reaction", .set = "x0", .direction = {0.3, 0.0, 1.0}, .load_case = 1},
    {.kind = "reaction", .set = "x0", .load_case = 0},
    {.kind = "stress", .load_case = HX_ALL_CASES, .relaxation = 0.5}};
enum { N_ROW = sizeof rows / sizeof rows[0] };

/* The norm of stresses has a changing scale. */
static const hx_stress_limit *stress_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    return g->kind == &hx_response_stress ? g->impl : NULL;
}

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
    for (int i = 0; i < N_ROW; i++)
        value[i] = stress_of(s, i) ? stress_of(s, i)->norm : s->opt.record[i].value;
    free(moved);
}

/* Forces of the device against those of the host. */
static void check_forces(const part *p, fixture_solver *s, const hx_problem *problem)
{
    const size_t n_elem = (size_t)p->mesh.n_elem, n = 3 * (size_t)p->space.n_point;
    double *const rho = malloc(n_elem * sizeof *rho), *const modulus = malloc(n_elem * sizeof *rho);
    double *const want = malloc(n * sizeof *want), *const got = malloc(n * sizeof *got);
    double *const d_f = fixture_put(&device, n, NULL), worst = 0.0;
    if (!rho || !modulus || !want || !got) abort();
    fixture_get(&device, n_elem, rho, s->analysis.d_rho);
    hx_problem_modulus(problem, s->analysis.penalty, rho, modulus);
    for (int c = 0; c < problem->cases.n; c++) {
        double size = 0.0, sum[3] = {0.0};
        CHECK_OK(hx_problem_nodal_force(problem, c, rho, want));
        hx_problem_add_expansion(problem, c, modulus, want);
        CHECK_OK(hx_analysis_force(&s->analysis, c, d_f));
        fixture_get(&device, n, got, d_f);
        for (size_t k = 0; k < n; k++) test_worst(&size, fabs(want[k]));
        for (size_t k = 0; k < n; k++) test_worst(&worst, fabs(got[k] - want[k]) / size);
        for (size_t k = 0; k < n; k++) sum[k % 3] += got[k];
        for (int i = 0; c == 2 && i < 3; i++) test_worst(&worst, 0.1 * fabs(sum[i]) / size);
    }
    CHECK_MSG(worst <= 1e-14 * 10.0, "%s: forces are off by %.1e", p->label, worst);
    device.ops->release(&device, d_f);
    free(rho);
    free(modulus);
    free(want);
    free(got);
}

static void check_slopes(const part *p, fixture_solver *s, const double *design,
                         const double *direction)
{
    const int64_t n = p->mesh.n_elem;
    const int has_points = p->space.element != HX_ELEMENT_LINEAR || hx_mesh_is_collapsed(&p->mesh);
    double *const dg = malloc((size_t)n * sizeof *dg), here[N_ROW], slope[N_ROW], size[N_ROW];
    double at[2][4][N_ROW], worst = 0.0;
    /* the second where the largest stress of a cell changes its point */
    const double h[2] = {1e-3, 3e-5};
    if (!dg) abort();
    values_at(s, design, direction, 0.0, here);
    check_forces(p, s, s->opt.problem);
    for (int i = 0; i < N_ROW; i++) {
        slope[i] = size[i] = 0.0;
        fixture_get(&device, (size_t)n, dg, s->opt.constraint[i].d_derivative);
        for (int64_t e = 0; e < n; e++) {
            const double share =
                dg[e] * direction[e] / (stress_of(s, i) ? stress_of(s, i)->scale : 1);
            slope[i] += share;
            size[i] += share * share;
        }
    }
    for (int q = 0; q < 8; q++)
        values_at(s, design, direction, (q % 4 < 2 ? q % 4 - 2 : q % 4 - 1) * h[q / 4],
                  at[q / 4][q % 4]);
    for (int i = 0; i < N_ROW; i++) {
        const int of = has_points && stress_of(s, i);
        const double difference =
            (at[of][0][i] - 8.0 * at[of][1][i] + 8.0 * at[of][2][i] - at[of][3][i]) /
            (12.0 * h[of]);
        const double error = fabs(difference - slope[i]) /
                             fmax(2e-3 * fabs(here[i]), fmax(fabs(slope[i]), sqrt(size[i])));
        test_worst(&worst, error);
        CHECK_MSG(size[i] > 0.0 && error <= 1e-6, "%s: %s, number %d: %.10g by differences, %.10g",
                  p->label, rows[i].kind, i, difference, slope[i]);
    }
    printf("%-28s %d derivatives to %.0e\n", p->label, N_ROW, worst);
    free(dg);
}

static void check_derivatives(const part *p, int with_chain)
{
    const int64_t n = p->mesh.n_elem;
    hx_constraint_spec spec[N_ROW];
    hx_problem problem;
    fixture_solver s;
    uint64_t state = 77;
    put_specs(rows, N_ROW, spec);
    CHECK_OK(make_problem(&problem, p));
    double *const density = make_density(n, 0.2, 0.9), *const direction =
                                                           make_density(n, -1.0, 1.0);
    fixture_settings settings = settings_of(&problem, density, N_ROW, spec);
    if (with_chain) {
        settings.design.beta = fixture_constant(2.0);
        settings.filter = "density";
        settings.filter_params.radius = 0.7;
        settings.filter_params.volume_weighted = 1;
    }
    for (int64_t e = 0; e < n; e++)
        direction[e] = isnan(problem.passive.density[e]) ? fixture_uniform(&state, -1.0, 1.0) : 0.0;
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    fixture_get(&device, (size_t)n, density, s.opt.d_design);
    check_slopes(p, &s, density, direction);
    fixture_solver_free(&s);
    free(density);
    free(direction);
    hx_problem_free(&problem);
}

/* ---- what is refused ---- */

static void check_refusal(const part *p, hx_load_spec load, double expansion, const char *what)
{
    static const hx_support_spec support = {"x0", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    load.origin = "test", load.kind = HX_LOAD_TEMPERATURE_CHANGE, load.load_case = 1;
    params.expansion = expansion;
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    CHECK(hx_problem_create(&problem, &p->mesh, &params) == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), what), "'%s' does not say '%s'", hx_error_message(), what);
    hx_error_clear();
}

static void check_refusals(const part *p)
{
    check_refusal(p, (hx_load_spec){.value = {20.0}}, 0.0, "needs material.expansion");
    check_refusal(p, (hx_load_spec){.value = {INFINITY}}, 1e-5, "not finite");
    check_refusal(p, (hx_load_spec){.value = {0.0}}, 1e-5, "load case 1 has no load");
    check_refusal(p, (hx_load_spec){.set = "inser", .value = {20.0}}, 1e-5, "insert");
    check_refusal(p, (hx_load_spec){.set = "x1", .value = {20.0}}, 1e-5, "no element to heat");
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    check_references(FIXTURE_IN_ORDER);
    check_references(FIXTURE_SHUFFLED);
    check_references(FIXTURE_REORDERED);
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int quadratic = 0; quadratic < 2; quadratic++) {
            part p;
            make_part(&p, (mixed_kind)kind, quadratic ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR);
            check_bar(&p, 0);
            check_bar(&p, 1);
            if (!quadratic) check_derivatives(&p, 0);
            check_derivatives(&p, 1);
            if (kind == 0 && !quadratic) check_refusals(&p);
            free_part(&p);
        }
    hx_device_close(&device);
    TEST_END();
}
