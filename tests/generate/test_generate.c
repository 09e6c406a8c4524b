/* Generators: element counts of the meshes of P1, volumes, arcs, sets, quality, refusals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/generate/generate.h"
#include "core/mesh/mesh.h"
#include "core/mesh/mesh_internal.h"
#include "core/mesh/mesh_quality.h"
#include "core/mesh/node_star.h"
#include "tests/lib/fixture.h"

static const double pi = 3.14159265358979323846;

static int generate(hx_mesh *mesh, const char *name, int size, int nx, int ny, int nz)
{
    const hx_generate_params params = {.size = size, .nx = nx, .ny = ny, .nz = nz};
    return hx_generate(hx_generator_find(name), mesh, &params);
}

static int64_t set_nodes(const hx_mesh *mesh, const char *name)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    return set ? set->n_node : -1;
}

static const double *set_point(const hx_mesh *mesh, const hx_set *set, int64_t i)
{
    return mesh->xyz + 3 * (size_t)set->node[i];
}

/* Every node of the set, and no other, has coordinate `axis` within 1e-9 of `at`. */
static void check_plane_set(const hx_mesh *mesh, const char *name, int axis, double at)
{
    int64_t n_on = 0, wrong = 0;
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    for (int64_t a = 0; a < mesh->n_node; a++) n_on += fabs(mesh->xyz[3 * a + axis] - at) < 1e-9;
    for (int64_t i = 0; set && i < set->n_node; i++)
        wrong += !(fabs(set_point(mesh, set, i)[axis] - at) < 1e-9);
    CHECK_MSG(set && n_on == set->n_node && wrong == 0 && n_on > 0, "%s %s", mesh->name, name);
}

static void test_table(void)
{
    CHECK(hx_generator_find("box") == NULL);
    int n = 0;
    for (; hx_generators[n]; n++) {
        const hx_generator *const gen = hx_generators[n];
        const hx_generate_params sized = {.size = 2}, free_size = {.nx = 10},
                                 both = {.size = 1, .nx = 9};
        CHECK(hx_generator_find(gen->name) == gen && strlen(gen->help) > 20);
        CHECK(hx_generator_radius(gen, &sized, 1) == gen->paper_radius[1]);
        CHECK(hx_generator_radius(gen, &free_size, 100) == gen->paper_radius[0]);
        CHECK(hx_generator_radius(gen, &free_size, 400000) == gen->paper_radius[3]);
        CHECK(hx_generator_radius(gen, &both, 100000000) == gen->paper_radius[4]);
        for (int size = 1; size < 5; size++)
            CHECK(gen->paper_radius[size - 1] < gen->paper_radius[size]);
    }
    CHECK(n == 4);
}

/* Counts of Table 1 (P1), within `tolerance`. */
static void test_counts(void)
{
    static const struct {
        const char *name;
        double count[5], tolerance;
    } table[4] = {{"cantilever", {31250, 85750, 182250, 432000, 1024000}, 0.0},
                  {"lbeam", {32768, 85184, 188384, 438976, 1000000}, 0.0},
                  {"michell", {38148, 85674, 183432, 453175, 1170894}, 0.005},
                  {"conrod", {33178, 85376, 182637, 465708, 1033820}, 0.01}};
    for (int g = 0; g < 4; g++)
        for (int size = 1; size <= 5; size++) {
            hx_mesh mesh;
            CHECK_OK(generate(&mesh, table[g].name, size, 0, 0, 0));
            CHECK_REL(mesh.n_elem, table[g].count[size - 1], table[g].tolerance);
            CHECK(mesh.name && strcmp(mesh.name, table[g].name) == 0);
            hx_mesh_free(&mesh);
        }
}

