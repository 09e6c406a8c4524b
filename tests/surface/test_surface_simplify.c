/* Simplified surfaces: closed, manifold, with the same shape and holes, without flipped triangles,
 * and as far from the original as reported. */
#include "core/surface/surface_simplify.h"
#include "tests/lib/box_part.h"

/* A box of nx = ny = nz = n elements with these nodal densities, cut at 0. */
static void cut(hx_surface *surface, int n, double (*density)(const double *x))
{
    hx_mesh mesh;
    hx_surface_field field;
    const double one = 1.0;
    const fixture_box box = {{n, n, n}, {2.0, 2.0, 2.0}, 0.0, 0};
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    double *rho = malloc((size_t)mesh.n_elem * sizeof *rho);
    for (int64_t e = 0; e < mesh.n_elem; e++) rho[e] = one;
    CHECK_OK(hx_surface_field_create(&field, &mesh, rho, NULL));
    for (int64_t a = 0; a < mesh.n_node; a++) field.value[a] = density(mesh.xyz + 3 * a);
    memset(surface, 0, sizeof *surface);
    CHECK_OK(hx_surface_extract(surface, &field, 0.0));
    free(rho);
    hx_surface_field_free(&field);
    hx_mesh_free(&mesh);
}

static double ball(const double *x)
{
    return 0.8 - sqrt((x[0] - 1.0) * (x[0] - 1.0) + (x[1] - 1.0) * (x[1] - 1.0) +
                      (x[2] - 1.0) * (x[2] - 1.0));
}

static double ring(const double *x)
{
    const double r = hypot(x[0] - 1.0, x[1] - 1.0) - 0.6;
    return 0.25 - hypot(r, x[2] - 1.0);
}

static double all(const double *x)
{
    (void)x;
    return 1.0;
}

static double noise(const double *x)
{
    uint32_t h = 2166136261u;
    for (int d = 0; d < 3; d++) h = (h ^ (uint32_t)lround(64.0 * x[d])) * 16777619u;
    return (double)((h >> 7) % 1000u) / 500.0 - 1.0;
}

static void check_closed(const hx_surface *s, hx_surface_report *report, const char *what)
{
    CHECK_OK(hx_surface_check(s, HX_SURFACE_F64, report));
    CHECK_MSG(report->is_closed_manifold, "%s: %lld bad edges, %lld vertices, %lld triangles", what,
              (long long)report->n_bad_edge, (long long)report->n_bad_vertex,
              (long long)report->n_degenerate);
}

/* For a ball the distance is known: no triangle faces inwards, and the reported distance is
 * correct. */
static void test_ball(void)
{
    hx_surface s;
    hx_surface_simplification r;
    hx_surface_report before, after;
    double off = 0.0;
    cut(&s, 40, ball);
    check_closed(&s, &before, "ball");
    const int64_t n = s.n_tri;
    CHECK_OK(hx_surface_simplify(&s, n / 10, 0, NULL, &r));
    check_closed(&s, &after, "simplified ball");
    CHECK(r.n_before == n && r.n_after == s.n_tri && s.n_tri <= n / 10 && s.n_tri > n / 11);
    CHECK(after.genus == 0 && after.n_shell == 1);
    CHECK_REL(after.volume, before.volume, 0.005);
    for (int64_t t = 0; t < s.n_tri; t++) {
        double x[3][3], middle[3], normal[3], u[3], v[3];
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < 3; d++) x[i][d] = s.xyz[3 * s.tri[3 * t + i] + d] - 1.0;
        for (int d = 0; d < 3; d++) {
            u[d] = x[1][d] - x[0][d];
            v[d] = x[2][d] - x[0][d];
            middle[d] = (x[0][d] + x[1][d] + x[2][d]) / 3.0;
        }
        normal[0] = u[1] * v[2] - u[2] * v[1];
        normal[1] = u[2] * v[0] - u[0] * v[2];
        normal[2] = u[0] * v[1] - u[1] * v[0];
        const double dot = normal[0] * middle[0] + normal[1] * middle[1] + normal[2] * middle[2];
        const double radius =
            sqrt(middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2]);
        CHECK(dot >
              0.8 * radius *
                  sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]));
        test_worst(&off, fabs(radius - 0.8));
    }
    /* the old triangles deviate from the ball by at most h^2 / 8 r, with h = sqrt 2 edges */
    const double old_off = 2.0 * 0.05 * 0.05 / (8.0 * 0.8);
    CHECK_MSG(r.largest > 0.3 * off && r.largest < off + 2.0 * old_off,
              "largest distance %g, of the ball %g", r.largest, off);
    CHECK(r.mean > 0.0 && r.mean < r.largest && r.n_point > n / 2);
    hx_surface_free(&s);
}

/* Flat faces and their sharp edges stay in place down to a few triangles; linear values stay
 * linear. */
static void test_box(void)
{
    hx_surface s;
    hx_surface_simplification r;
    hx_surface_report report;
    cut(&s, 8, all);
    float *value[1] = {malloc((size_t)s.n_vertex * sizeof(float))};
    for (int64_t v = 0; v < s.n_vertex; v++)
        value[0][v] = (float)(s.xyz[3 * v] + 2.0 * s.xyz[3 * v + 1] - s.xyz[3 * v + 2]);
    CHECK_OK(hx_surface_simplify(&s, 60, 1, value, &r));
    check_closed(&s, &report, "box");
    CHECK(s.n_tri <= 60);
    CHECK_MSG(r.largest < 0.01, "a box is off by %g", r.largest);
    CHECK_REL(report.volume, 8.0, 0.005);
    for (int64_t v = 0; v < s.n_vertex; v++)
        CHECK_ABS((double)value[0][v], s.xyz[3 * v] + 2.0 * s.xyz[3 * v + 1] - s.xyz[3 * v + 2],
                  0.04);
    free(value[0]);
    hx_surface_free(&s);
}

static void test_holes(void)
{
    static double (*const part[])(const double *) = {ring, noise};
    for (int i = 0; i < 2; i++) {
        hx_surface s;
        hx_surface_simplification r;
        hx_surface_report before, after;
        cut(&s, i == 0 ? 32 : 16, part[i]);
        check_closed(&s, &before, "holes");
        CHECK_OK(hx_surface_simplify(&s, s.n_tri / 6, 0, NULL, &r));
        check_closed(&s, &after, "holes, simplified");
        CHECK(after.genus == before.genus && after.euler == before.euler);
        CHECK(after.n_shell + after.n_cavity == before.n_shell + before.n_cavity);
        if (i == 0) CHECK(after.genus == 1 && r.n_after <= r.n_before / 6);
        if (i == 0) CHECK_REL(after.volume, before.volume, 0.02);
        hx_surface_free(&s);
    }
}

/* With no more triangles than requested nothing happens. An open surface is refused. */
static void test_refused(void)
{
    hx_surface s;
    hx_surface_simplification r;
    cut(&s, 8, ball);
    const int64_t n = s.n_tri;
    const double x = s.xyz[0];
    CHECK_OK(hx_surface_simplify(&s, n, 0, NULL, &r));
    CHECK(s.n_tri == n && r.n_after == n && r.n_point == 0 && s.xyz[0] == x);
    s.n_tri--;
    CHECK(hx_surface_simplify(&s, n / 2, 0, NULL, &r) == HX_EINPUT);
    hx_surface_free(&s);
}

int main(void)
{
    test_ball();
    test_box();
    test_holes();
    test_refused();
    TEST_END();
}
