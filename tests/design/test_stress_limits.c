/* Designs under limits on all stresses: a bar in tension, which becomes fully stressed, and the
 * L-bracket, whose parts of elements above any density up to 0.5 keep the limit.
 *
 *     test_stress_limits [cpu | cuda] [quick | fine | start N]
 *
 * fine: only brackets of 100 x 100 from three starts, by hand. start N: only those of both sizes
 * from that start. */
#include "core/design/limit_values.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>

static hx_device device;

enum { MOST_NODE = 64 };

/* Names the nodes within a box. */
static int name_nodes(hx_mesh *mesh, const char *name, const double low[3], const double high[3])
{
    int32_t node[MOST_NODE];
    int64_t n = 0;
    for (int32_t a = 0; a < mesh->n_node && n < MOST_NODE; a++) {
        const double *const x = mesh->xyz + 3 * (int64_t)a;
        int is_in = 1;
        for (int i = 0; i < 3; i++) is_in &= x[i] >= low[i] - 1e-9 && x[i] <= high[i] + 1e-9;
        if (is_in) node[n++] = a;
    }
    return hx_mesh_add_node_set(mesh, name, n, node);
}

static fixture_settings common_settings(const hx_constraint_spec *spec)
{
    fixture_settings settings = fixture_defaults();
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-8;
    settings.design.volume_fraction = 0.0;
    settings.optimizer = (hx_optimizer_params){.objective = &hx_response_volume,
                                               .objective_params = {.load_case = HX_ALL_CASES},
                                               .n_constraint = 1,
                                               .constraint = spec,
                                               .update = hx_update_find("mma")};
    return settings;
}

static void run_designs(fixture_solver *s, int n, hx_iteration *record)
{
    for (int i = 0; i < n; i++) {
        CHECK_OK(hx_optimizer_step(&s->opt, record));
        if (i + 1 < n) hx_optimizer_advance(&s->opt);
    }
}

/* ---- a bar in tension, p = 1: the stress of the solid material is F / (A rho) ---- */

static void check_bar(void)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_TOTAL_FORCE, {2.0, 0.0, 0.0}, 1};
    const hx_generate_params size = {.nx = 12, .ny = 2, .nz = 2};
    const double area = 4.0, limit = 2.5;
    const hx_constraint_spec spec = {.kind = &hx_response_stress,
                                     .params = {.load_case = HX_ALL_CASES, .is_lagrangian = 1},
                                     .max = limit,
                                     .min = NAN};
    fixture_settings settings = common_settings(&spec);
    hx_problem_params params = fixture_problem();
    hx_mesh mesh = {0};
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    params.poisson = 0.0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    settings.design.penalty = fixture_constant(1.0);
    settings.design.move = 0.05;
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), &mesh, &size));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    run_designs(&s, 400, &record);
    CHECK_REL(record.volume, 2.0 / (area * limit), 1e-3);
    CHECK_REL(record.response[0].value, limit, 2e-3);
    printf("bar: volume %.6f, stress %.6f\n", record.volume, record.response[0].value);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* ---- the L-bracket ---- */

enum { MOST_PAD = 36 };

typedef struct bracket {
    hx_mesh mesh;
    hx_problem problem;
} bracket;

/* 50 times `times` squares along both axes, one layer; the pad below the load is solid and has no
 * limit. Force and zone grow with the part, so that the nominal stress is the same. */
static void make_bracket(bracket *b, int times)
{
    static const hx_support_spec support = {
        .set = "top", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const double force = -50.0 * times / (2 * (2 * times + 1)); /* of each node */
    const hx_load_spec load = {"load", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, force}, 1};
    static const hx_passive_spec pad = {"pad", "test", 1.0, 0.0};
    const hx_generate_params size = {.nx = 50 * times, .ny = 1};
    const double right = 50 * times, top = 0.4 * right, depth = 3.0 * times;
    hx_problem_params params = fixture_problem();
    int32_t elem[MOST_PAD];
    int64_t n = 0;
    memset(b, 0, sizeof *b);
    CHECK_OK(hx_generate(hx_generator_find("lbeam"), &b->mesh, &size));
    CHECK_OK(name_nodes(&b->mesh, "load", (double[3]){right - 2.0 * times, 0.0, top},
                        (double[3]){right, 1.0, top}));
    for (int32_t e = 0; e < b->mesh.n_elem; e++) {
        double x[3];
        hx_cell_centroid(b->mesh.xyz, b->mesh.conn + 8 * (int64_t)e, x);
        if (x[0] > right - depth && x[2] > top - depth && x[2] < top && n < MOST_PAD) elem[n++] = e;
    }
    CHECK(n == 9 * times * times);
    CHECK_OK(hx_mesh_add_elem_set(&b->mesh, "pad", n, elem));
    CHECK_OK(fixture_finish(&b->mesh, FIXTURE_IN_ORDER));
    params.young = 1000.0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.passive = &pad;
    params.n_passive = 1;
    CHECK_OK(hx_problem_create(&b->problem, &b->mesh, &params));
}