static void test_cantilever(void)
{
    hx_mesh mesh;
    CHECK_OK(generate(&mesh, "cantilever", 1, 0, 0, 0));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_REL(mesh.total_volume, 31250.0, 1e-13);
    CHECK(mesh.n_node == 51 * 26 * 26);
    check_plane_set(&mesh, "left", 0, 0);
    check_plane_set(&mesh, "right", 0, 50);
    check_plane_set(&mesh, "front", 1, 0);
    check_plane_set(&mesh, "back", 1, 25);
    check_plane_set(&mesh, "bottom", 2, 0);
    check_plane_set(&mesh, "top", 2, 25);
    const hx_set *const edge = hx_mesh_find_set(&mesh, "right-lower-edge");
    CHECK(edge && edge->n_node == 26);
    for (int64_t i = 0; edge && i < edge->n_node; i++) {
        const double *const x = set_point(&mesh, edge, i);
        CHECK(x[0] == 50.0 && x[2] == 0.0);
    }
    hx_mesh_free(&mesh);
    /* a count takes precedence over the size */
    CHECK_OK(generate(&mesh, "cantilever", 1, 0, 3, 0));
    CHECK(mesh.n_elem == 50 * 3 * 25);
    hx_mesh_free(&mesh);
    CHECK_OK(generate(&mesh, "cantilever", 0, 8, 0, 0));
    CHECK(mesh.n_elem == 8 * 4 * 4);
    hx_mesh_free(&mesh);
    CHECK_OK(generate(&mesh, "cantilever", 0, 1, 0, 0));
    CHECK(mesh.n_elem == 1);
    CHECK_OK(hx_mesh_finish(&mesh));
    hx_mesh_free(&mesh);
    CHECK_OK(hx_generate_box(&mesh, 2, 3, 4, 0.5, 6.0, 1.0));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_REL(mesh.total_volume, 3.0, 1e-14);
    CHECK(mesh.box_max[0] == 0.5 && mesh.box_max[1] == 6.0 && mesh.box_max[2] == 1.0);
    hx_mesh_free(&mesh);
}

static void test_lbeam(void)
{
    hx_mesh mesh;
    int64_t outside = 0;
    CHECK_OK(generate(&mesh, "lbeam", 0, 20, 3, 20));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(mesh.n_elem == (20 * 20 - 12 * 12) * 3);
    CHECK(mesh.n_node == (9 * 21 + 12 * 9) * 4);
    CHECK_REL(mesh.total_volume, 768.0, 1e-14);
    for (int64_t a = 0; a < mesh.n_node; a++)
        outside += !(mesh.xyz[3 * a] <= 8.0 || mesh.xyz[3 * a + 2] <= 8.0);
    CHECK(outside == 0);
    check_plane_set(&mesh, "top", 2, 20);
    check_plane_set(&mesh, "tip", 0, 20);
    CHECK(set_nodes(&mesh, "top") == 9 * 4 && set_nodes(&mesh, "tip") == 9 * 4);
    const hx_set *const low = hx_mesh_find_set(&mesh, "tip-lower-edge");
    const hx_set *const high = hx_mesh_find_set(&mesh, "tip-upper-edge");
    CHECK(low && high && low->n_node == 4 && high->n_node == 4);
    for (int i = 0; i < 4; i++) {
        CHECK(set_point(&mesh, low, i)[0] == 20.0 && set_point(&mesh, low, i)[2] == 0.0);
        CHECK(set_point(&mesh, high, i)[0] == 20.0 && set_point(&mesh, high, i)[2] == 8.0);
    }
    hx_mesh_quality q;
    CHECK_OK(hx_mesh_measure(&mesh, &q));
    CHECK(q.n_body == 1 && q.n_hinge == 0);
    CHECK_REL(q.min_scaled_jacobian, 1.0, 1e-14);
    hx_mesh_free(&mesh);
    CHECK_OK(generate(&mesh, "lbeam", 0, 30, 0, 0));
    CHECK(mesh.n_elem == 16 * 36 * 3);
    hx_mesh_free(&mesh);
    CHECK_OK(generate(&mesh, "lbeam", 0, 5, 0, 0));
    CHECK(mesh.n_elem == 16);
    hx_mesh_free(&mesh);
}

