/* Materials of element sets on every kind of cell, linear, quadratic and as splines: bars in
 * tension and under their weight and walls that conduct heat against closed forms, derivatives
 * against central differences, bits if both materials are equal, and input that is refused.
 *
 *     test_materials [cpu | cuda] */
#include "core/mesh/region.h"
#include "core/multigrid/deflation.h"
#include "core/problem/body_force.h"
#include "tests/lib/space_box.h"
#include "tests/lib/spline_model.h"

static hx_device device;

/* A bar along x, whose second half has the other material. */
static const double young[2] = {10.0, 35.0}, density[2] = {3.0, 12.0}, conductivity[2] = {2.0, 0.5},
                    pull = 2.0, acceleration = 0.7, flux = 3.0;

typedef enum { LINEAR, QUADRATIC, SPLINE, N_FORM } form;
static const char *const form_name[] = {"linear", "quadratic", "spline"};

/* Its parts point to each other, so it must not move. */
typedef struct bar {
    space_box box;       /* not of a spline */
    spline_model spline; /* of a spline */
    hx_mesh *mesh;
    const hx_space *space;
} bar;

static int add_sets(hx_mesh *mesh)
{
    const hx_region left = {.kind = HX_REGION_PLANE, .axis = {1.0, 0.0, 0.0}, .tolerance = 1e-6};
    hx_region right = left;
    const hx_region half = {.kind = HX_REGION_BOX,
                            .point = {0.5 * mesh->box_max[0], -9.0, -9.0},
                            .axis = {9.0, 9.0, 9.0},
                            .tolerance = 1e-6};
    right.point[0] = mesh->box_max[0];
    HX_TRY(hx_mesh_add_region(mesh, "left", &left));
    HX_TRY(hx_mesh_add_region(mesh, "right", &right));
    return hx_mesh_add_region(mesh, "half", &half);
}

/* distort: largest fraction of the element size by which a node moves. */
static int make_bar(bar *b, mixed_kind kind, form f, double distort)
{
    static const int degree[3] = {2, 2, 2}, n_span[3] = {2, 1, 2}, twice[3] = {-1, -1, -1};
    memset(b, 0, sizeof *b);
    if (f == SPLINE) {
        HX_TRY(spline_model_row(&b->spline, 2, degree, n_span, twice, 0, NULL));
        b->mesh = &b->spline.mesh;
        b->space = &b->spline.space;
        return add_sets(b->mesh);
    }
    const mixed_box box = {
        .kind = kind, .n = {4, 2, 2}, .length = {4.0, 1.0, 1.2}, .distort = distort, .seed = 6};
    HX_TRY(
        space_box_mesh(&b->box, &box, f == QUADRATIC ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR));
    b->mesh = &b->box.mesh;
    b->space = &b->box.space;
    return add_sets(b->mesh);
}

static double half_length(const bar *b)
{
    return 0.5 * b->mesh->box_max[0];
}

static void free_bar(bar *b)
{
    if (b->mesh == &b->spline.mesh)
        spline_model_free(&b->spline);
    else
        space_box_free(&b->box);
}

static const hx_support_spec held = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
static const hx_support_spec cold = {"left", "test", HX_FIX_X, {10.0}};
static const hx_material_spec other = {"half", "test", 35.0, 12.0, 0.5, NAN};

/* Without loads. */
static hx_problem_params params_of(const bar *b, hx_physics physics)
{
    hx_problem_params params = fixture_problem();
    params.physics = physics;
    params.young = young[0];
    params.poisson = 0.0;
    params.density = density[0];
    params.conductivity = conductivity[0];
    params.support = physics == HX_PHYSICS_HEAT ? &cold : &held;
    params.n_support = 1;
    params.material = &other;
    params.n_material = 1;
    params.space = b->space;
    return params;
}

static fixture_settings settings_of(void)
{
    fixture_settings settings = fixture_defaults();
    settings.op_kind = hx_operator_kind_find(device.ops->name, "bsr");
    settings.layout = hx_layout_first(settings.op_kind);
    settings.pcg.tolerance = 1e-13;
    return settings;
}

static int create_solver(fixture_solver *s, const hx_problem *problem, fixture_settings *settings)
{
    /* not every device has blocks of one unknown */
    if (hx_problem_is_heat(problem))
        settings->op_kind = hx_operator_kind_of(hx_operator_kind_find(device.ops->name, "csr"), 1);
    settings->layout = hx_layout_first(settings->op_kind);
    return fixture_solver_create(s, &device, problem, settings);
}

