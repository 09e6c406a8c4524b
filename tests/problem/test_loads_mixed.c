/* Loads, supports and springs on triangular and quadrilateral faces: sums, moments, and shares
 * computed by hand. */
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

static hx_mesh mesh;

static const double length[3] = {2.0, 1.5, 3.0};

/* Force, and moment about `about`, of load case 1. */
static void resultant_of(const hx_problem *problem, const double about[3], double force[3],
                         double moment[3])
{
    memset(force, 0, 3 * sizeof *force);
    memset(moment, 0, 3 * sizeof *moment);
    for (int64_t node = 0; node < mesh.n_node; node++) {
        const double *x = mesh.xyz + 3 * node, *f = problem->cases.force[0] + 3 * node;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            force[i] += f[i];
            moment[i] += (x[j] - about[j]) * f[k] - (x[k] - about[k]) * f[j];
        }
    }
}

static hx_problem_params with_load(const hx_load_spec *load)
{
    hx_problem_params params = fixture_problem();
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = load;
    params.n_load = 1;
    return params;
}

static void create(hx_problem *problem, const hx_load_spec *load)
{
    const hx_problem_params params = with_load(load);
    CHECK_OK(hx_problem_create(problem, &mesh, &params));
}

static int is_right(const double x[3])
{
    return x[0] == length[0];
}

static int is_anywhere(const double x[3])
{
    int found = 0;
    for (int d = 0; d < 3; d++) found |= x[d] == 0.0 || x[d] == length[d];
    return found;
}

static void add_nodes(const char *name, int (*is_in)(const double x[3]))
{
    for (int32_t a = 0; a < mesh.n_node; a++)
        if (is_in(mesh.xyz + 3 * (int64_t)a)) CHECK_OK(hx_mesh_add_node_set(&mesh, name, 1, &a));
}

/* Adds the faces, proper or collapsed, all of whose corners are on the right. */
static void add_right_faces(void)
{
    for (int64_t face = 0; face < 6 * mesh.n_elem; face++) {
        int32_t node[4];
        int n_right = 0;
        const int n = hx_cell_face(mesh.conn + 8 * (face / 6), (int)(face % 6), node);
        for (int i = 0; i < n; i++) n_right += is_right(mesh.xyz + 3 * (int64_t)node[i]);
        if (n >= 3 && n_right == n) CHECK_OK(hx_mesh_add_face_set(&mesh, "right-faces", 1, &face));
    }
}

static void make_mesh(int kind)
{
    const mixed_box box = {.kind = (mixed_kind)kind,
                           .n = {2, 3, 7},
                           .length = {length[0], length[1], length[2]},
                           .distort = 0.15};
    CHECK_OK(mixed_create(&mesh, &box));
    mixed_turn(&mesh, 8);
    add_nodes("right", is_right);
    add_nodes("surface", is_anywhere);
    add_right_faces();
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
}