static int compare_angle(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Area between the circle's centre and the polygon through the set's points of the layer y = 0,
 * which must lie on the circle; a whole turn if closed. */
static double fan_area(const hx_mesh *mesh, const char *name, double cx, double cz, double r,
                       int closed)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    double area = 0.0, off = 0.0;
    size_t n = 0;
    double *const angle = malloc(((size_t)set->n_node + 1) * sizeof *angle);
    for (int64_t i = 0; i < set->n_node; i++) {
        const double *const x = set_point(mesh, set, i);
        test_worst(&off, fabs(hypot(x[0] - cx, x[2] - cz) - r));
        if (x[1] == 0.0) angle[n++] = atan2(x[2] - cz, x[0] - cx);
    }
    CHECK_MSG(off <= 1e-12 * cz, "%s %s: %g off the circle", mesh->name, name, off);
    qsort(angle, n, sizeof *angle, compare_angle);
    if (closed) {
        angle[n] = angle[0] + 2.0 * pi;
        n++;
    } else {
        CHECK_ABS(angle[0], -pi / 2.0, 1e-12);
        CHECK_ABS(angle[n - 1], pi / 2.0, 1e-12);
    }
    for (size_t i = 1; i < n; i++) {
        area += 0.5 * r * r * sin(angle[i] - angle[i - 1]);
        CHECK(angle[i] - angle[i - 1] < 2.0 * pi / 7.0 && angle[i] - angle[i - 1] > 1e-9);
    }
    free(angle);
    return area;
}

static void check_quality(const hx_mesh *mesh)
{
    hx_mesh_quality q;
    CHECK_OK(hx_mesh_measure(mesh, &q));
    CHECK_MSG(q.min_scaled_jacobian > 0.7, "%s: %g", mesh->name, q.min_scaled_jacobian);
    CHECK(q.mean_scaled_jacobian > 0.95 && q.n_poor == 0 && q.n_body == 1 && q.n_hinge == 0);
    CHECK(q.largest_body == mesh->n_elem && q.min_volume > 0.3 * q.mean_volume);
    CHECK(q.max_volume < 2.0 * q.mean_volume);
}

/* Exact volume of the meshed (polygonal) part; returns its excess over the true one. */
static double check_michell(int size, int nx, int ny)
{
    hx_mesh mesh;
    CHECK_OK(generate(&mesh, "michell", size, nx, ny, 0));
    CHECK_OK(hx_mesh_finish(&mesh));
    const double notch = fan_area(&mesh, "notch", 0.0, 20.0, 10.0, 0);
    CHECK_REL(mesh.total_volume, 0.8 * (2000.0 - notch), 1e-12);
    check_quality(&mesh);
    check_plane_set(&mesh, "left", 0, 0);
    check_plane_set(&mesh, "right", 0, 50);
    check_plane_set(&mesh, "bottom", 2, 0);
    check_plane_set(&mesh, "top", 2, 40);
    const int64_t n_level = set_nodes(&mesh, "load");
    if (nx > 0) CHECK(set_nodes(&mesh, "bottom") == (nx + 1) * n_level);
    if (ny > 0) CHECK(n_level == ny + 1);
    const hx_set *const load = hx_mesh_find_set(&mesh, "load");
    for (int64_t i = 0; i < load->n_node; i++) {
        const double *const x = set_point(&mesh, load, i);
        CHECK(fabs(x[0] - 50.0) < 1e-12 && fabs(x[2] - 20.0) < 1e-12);
    }
    const double excess = mesh.total_volume / 0.8 - (2000.0 - 50.0 * pi);
    hx_mesh_free(&mesh);
    return excess;
}