/* Displacement along x, or temperature, of the node at the far end. */
static double end_value(const bar *b, const hx_analysis *a, int components)
{
    const hx_mesh *const mesh = b->mesh;
    double *const u = calloc((size_t)components * (size_t)mesh->n_node, sizeof *u), value = NAN;
    if (!u) abort();
    CHECK_OK(hx_analysis_displacement(a, 0, u));
    for (int64_t i = 0; i < mesh->n_node; i++)
        if (mesh->xyz[3 * i] > mesh->box_max[0] - 1e-9) value = u[components * i];
    free(u);
    return value;
}

/* Solves the solid bar under one load; returns the value at its end. total: sum of the loads. */
static double solve_bar(const bar *b, hx_physics physics, const hx_load_spec *load, double total[3])
{
    hx_problem_params params = params_of(b, physics);
    fixture_settings settings = settings_of();
    fixture_solver s;
    hx_problem problem;
    hx_iteration record;
    params.load = load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, b->mesh, &params));
    CHECK(problem.materials.n == 2 && problem.materials.count[0] > 0 &&
          problem.materials.count[0] + problem.materials.count[1] == b->mesh->n_elem);
    CHECK_REL(problem.materials.volume[1], 0.5 * problem.total_volume, 1e-12);
    CHECK_OK(create_solver(&s, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.reason == HX_PCG_CONVERGED);
    const double value = end_value(b, &s.analysis, problem.components);
    CHECK_OK(hx_analysis_load(&s.analysis, 0, total));
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    return value;
}

static void check_tension(const bar *b, const char *name)
{
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {pull, 0.0, 0.0}, 1};
    const double want = pull * half_length(b) * (1.0 / young[0] + 1.0 / young[1]);
    double total[3];
    const double found = solve_bar(b, HX_PHYSICS_ELASTICITY, &load, total);
    CHECK_MSG(fabs(found - want) <= 1e-9 * want, "%s: elongation %.12g, exact %.12g", name, found,
              want);
}

/* is_exact: the space contains the exact elongation; that of linear wedges, pyramids and tetrahedra
 * does not. */
static void check_weight(const bar *b, const char *name, int is_exact)
{
    const hx_load_spec load = {.origin = "test",
                               .kind = HX_LOAD_GRAVITY,
                               .value = {acceleration, 0.0, 0.0},
                               .load_case = 1};
    const double l = half_length(b), near = density[0] * acceleration,
                 far = density[1] * acceleration;
    const double want =
        (far * l * l + 0.5 * near * l * l) / young[0] + 0.5 * far * l * l / young[1];
    const double weight = (near + far) * 0.5 * b->mesh->total_volume;
    double total[3];
    const double found = solve_bar(b, HX_PHYSICS_ELASTICITY, &load, total);
    CHECK_MSG(fabs(total[0] - weight) <= 1e-12 * weight, "%s: weight %.15g, exact %.15g", name,
              total[0], weight);
    CHECK_MSG(fabs(found - want) <= (is_exact ? 1e-9 : 0.2) * want,
              "%s: elongation by weight %.12g, exact %.12g", name, found, want);
}

static void check_wall(const bar *b, const char *name)
{
    const hx_load_spec load = {"right", "test", HX_LOAD_FLUX, {flux}, 1};
    const double want = flux * half_length(b) * (1.0 / conductivity[0] + 1.0 / conductivity[1]);
    double total[3];
    const double found = solve_bar(b, HX_PHYSICS_HEAT, &load, total);
    CHECK_MSG(fabs(found - want) <= 1e-9 * want,
              "%s: temperature %.12g above that of the wall, "
              "exact %.12g",
              name, found, want);
}

/* --- derivatives --- */

static double objective_at(fixture_solver *s, int64_t e, double rho, double step)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    return record.objective;
}

static void fill_gradient_params(hx_problem_params *params, const bar *b, hx_physics physics)
{
    static const hx_load_spec load[3] = {
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.3, -0.2, -0.7}, .load_case = 1},
        {.origin = "test",
         .kind = HX_LOAD_CENTRIFUGAL,
         .value = {1.0, 2.0, -0.5},
         .point = {-0.4, 0.1, 2.0},
         .speed = 0.6,
         .load_case = 2},
        {"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.5}, 2}};
    static const hx_load_spec heat[2] = {{NULL, "test", HX_LOAD_SOURCE, {0.4}, 1},
                                         {"right", "test", HX_LOAD_FLUX, {3.0}, 1}};
    const int is_heat = physics == HX_PHYSICS_HEAT;
    *params = params_of(b, physics);
    params->poisson = 0.3;
    params->load = is_heat ? heat : load;
    params->n_load = is_heat ? 2 : 3;
}

