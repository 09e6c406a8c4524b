/* Nodal forces of every kind of load: sums, moments, and shares computed by hand. */
#include "tests/lib/fixture.h"

static hx_mesh mesh;

/* Force, and moment about `about`, of load case 1. */
typedef struct resultant {
    double force[3], moment[3];
} resultant;

static resultant resultant_of(const hx_problem *problem, const double about[3])
{
    resultant r = {.force = {0.0}};
    for (int64_t node = 0; node < mesh.n_node; node++) {
        const double *x = mesh.xyz + 3 * node, *f = problem->cases.force[0] + 3 * node;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            r.force[i] += f[i];
            r.moment[i] += (x[j] - about[j]) * f[k] - (x[k] - about[k]) * f[j];
        }
    }
    return r;
}

/* Creates a problem on the mesh with these loads. */
static void create(hx_problem *problem, const hx_load_spec *load, size_t n_load)
{
    hx_problem_params params = fixture_problem();
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = load;
    params.n_load = n_load;
    CHECK_OK(hx_problem_create(problem, &mesh, &params));
}

static void make_mesh(const fixture_box *box)
{
    CHECK_OK(fixture_box_create(&mesh, box));
    for (int32_t node = 0; node < (int32_t)mesh.n_node; node++) {
        const int *n = box->n, i = node % (n[0] + 1), j = node / (n[0] + 1) % (n[1] + 1);
        const int k = node / ((n[0] + 1) * (n[1] + 1));
        if (i % n[0] == 0 || j % n[1] == 0 || k % n[2] == 0)
            CHECK_OK(hx_mesh_add_node_set(&mesh, "surface", 1, &node));
    }
    /* the faces x = length, by elements: local face 1 */
    for (int64_t e = box->n[0] - 1; e < mesh.n_elem; e += box->n[0]) {
        const int64_t face = 6 * e + 1;
        CHECK_OK(hx_mesh_add_face_set(&mesh, "right-faces", 1, &face));
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
}

/* Force on the node nearest to (x, y, z). */
static const double *force_at(const hx_problem *problem, double x, double y, double z)
{
    int64_t nearest = 0;
    double least = INFINITY;
    for (int64_t node = 0; node < mesh.n_node; node++) {
        const double *p = mesh.xyz + 3 * node;
        const double d2 =
            (p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y) + (p[2] - z) * (p[2] - z);
        if (d2 < least) nearest = node;
        test_least(&least, d2);
    }
    return problem->cases.force[0] + 3 * nearest;
}

/* A unit cube: each corner of a face gets a quarter of the load. */
static void check_unit_face(void)
{
    const fixture_box box = {{1, 1, 1}, {1.0, 1.0, 1.0}, 0.0, 0};
    const hx_load_spec load[] = {{"right", "test", HX_LOAD_TRACTION, {4.0, -8.0, 12.0}, 1},
                                 {"top", "test", HX_LOAD_PRESSURE, {4.0}, 1}};
    hx_problem problem;
    make_mesh(&box);
    create(&problem, load, 2);
    for (int corner = 0; corner < 8; corner++) {
        const int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
        const double *f = force_at(&problem, x, y, z);
        CHECK_ABS(f[0], x ? 1.0 : 0.0, 1e-14);
        CHECK_ABS(f[1], x ? -2.0 : 0.0, 1e-14);
        CHECK_ABS(f[2], (x ? 3.0 : 0.0) - (z ? 1.0 : 0.0), 1e-14);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* Two faces of 1 x 1 and 3 x 1 side by side: nodes get the contributions of their faces. A
 * trapezoid: corners at the longer side get more. */
static void check_uneven_faces(void)
{
    const fixture_box box = {{1, 2, 1}, {1.0, 2.0, 1.0}, 0.0, 0};
    const hx_load_spec traction = {"right", "test", HX_LOAD_TRACTION, {12.0, 0.0, 0.0}, 1};
    hx_problem problem;
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int64_t node = 0; node < mesh.n_node; node++)
        if (mesh.xyz[3 * node + 1] > 1.5) mesh.xyz[3 * node + 1] = 4.0;
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    create(&problem, &traction, 1);
    for (int z = 0; z < 2; z++) {
        CHECK_REL(force_at(&problem, 1.0, 0.0, z)[0], 3.0, 1e-14);
        CHECK_REL(force_at(&problem, 1.0, 1.0, z)[0], 12.0, 1e-14);
        CHECK_REL(force_at(&problem, 1.0, 4.0, z)[0], 9.0, 1e-14);
        CHECK_ABS(force_at(&problem, 0.0, 1.0, z)[0], 0.0, 0.0);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);

    /* y from 0 to 1 at z = 0, to 3 at z = 1: det = (2 + t) / 4 with t in [-1, 1] along z, so a
     * corner carries int (1 -+ t) / 2 det dt = 5/12 at the bottom, 7/12 at the top */
    const fixture_box cube = {{1, 1, 1}, {1.0, 1.0, 1.0}, 0.0, 0};
    CHECK_OK(fixture_box_create(&mesh, &cube));
    for (int64_t node = 0; node < mesh.n_node; node++)
        if (mesh.xyz[3 * node + 2] > 0.5) mesh.xyz[3 * node + 1] *= 3.0;
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    create(&problem, &traction, 1);
    for (int y = 0; y < 2; y++) {
        CHECK_REL(force_at(&problem, 1.0, y, 0.0)[0], 5.0, 1e-14);
        CHECK_REL(force_at(&problem, 1.0, 3.0 * y, 1.0)[0], 7.0, 1e-14);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* Sums and moments on a distorted mesh with plane faces equal those of the load. */
static void check_plane_faces(void)
{
    const fixture_box box = {{4, 3, 5}, {2.0, 1.5, 3.0}, 0.25, 0};
    const double area = 1.5 * 3.0, centre[3] = {2.0, 0.75, 1.5};
    const double value[3] = {0.3, -0.7, 1.1};
    static const char *const name[2] = {"right", "right-faces"};
    hx_problem problem, other;
    make_mesh(&box);
    for (int by_faces = 0; by_faces < 2; by_faces++) {
        hx_load_spec load = {name[by_faces], "test", HX_LOAD_TRACTION, {0.3, -0.7, 1.1}, 1};
        create(&problem, &load, 1);
        resultant r = resultant_of(&problem, centre);
        double total[3];
        hx_problem_total_force(&problem, 0, total);
        for (int i = 0; i < 3; i++) {
            CHECK_REL(r.force[i], value[i] * area, 1e-13);
            CHECK_ABS(r.moment[i], 0.0, 1e-13 * area);
            CHECK_REL(total[i], r.force[i], 1e-13);
        }
        /* a total force equals the traction with that sum */
        load.kind = HX_LOAD_TOTAL_FORCE;
        for (int i = 0; i < 3; i++) load.value[i] = value[i] * area;
        create(&other, &load, 1);
        double error = 0.0;
        for (int64_t i = 0; i < 3 * mesh.n_node; i++)
            test_worst(&error, fabs(problem.cases.force[0][i] - other.cases.force[0][i]));
        CHECK_ABS(error, 0.0, 1e-14 * area);
        hx_problem_free(&other);
        hx_problem_free(&problem);

        load.kind = HX_LOAD_PRESSURE; /* inwards */
        load.value[0] = 2.5;
        create(&problem, &load, 1);
        r = resultant_of(&problem, centre);
        CHECK_REL(r.force[0], -2.5 * area, 1e-13);
        CHECK_ABS(r.force[1], 0.0, 1e-13 * area);
        CHECK_ABS(r.force[2], 0.0, 1e-13 * area);
        for (int i = 0; i < 3; i++) CHECK_ABS(r.moment[i], 0.0, 1e-12 * area);
        hx_problem_free(&problem);
    }

    /* loads add up */
    const hx_load_spec pair[2] = {{"right", "test", HX_LOAD_TRACTION, {0.0, 0.0, -1.0}, 1},
                                  {"top", "test", HX_LOAD_TOTAL_FORCE, {5.0, 0.0, -2.0}, 1}};
    create(&problem, pair, 2);
    const resultant r = resultant_of(&problem, centre);
    CHECK_REL(r.force[0], 5.0, 1e-13);
    CHECK_REL(r.force[2], -area - 2.0, 1e-13);
    hx_problem_free(&problem);

    /* a line spans no face: equal shares; then a force at every node */
    hx_load_spec line = {"right-lower-edge", "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -6.0}, 1};
    create(&problem, &line, 1);
    line.kind = HX_LOAD_NODE_FORCE;
    create(&other, &line, 1);
    const hx_set *edge = hx_mesh_find_set(&mesh, "right-lower-edge");
    double sum[3];
    CHECK(edge && edge->n_node == 4);
    for (int64_t i = 0; edge && i < edge->n_node; i++) {
        CHECK_REL(problem.cases.force[0][3 * (int64_t)edge->node[i] + 2], -1.5, 1e-15);
        CHECK(other.cases.force[0][3 * (int64_t)edge->node[i] + 2] == -6.0);
    }
    hx_problem_total_force(&problem, 0, sum);
    CHECK_REL(sum[2], -6.0, 1e-15);
    hx_problem_total_force(&other, 0, sum);
    CHECK(sum[0] == 0.0 && sum[1] == 0.0 && sum[2] == -24.0);
    hx_problem_free(&problem);
    hx_problem_free(&other);
    hx_mesh_free(&mesh);
}

/* A pressure on the whole surface is in equilibrium even if its faces are warped. */
static void check_closed_surface(void)
{
    const fixture_box box = {{5, 4, 3}, {2.0, 1.5, 1.0}, 0.25, 1};
    const double about[3] = {7.0, -3.0, 5.0};
    const hx_load_spec load = {"surface", "test", HX_LOAD_PRESSURE, {3.0}, 1};
    hx_problem problem;
    double largest = 0.0;
    make_mesh(&box);
    create(&problem, &load, 1);
    const resultant r = resultant_of(&problem, about);
    for (int64_t i = 0; i < 3 * mesh.n_node; i++)
        test_worst(&largest, fabs(problem.cases.force[0][i]));
    CHECK(largest > 0.05);
    for (int i = 0; i < 3; i++) {
        CHECK_ABS(r.force[i], 0.0, 1e-13);
        CHECK_ABS(r.moment[i], 0.0, 1e-12);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* The nodal forces of one load, without a check of the whole problem. */
static int forces_of(const hx_load_spec *load, hx_problem *problem)
{
    hx_problem_params params = fixture_problem();
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = load;
    params.n_load = 1;
    return hx_problem_create(problem, &mesh, &params);
}

/* A force and a moment at a point have that resultant on any set. */
static void check_remote_resultant(const char *set)
{
    const hx_load_spec load = {.set = set,
                               .origin = "test",
                               .kind = HX_LOAD_REMOTE,
                               .value = {0.3, -0.7, 1.1},
                               .moment = {2.0, 5.0, -3.0},
                               .point = {9.0, -4.0, 2.5},
                               .load_case = 1};
    hx_problem problem;
    create(&problem, &load, 1);
    const resultant r = resultant_of(&problem, load.point);
    for (int i = 0; i < 3; i++) {
        CHECK_ABS(r.force[i], load.value[i], 1e-12);
        CHECK_ABS(r.moment[i], load.moment[i], 2e-12 * 9.0); /* relative to terms of size 9 */
    }
    hx_problem_free(&problem);
}

/* On nodes without faces f_a is F / n + theta x d_a, so differences of forces are normal to
 * differences of positions. */
static void check_remote_is_rotation(void)
{
    const hx_load_spec load = {.set = "four",
                               .origin = "test",
                               .kind = HX_LOAD_REMOTE,
                               .moment = {1.0, -2.0, 0.5},
                               .load_case = 1};
    const hx_set *const set = hx_mesh_find_set(&mesh, "four");
    hx_problem problem;
    double largest = 0.0;
    create(&problem, &load, 1);
    for (int64_t a = 0; a < set->n_node; a++)
        for (int64_t b = 0; b < a; b++) {
            const double *xa = mesh.xyz + 3 * (int64_t)set->node[a];
            const double *xb = mesh.xyz + 3 * (int64_t)set->node[b];
            const double *fa = problem.cases.force[0] + 3 * (int64_t)set->node[a];
            const double *fb = problem.cases.force[0] + 3 * (int64_t)set->node[b];
            double dot = 0.0;
            for (int i = 0; i < 3; i++) {
                dot += (fa[i] - fb[i]) * (xa[i] - xb[i]);
                test_worst(&largest, fabs(fa[i]));
            }
            CHECK_ABS(dot, 0.0, 1e-13);
        }
    CHECK(largest > 0.1);
    hx_problem_free(&problem);
}

static void check_remote_at_centroid(void)
{
    hx_load_spec load = {.set = "right",
                         .origin = "test",
                         .kind = HX_LOAD_REMOTE,
                         .value = {0.3, -0.7, 1.1},
                         .point = {2.0, 0.75, 1.5},
                         .load_case = 1};
    hx_problem remote, total;
    double error = 0.0;
    create(&remote, &load, 1);
    load.kind = HX_LOAD_TOTAL_FORCE;
    create(&total, &load, 1);
    for (int64_t i = 0; i < 3 * mesh.n_node; i++)
        test_worst(&error, fabs(remote.cases.force[0][i] - total.cases.force[0][i]));
    CHECK_ABS(error, 0.0, 1e-14);
    hx_problem_free(&total);
    hx_problem_free(&remote);
}

/* Nodes on a line carry a moment perpendicular to it and none about it; a single node carries
 * none. */
static void check_remote_on_line(void)
{
    hx_load_spec load = {.set = "right-lower-edge",
                         .origin = "here",
                         .kind = HX_LOAD_REMOTE,
                         .value = {1.0, 2.0, 3.0},
                         .moment = {0.5, 0.0, -0.25},
                         .point = {2.0, 7.0, 0.0}, /* on the edge's line, along y */
                         .load_case = 1};
    hx_problem problem;
    CHECK_OK(forces_of(&load, &problem));
    const resultant r = resultant_of(&problem, load.point);
    for (int i = 0; i < 3; i++) {
        CHECK_ABS(r.force[i], load.value[i], 1e-12);
        CHECK_ABS(r.moment[i], load.moment[i], 1e-12);
    }
    hx_problem_free(&problem);
    load.moment[1] = 0.1;
    CHECK_FAILS(forces_of(&load, &problem), HX_EINPUT,
                "here: the nodes of set 'right-lower-edge' lie on a line along (");
    load.moment[1] = 0.0;
    load.point[2] = 0.1; /* the force has a moment about the line */
    CHECK_FAILS(forces_of(&load, &problem), HX_EINPUT, "cannot take the moment of");
    load.set = "corner-x";
    CHECK_FAILS(forces_of(&load, &problem), HX_EINPUT, "is a single node, or its nodes coincide");
    memcpy(load.point, (double[3]){2.0, 0.0, 0.0}, sizeof load.point);
    memset(load.moment, 0, sizeof load.moment);
    CHECK_OK(forces_of(&load, &problem));
    CHECK_REL(force_at(&problem, 2.0, 0.0, 0.0)[1], 2.0, 1e-14);
    hx_problem_free(&problem);
    load.moment[0] = NAN;
    CHECK_FAILS(forces_of(&load, &problem), HX_EINPUT, "here: a load of nan is not finite");
    load.moment[0] = 0.0;
    load.point[2] = INFINITY;
    CHECK_FAILS(forces_of(&load, &problem), HX_EINPUT, "here: point[2] = inf is not finite");
}

static void check_remote(void)
{
    const fixture_box box = {{4, 3, 5}, {2.0, 1.5, 3.0}, 0.25, 0};
    CHECK_OK(fixture_box_create(&mesh, &box));
    const int32_t four[4] = {7, 33, 50, 101};
    CHECK_OK(hx_mesh_add_node_set(&mesh, "four", 4, four));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    check_remote_resultant("right");
    check_remote_resultant("four");
    check_remote_is_rotation();
    check_remote_at_centroid();
    check_remote_on_line();
    hx_mesh_free(&mesh);
}

/* A set that names the faces x+ of all elements, like *SURFACE of an element set: for every kind of
 * load only those on the boundary count. */
static void check_inner_faces(void)
{
    const fixture_box box = {{4, 3, 5}, {2.0, 1.5, 3.0}, 0.0, 0};
    const double area = 1.5 * 3.0, centre[3] = {2.0, 0.75, 1.5};
    static const hx_load_kind kind[] = {HX_LOAD_PRESSURE, HX_LOAD_TRACTION, HX_LOAD_TOTAL_FORCE,
                                        HX_LOAD_REMOTE};
    hx_load_spec load = {"layers", "a.cfg:7: loads[0]", HX_LOAD_PRESSURE, {5.0, 0.0, 0.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_notes notes = {0};
    hx_problem problem, right;
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const int64_t face = 6 * e + 1;
        const int is_right = e % box.n[0] == box.n[0] - 1;
        CHECK_OK(hx_mesh_add_face_set(&mesh, "layers", 1, &face));
        CHECK_OK(hx_mesh_add_face_set(&mesh, is_right ? "right-faces" : "inside", 1, &face));
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    memcpy(load.point, centre, sizeof load.point);
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        load.kind = kind[i];
        load.set = "right-faces";
        create(&right, &load, 1);
        load.set = "layers";
        create(&problem, &load, 1);
        const double *all = problem.cases.force[0], *one = right.cases.force[0];
        for (int64_t k = 0; k < 3 * mesh.n_node; k++) CHECK_ABS(all[k], one[k], 1e-13);
        if (load.kind == HX_LOAD_PRESSURE)
            CHECK_REL(resultant_of(&problem, centre).force[0], -5.0 * area, 1e-13);
        hx_problem_free(&problem);
        hx_problem_free(&right);
    }

    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &load;
    params.n_load = 1;
    params.notes = &notes;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_WARNING);
    if (notes.n == 1)
        CHECK(strstr(notes.note[0].text, "a.cfg:7: loads[0]: 45 of the 60 faces of set 'layers' "
                                         "lie between two elements"));
    hx_notes_free(&notes);
    hx_problem_free(&problem);

    load.set = "inside";
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        load.kind = kind[i];
        CHECK_FAILS(
            hx_problem_create(&problem, &mesh, &params), HX_EINPUT,
            "a.cfg:7: loads[0]: set 'inside' has 45 faces, all of them between two elements");
    }
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

int main(void)
{
    fixture_set_threads(1);
    check_unit_face();
    check_uneven_faces();
    check_plane_faces();
    check_closed_surface();
    check_remote();
    check_inner_faces();
    TEST_END();
}
