/* Surfaces of splines: the image with n^3 hexahedra per span against the map, elements against
 * their spans, the curvature of spans, and densities, forced-solid elements and closed surfaces on
 * it. */
#include <math.h>
#include <string.h>

#include "core/spline/spline_glue.h"
#include "core/spline/spline_image.h"
#include "core/spline/spline_refine.h"
#include "core/surface/surface.h"
#include "core/surface/surface_internal.h"
#include "tests/lib/spline_box.h"
#include "tests/lib/test.h"

static const double pi = 3.14159265358979323846;
static const int plain[3] = {0, 0, 0};
static const int corner_at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* A quarter of a tube of radii 1 and 2 and height 1, exact, at (u, v, w) = (angle, inwards, up), in
 * part[3] spans. */
static void make_quarter(hx_spline *spline, const int part[3])
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
    CHECK_OK(hx_spline_refine(spline, 2, 3, part));
    CHECK_OK(hx_spline_glue(spline));
}

static void make_fine(const hx_spline *spline, int n, hx_mesh *mesh)
{
    double *xyz;
    int32_t *conn;
    int64_t n_node;
    CHECK_OK(hx_spline_fine_image(spline, n, &xyz, &conn, &n_node));
    CHECK_OK(hx_mesh_create(mesh, "fine", n_node, xyz, spline->n_cell * n * n * n, conn));
    CHECK_OK(hx_mesh_finish(mesh));
}

/* Every corner of every element is the map's value at its parameters within the span. */
static double off_map(const hx_spline *spline, const hx_mesh *mesh, int n)
{
    double worst = 0.0;
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        for (int64_t c = 0; c < hx_spline_patch_cells(patch) * n * n * n; c++) {
            const int64_t e = patch->first_cell * n * n * n + c;
            int span[3];
            const int in[3] = {(int)(e % n), (int)(e / n % n), (int)(e / n / n % n)};
            hx_spline_patch_spans(patch, e / n / n / n, span);
            for (int a = 0; a < 8; a++) {
                double t[3], x[3];
                for (int d = 0; d < 3; d++) {
                    const double *const knot = patch->axis[d].knot + patch->axis[d].span[span[d]];
                    t[d] = knot[0] + (knot[1] - knot[0]) * (in[d] + corner_at[a][d]) / n;
                }
                hx_spline_map(patch, t, x, NULL);
                for (int d = 0; d < 3; d++)
                    test_worst(&worst,
                               fabs(mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d] - x[d]));
            }
        }
    }
    return worst;
}

static void test_elements(void)
{
    const int degree[3] = {2, 2, 1}, n_span[3] = {3, 2, 2}, twice[3] = {2, 0, 0};
    const int to[3] = {1, 2, 0}, flip[3] = {1, 0, 1};
    for (int n = 1; n <= 4; n++) {
        hx_spline spline;
        hx_mesh mesh, image;
        CHECK(box_row(&spline, 2, degree, n_span, twice) == 0);
        CHECK(box_turn(&spline.patch[1], to, flip) == 0);
        CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
        CHECK_OK(hx_spline_glue(&spline));
        make_fine(&spline, n, &mesh);
        CHECK(mesh.n_elem == 24 * n * n * n);
        CHECK(mesh.n_node == (6 * n + 1) * (2 * n + 1) * (2 * n + 1)); /* glued ones once */
        CHECK_ABS(off_map(&spline, &mesh, n), 0.0, 1e-14);
        CHECK_REL(mesh.total_volume, 2.0, 1e-13);
        if (n == 1) {
            CHECK_OK(hx_spline_image(&spline, "image", &image));
            CHECK(memcmp(image.conn, mesh.conn, 8 * 24 * sizeof *mesh.conn) == 0);
            CHECK(memcmp(image.xyz, mesh.xyz, 3 * (size_t)mesh.n_node * sizeof *mesh.xyz) == 0);
            hx_mesh_free(&image);
        }
        hx_mesh_free(&mesh);
        hx_spline_free(&spline);
    }
}

/* An arc with angle a deviates from its chord by tan(a / 4) / 2 of its length; a straight edge by
 * nothing. */
static void test_bend(void)
{
    const int once[3] = {1, 1, 1}, halves[3] = {2, 1, 3}, degree[3] = {3, 2, 4};
    hx_spline spline;
    make_quarter(&spline, once);
    CHECK_REL(hx_spline_bend(&spline), 0.5 * tan(pi / 8.0), 1e-13);
    hx_spline_free(&spline);
    make_quarter(&spline, halves);
    CHECK_REL(hx_spline_bend(&spline), 0.5 * tan(pi / 16.0), 0.01); /* the parameter is halved */
    hx_spline_free(&spline);
    CHECK(box_row(&spline, 1, degree, halves, plain) == 0);
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_ABS(hx_spline_bend(&spline), 0.0, 1e-14);
    hx_spline_free(&spline);
}