static void random_densities(int64_t n, double *rho)
{
    uint64_t state = 7;
    for (int64_t e = 0; e < n; e++)
        rho[e] =
            e % 4 == 0 ? fixture_uniform(&state, 0.06, 0.09) : fixture_uniform(&state, 0.2, 0.95);
}

/* By about five elements in both materials, with densities on both sides of the mass law. */
static void check_derivatives(const bar *b, hx_physics physics, const char *objective,
                              const char *name)
{
    const size_t n = (size_t)b->mesh->n_elem;
    double *const rho = malloc(2 * n * sizeof *rho), *const dc = rho + n;
    fixture_settings settings = settings_of();
    hx_problem_params params;
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    double largest = 0.0, worst = 0.0;
    if (!rho) abort();
    fill_gradient_params(&params, b, physics);
    random_densities(b->mesh->n_elem, rho);
    settings.design.volume_fraction = 0.5;
    settings.density = rho;
    settings.optimizer.objective = hx_response_kind_find(objective);
    if (settings.optimizer.objective->takes & HX_TAKES_SET)
        settings.optimizer.objective_params =
            (hx_response_params){.set = "right", .direction = {0.1, 0.2, -1.0}};
    CHECK_OK(hx_problem_create(&problem, b->mesh, &params));
    CHECK_OK(create_solver(&s, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (size_t e = 0; e < n; e++) test_worst(&largest, fabs(dc[e]));
    for (size_t e = 0; e < n; e += 1 + n / 5) {
        const double h = 1e-3 * rho[e];
        double c[4];
        for (int i = 0; i < 4; i++) {
            static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
            c[i] = objective_at(&s, (int64_t)e, rho[e], at[i] * h);
        }
        test_worst(&worst, fabs((c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h) - dc[e]));
    }
    CHECK_MSG(worst <= 1e-6 * largest, "%s: derivatives of %s off by %.2g of the largest", name,
              objective, worst / largest);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    free(rho);
}

/* --- equal materials, sums, components --- */

/* Compliance and derivatives of a design by weight and traction. */
static double evaluate(const bar *b, const hx_material_spec *material, double *dc)
{
    const int64_t n = b->mesh->n_elem;
    double *const rho = malloc((size_t)n * sizeof *rho);
    fixture_settings settings = settings_of();
    hx_problem_params params;
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    if (!rho) abort();
    fill_gradient_params(&params, b, HX_PHYSICS_ELASTICITY);
    params.material = material;
    params.n_material = material != NULL;
    random_densities(n, rho);
    settings.design.volume_fraction = 0.5;
    settings.density = rho;
    CHECK_OK(hx_problem_create(&problem, b->mesh, &params));
    CHECK((problem.materials.number != NULL) == (material != NULL));
    CHECK_OK(create_solver(&s, &problem, &settings));
    CHECK((s.op.d_material != NULL) == (material != NULL));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    free(rho);
    return record.compliance;
}

/* A material with the values of the base, given or left out, changes no bit. */
static void check_equal(const bar *b, const char *name)
{
    const hx_material_spec given = {"half", "test", 10.0, 3.0, NAN, NAN},
                           partly = {"half", "test", NAN, 3.0, NAN};
    const size_t n = (size_t)b->mesh->n_elem;
    double *const dc = malloc(3 * n * sizeof *dc);
    if (!dc) abort();
    const double one = evaluate(b, NULL, dc);
    CHECK_MSG(one == evaluate(b, &given, dc + n) && one == evaluate(b, &partly, dc + 2 * n),
              "%s: another compliance with equal materials", name);
    CHECK(memcmp(dc, dc + n, n * sizeof *dc) == 0);
    CHECK(memcmp(dc, dc + 2 * n, n * sizeof *dc) == 0);
    CHECK(one != evaluate(b, &other, dc + n));
    free(dc);
}

/* Loads on the host and moduli follow the same factors; a part of the mesh keeps them. */
static void check_host(const bar *b)
{
    const size_t n = (size_t)b->mesh->n_elem, n_dof = 3 * (size_t)b->space->n_point;
    double *const rho = malloc(n * sizeof *rho), *const modulus = malloc(n * sizeof *modulus);
    double *const f = malloc(2 * n_dof * sizeof *f), total[3], sum[3] = {0.0}, mass, want = 0.0;
    const hx_operator_kind *const bsr = hx_operator_kind_find(device.ops->name, "bsr");
    hx_problem_params params;
    hx_problem problem;
    hx_operator op;
    if (!rho || !modulus || !f) abort();
    fill_gradient_params(&params, b, HX_PHYSICS_ELASTICITY);
    random_densities(b->mesh->n_elem, rho);
    CHECK_OK(hx_problem_create(&problem, b->mesh, &params));
    CHECK_OK(hx_problem_nodal_force(&problem, 0, rho, f));
    hx_problem_total_body(&problem, 0, rho, total);
    for (size_t k = 0; k < n_dof; k++) sum[k % 3] += f[k];
    for (int i = 0; i < 3; i++) CHECK_REL(sum[i], total[i], 1e-12);
    CHECK_OK(hx_operator_create(&op, &device, bsr, hx_layout_first(bsr), &problem, 0));
    double *const d_rho = fixture_put(&device, n, rho), *const d_f = fixture_put(&device, n_dof, f);
    CHECK_OK(device.ops->body->force(&device, &op.model, hx_problem_body(&problem, 0), d_rho, NULL,
                                     d_f));
    fixture_get(&device, n_dof, f + n_dof, d_f);
    CHECK(test_max_difference(n_dof, f, f + n_dof) <= 1e-14 * fabs(total[2]));
    hx_problem_modulus(&problem, 3.0, rho, modulus);
    CHECK_OK(device.ops->design->modulus(&device, b->mesh->n_elem, &op.model.materials, 0.0,
                                         problem.young, 3.0, d_rho, op.model.d_modulus));
    for (size_t e = 0; e < n; e++) {
        const int i = problem.materials.number[e];
        double x[3];
        hx_mesh_centroid(b->mesh, (int64_t)e, x);
        CHECK(i == (x[0] > half_length(b)));
        CHECK_REL(modulus[e], young[i] * pow(rho[e], 3.0), 1e-14);
        want += density[i] / density[0] * problem.volume[e] * rho[e];
    }
    CHECK_OK(hx_problem_mass_volume(&problem, rho, &mass));
    CHECK_REL(mass, want, 1e-13);
    fixture_get(&device, n, rho, op.model.d_modulus);
    CHECK(test_max_difference(n, modulus, rho) <= 1e-14 * young[1]);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_f);
    hx_operator_free(&op);
    hx_problem_free(&problem);
    free(rho);
    free(modulus);
    free(f);
}

enum { MOST_COMPONENTS = 40 };

/* Marks of the floating components of a design in which a set has another modulus; 0: it has not.
 * Returns their number. */
static int64_t find_components(const hx_mesh *mesh, const double *rho, double stiff,
                               uint64_t mark[MOST_COMPONENTS])
{
    const hx_material_spec insert = {"insert", "test", stiff, NAN, NAN, NAN};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {1.0, 0.0, 0.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_floating_component *part = NULL;
    double *const modulus = malloc((size_t)mesh->n_elem * sizeof *modulus);
    int64_t n = 0;
    hx_problem problem;
    if (!modulus) abort();
    params.support = &held;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.material = &insert;
    params.n_material = stiff > 0.0;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    hx_problem_modulus(&problem, 3.0, rho, modulus);
    CHECK_OK(hx_find_floating_components(&problem, NULL, modulus, &part, &n));
    CHECK(n <= MOST_COMPONENTS);
    for (int64_t i = 0; i < n; i++) {
        if (i < MOST_COMPONENTS) mark[i] = part[i].mark;
        hx_floating_component_free(&part[i]);
    }
    free(part);
    free(modulus);
    hx_problem_free(&problem);
    return n;
}

static int64_t count_common(int64_t n_a, const uint64_t *a, int64_t n_b, const uint64_t *b)
{
    int64_t n = 0;
    for (int64_t i = 0; i < n_a; i++) {
        int is_met = 0;
        for (int64_t k = 0; k < n_b; k++) is_met |= a[i] == b[k];
        n += is_met;
    }
    return n;
}

/* A beam with an insert, and another block of the base that floats in void. That block remains a
 * component whatever the insert's modulus is, and the insert becomes one only if the beam around it
 * is almost void for it. */
static void check_components(void)
{
    static const double stiff[] = {60.0, 1.0 / 60.0, 1e5, 1e-5};
    const fixture_box box = {{8, 6, 4}, {8.0, 6.0, 4.0}, 0.0, 0};
    const hx_region insert = {.kind = HX_REGION_BOX,
                              .point = {3.0, 0.0, 1.0},
                              .axis = {5.0, 2.0, 3.0},
                              .tolerance = 1e-6};
    uint64_t base[MOST_COMPONENTS], found[MOST_COMPONENTS];
    hx_mesh mesh;
    double *rho;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_mesh_add_region(&mesh, "insert", &insert));
    rho = malloc((size_t)mesh.n_elem * sizeof *rho);
    if (!rho) abort();
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&mesh, e, x);
        const int is_beam = x[1]<3.0, is_block = x[1]> 4.0 && x[0] > 2.0 && x[0] < 5.0;
        rho[e] = is_beam || is_block ? 1.0 : 1e-3;
    }
    const int64_t n = find_components(&mesh, rho, 0.0, base);
    CHECK(n > 0);
    for (int i = 0; i < 4; i++) {
        const int64_t n_found = find_components(&mesh, rho, stiff[i], found);
        CHECK_MSG(count_common(n, base, n_found, found) == n,
                  "insert of modulus %g: only %lld of %lld components", stiff[i],
                  (long long)count_common(n, base, n_found, found), (long long)n);
        if (i < 2) CHECK(n_found == n);
        if (i == 2) CHECK(count_common(n_found, found, n, base) < n_found); /* the insert */
    }
    free(rho);
    hx_mesh_free(&mesh);
}

