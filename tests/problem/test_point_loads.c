/* Loads, springs, supports and rigid sets on the points of quadratic elements: resultants and
 * moments equal those of linear elements on meshes of every kind of cell. */
#include "core/mesh/region.h"
#include "core/problem/problem.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};

enum { N_LOAD = 8 };
static const hx_load_spec load[N_LOAD] = {
    {"right", "traction", HX_LOAD_TRACTION, {0.1, 0.2, -0.3}, 1},
    {"right", "pressure", HX_LOAD_PRESSURE, {0.7}, 1},
    {"top", "total", HX_LOAD_TOTAL_FORCE, {0.3, -0.1, 1.0}, 1},
    {"corner-x", "node", HX_LOAD_NODE_FORCE, {1.0, 2.0, 3.0}, 1},
    {"right", "remote", HX_LOAD_REMOTE, {1.0, 2.0, 3.0}, 1, {0.1, -0.2, 0.4}, {7.0, 1.0, -2.0}},
    {"edge", "of an edge", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, 1.0}, 1},
    {NULL, "gravity", HX_LOAD_GRAVITY, {0.2, 0.1, -0.4}, 1},
    {NULL, "centrifugal", HX_LOAD_CENTRIFUGAL, {0.0, 1.0, 0.2}, 1, {0}, {0.3, 0.1, 0.2}, 1.7}};

static void make_mesh(hx_mesh *mesh, mixed_kind kind)
{
    static const char *const name[4] = {"left", "right", "top", "front"};
    static const char *const both[2] = {"right", "top"};
    const mixed_box box = {.kind = kind, .n = {3, 2, 5}, .distort = 0.12, .seed = 3};
    const double axis[4][3] = {{1, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}};
    const double point[4][3] = {{0, 0, 0}, {3, 0, 0}, {0, 0, 5}, {0, 0, 0}};
    hx_region edge = {.kind = HX_REGION_AND, .n_operand = 2, .operand = both};
    CHECK_OK(mixed_create(mesh, &box));
    CHECK_OK(hx_mesh_shuffle(mesh, 4));
    CHECK_OK(hx_mesh_finish(mesh));
    for (int i = 0; i < 4; i++) {
        hx_region plane = {.kind = HX_REGION_PLANE, .tolerance = 1e-6};
        memcpy(plane.axis, axis[i], sizeof plane.axis);
        memcpy(plane.point, point[i], sizeof plane.point);
        CHECK_OK(hx_mesh_add_region(mesh, name[i], &plane));
    }
    CHECK_OK(hx_mesh_add_region(mesh, "edge", &edge));
}

static hx_problem_params params_of(const hx_space *space)
{
    hx_problem_params params = hx_problem_defaults();
    params.density = 1.3;
    params.support = &support, params.n_support = 1;
    params.space = space;
    return params;
}

/* Resultant, and moment about the origin, of a load on a space. */
static void make_resultant(const hx_mesh *mesh, const hx_space *space, const hx_load_spec *spec,
                           double total[6])
{
    hx_problem_params params = params_of(space);
    hx_problem problem;
    double sum[3], body[3];
    params.load = spec, params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    const hx_space *s = &problem.space;
    double *const f = malloc(3 * (size_t)s->n_point * sizeof *f);
    if (!f) abort();
    CHECK_OK(hx_problem_nodal_force(&problem, 0, NULL, f));
    memset(total, 0, 6 * sizeof *total);
    for (int64_t a = 0; a < s->n_point; a++) {
        const double *const x = s->xyz + 3 * a, *const g = f + 3 * a;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            total[i] += g[i];
            total[3 + i] += x[j] * g[k] - x[k] * g[j];
        }
    }
    hx_problem_total_force(&problem, 0, sum);
    hx_problem_total_body(&problem, 0, NULL, body);
    for (int i = 0; i < 3; i++) CHECK_ABS(sum[i] + body[i], total[i], 1e-12);
    free(f);
    hx_problem_free(&problem);
}