static double check_conrod(int size, int nx, int ny)
{
    hx_mesh mesh;
    CHECK_OK(generate(&mesh, "conrod", size, nx, ny, 0));
    CHECK_OK(hx_mesh_finish(&mesh));
    const double holes = fan_area(&mesh, "lower-bore", 75.0, 50.0, 17.5, 1) +
                         fan_area(&mesh, "upper-bore", 75.0, 275.0, 30.0, 1);
    CHECK_REL(mesh.total_volume, 20.0 * (52500.0 - holes), 1e-12);
    CHECK(mesh.box_max[0] == 150.0 && mesh.box_max[2] == 350.0 && mesh.box_min[2] == 0.0);
    check_quality(&mesh);
    static const char *const name[2][2] = {{"lower-bore", "lower-bore-lower-half"},
                                           {"upper-bore", "upper-bore-upper-half"}};
    int64_t n_level = 0;
    for (int64_t a = 0; a < mesh.n_node; a++)
        n_level += mesh.xyz[3 * a] == 0.0 && mesh.xyz[3 * a + 2] == 0.0;
    if (ny > 0) CHECK(n_level == ny + 1);
    for (int bore = 0; bore < 2; bore++) { /* half of the bore and both nodes of its centre line */
        const hx_set *const half = hx_mesh_find_set(&mesh, name[bore][1]);
        CHECK(half && 2 * half->n_node == set_nodes(&mesh, name[bore][0]) + 2 * n_level);
        for (int64_t i = 0; half && i < half->n_node; i++) {
            const double z = set_point(&mesh, half, i)[2];
            CHECK(bore == 0 ? z <= 50.0 + 1e-9 : z >= 275.0 - 1e-9);
        }
    }
    const hx_set *const rings = hx_mesh_find_set(&mesh, "rings");
    int64_t wrong = 0, on_outer = 0, in_ring = 0;
    for (int64_t i = 0; i < rings->n_node; i++) {
        const double *const x = set_point(&mesh, rings, i);
        const int upper = x[2] > 150.0;
        const double r = hypot(x[0] - 75.0, x[2] - (upper ? 275.0 : 50.0));
        wrong += !(r >= (upper ? 30.0 : 17.5) - 1e-9 && r <= (upper ? 40.0 : 25.0) + 1e-9);
        on_outer += fabs(r - (upper ? 40.0 : 25.0)) < 1e-12 * 275.0;
    }
    for (int64_t e = 0; e < mesh.n_elem; e++) { /* the set has all elements in the rings */
        double c[3] = {0, 0, 0};
        for (int i = 0; i < 8; i++)
            for (int d = 0; d < 3; d++) c[d] += mesh.xyz[3 * mesh.conn[8 * e + i] + d] / 8.0;
        in_ring += hypot(c[0] - 75.0, c[2] - 275.0) < 40.0 * 0.99 ||
                   hypot(c[0] - 75.0, c[2] - 50.0) < 25.0 * 0.99;
    }
    CHECK(wrong == 0);
    CHECK(on_outer == set_nodes(&mesh, "lower-bore") + set_nodes(&mesh, "upper-bore"));
    if (size > 0) CHECK(in_ring >= rings->n_elem);
    const double excess = mesh.total_volume / 20.0 - (52500.0 - pi * (17.5 * 17.5 + 900.0));
    hx_mesh_free(&mesh);
    return excess;
}

static void test_round_holes(void)
{
    (void)check_michell(1, 0, 0);
    (void)check_michell(2, 0, 0);
    (void)check_michell(0, 8, 0);
    (void)check_michell(0, 13, 2);
    const double michell = check_michell(0, 40, 1);
    const double michell_fine = check_michell(0, 80, 1);
    CHECK(michell > 0.0 && michell_fine > 0.0 && michell_fine < michell / 3.0);
    (void)check_conrod(1, 0, 0);
    (void)check_conrod(2, 0, 0);
    (void)check_conrod(0, 10, 2);
    (void)check_conrod(1, 30, 0);
    const double conrod = check_conrod(0, 40, 1);
    const double conrod_fine = check_conrod(0, 80, 1);
    CHECK(conrod > 0.0 && conrod_fine > 0.0 && conrod_fine < conrod / 3.0);
}