/* The part of the elements above a density. */
static void check_part(fixture_solver *s, const bracket *b, const hx_constraint_spec *spec,
                       double threshold)
{
    const int64_t n = b->mesh.n_elem;
    double *const rho = malloc((size_t)n * sizeof *rho), volume = 0.0;
    hx_limit_value value;
    if (!rho) abort();
    CHECK_OK(hx_optimizer_density(&s->opt, rho));
    for (int64_t e = 0; e < n; e++) {
        rho[e] = rho[e] >= threshold ? 1.0 : 1e-3;
        volume += rho[e] / (double)n;
    }
    CHECK_OK(hx_analysis_solve_density(&s->analysis, rho, 3.0));
    CHECK_OK(hx_limit_values(&s->analysis, 1, spec, rho, NAN, &value));
    CHECK_MSG(value.value <= spec->max && volume <= 0.23,
              "part of the densities above %g: stress %g, volume %g", threshold, value.value,
              volume);
    printf("  above %.1f: volume %.4f, stress %.2f\n", threshold, volume, value.value);
    free(rho);
}

/* The first densities are 0.5 with noise of 1e-6 from a seed; 0: without noise. One bit of rounding
 * decides which members the last design has. */
static void fill_start(const bracket *b, uint64_t seed, double *rho)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u;
    for (int64_t e = 0; e < b->mesh.n_elem; e++)
        rho[e] = 0.5 + (seed ? 1e-6 * fixture_uniform(&state, -1.0, 1.0) : 0.0);
}

/* The chain with an optimizer that begins at that start. */
static void create_bracket_solver(fixture_solver *s, bracket *b, fixture_settings *settings,
                                  uint64_t seed)
{
    double *const rho = malloc((size_t)b->mesh.n_elem * sizeof *rho);
    if (!rho) abort();
    fill_start(b, seed, rho);
    settings->density = rho;
    CHECK_OK(fixture_solver_create(s, &device, &b->problem, settings));
    free(rho);
}

/* The recipe that a run with stress limits has by default, for 400 designs. */
static void check_bracket(int times, uint64_t seed)
{
    const char *const exclude[1] = {"pad"};
    const hx_constraint_spec spec = {.kind = &hx_response_stress,
                                     .params = {.load_case = HX_ALL_CASES,
                                                .relaxation = 0.5,
                                                .exclude = exclude,
                                                .n_exclude = 1,
                                                .is_lagrangian = 1},
                                     .max = 120.0,
                                     .min = NAN};
    fixture_settings settings = common_settings(&spec);
    bracket b;
    fixture_solver s;
    hx_iteration record;
    make_bracket(&b, times);
    settings.filter = "density";
    settings.filter_params.radius = 2.0 * times;
    settings.pcg.tolerance = 1e-6;
    settings.optimizer.keep_within = 1e-3;
    settings.design.move = 0.15;
    settings.design.penalty = hx_stress_penalty;
    settings.design.beta =
        (hx_schedule){.value = 1.0, .last = 10.0 * times, .factor = 1.29, .every = 25};
    settings.design.erosion = 0.025;
    create_bracket_solver(&s, &b, &settings, seed);
    run_designs(&s, 400, &record);
    if (hx_optimizer_has_result(&s.opt, &record)) {
        const hx_iteration last = record;
        CHECK_OK(hx_optimizer_return_result(&s.opt, &last, &record));
    }
    printf("L-bracket, %d elements, start %d: design %d, volume %.4f, stress %.2f, greyness %.3f\n",
           50 * times, (int)seed, record.iteration, record.volume, record.response[0].value,
           record.greyness);
    CHECK(record.volume <= 0.201 && record.response[0].value <= 1.03 * spec.max);
    for (int k = 3; k <= 5; k++) check_part(&s, &b, &spec, 0.1 * k);
    fixture_solver_free(&s);
    hx_problem_free(&b.problem);
    hx_mesh_free(&b.mesh);
}

int main(int argc, char **argv)
{
    int quick;
    const int is_fine = argc > 1 && strcmp(argv[argc - 1], "fine") == 0;
    const int is_start = argc > 2 && strcmp(argv[argc - 2], "start") == 0;
    const int status = fixture_open(&device, argc - is_fine - 2 * is_start, argv, &quick);
    const char *const sanitize = getenv("HX_SANITIZE");
    const int is_slow = sanitize && strcmp(sanitize, "none") != 0;
    if (status != 0) return status;
    if (is_start) {
        for (int times = 2; times >= 1; times--)
            check_bracket(times, strtoull(argv[argc - 1], NULL, 10));
    } else if (is_fine) {
        for (uint64_t seed = 0; seed < 3; seed++) check_bracket(2, seed);
    } else {
        check_bar();
        for (uint64_t seed = 0; !quick && seed < (is_slow ? 1 : 3); seed++) check_bracket(1, seed);
    }
    hx_device_close(&device);
    TEST_END();
}