/* --- refusals --- */

static void check_refusal(const bar *b, hx_physics physics, size_t n, const hx_material_spec *list,
                          double base_density, const char *text)
{
    hx_problem_params params;
    hx_problem problem;
    fill_gradient_params(&params, b, physics);
    params.load = params.load + (physics == HX_PHYSICS_HEAT ? 0 : 2);
    params.n_load = 1;
    params.n_weight = 0;
    hx_load_spec load = params.load[0];
    load.load_case = 1;
    params.load = &load;
    params.density = base_density;
    params.material = list;
    params.n_material = n;
    CHECK_FAILS(hx_problem_create(&problem, b->mesh, &params), HX_EINPUT, text);
}

static void check_refusals(bar *b)
{
    const hx_physics solid = HX_PHYSICS_ELASTICITY, heat = HX_PHYSICS_HEAT;
    const hx_region all = {.kind = HX_REGION_BOX, .point = {-9, -9, -9}, .axis = {9, 9, 9}};
    const hx_material_spec twice[2] = {{"half", "test", 2.0, NAN, NAN, NAN},
                                       {"whole", "test", 3.0, NAN, NAN, NAN}};
    hx_material_spec one = other;
    CHECK_OK(hx_mesh_add_region(b->mesh, "whole", &all));
    check_refusal(b, solid, 2, twice, 1.0, "set 'whole' overlaps set 'half'");
    check_refusal(b, solid, 2, twice, 1.0, "belongs to both");
    one.set = "hald";
    check_refusal(b, solid, 1, &one, 1.0, "did you mean 'half'");
    one.set = "left";
    check_refusal(b, solid, 1, &one, 1.0, "set 'left' contains no element");
    one = other;
    check_refusal(b, solid, 1, &one, 0.0, "density = 12 needs material.density");
    one.young = 0.0;
    check_refusal(b, solid, 1, &one, 1.0, "E = 0 is out of range");
    one = other;
    one.conductivity = 1e-3;
    check_refusal(b, heat, 1, &one, 1.0, "must be above that of void");
    one.conductivity = -1.0;
    check_refusal(b, heat, 1, &one, 1.0, "conductivity = -1 is out of range");
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    for (int f = 0; f < N_FORM; f++)
        for (int kind = 0; kind < (f == SPLINE ? 1 : MIXED_N_KIND); kind++) {
            char name[64];
            bar b;
            snprintf(name, sizeof name, "%s %s", form_name[f], f == SPLINE ? "" : mixed_name[kind]);
            CHECK_OK(make_bar(&b, (mixed_kind)kind, (form)f, 0.0));
            check_tension(&b, name);
            check_weight(&b, name, f != LINEAR || kind == 0);
            if (fixture_has_heat(&device, b.space->element)) check_wall(&b, name);
            check_equal(&b, name);
            check_host(&b);
            if (f == LINEAR && kind == 0) check_refusals(&b);
            free_bar(&b);
            CHECK_OK(make_bar(&b, (mixed_kind)kind, (form)f, 0.1));
            check_derivatives(&b, HX_PHYSICS_ELASTICITY, "compliance", name);
            check_derivatives(&b, HX_PHYSICS_ELASTICITY, "displacement", name);
            check_derivatives(&b, HX_PHYSICS_ELASTICITY, "mass", name);
            if (fixture_has_heat(&device, b.space->element))
                check_derivatives(&b, HX_PHYSICS_HEAT, "compliance", name);
            free_bar(&b);
        }
    check_components();
    hx_device_close(&device);
    TEST_END();
}
