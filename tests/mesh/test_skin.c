/* Skins: the elements within a thickness of a surface, against counts by hand and against an
 * exhaustive search. */
#include "core/mesh/face_tree.h"
#include "core/mesh/load_faces.h"
#include "core/mesh/skin.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/tube.h"

static hx_mesh mesh;

/* The number of elements in the skin of a set. */
static int64_t count(const char *name, double thickness)
{
    const hx_set *const set = hx_mesh_find_set(&mesh, name);
    uint8_t *flag = calloc((size_t)mesh.n_elem, 1);
    int64_t n = -1, sum = 0;
    CHECK(set != NULL);
    if (set) CHECK_OK(hx_skin_flag(&mesh, set, thickness, flag, &n));
    for (int64_t e = 0; e < mesh.n_elem; e++) sum += flag[e];
    CHECK(sum == n);
    free(flag);
    return n;
}

/* A 10 x 8 x 6 box of unit cubes: layers of a side, an edge, a patch in the middle of a side. */
static void check_box(void)
{
    CHECK_OK(hx_generate_box(&mesh, 10, 8, 6, 10.0, 8.0, 6.0));
    for (int32_t node = 0; node < (int32_t)mesh.n_node; node++) {
        const double *x = mesh.xyz + 3 * (int64_t)node;
        if (x[0] == 0.0 && x[1] >= 2.0 && x[1] <= 5.0 && x[2] >= 2.0 && x[2] <= 4.0)
            CHECK_OK(hx_mesh_add_node_set(&mesh, "patch", 1, &node));
        if (x[0] == 3.0 && x[1] == 4.0 && x[2] == 2.0)
            CHECK_OK(hx_mesh_add_node_set(&mesh, "inside", 1, &node));
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK(count("left", 0.01) == 48); /* the first layer always belongs */
    CHECK(count("left", 1.49) == 48);
    CHECK(count("left", 1.5) == 96); /* centroids at 0.5, 1.5 */
    CHECK(count("left", 3.6) == 4 * 48);
    CHECK(count("left", 100.0) == 480);
    CHECK(count("patch", 0.5) == 6);
    /* at x = 0.5: 3 x 2 cubes in front; beside them centroids 0.5 away from the edges, distance
     * sqrt(0.5) (10 cubes), and at the corners sqrt(0.75) (4) */
    CHECK(count("patch", 0.72) == 16);
    CHECK(count("patch", 0.87) == 20);
    /* along the edge y = 0 .. 8 at x = 10, z = 0: nodes only. Centroids (i, j) elements away from
     * the line lie sqrt(i^2 + j^2 + 0.5^2) from the nearest node. */
    CHECK(count("right-lower-edge", 0.1) == 8);
    CHECK(count("right-lower-edge", 1.6) == 8);
    CHECK(count("right-lower-edge", 1.67) == 3 * 8); /* sqrt(0.25 + 2.25 + 0.25) = 1.658 */
    CHECK(count("inside", 0.1) == 8);
    CHECK(count("inside", 1.66) == 8 + 24);
    hx_mesh_free(&mesh);
}

/* Layers of a tube around its bore: facets and centroids of n elements around lie cos(pi / n) of
 * their radius from the axis. */
static void check_bore(void)
{
    const tube t = {.inner = 8.0,
                    .outer = 18.0,
                    .length = 6.0,
                    .arc = 2.0 * TUBE_PI,
                    .n = {5, 40, 3},
                    .origin = {1.0, 2.0, 3.0},
                    .axis = {{0.6, 0.8, 0.0}, {0.0, 0.0, 1.0}, {0.8, -0.6, 0.0}}};
    const double facet = cos(TUBE_PI / 40.0);
    CHECK_OK(tube_create(&mesh, &t));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK(count("bore", 0.5) == 120);
    CHECK(count("bore", 3.0 * facet + 1e-6) == 240);
    CHECK(count("bore", 3.0 * facet - 1e-6) == 120);
    CHECK(count("bore", 7.5) == 480);
    CHECK(count("outside", 2.0) == 120);
    hx_mesh_free(&mesh);
}

/* Squared distance to a triangle, from samples of it. */
static double sampled_distance2(const double x[3], const double *a, const double *b,
                                const double *c)
{
    enum { N = 60 };
    double least = INFINITY;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N - i; j++) {
            double d2 = 0.0;
            for (int k = 0; k < 3; k++) {
                const double y =
                    a[k] + (double)i / N * (b[k] - a[k]) + (double)j / N * (c[k] - a[k]);
                d2 += (x[k] - y) * (x[k] - y);
            }
            test_least(&least, d2);
        }
    return least;
}

