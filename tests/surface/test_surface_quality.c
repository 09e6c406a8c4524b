/* Improved surfaces: no needles, the same shape and holes, caps in their planes, inside the mesh,
 * the same bits with any number of threads. */
#include "core/surface/surface_simplify.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/surface_case.h"
#include "tests/lib/tube.h"

enum { N = 10 }; /* box cells along each axis */

/* --- shapes; positive inside --- */

/* Cut by no face, and by three faces of the box. */
static double ball(const double *x)
{
    return 0.8 * N / 2 - sqrt((x[0] - 5.0) * (x[0] - 5.0) + (x[1] - 5.0) * (x[1] - 5.0) +
                              (x[2] - 5.0) * (x[2] - 5.0));
}

static double corner(const double *x)
{
    return 0.73 * N - sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Ends just inside a layer of cells, so that triangles along its faces are needles. */
static double slab(const double *x)
{
    return 6.97 - x[0] + 0.001 * x[1];
}

static double bar(const double *x)
{
    return 2.02 - hypot(x[1] - 3.0 - 0.31 * x[0], x[2] - 2.0 - 0.2 * x[0]);
}

static double gyroid(const double *x)
{
    const double k = 0.6;
    return sin(k * x[0]) * cos(k * x[1]) + sin(k * x[1]) * cos(k * x[2]) +
           sin(k * x[2]) * cos(k * x[0]) - 0.2;
}

typedef double (*shape)(const double *x);
static const struct {
    const char *name;
    shape density;
} shapes[] = {{"ball", ball}, {"corner", corner}, {"slab", slab}, {"bar", bar}, {"gyroid", gyroid}};
enum { N_SHAPE = sizeof shapes / sizeof shapes[0] };

static void make_part(part *p, int kind, double distort, shape density, fixture_order order)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {N, N, N}, .distort = distort, .seed = 5};
    memset(p, 0, sizeof *p);
    CHECK_OK(mixed_create(&p->mesh, &box));
    CHECK_OK(fixture_finish(&p->mesh, order));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    if (!p->rho) abort();
    for (int64_t e = 0; e < p->mesh.n_elem; e++) p->rho[e] = 1.0;
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, NULL));
    for (int64_t a = 0; a < p->mesh.n_node; a++) p->field.value[a] = density(p->mesh.xyz + 3 * a);
    CHECK_OK(hx_surface_extract(&p->surface, &p->field, 0.0));
}

/* 1 if all corners of a triangle lie on one face of the box. */
static int is_on_face(const hx_surface *s, int64_t t)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            int n = 0;
            for (int k = 0; k < 3; k++)
                n += fabs(s->xyz[3 * (int64_t)s->tri[3 * t + k] + d] - side * N) < 1e-12 * N;
            if (n == 3) return 1;
        }
    return 0;
}

static void check_box(const hx_surface *s, const char *what)
{
    int64_t n_off = 0;
    for (int64_t i = 0; i < 3 * s->n_vertex; i++)
        CHECK_MSG(s->xyz[i] >= -1e-12 * N && s->xyz[i] <= N * (1.0 + 1e-12),
                  "%s: a coordinate of %.17g is outside the box", what, s->xyz[i]);
    for (int64_t t = 0; t < s->n_tri; t++) n_off += s->is_cap[t] && !is_on_face(s, t);
    CHECK_MSG(n_off == 0, "%s: %lld caps left their faces", what, (long long)n_off);
}

static void check_same(const hx_surface_report *a, const hx_surface_report *b, const char *what)
{
    CHECK_MSG(b->is_closed_manifold, "%s is not closed", what);
    CHECK_MSG(a->n_shell == b->n_shell && a->n_cavity == b->n_cavity && a->genus == b->genus,
              "%s: %lld shells, %lld cavities, %lld holes; before %lld, %lld, %lld", what,
              (long long)b->n_shell, (long long)b->n_cavity, (long long)b->genus,
              (long long)a->n_shell, (long long)a->n_cavity, (long long)a->genus);
    CHECK_REL(b->volume, a->volume, 2e-6);
    CHECK_MSG(b->n_crossing <= a->n_crossing, "%s: %lld crossings, %lld before", what,
              (long long)b->n_crossing, (long long)a->n_crossing);
}