/* Every nx gives a valid mesh, not only those of the published tables. */
static void test_any_size(void)
{
    for (int nx = 10; nx <= 150; nx += nx < 40 ? 2 : 14)
        for (int g = 2; g < 4; g++) {
            hx_mesh mesh;
            hx_mesh_quality q;
            CHECK_OK(generate(&mesh, hx_generators[g]->name, 0, nx, 1, 0));
            CHECK_OK(hx_mesh_finish(&mesh));
            CHECK_OK(hx_mesh_measure(&mesh, &q));
            CHECK_MSG(q.min_scaled_jacobian > 0.6 && q.n_body == 1 && q.n_hinge == 0, "%s %d: %g",
                      mesh.name, nx, q.min_scaled_jacobian);
            hx_mesh_free(&mesh);
        }
}

static void test_distort(void)
{
    hx_mesh plain, mesh;
    int64_t moved = 0, wrong = 0;
    double furthest = 0.0;
    for (size_t g = 0; hx_generators[g]; g++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            const hx_generate_params params = {.nx = 20, .ny = 5, .distort = 0.3, .seed = seed};
            CHECK_OK(hx_generate(hx_generators[g], &mesh, &params));
            CHECK(mesh.node_elem_ptr == NULL);
            CHECK_OK(hx_mesh_finish(&mesh)); /* no inverted element */
            hx_mesh_free(&mesh);
        }
    CHECK_OK(hx_generate_box(&plain, 9, 8, 7, 9, 8, 7));
    CHECK_OK(hx_generate_box(&mesh, 9, 8, 7, 9, 8, 7));
    CHECK_OK(hx_mesh_distort(&mesh, 0.2, 11));
    for (int64_t a = 0; a < mesh.n_node; a++) {
        const double *const x = plain.xyz + 3 * a, *const y = mesh.xyz + 3 * a;
        const int inner = x[0] > 0 && x[0] < 9 && x[1] > 0 && x[1] < 8 && x[2] > 0 && x[2] < 7;
        const double d = sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                              (x[2] - y[2]) * (x[2] - y[2]));
        wrong += inner ? !(d > 0.0 && d <= 0.2) : d != 0.0;
        moved += d > 0.0;
        test_worst(&furthest, d);
    }
    CHECK(wrong == 0 && moved == 8 * 7 * 6 && furthest > 0.12);
    CHECK_FAILS(hx_mesh_distort(&mesh, 0.31, 1), HX_EINPUT, "0 to 0.3");
    CHECK_FAILS(hx_mesh_distort(&mesh, -0.1, 1), HX_EINPUT, "0 to 0.3");
    CHECK_FAILS(hx_mesh_distort(&mesh, NAN, 1), HX_EINPUT, "0 to 0.3");
    hx_mesh_free(&plain);
    hx_mesh_free(&mesh);
    const hx_generate_params params = {.nx = 10, .distort = 0.5};
    CHECK_FAILS(hx_generate(hx_generators[0], &mesh, &params), HX_EINPUT, "0 to 0.3");
}

/* Counts nodes of these boundary faces with a closed star, other nodes with an open one, and stars
 * that are not connected. */
static int64_t count_wrong_stars(const hx_mesh *mesh, int64_t n_face, const int64_t *face)
{
    int64_t wrong = 0;
    uint8_t *const is_on = calloc((size_t)mesh->n_node, 1);
    for (int64_t i = 0; i < n_face; i++)
        for (int c = 0; c < 4; c++)
            is_on[mesh->conn[8 * (face[i] / 6) + hx_hex_face[face[i] % 6][c]]] = 1;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const hx_node_star star = hx_node_star_of(mesh, a);
        wrong += star.is_closed == is_on[a] || !star.is_connected;
    }
    free(is_on);
    return wrong;
}