/* A tetrahedron: each corner of a face gets a third of the load, in any numbering. */
static void check_triangle(void)
{
    for (int number = 0; number < 24; number++) {
        static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
        static const int32_t cell[8] = {0, 1, 2, 2, 3, 3, 3, 3}, support[3] = {0, 1, 2};
        const hx_load_spec load[2] = {{"slope", "test", HX_LOAD_TRACTION, {6.0, -3.0, 1.0}, 1},
                                      {"slope", "test", HX_LOAD_PRESSURE, {1.0}, 1}};
        static const hx_support_spec held = {
            .set = "held", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
        const double normal[3] = {3.0, 1.5, 1.0}; /* its length is the area, 3.5 */
        const int32_t slope[3] = {1, 2, 3};
        hx_problem_params params = fixture_problem();
        hx_problem problem;
        int turn[8];
        double *const xyz = malloc(sizeof corner);
        int32_t *const conn = malloc(sizeof cell);
        if (!xyz || !conn) abort();
        mixed_rotation(number, turn);
        memcpy(xyz, corner, sizeof corner);
        for (int a = 0; a < 8; a++) conn[a] = cell[turn[a]];
        CHECK_OK(hx_mesh_create(&mesh, "tetrahedron", 4, xyz, 1, conn));
        CHECK_OK(hx_mesh_add_node_set(&mesh, "slope", 3, slope));
        CHECK_OK(hx_mesh_add_node_set(&mesh, "held", 3, support));
        CHECK_OK(hx_mesh_finish(&mesh));
        params.support = &held;
        params.n_support = 1;
        params.n_load = 1;
        for (int k = 0; k < 2; k++) {
            params.load = &load[k];
            CHECK_OK(hx_problem_create(&problem, &mesh, &params));
            for (int a = 0; a < 4; a++)
                for (int i = 0; i < 3; i++)
                    CHECK_ABS(problem.cases.force[0][3 * a + i],
                              a == 0   ? 0.0
                              : k == 0 ? 3.5 * load[0].value[i] / 3.0
                                       : -normal[i] / 3.0,
                              1e-14);
            hx_problem_free(&problem);
        }
        hx_mesh_free(&mesh);
    }
}

static void check_resultant(const char *set, hx_load_kind kind, const double value[3],
                            const double expected[3])
{
    const double centre[3] = {length[0], 0.5 * length[1], 0.5 * length[2]};
    const hx_load_spec load = {set, "test", kind, {value[0], value[1], value[2]}, 1};
    double force[3], moment[3];
    hx_problem problem;
    create(&problem, &load);
    resultant_of(&problem, centre, force, moment);
    for (int i = 0; i < 3; i++) {
        CHECK_ABS(force[i], expected[i], 1e-12);
        CHECK_ABS(moment[i], 0.0, 1e-12);
    }
    hx_problem_free(&problem);
}

/* On a plane face, given by nodes or by faces, the resultant is the load itself, at the centre of
 * the face. */
static void check_plane(void)
{
    static const char *const set[2] = {"right", "right-faces"};
    const double area = length[1] * length[2], value[3] = {0.3, -0.7, 1.1};
    const double traction[3] = {0.3 * area, -0.7 * area, 1.1 * area};
    const double pressure[3] = {2.5}, against[3] = {-2.5 * area};
    for (int i = 0; i < 2; i++) {
        check_resultant(set[i], HX_LOAD_TRACTION, value, traction);
        check_resultant(set[i], HX_LOAD_TOTAL_FORCE, value, value);
        check_resultant(set[i], HX_LOAD_PRESSURE, pressure, against);
    }
}

/* A pressure on the whole surface is in equilibrium. */
static void check_closed(void)
{
    const hx_load_spec load = {"surface", "test", HX_LOAD_PRESSURE, {3.0}, 1};
    const double about[3] = {7.0, -3.0, 5.0};
    double force[3], moment[3], largest = 0.0;
    hx_problem problem;
    create(&problem, &load);
    resultant_of(&problem, about, force, moment);
    for (int64_t i = 0; i < 3 * mesh.n_node; i++)
        test_worst(&largest, fabs(problem.cases.force[0][i]));
    CHECK(largest > 0.05);
    for (int i = 0; i < 3; i++) {
        CHECK_ABS(force[i], 0.0, 1e-12);
        CHECK_ABS(moment[i], 0.0, 1e-11);
    }
    hx_problem_free(&problem);
}

/* A force and a moment at a point, distributed by the area of the faces. */
static void check_remote(void)
{
    const hx_load_spec load = {.set = "right-faces",
                               .origin = "test",
                               .kind = HX_LOAD_REMOTE,
                               .value = {0.3, -0.7, 1.1},
                               .moment = {2.0, 5.0, -3.0},
                               .point = {9.0, -4.0, 2.5},
                               .load_case = 1};
    double force[3], moment[3];
    hx_problem problem;
    create(&problem, &load);
    resultant_of(&problem, load.point, force, moment);
    for (int i = 0; i < 3; i++) {
        CHECK_REL(force[i], load.value[i], 1e-11);
        CHECK_REL(moment[i], load.moment[i], 1e-11);
    }
    hx_problem_free(&problem);
}

/* Weight: the mass of the box at its centre. */
static void check_gravity(void)
{
    const hx_load_spec load = {
        .origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.0, -10.0}, .load_case = 1};
    const double weight = 7.0 * 10.0 * length[0] * length[1] * length[2];
    hx_problem_params params = with_load(&load);
    hx_problem problem;
    double total[3], sum[3] = {0.0}, *const force = malloc(3 * (size_t)mesh.n_node * sizeof *force);
    double *const rho = malloc((size_t)mesh.n_elem * sizeof *rho);
    if (!force || !rho) abort();
    for (int64_t e = 0; e < mesh.n_elem; e++) rho[e] = 1.0;
    params.density = 7.0;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    hx_problem_total_body(&problem, 0, rho, total);
    CHECK_REL(total[2], -weight, 1e-12);
    CHECK_OK(hx_problem_nodal_force(&problem, 0, rho, force));
    for (int64_t a = 0; a < mesh.n_node; a++) {
        sum[0] += force[3 * a + 2] * mesh.xyz[3 * a]; /* moments about y, then x */
        sum[1] += force[3 * a + 2] * mesh.xyz[3 * a + 1];
        sum[2] += force[3 * a + 2];
    }
    CHECK_REL(sum[0], -0.5 * length[0] * weight, 1e-12);
    CHECK_REL(sum[1], -0.5 * length[1] * weight, 1e-12);
    CHECK_REL(sum[2], -weight, 1e-12);
    free(force);
    free(rho);
    hx_problem_free(&problem);
}

/* A set of faces contains the nodes of its faces once each; springs on it add up to their area. */
static void check_held(void)
{
    const hx_support_spec support = {
        .set = "right-faces", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_spring_spec spring = {.set = "right-faces",
                                   .origin = "test",
                                   .stiffness = {4.0, 0.0, 0.0},
                                   .per = HX_SPRING_AREA};
    const hx_load_spec load = {"surface", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = with_load(&load);
    hx_problem problem;
    int64_t wrong = 0;
    double sum = 0.0;
    params.support = &support;
    params.n_support = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    for (int64_t a = 0; a < mesh.n_node; a++)
        wrong += (problem.supports.fixed[a] != 0) != is_right(mesh.xyz + 3 * a);
    CHECK(wrong == 0);
    hx_problem_free(&problem);

    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.spring = &spring;
    params.n_spring = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK(problem.springs.n == hx_mesh_find_set(&mesh, "right")->n_node);
    for (int64_t k = 0; k < problem.springs.n; k++) sum += problem.springs.stiffness[k];
    CHECK_REL(sum, 4.0 * length[1] * length[2], 1e-12);
    hx_problem_free(&problem);

    const hx_set *const by_nodes = hx_mesh_find_set(&mesh, "right"), *const by_faces =
                                                                         hx_mesh_find_set(
                                                                             &mesh, "right-faces");
    CHECK(by_faces->n_node == by_nodes->n_node &&
          memcmp(by_faces->node, by_nodes->node, (size_t)by_nodes->n_node * sizeof(int32_t)) == 0);
}

int main(void)
{
    fixture_set_threads(1);
    check_triangle();
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        make_mesh(kind);
        check_plane();
        check_closed();
        check_remote();
        check_gravity();
        check_held();
        hx_mesh_free(&mesh);
    }
    TEST_END();
}