static void check_loads(const hx_mesh *mesh, const hx_space *space, const char *name)
{
    for (int l = 0; l < N_LOAD; l++) {
        double expected[6], found[6], size = 0.0;
        make_resultant(mesh, NULL, &load[l], expected);
        make_resultant(mesh, space, &load[l], found);
        for (int i = 0; i < 6; i++) test_worst(&size, fabs(expected[i]));
        const double worst = test_max_difference(6, expected, found);
        /* centrifugal moments: 2x2x2 points on collapsed and distorted cells are inexact */
        const double tolerance = load[l].kind == HX_LOAD_CENTRIFUGAL ? 2e-2 : 1e-12;
        CHECK_MSG(worst <= tolerance * size, "%s, %s: %.3g of %.3g", name, load[l].origin, worst,
                  size);
    }
}

/* On an affine boundary the result is known. */
static void check_known(const hx_mesh *mesh, const hx_space *space)
{
    double total[6];
    make_resultant(mesh, space, &load[0], total); /* on x = 3, 2 x 5 */
    for (int i = 0; i < 3; i++) CHECK_ABS(total[i], 10.0 * load[0].value[i], 1e-12);
    CHECK_ABS(total[3], 1.0 * total[2] - 2.5 * total[1], 1e-11);
    CHECK_ABS(total[4], 2.5 * total[0] - 3.0 * total[2], 1e-11);
    CHECK_ABS(total[5], 3.0 * total[1] - 1.0 * total[0], 1e-11);
    make_resultant(mesh, space, &load[1], total);
    CHECK_ABS(total[0], -7.0, 1e-12);
    make_resultant(mesh, space, &load[6], total); /* volume 30, density 1.3, solid */
    for (int i = 0; i < 3; i++) CHECK_ABS(total[i], 30.0 * 1.3 * load[6].value[i], 1e-11);
}

/* Fixed at x = 0, with points and their springs on the opposite side. */
static void check_springs(const hx_mesh *mesh, const hx_space *space)
{
    const hx_spring_spec spring = {"right", "test", {2.0, 0.0, 1.0}, HX_SPRING_AREA};
    hx_problem_params params = params_of(space);
    hx_problem problem;
    double stiffness[3] = {0.0}, moment = 0.0;
    int64_t n_middle = 0;
    params.load = load, params.n_load = 1;
    params.spring = &spring, params.n_spring = 1;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    for (int64_t k = 0; k < problem.springs.n; k++) {
        const int64_t point = problem.springs.dof[k] / 3, i = problem.springs.dof[k] % 3;
        CHECK(problem.springs.stiffness[k] > 0.0 && space->xyz[3 * point] == 3.0);
        stiffness[i] += problem.springs.stiffness[k];
        if (i == 0) moment += problem.springs.stiffness[k] * space->xyz[3 * point + 2];
        n_middle += point >= mesh->n_node;
    }
    CHECK(n_middle > 0);
    CHECK_REL(stiffness[0], 20.0, 1e-12);
    CHECK_ABS(stiffness[1], 0.0, 1e-300);
    CHECK_REL(stiffness[2], 10.0, 1e-12);
    CHECK_MSG(fabs(moment / 50.0 - 1.0) < 0.02, "%.6g", moment); /* faces are distorted */
    hx_problem_free(&problem);
}

/* The points at x = 0 and no others. */
static void check_supports(const hx_mesh *mesh, const hx_space *space)
{
    const hx_load_spec rigid = {"right", "test", HX_LOAD_REMOTE_RIGID, {0, 0, 1}, 1};
    hx_problem_params params = params_of(space);
    hx_problem problem;
    int64_t n_wrong = 0, n_right = 0;
    params.load = &rigid, params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    for (int64_t a = 0; a < space->n_point; a++) {
        n_wrong += (problem.supports.fixed[a] == 7) != (space->xyz[3 * a] == 0.0);
        n_right += space->xyz[3 * a] == 3.0;
    }
    CHECK_MSG(n_wrong == 0, "%lld points", (long long)n_wrong);
    CHECK(problem.rigid.n == 1 && problem.rigid.set[0].n == n_right);
    for (int64_t k = 0; k < problem.rigid.n_node; k++)
        CHECK(space->xyz[3 * (int64_t)problem.rigid.node[k]] == 3.0);
    CHECK(hx_problem_bytes(&problem) >= (size_t)space->n_point * 25);
    hx_problem_free(&problem);
}

