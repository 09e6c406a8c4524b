/* Simplified surfaces: closed, manifold, with the same shape and holes, without flipped triangles,
 * as far from the original as reported, and the same for every numbering and mirror image. */
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

/* A lopsided part with flat faces, whose edges have equal costs. */
static double lopsided(const double *x)
{
    const double arm = fmin(0.37 - fabs(x[1] - 0.5), 0.55 - fabs(x[2] - 0.8));
    const double foot =
        fmin(fmin(0.4 - fabs(x[0] - 0.6), 0.7 - fabs(x[1] - 0.9)), 0.3 - fabs(x[2] - 0.5));
    return fmax(fmin(arm, 0.8 - fabs(x[0] - 1.0)), foot);
}

/* Other numbers of vertices and triangles and other first corners; reversed if it was mirrored. */
static void renumber(hx_surface *s, uint64_t seed, int is_mirrored)
{
    int32_t *const rank = malloc((size_t)s->n_vertex * sizeof *rank);
    double *const xyz = malloc(3 * (size_t)s->n_vertex * sizeof *xyz);
    if (!rank || !xyz) abort();
    for (int64_t v = 0; v < s->n_vertex; v++) rank[v] = (int32_t)v;
    for (int64_t v = s->n_vertex; v-- > 1;) {
        const int64_t other = (int64_t)fixture_uniform(&seed, 0.0, (double)v + 0.999);
        const int32_t kept = rank[v];
        rank[v] = rank[other];
        rank[other] = kept;
    }
    for (int64_t i = 0; i < 3 * s->n_vertex; i++) xyz[3 * rank[i / 3] + i % 3] = s->xyz[i];
    memcpy(s->xyz, xyz, 3 * (size_t)s->n_vertex * sizeof *xyz);
    for (int64_t t = s->n_tri; t-- > 0;) {
        const int64_t other = (int64_t)fixture_uniform(&seed, 0.0, (double)t + 0.999);
        int32_t here[3], there[3];
        memcpy(here, s->tri + 3 * t, sizeof here);
        memcpy(there, s->tri + 3 * other, sizeof there);
        for (int c = 0; c < 3; c++) {
            const int turned = is_mirrored ? (3 - c) % 3 : c;
            s->tri[3 * other + c] = here[c];
            s->tri[3 * t + c] = rank[there[(turned + (int)(t % 3)) % 3]];
        }
    }
    if (s->edge) memset(s->edge, 0xff, 2 * (size_t)s->n_vertex * sizeof *s->edge);
    free(rank);
    free(xyz);
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, 9 * sizeof(float));
}

/* The corners of all triangles in single precision, sorted, each from its least corner. */
static float *list_triangles(const hx_surface *s, const int sign[3])
{
    float *const row = malloc(9 * (size_t)s->n_tri * sizeof *row);
    if (!row) abort();
    for (int64_t t = 0; t < s->n_tri; t++) {
        float x[3][3];
        int first = 0;
        for (int c = 0; c < 3; c++) {
            for (int d = 0; d < 3; d++) /* zeros without a sign */
                x[c][d] = (float)(sign[d] * s->xyz[3 * (int64_t)s->tri[3 * t + c] + d]) + 0.0f;
            if (memcmp(x[c], x[first], sizeof x[c]) < 0) first = c;
        }
        const int is_turned = sign[0] * sign[1] * sign[2] < 0;
        for (int c = 0; c < 3; c++)
            memcpy(row + 9 * t + 3 * c, x[(first + (is_turned ? 3 - c : c)) % 3], sizeof x[0]);
    }
    qsort(row, (size_t)s->n_tri, 9 * sizeof *row, compare_rows);
    return row;
}

/* Any numbering, and any mirror image, gives the same triangles. */
static void test_numbering(void)
{
    static double (*const part[])(const double *) = {ball, ring, noise, lopsided, all};
    static const char *const name[] = {"ball", "ring", "noise", "lopsided part", "box"};
    static const int as_it_is[3] = {1, 1, 1};
    for (int i = 0; i < 5; i++)
        for (int k = 1; k < 8; k++) {
            /* mirror images of parts that are symmetric are not asked for */
            const int is_lopsided = part[i] == noise || part[i] == lopsided;
            const int m = is_lopsided ? k : 0;
            const int sign[3] = {m & 1 ? -1 : 1, m & 2 ? -1 : 1, m & 4 ? -1 : 1};
            hx_surface s[2];
            hx_surface_simplification r;
            for (int n = 0; n < 2; n++) {
                cut(&s[n], 16, part[i]);
                for (int64_t v = 0; n == 1 && v < 3 * s[n].n_vertex; v++)
                    s[n].xyz[v] *= sign[v % 3];
                if (n == 1) renumber(&s[n], (uint64_t)k, sign[0] * sign[1] * sign[2] < 0);
                CHECK_OK(hx_surface_simplify(&s[n], s[n].n_tri / (1 + k), 0, NULL, &r));
            }
            CHECK(s[0].n_tri == s[1].n_tri && s[0].n_vertex == s[1].n_vertex);
            float *const a = list_triangles(&s[0], as_it_is), *const b =
                                                                  list_triangles(&s[1], sign);
            int64_t n_other = 0;
            for (int64_t t = 0; s[0].n_tri == s[1].n_tri && t < s[0].n_tri; t++)
                n_other += compare_rows(a + 9 * t, b + 9 * t) != 0;
            CHECK_MSG(n_other == 0, "%s, numbering %d: %lld of %lld triangles differ", name[i], k,
                      (long long)n_other, (long long)s[0].n_tri);
            free(a);
            free(b);
            for (int n = 0; n < 2; n++) hx_surface_free(&s[n]);
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
    test_numbering();
    test_refused();
    TEST_END();
}