/* Boundary nodes found from the stars of nodes equal those found from the elements, which are used
 * for an unfinished mesh. */
static void test_stars(void)
{
    for (size_t g = 0; hx_generators[g]; g++) {
        const hx_generate_params params = {.nx = 20, .ny = 5};
        hx_mesh mesh;
        int64_t n, n_plain, *face = NULL, *plain = NULL;
        CHECK_OK(hx_generate(hx_generators[g], &mesh, &params));
        CHECK_OK(hx_mesh_build_incidence(&mesh, &mesh.node_elem_ptr, &mesh.node_elem));
        CHECK_OK(hx_mesh_boundary_faces(&mesh, NULL, &n_plain, &plain));
        CHECK_MSG(count_wrong_stars(&mesh, n_plain, plain) == 0, "%s", mesh.name);
        free(mesh.node_elem_ptr);
        free(mesh.node_elem);
        mesh.node_elem_ptr = NULL;
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_boundary_faces(&mesh, NULL, &n, &face));
        CHECK(n == n_plain && n > 0 && memcmp(face, plain, (size_t)n * sizeof *face) == 0);
        free(plain);
        free(face);
        hx_mesh_free(&mesh);
    }
}

static int same(const void *a, const void *b, int64_t n, size_t size)
{
    return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

/* Checks that all members of two raw meshes are bitwise equal. */
static void check_same_mesh(const hx_mesh *a, const hx_mesh *b)
{
    CHECK(a->n_node == b->n_node && a->n_elem == b->n_elem && a->n_set == b->n_set);
    if (a->n_node != b->n_node || a->n_elem != b->n_elem || a->n_set != b->n_set) return;
    CHECK(same(a->xyz, b->xyz, 3 * a->n_node, sizeof *a->xyz));
    CHECK(same(a->conn, b->conn, 8 * a->n_elem, sizeof *a->conn));
    CHECK(same(a->node_orig, b->node_orig, a->n_node, sizeof *a->node_orig));
    CHECK(same(a->elem_orig, b->elem_orig, a->n_elem, sizeof *a->elem_orig));
    for (size_t i = 0; i < a->n_set; i++) {
        const hx_set *const x = &a->set[i], *const y = &b->set[i];
        CHECK(strcmp(x->name, y->name) == 0 && x->n_node == y->n_node && x->n_elem == y->n_elem);
        CHECK(same(x->node, y->node, x->n_node, sizeof *x->node));
        CHECK(same(x->elem, y->elem, x->n_elem, sizeof *x->elem));
    }
}

/* A mesh that the generator creates in order equals the one that hx_mesh_reorder makes. */
static void check_in_order(const hx_generator *gen, const hx_generate_params *plain, int at_once)
{
    hx_generate_params params = *plain;
    hx_mesh mesh, ordered;
    CHECK_OK(hx_generate(gen, &mesh, &params));
    CHECK_OK(hx_mesh_reorder(&mesh));
    params.in_order = 1;
    for (int n_thread = 1; n_thread <= 3; n_thread++) {
        fixture_set_threads(n_thread);
        CHECK_OK(hx_generate(gen, &ordered, &params));
        CHECK_MSG((ordered.elem_orig != NULL) == at_once, "%s", gen->name);
        if (!ordered.elem_orig) CHECK_OK(hx_mesh_reorder(&ordered));
        check_same_mesh(&mesh, &ordered);
        hx_mesh_free(&ordered);
    }
    hx_mesh_free(&mesh);
}

/* A box is created in order without sorting: powers of two, fewer, more, and thin ones; blocks that
 * threads share. */
static void test_in_order(void)
{
    static const int n[][3] = {{1, 1, 1},
                               {2, 1, 1},
                               {1, 3, 1},
                               {1, 1, 40},
                               {5, 3, 7},
                               {8, 8, 8},
                               {9, 8, 8},
                               {16, 16, 16},
                               {17, 16, 15},
                               {33, 9, 50},
                               /* the last one needs several batches per part */
                               {64, 1, 3},
                               {40, 20, 20},
                               {70, 70, 70}};
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        const hx_generate_params box = {.nx = n[i][0], .ny = n[i][1], .nz = n[i][2]};
        check_in_order(hx_generator_find("cantilever"), &box, 1);
    }
    const hx_generate_params distorted = {.nx = 9, .distort = 0.2}, other = {.nx = 20};
    check_in_order(hx_generator_find("cantilever"), &distorted, 0);
    for (size_t g = 1; hx_generators[g]; g++) check_in_order(hx_generators[g], &other, 0);
}