/* Every kind of cell, smoothed or not. */
static void test_shapes(int kind)
{
    for (int i = 0; i < N_SHAPE; i++)
        for (int smooth = 0; smooth < 2; smooth++) {
            part p;
            hx_surface_report before, after;
            hx_surface_smoothing smoothing;
            char what[96];
            make_part(&p, kind, i % 2 ? 0.1 : 0.0, shapes[i].density, FIXTURE_SHUFFLED);
            snprintf(what, sizeof what, "%s of %s%s", shapes[i].name, mixed_name[kind],
                     smooth ? ", smoothed" : "");
            if (smooth) CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
            CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &before));
            CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, 0, NULL));
            CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &after));
            check_same(&before, &after, what);
            check_box(&p.surface, what);
            CHECK_MSG(after.worst_quality > 0.1 && after.low_quality > 0.2,
                      "%s: quality %.3f, 1 %% below %.3f; before %.3f, %.3f", what,
                      after.worst_quality, after.low_quality, before.worst_quality,
                      before.low_quality);
            CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F32, &after));
            CHECK_MSG(after.is_closed_manifold, "%s is not closed in single precision", what);
            part_free(&p);
        }
}

static double random_value(const double *x)
{
    uint64_t state = 2166136261u;
    for (int d = 0; d < 3; d++) state = state * 16777619u + (uint64_t)llround(64.0 * x[d]);
    return fixture_uniform(&state, -1.0, 1.0);
}

/* Random values make thin walls and many places where triangles may intersect. */
static void test_random(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        part p;
        hx_surface_report before, after;
        make_part(&p, kind, 0.1, random_value, FIXTURE_SHUFFLED);
        CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &before));
        CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, 0, NULL));
        CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &after));
        check_same(&before, &after, "random values");
        check_box(&p.surface, "random values");
        CHECK_MSG(after.worst_quality >= before.worst_quality &&
                      after.low_quality > before.low_quality,
                  "random values: quality %.3f and %.3f, before %.3f and %.3f", after.worst_quality,
                  after.low_quality, before.worst_quality, before.low_quality);
        part_free(&p);
    }
}

/* Distance of a vertex from the tube's round faces: from the cylinders, or from the chords of the
 * mesh along them. */
static double off_tube(const tube *t, const double *x, int is_seated)
{
    const double step = t->arc / t->n[1], angle = atan2(x[1], x[0]) / step;
    const double chord = cos(0.5 * step) / cos((angle - floor(angle) - 0.5) * step);
    const double r = hypot(x[0], x[1]) / (is_seated ? 1.0 : chord);
    return fmin(fabs(r - t->inner), fabs(r - t->outer));
}

/* Split, no edge between two vertices of a cylinder is further from it than a chord may be, and the
 * surface is what it was otherwise. */