static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* Nodal densities within a span are trilinear in those of its corners; forced-solid elements stay
 * so. */
static void check_field(const hx_surface_field *fine, const hx_surface_field *coarse, int n)
{
    double worst = 0.0;
    for (int64_t e = 0; e < fine->mesh->n_elem; e++) {
        const int64_t from = e / n / n / n;
        CHECK(hx_surface_is_solid(fine, e) == hx_surface_is_solid(coarse, from));
        if (hx_surface_is_solid(fine, e)) continue;
        const int in[3] = {(int)(e % n), (int)(e / n % n), (int)(e / n / n % n)};
        for (int a = 0; a < 8; a++) {
            double s[3], wanted = 0.0;
            for (int d = 0; d < 3; d++) s[d] = (double)(in[d] + corner_at[a][d]) / n;
            for (int c = 0; c < 8; c++)
                wanted += (corner_at[c][0] ? s[0] : 1.0 - s[0]) *
                          (corner_at[c][1] ? s[1] : 1.0 - s[1]) *
                          (corner_at[c][2] ? s[2] : 1.0 - s[2]) *
                          coarse->value[coarse->mesh->conn[8 * from + c]];
            test_worst(&worst, fabs(fine->value[fine->mesh->conn[8 * e + a]] - wanted));
        }
    }
    CHECK_ABS(worst, 0.0, 1e-14);
}

/* Largest deviation of corners on the round sides from their radii, for vertices at nodes. */
static double off_round(const hx_surface *surface)
{
    double worst = 0.0;
    for (int64_t v = 0; v < surface->n_vertex; v++) {
        const double *const x = surface->xyz + 3 * v;
        const double r = sqrt(x[0] * x[0] + x[1] * x[1]);
        if (surface->edge[2 * v] != surface->edge[2 * v + 1] || surface->edge[2 * v] < 0) continue;
        if (fabs(r - 2.0) < 0.04) test_worst(&worst, fabs(r - 2.0));
    }
    return worst;
}

/* Closed at any density; the full surface is as round as n permits. */
static void test_surface(void)
{
    const int part[3] = {4, 3, 3};
    double before = 0.0;
    hx_spline spline;
    hx_mesh image;
    make_quarter(&spline, part);
    CHECK_OK(hx_spline_image(&spline, "tube", &image));
    CHECK_OK(hx_mesh_finish(&image));
    for (int n = 2; n <= 4; n++)
        for (uint32_t seed = 0; seed < 4; seed++) {
            double rho[36], volume;
            uint8_t solid[36];
            uint32_t state = seed;
            hx_mesh mesh;
            hx_surface_field coarse, fine;
            hx_surface surface;
            hx_surface_smoothing smoothing;
            hx_surface_report report;
            for (int e = 0; e < 36; e++) rho[e] = seed == 0 ? 1.0 : noise(&state);
            for (int e = 0; e < 36; e++) solid[e] = seed > 1 && noise(&state) < 0.2;
            make_fine(&spline, n, &mesh);
            CHECK_OK(hx_surface_field_create(&coarse, &image, rho, seed > 1 ? solid : NULL));
            CHECK_OK(hx_surface_field_refine(&fine, &coarse, &mesh, n));
            check_field(&fine, &coarse, n);
            CHECK_OK(hx_surface_extract(&surface, &fine, 0.45));
            CHECK_OK(hx_surface_smooth(&surface, &fine, 5, &smoothing));
            CHECK_OK(hx_surface_check(&surface, HX_SURFACE_F32, &report));
            CHECK(report.is_closed_manifold && report.n_crossing == 0);
            hx_surface_volume(&fine, 0.45, &volume);
            CHECK_REL(report.volume, volume, 1e-4);
            CHECK_ABS(off_round(&surface), 0.0, 1e-14);
            if (seed == 0) { /* the full surface: second order */
                const double off = 0.75 * pi - volume;
                CHECK_REL(volume, mesh.total_volume, 1e-12);
                if (n == 4) CHECK_REL(before / off, 4.0, 0.02);
                if (n == 2) before = off;
            }
            hx_surface_free(&surface);
            hx_surface_field_free(&fine);
            hx_surface_field_free(&coarse);
            hx_mesh_free(&mesh);
        }
    hx_mesh_free(&image);
    hx_spline_free(&spline);
}

int main(void)
{
    test_elements();
    test_bend();
    test_surface();
    TEST_END();
}