static void test_refusals(void)
{
    hx_mesh mesh;
    for (size_t g = 0; hx_generators[g]; g++) {
        const char *const name = hx_generators[g]->name;
        CHECK_FAILS(generate(&mesh, name, 6, 0, 0, 0), HX_EINPUT,
                    "size 6 does not exist; give a size from 1 to 5");
        CHECK_FAILS(generate(&mesh, name, -1, 0, 0, 0), HX_EINPUT, "size -1");
        CHECK_FAILS(generate(&mesh, name, 0, 0, 0, 0), HX_EINPUT, "give a size (1 to 5) or nx");
        CHECK_FAILS(generate(&mesh, name, 0, 0, 4, 0), HX_EINPUT, "or nx");
        CHECK_FAILS(generate(&mesh, name, 1, -3, 0, 0), HX_EINPUT, "nx = -3");
        CHECK_FAILS(generate(&mesh, name, 1, 10, 2000000000, 0), HX_EINPUT, "1 to 1000000");
        CHECK_FAILS(generate(&mesh, name, 0, 1000000, 1000000, 0), HX_EINPUT, "elements requested");
        CHECK(mesh.xyz == NULL && mesh.set == NULL);
    }
    CHECK_FAILS(generate(&mesh, "lbeam", 0, 83, 0, 0), HX_EINPUT,
                "multiple of 5; 85 is the nearest");
    CHECK_FAILS(generate(&mesh, "lbeam", 0, 82, 0, 0), HX_EINPUT, "80 is the nearest");
    CHECK_FAILS(generate(&mesh, "lbeam", 0, 2, 0, 0), HX_EINPUT, "5 is the smallest");
    CHECK_FAILS(generate(&mesh, "lbeam", 1, 0, 0, 40), HX_EINPUT, "nz = 40");
    CHECK_FAILS(generate(&mesh, "michell", 1, 0, 0, 40), HX_EINPUT, "leave nz out");
    CHECK_FAILS(generate(&mesh, "michell", 0, 7, 0, 0), HX_EINPUT, "at least 8");
    CHECK_FAILS(generate(&mesh, "conrod", 1, 0, 0, 40), HX_EINPUT, "leave nz out");
    CHECK_FAILS(generate(&mesh, "conrod", 0, 31, 0, 0), HX_EINPUT, "use 32");
    CHECK_FAILS(generate(&mesh, "conrod", 0, 8, 0, 0), HX_EINPUT, "use 10");
    CHECK_FAILS(hx_generate_box(&mesh, 0, 1, 1, 1, 1, 1), HX_EINPUT, "at least one");
    CHECK_FAILS(hx_generate_box(&mesh, 1, 1, 1, 1, 0, 1), HX_EINPUT, "lengths must be positive");
    CHECK_FAILS(hx_generate_box(&mesh, 1000, 1000, 1000, 1, 1, 1), HX_EINPUT, "elements requested");
}

int main(void)
{
    test_table();
    test_counts();
    test_cantilever();
    test_lbeam();
    test_round_holes();
    test_any_size();
    test_distort();
    test_stars();
    test_in_order();
    test_refusals();
    TEST_END();
}