static void check_chords(hx_surface *s, const hx_surface_seat *seat)
{
    static const double chord = 0.001;
    hx_surface_report before, after;
    int64_t n_added, n_before = 0;
    double worst = 0.0;
    CHECK_OK(hx_surface_check(s, HX_SURFACE_F64, &before));
    CHECK_OK(hx_surface_limit_chords(s, 2, seat, 1.0, &n_added));
    CHECK(n_added == 0 && s->n_tri == before.n_tri);
    CHECK_OK(hx_surface_limit_chords(s, 2, seat, chord, &n_added));
    CHECK_OK(hx_surface_check(s, HX_SURFACE_F64, &after));
    CHECK(n_added > before.n_tri && after.is_closed_manifold && after.n_crossing == 0);
    CHECK(after.genus == before.genus && after.n_shell == before.n_shell);
    CHECK_MSG(after.worst_quality > 0.1 && after.low_quality > 0.2, "split: quality %.3f, %.3f",
              after.worst_quality, after.low_quality);
    for (int64_t c = 0; c < 3 * s->n_tri; c++) {
        const int64_t next = c % 3 == 2 ? c - 2 : c + 1;
        const double *const a = s->xyz + 3 * (int64_t)s->tri[c];
        const double *const b = s->xyz + 3 * (int64_t)s->tri[next];
        const double middle = hypot(0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]));
        for (int k = 0; s->is_cap[c / 3] && k < 2; k++) {
            const double r = seat[k].radius;
            if (fabs(hypot(a[0], a[1]) - r) > 1e-6 || fabs(hypot(b[0], b[1]) - r) > 1e-6) continue;
            if (middle < 0.9 * r) continue; /* through the end of the tube */
            test_worst(&worst, r - middle);
            n_before++;
        }
    }
    CHECK_MSG(worst <= chord && n_before > 1000, "a chord is %g off its cylinder, %lld edges",
              worst, (long long)n_before);
}

/* On a tube that is cut obliquely, vertices of caps stay on the faces of the mesh or, with the
 * tube's cylinders as seats, are on these. */
static void test_tube(int is_seated, double distort)
{
    const tube t = {.inner = 2.0,
                    .outer = 4.0,
                    .length = 6.0,
                    .arc = 2.0 * TUBE_PI,
                    .n = {4, 24, 10},
                    .distort = distort};
    const hx_surface_seat seat[2] = {{.axis = {0.0, 0.0, 1.0}, .radius = 2.0},
                                     {.axis = {0.0, 0.0, 1.0}, .radius = 4.0}};
    part p;
    hx_surface_report before, after;
    hx_surface_smoothing smoothing;
    int64_t n_round = 0;
    memset(&p, 0, sizeof p);
    CHECK_OK(tube_create(&p.mesh, &t));
    CHECK_OK(fixture_finish(&p.mesh, FIXTURE_SHUFFLED));
    p.rho = malloc((size_t)p.mesh.n_elem * sizeof *p.rho);
    if (!p.rho) abort();
    for (int64_t e = 0; e < p.mesh.n_elem; e++) p.rho[e] = 1.0;
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
    for (int64_t a = 0; a < p.mesh.n_node; a++) {
        const double *const x = p.mesh.xyz + 3 * a;
        p.field.value[a] = 2.9 + 0.4 * x[0] - x[2] + 0.1 * x[1];
    }
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &before));
    CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, is_seated ? 2 : 0, seat));
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &after));
    check_same(&before, &after, "tube");
    CHECK_MSG(after.worst_quality > 0.1 && after.low_quality > 0.2, "tube: quality %.3f, %.3f",
              after.worst_quality, after.low_quality);
    for (int64_t c = 0; c < 3 * p.surface.n_tri; c++) {
        if (!p.surface.is_cap[c / 3]) continue;
        const double *const x = p.surface.xyz + 3 * (int64_t)p.surface.tri[c];
        const double off = off_tube(&t, x, is_seated);
        const int is_end = fabs(x[2]) < 1e-12 || fabs(x[2] - t.length) < 1e-12;
        n_round += off < 1e-6;
        /* the middle of a curved face is on no chord */
        if (!is_seated && distort > 0.0) continue;
        CHECK_MSG(off < 1e-6 || is_end, "a vertex of a cap is %g off the tube%s", off,
                  is_seated ? "'s cylinders" : "");
    }
    if (is_seated) check_chords(&p.surface, seat);
    CHECK(n_round > 100 || (!is_seated && distort > 0.0));
    part_free(&p);
}