/* Random points: the distance from the tree against sampling every face. */
static void check_tree(void)
{
    const fixture_box box = {{3, 3, 3}, {3.0, 3.0, 3.0}, 0.3, 1};
    const double error = 2.0 / 60.0; /* at most the spacing of samples */
    hx_face_tree tree;
    uint64_t state = 5;
    int64_t n_face, *face;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_mesh_boundary_faces(&mesh, NULL, &n_face, &face));
    CHECK(n_face == 54);
    CHECK_OK(hx_face_tree_create(&tree, &mesh, n_face, face, 0, NULL));
    for (int trial = 0; trial < 300; trial++) {
        const double x[3] = {fixture_uniform(&state, -1.5, 4.5), fixture_uniform(&state, -1.5, 4.5),
                             fixture_uniform(&state, -1.5, 4.5)};
        double least = INFINITY;
        for (int64_t f = 0; f < n_face; f++) {
            const double *c[4];
            for (int a = 0; a < 4; a++)
                c[a] = mesh.xyz +
                       3 * (int64_t)mesh.conn[8 * (face[f] / 6) + hx_hex_face[face[f] % 6][a]];
            test_least(&least, sampled_distance2(x, c[0], c[1], c[2]));
            test_least(&least, sampled_distance2(x, c[0], c[2], c[3]));
        }
        const double d = sqrt(least);
        const double found = hx_face_tree_distance(&tree, x, INFINITY);
        CHECK(hx_face_tree_distance(&tree, x, 0.5 * found) == 0.5 * found);
        CHECK(hx_face_tree_distance(&tree, x, 1.5 * found) == found);
        CHECK_MSG(found <= d + 1e-12 && found >= d - error, "%g against %g", found, d);
    }
    hx_face_tree_free(&tree);
    free(face);
    hx_mesh_free(&mesh);
}

/* In a problem, a skin keeps its density, and a later entry has precedence; errors. */
static void check_problem(void)
{
    const fixture_box box = {{6, 4, 4}, {6.0, 4.0, 4.0}, 0.0, 0};
    const hx_load_spec load = {
        .set = "right", .origin = "test", .value = {0.0, 0.0, -1.0}, .load_case = 1};
    hx_passive_spec passive[2] = {{.set = "right", .origin = "here", .density = 1.0, .skin = 2.0},
                                  {.set = "top", .origin = "here", .density = 0.5, .skin = 0.5}};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    int n_solid = 0, n_half = 0;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "empty", 0, NULL));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &load;
    params.n_load = 1;
    params.passive = passive;
    params.n_passive = 2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        n_solid += problem.passive.density[e] == 1.0;
        n_half += problem.passive.density[e] == 0.5;
    }
    CHECK(n_solid == 2 * 16 - 8 && n_half == 24);
    CHECK(problem.passive.n == 24 + 24);
    CHECK_REL(problem.passive.mass, 24.0 + 12.0, 1e-12);
    hx_problem_free(&problem);
    passive[0].skin = -1.0;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT,
                "here: skin = -1 must be a thickness above 0");
    passive[0].skin = NAN;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, "here: skin = nan");
    passive[0].skin = 0.0;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT,
                "set 'right' contains no element to make passive; skin = THICKNESS");
    passive[0].skin = 1.0;
    passive[0].set = "empty";
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT,
                "set 'empty' contains no node");
    hx_mesh_free(&mesh);
}

/* The result does not depend on the number of threads. */
static void check_threads(void)
{
    const tube t = {.inner = 8.0,
                    .outer = 18.0,
                    .length = 9.0,
                    .arc = 2.0 * TUBE_PI,
                    .n = {8, 60, 9},
                    .distort = 0.2};
    uint8_t *flag[2];
    int64_t n[2];
    CHECK_OK(tube_create(&mesh, &t));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    for (int run = 0; run < 2; run++) {
        fixture_set_threads(run == 0 ? 1 : 3);
        flag[run] = calloc((size_t)mesh.n_elem, 1);
        CHECK_OK(hx_skin_flag(&mesh, hx_mesh_find_set(&mesh, "bore"), 3.3, flag[run], &n[run]));
    }
    CHECK(n[0] > 1000 && n[0] < mesh.n_elem / 2 && n[0] == n[1]);
    CHECK(memcmp(flag[0], flag[1], (size_t)mesh.n_elem) == 0);
    fixture_set_threads(1);
    free(flag[0]);
    free(flag[1]);
    hx_mesh_free(&mesh);
}

/* Along the side x = 0 of boxes of every kind: elements with a face there, and those whose centroid
 * is near enough. */
static void check_kinds(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {.kind = (mixed_kind)kind, .n = {4, 3, 7}, .distort = 0.15};
        CHECK_OK(mixed_create(&mesh, &box));
        for (int32_t a = 0; a < mesh.n_node; a++)
            if (mesh.xyz[3 * (int64_t)a] == 0.0)
                CHECK_OK(hx_mesh_add_node_set(&mesh, "side", 1, &a));
        mixed_turn(&mesh, 4);
        CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
        for (double thickness = 0.01; thickness < 3.0; thickness += 0.53) {
            int64_t n = 0;
            for (int64_t e = 0; e < mesh.n_elem; e++) {
                int32_t node[4];
                int has_face = 0, corner[8];
                double x = 0.0;
                const int n_corner = hx_cell_distinct(mesh.conn + 8 * e, corner);
                for (int k = 0; k < n_corner; k++)
                    x += mesh.xyz[3 * (int64_t)mesh.conn[8 * e + corner[k]]] / n_corner;
                for (int f = 0; f < 6; f++) {
                    int n_there = 0;
                    const int n_ring = hx_cell_face(mesh.conn + 8 * e, f, node);
                    for (int k = 0; k < n_ring; k++)
                        n_there += mesh.xyz[3 * (int64_t)node[k]] == 0.0;
                    has_face |= n_ring >= 3 && n_there == n_ring;
                }
                n += has_face || x <= thickness;
            }
            CHECK_MSG(count("side", thickness) == n, "%s, %g: not %lld", mixed_name[kind],
                      thickness, (long long)n);
        }
        hx_mesh_free(&mesh);
    }
}

int main(void)
{
    fixture_set_threads(1);
    check_threads();
    check_box();
    check_kinds();
    check_bore();
    check_tree();
    check_problem();
    TEST_END();
}
