/* The mesh that represents a spline: volumes against closed forms, elements and their faces against
 * the map, sets, errors. */
#include <math.h>
#include <string.h>

#include "core/mesh/hex_jacobian.h"
#include "core/spline/spline_glue.h"
#include "core/spline/spline_image.h"
#include "core/spline/spline_refine.h"
#include "core/spline/spline_turn.h"
#include "core/spline/spline_volume.h"
#include "tests/lib/spline_box.h"
#include "tests/lib/test.h"

static const double pi = 3.14159265358979323846;
static const int plain[3] = {0, 0, 0};

/* Bends the control points, so that det J is not constant. */
static void bend(hx_spline_patch *patch)
{
    for (int64_t i = 0; i < hx_spline_patch_points(patch); i++) {
        double *const x = patch->point + 3 * i;
        x[0] += 0.3 * x[1] * x[1] - 0.2 * x[2];
        x[1] *= 1.0 + 0.5 * x[2];
    }
}

/* det J of a polynomial map has degree 3 p - 1, so every refinement gives the same volume. */
static void test_polynomials(void)
{
    for (int p = 1; p <= HX_SPLINE_MAX_DEGREE; p++) {
        const int degree[3] = {p, p, p}, n_span[3] = {2, 1, 1}, part[3] = {3, 2, 4};
        double volume[48], coarse = 0.0, fine = 0.0;
        hx_spline spline;
        CHECK(box_row(&spline, 1, degree, n_span, plain) == 0);
        bend(&spline.patch[0]);
        CHECK_OK(hx_spline_glue(&spline));
        CHECK_OK(hx_spline_volumes(&spline, volume));
        coarse = volume[0] + volume[1];
        CHECK_OK(hx_spline_refine(&spline, 0, 3, part));
        CHECK_OK(hx_spline_glue(&spline));
        CHECK(spline.n_cell == 48);
        CHECK_OK(hx_spline_volumes(&spline, volume));
        for (int c = 0; c < 48; c++) fine += volume[c];
        CHECK_REL(fine, coarse, 1e-14);
        /* the columns' box: det J = 1 + z / 2 on average over z, if p is 1 */
        if (p == 1) CHECK_REL(coarse, 1.25, 1e-14);
        hx_spline_free(&spline);
    }
}

/* A quarter of a tube of radii 1 and 2 and height 1, exact, at (u, v, w) = (angle, inwards, up). */
static void make_quarter(hx_spline *spline)
{
    const int degree[3] = {2, 1, 1}, n_span[3] = {1, 1, 1};
    CHECK(box_row(spline, 1, degree, n_span, plain) == 0);
    hx_spline_patch *const patch = &spline->patch[0];
    CHECK_OK(hx_alloc(&patch->weight, 12, sizeof(double), "weights"));
    for (int i = 0; i < 12; i++) {
        const double r = i / 3 % 2 ? 1.0 : 2.0;
        patch->point[3 * i] = i % 3 < 2 ? r : 0.0;
        patch->point[3 * i + 1] = i % 3 > 0 ? r : 0.0;
        patch->point[3 * i + 2] = i / 6;
        patch->weight[i] = i % 3 == 1 ? sqrt(0.5) : 1.0;
    }
}

/* The spans' volume converges to that with pi, and the image's is smaller by the sine of the
 * chords' angle. */
static void test_tube(void)
{
    for (int n = 1; n <= 8; n *= 2) {
        const int part[3] = {n, 2, 1};
        const double exact = 0.75 * pi, angle = 0.5 * pi / n;
        double image, sum;
        hx_spline spline;
        hx_mesh mesh;
        make_quarter(&spline);
        CHECK_OK(hx_spline_refine(&spline, 2, 3, part));
        CHECK_OK(hx_spline_glue(&spline));
        CHECK_OK(hx_spline_image(&spline, "tube", &mesh));
        CHECK(mesh.n_elem == 2 * n && mesh.n_node == 6 * (n + 1));
        hx_spline_image_volumes(&mesh, &image, &sum);
        CHECK_REL(sum, exact, n <= 2 ? 1e-8 : 1e-12);
        if (n > 1) CHECK_REL(image, exact * sin(angle) / angle, n > 2 ? 0.01 : 0.1);
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_REL(mesh.total_volume, sum, 1e-13);
        hx_mesh_free(&mesh);
        hx_spline_free(&spline);
    }
}

/* Corners are the map's values at the spans' ends, and faces lie on their side, for a glued pair in
 * which one patch is rotated. */
static void test_elements(void)
{
    const int degree[3] = {2, 2, 1}, n_span[3] = {3, 2, 2}, twice[3] = {2, 0, 0};
    const int to[3] = {1, 2, 0}, flip[3] = {1, 0, 1};
    double worst = 0.0, volume[24];
    hx_spline spline;
    hx_mesh mesh;
    CHECK(box_row(&spline, 2, degree, n_span, twice) == 0);
    CHECK(box_turn(&spline.patch[1], to, flip) == 0);
    CHECK_OK(hx_alloc(&spline.boundary, 1, sizeof *spline.boundary, "sides"));
    CHECK_OK(hx_strdup(&spline.boundary[0].name, "ends"));
    CHECK_OK(hx_alloc(&spline.boundary[0].side, 2, sizeof(hx_spline_side), "sides"));
    spline.boundary[0].side[0] = (hx_spline_side){0, 0};
    spline.boundary[0].side[1] = (hx_spline_side){1, 2}; /* x = 2: u went to v, backwards */
    spline.boundary[0].n_side = 2;
    spline.n_boundary = 1;
    CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_OK(hx_spline_image(&spline, "pair", &mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(mesh.n_elem == 24 && mesh.n_node == 7 * 3 * 3);
    CHECK(mesh.n_set == 10 + 1);
    CHECK_REL(mesh.total_volume, 2.0, 1e-14);
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh.xyz, mesh.conn + 8 * e);
        volume[e] = hx_hex_volume(&map); /* the spans of a box are boxes */
        test_worst(&worst, fabs(volume[e] - mesh.volume[e]));
    }
    CHECK_ABS(worst, 0.0, 1e-15);
    const hx_set *const start = hx_mesh_find_set(&mesh, "patch1:u-");
    const hx_set *const ends = hx_mesh_find_set(&mesh, "ends");
    CHECK(start && ends && !hx_mesh_find_set(&mesh, "patch1:u+"));
    if (!start || !ends) return;
    CHECK(start->n_face == 4 && ends->n_face == 8 && start->n_node == 9);
    for (int64_t i = 0; i < start->n_node; i++) CHECK_ABS(mesh.xyz[3 * start->node[i]], 0.0, 1e-15);
    for (int64_t i = 0; i < ends->n_node; i++)
        CHECK_ABS(fabs(mesh.xyz[3 * ends->node[i]] - 1.0), 1.0, 1e-15);
    hx_mesh_free(&mesh);
    hx_spline_free(&spline);
}