/* Two supports cannot conflict only at a mid-edge point: its ends conflict too. */
static void check_conflict(const hx_mesh *mesh, const hx_space *space)
{
    const hx_support_spec both[2] = {support, {"front", "test", HX_FIX_Y, {0.0, 0.1, 0.0}}};
    hx_problem_params params = params_of(space);
    hx_problem problem;
    params.load = load, params.n_load = 1;
    params.support = both, params.n_support = 2;
    CHECK_FAILS(hx_problem_create(&problem, mesh, &params), HX_EINPUT, "must agree");
}

/* Conditions of a file: with first order, mid-edge points between fixed nodes are fixed to the
 * mean; with second order, those that the file names are fixed and loaded. */
static void check_file(const hx_mesh *mesh, const hx_space *space)
{
    const hx_support_spec from_file = {NULL, "test", 0, {0.0}};
    const hx_load_spec load_of_file = {NULL, "test", HX_LOAD_FROM_FILE, {0.0}, 1};
    hx_file_value *const held = malloc(3 * (size_t)mesh->n_node * sizeof *held);
    const int32_t *const to_read = mesh->node_orig; /* the mesh is shuffled */
    const int32_t *end = space->edge;
    int32_t right = 0;
    hx_conditions c = {.support = held, .n_case = 1};
    hx_problem_params params = params_of(space);
    hx_problem problem;
    if (!held) abort();
    for (int64_t a = 0; a < 3 * mesh->n_node; a++)
        if (mesh->xyz[a - a % 3] == 0.0)
            held[c.n_support++] =
                (hx_file_value){to_read[a / 3], (int16_t)(a % 3), 0, mesh->xyz[a - a % 3 + 1]};
    while (mesh->xyz[3 * (int64_t)right] < 3.0) right++;
    hx_file_value force = {to_read[right], 2, 1, -1.0};
    c.force = &force, c.n_force = 1;
    params.support = &from_file, params.n_support = 1;
    params.load = &load_of_file, params.n_load = 1;
    params.conditions = &c;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    int64_t n_wrong = 0, n_middle = 0;
    for (int64_t a = 0; a < space->n_point; a++) {
        const int is_held = space->xyz[3 * a] == 0.0;
        n_wrong += problem.supports.fixed[a] != (is_held ? 7 : 0);
        n_middle += is_held && a >= mesh->n_node;
        for (int i = 0; is_held && i < 3; i++)
            n_wrong += fabs(problem.supports.prescribed[3 * a + i] - space->xyz[3 * a + 1]) > 1e-14;
    }
    CHECK_MSG(n_wrong == 0 && n_middle > 0, "%lld", (long long)n_wrong);
    hx_problem_free(&problem);
    /* an edge that starts at x = 3, whose mid-edge point is loaded */
    while (mesh->xyz[3 * (int64_t)end[0]] < 3.0 && mesh->xyz[3 * (int64_t)end[1]] < 3.0) end += 2;
    hx_file_middle middle[2] = {{{to_read[end[0]], to_read[end[1]]}, 2, 1, -4.0},
                                {{to_read[end[1]], to_read[end[0]]}, 1, 0, 0.0}};
    hx_file_value shared[2] = {{to_read[end[0]], 2, 1, -2.0}, {to_read[end[1]], 2, 1, -2.0}};
    const int64_t point = mesh->n_node + (end - space->edge) / 2;
    c.is_second_order = 1;
    c.force = shared, c.n_force = 2;
    c.middle = middle, c.n_middle = 2;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    CHECK(hx_space_middle(space, end[1], end[0]) == point);
    CHECK(hx_space_middle(space, end[0], end[0]) == -1);
    for (int64_t a = 0; a < space->n_point; a++) {
        const double wanted = a == point ? -4.0 : 0.0;
        CHECK(problem.cases.force[0][3 * a + 2] == wanted);
        if (a >= mesh->n_node) CHECK(problem.supports.fixed[a] == (a == point ? HX_FIX_Y : 0));
    }
    hx_problem_free(&problem);
    free(held);
}

int main(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        hx_mesh mesh;
        hx_space space;
        make_mesh(&mesh, (mixed_kind)kind);
        CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
        check_loads(&mesh, &space, mixed_name[kind]);
        check_known(&mesh, &space);
        check_springs(&mesh, &space);
        check_supports(&mesh, &space);
        check_conflict(&mesh, &space);
        check_file(&mesh, &space);
        hx_space_free(&space);
        hx_mesh_free(&mesh);
    }
    TEST_END();
}