/* The number of threads changes no bit. */
static void test_threads(void)
{
    hx_surface s[2];
    for (int i = 0; i < 2; i++) {
        part p;
        fixture_set_threads(i == 0 ? 1 : 3);
        make_part(&p, MIXED_TETRAHEDRA, 0.1, gyroid, FIXTURE_SHUFFLED);
        CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, 0, NULL));
        s[i] = p.surface;
        memset(&p.surface, 0, sizeof p.surface);
        part_free(&p);
    }
    const size_t n_vertex = (size_t)s[0].n_vertex, n_tri = (size_t)s[0].n_tri;
    CHECK(s[0].n_vertex == s[1].n_vertex && s[0].n_tri == s[1].n_tri);
    if (s[0].n_vertex == s[1].n_vertex && s[0].n_tri == s[1].n_tri) {
        CHECK(memcmp(s[0].xyz, s[1].xyz, 3 * n_vertex * sizeof(double)) == 0);
        CHECK(memcmp(s[0].tri, s[1].tri, 3 * n_tri * sizeof(int32_t)) == 0);
    }
    for (int i = 0; i < 2; i++) hx_surface_free(&s[i]);
}

/* Largest distance of a vertex of a from the nearest one of b. */
static double distance_of_vertices(const hx_surface *a, const hx_surface *b)
{
    double worst = 0.0;
    for (int64_t i = 0; i < a->n_vertex; i++) {
        double nearest = HUGE_VAL;
        for (int64_t j = 0; j < b->n_vertex; j++) {
            double square = 0.0;
            for (int d = 0; d < 3; d++) {
                const double by = a->xyz[3 * i + d] - b->xyz[3 * j + d];
                square += by * by;
            }
            nearest = fmin(nearest, square);
        }
        test_worst(&worst, sqrt(nearest));
    }
    return worst;
}

/* The numbering of the mesh changes nothing but rounding. */
static void test_numbering(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int i = 0; i < N_SHAPE; i++) {
            static const fixture_order order[2] = {FIXTURE_IN_ORDER, FIXTURE_SHUFFLED};
            part p[2];
            for (int k = 0; k < 2; k++) {
                make_part(&p[k], kind, 0.1, shapes[i].density, order[k]);
                CHECK_OK(hx_surface_improve(&p[k].surface, &p[k].field, HX_SURFACE_STEPS, 0, NULL));
            }
            const double off = distance_of_vertices(&p[0].surface, &p[1].surface);
            CHECK_MSG(p[0].surface.n_vertex == p[1].surface.n_vertex && off < 1e-7,
                      "%s of %s: %lld and %lld vertices, off by %g", shapes[i].name,
                      mixed_name[kind], (long long)p[0].surface.n_vertex,
                      (long long)p[1].surface.n_vertex, off);
            for (int k = 0; k < 2; k++) part_free(&p[k]);
        }
}

/* Simplified surfaces have no needles either. */
static void test_simplified(void)
{
    static const double fraction[] = {0.7, 0.3, 0.1};
    for (int i = 0; i < N_SHAPE; i++)
        for (size_t k = 0; k < sizeof fraction / sizeof fraction[0]; k++) {
            part p;
            hx_surface_report r;
            hx_surface_simplification fewer;
            make_part(&p, MIXED_HEXAHEDRA, 0.1, shapes[i].density, FIXTURE_SHUFFLED);
            CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, 0, NULL));
            const int64_t n = (int64_t)(fraction[k] * (double)p.surface.n_tri);
            CHECK_OK(hx_surface_simplify(&p.surface, n, 0, NULL, &fewer));
            CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &r));
            CHECK_MSG(r.worst_quality > 0.1 && r.low_quality > 0.2 && r.n_tri <= n,
                      "%s with %lld of %lld triangles: quality %.3f, 1 %% below %.3f",
                      shapes[i].name, (long long)r.n_tri, (long long)n, r.worst_quality,
                      r.low_quality);
            part_free(&p);
        }
}

int main(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) test_shapes(kind);
    test_random();
    for (int i = 0; i < 4; i++) test_tube(i % 2, i < 2 ? 0.0 : 0.2);
    test_threads();
    test_numbering();
    test_simplified();
    TEST_END();
}