static void test_refusals(void)
{
    const int degree[3] = {2, 1, 1}, n_span[3] = {3, 1, 1}, turned[3] = {1, 0, 0};
    const int as_is[3] = {0, 1, 2};
    hx_spline spline;
    hx_mesh mesh;
    CHECK(box_row(&spline, 1, degree, n_span, plain) == 0);
    for (int k = 0; k < 4; k++) spline.patch[0].point[3 * (2 + 5 * k)] -= 0.9; /* a fold */
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_FAILS(hx_spline_image(&spline, "fold", &mesh), HX_EINPUT,
                "patch 1, span (1, 1, 1): det J is -");
    CHECK(strstr(hx_error_message(), "(2 such spans); the patch folds there") != NULL);
    hx_spline_free(&spline);
    CHECK(box_row(&spline, 1, degree, n_span, plain) == 0);
    CHECK(box_turn(&spline.patch[0], as_is, turned) == 0);
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_FAILS(hx_spline_image(&spline, "left", &mesh), HX_EINPUT, "the patch is left-handed");
    hx_spline_free(&spline);
}

/* Two boxes with left-handed parameters become right-handed, stay glued, and keep the names of
 * their sides by position. */
static void test_turn(void)
{
    const int degree[3] = {2, 1, 3}, n_span[3] = {1, 2, 2}, twice[3] = {0, 0, 1};
    const int to[2][3] = {{1, 2, 0}, {2, 0, 1}}, flip[2][3] = {{1, 0, 0}, {0, 0, 1}};
    for (int way = 0; way < 4; way++) {
        hx_spline spline;
        hx_mesh mesh;
        int n_turned;
        CHECK(box_row(&spline, 2, degree, n_span, twice) == 0);
        for (int k = 0; k < 2; k++)
            if (way != 2 - k) CHECK(box_turn(&spline.patch[k], to[k], flip[k]) == 0);
        CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
        CHECK_OK(hx_spline_turn(&spline, &n_turned));
        CHECK(n_turned == (way == 1 || way == 2 ? 1 : 2));
        CHECK_OK(hx_spline_glue(&spline));
        CHECK_OK(hx_spline_image(&spline, "turned", &mesh));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK(mesh.n_elem == 8 && mesh.n_node == 3 * 3 * 3);
        CHECK_REL(mesh.total_volume, 2.0, 1e-14);
        /* in the first box y = 0 became w-, in the second y = 0 became u- and z = 0 v+ */
        const hx_set *const a = hx_mesh_find_set(&mesh, way == 2 ? "patch1:v-" : "patch1:w-");
        const hx_set *const b = hx_mesh_find_set(&mesh, way == 1 ? "patch2:w-" : "patch2:v+");
        CHECK(a && b);
        for (int64_t i = 0; a && i < a->n_node; i++)
            CHECK_ABS(mesh.xyz[3 * a->node[i] + 1], 0.0, 1e-15);
        for (int64_t i = 0; b && i < b->n_node; i++)
            CHECK_ABS(mesh.xyz[3 * b->node[i] + 2], 0.0, 1e-15);
        hx_mesh_free(&mesh);
        hx_spline_free(&spline);
    }
}

/* A hairpin in one span: its ends are adjacent, and a hexahedron between them is inverted. */
static void test_help(void)
{
    const int part[3] = {3, 1, 1};
    hx_spline spline;
    hx_mesh mesh;
    make_quarter(&spline);
    for (int i = 0; i < 12; i++) {
        const double r = i / 3 % 2 ? 0.2 : 1.0;
        const double place[3][2] = {{-r, 0.0}, {0.0, 3.0 * r}, {r, 0.0}};
        spline.patch[0].point[3 * i] = place[2 - i % 3][0];
        spline.patch[0].point[3 * i + 1] = place[2 - i % 3][1];
        spline.patch[0].weight[i] = 1.0;
    }
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_FAILS(hx_spline_image(&spline, "hairpin", &mesh), HX_EINPUT,
                "the spline is valid there, but the hexahedron between the span's corners is not "
                "(1 such span); multiply mesh.refine (default [1, 1, 1]) by [2, 1, 1]");
    CHECK_OK(hx_spline_refine(&spline, 0, 3, part));
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_OK(hx_spline_image(&spline, "hairpin", &mesh));
    hx_mesh_free(&mesh);
    hx_spline_free(&spline);
}

int main(void)
{
    test_polynomials();
    test_tube();
    test_elements();
    test_refusals();
    test_turn();
    test_help();
    TEST_END();
}
