/* A displacement as objective: value and derivative computed by another program.
 *
 *     test_objective_values [cpu | cuda] */
#include "tests/lib/fixture.h"

static hx_device device;

typedef struct reference {
    const char *set;
    double along[3];
    int is_inverter;
    double value, norm, sum, first, middle, last; /* derivative: 2-norm, sum, three entries */
} reference;

/* The mean over the area of a face with equal elements, from the displacements of its nodes. */
static double mean_over_top(fixture_solver *s, const hx_mesh *mesh)
{
    const hx_set *const top = hx_mesh_find_set(mesh, "top");
    double *const u = malloc(3 * (size_t)mesh->n_node * sizeof *u), sum = 0.0;
    if (!u) abort();
    CHECK_OK(hx_analysis_displacement(&s->analysis, 0, u));
    for (int64_t k = 0; k < top->n_node; k++) {
        const double *const x = mesh->xyz + 3 * (int64_t)top->node[k];
        const double share =
            (x[0] < 0.5 || x[0] > 11.5 ? 0.5 : 1.0) * (x[1] < 0.5 || x[1] > 5.5 ? 0.5 : 1.0);
        sum += share * u[3 * (int64_t)top->node[k] + 2] / 72.0;
    }
    free(u);
    return sum;
}

/* A box of 12 x 6 x 4 unit cubes. The cantilever is held on the left and pulled down at the edge;
 * the inverter is held at eight nodes and has a force and two springs. */
static void check_reference(const reference *r)
{
    static const hx_support_spec clamped = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_support_spec corners = {
        .set = "corners", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec edge = {
        "right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    static const hx_load_spec push = {"in", "test", HX_LOAD_NODE_FORCE, {1.0, 0.0, 0.0}, 1};
    static const hx_spring_spec spring_of[2] = {{"in", "test", {0.1, 0.0, 0.0}, HX_SPRING_NODE},
                                                {"out", "test", {0.01, 0.0, 0.0}, HX_SPRING_NODE}};
    const hx_generate_params size = {.nx = 12, .ny = 6, .nz = 4};
    const int32_t corner[8] = {0, 13, 65, 78, 364, 377, 429, 442}, in = 221, out = 233,
                  tip = 12 + 13 * 7 * 4;
    enum { N = 288 };
    double density[N], dc[N], norm = 0.0, sum = 0.0;
    hx_mesh mesh;
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    fixture_solver s;
    hx_iteration record;
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), &mesh, &size));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "corners", 8, corner));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "in", 1, &in));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "out", 1, &out));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "tip", 1, &tip));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    for (int e = 0; e < N; e++) {
        const double x = e % 12 + 0.5, y = e / 12 % 6 + 0.5, z = e / 72 + 0.5;
        density[e] = 0.45 + 0.42 * sin(1.7 * x + 0.3) * cos(2.3 * y + 0.1) * cos(1.9 * z - 0.2);
    }
    CHECK_REL(density[0], 0.5384481970767, 1e-12);
    params.support = r->is_inverter ? &corners : &clamped;
    params.n_support = 1;
    params.load = r->is_inverter ? &push : &edge;
    params.n_load = 1;
    params.spring = spring_of;
    params.n_spring = r->is_inverter ? 2 : 0;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    fixture_settings settings = fixture_defaults();
    settings.optimizer.objective = hx_response_kind_find("displacement");
    settings.optimizer.objective_params =
        (hx_response_params){.set = r->set, .direction = {r->along[0], r->along[1], r->along[2]}};
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int e = 0; e < N; e++) {
        norm += dc[e] * dc[e];
        sum += dc[e];
    }
    const double value = isnan(r->value) ? mean_over_top(&s, &mesh) : r->value;
    CHECK_REL(record.objective, value, 2e-10);
    if (!isnan(r->norm)) {
        CHECK_REL(sqrt(norm), r->norm, 1e-6);
        CHECK_REL(sum, r->sum, 1e-6);
        CHECK_ABS(dc[0], r->first, 1e-6 * fabs(r->first));
        CHECK_ABS(dc[144], r->middle, 1e-6 * fabs(r->middle));
        CHECK_ABS(dc[287], r->last, 1e-6 * fabs(r->last) + 1e-9);
    }
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

static const reference references[] = {
    {"tip",
     {0.0, 0.0, 1.0},
     0,
     -1.1618385708e3,
     6.910128e2,
     7.024706e3,
     1.170779e2,
     8.207016e0,
     5.445627e-3},
    {"top", {0.0, 0.0, 3.0}, 0, NAN, NAN, NAN, NAN, NAN, NAN},
    {"out",
     {2.0, 0.0, 0.0},
     1,
     1.0015074910,
     2.147205e0,
     -2.880408e-1,
     -9.010408e-1,
     -2.283767e-2,
     1.644816e-5},
};

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        check_reference(&references[i]);
    hx_device_close(&device);
    TEST_END();
}
