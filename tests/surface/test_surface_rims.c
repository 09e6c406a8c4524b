/* Rims, where the free surface meets the faces of the part: measured on rims that are known, and
 * smoothed on 0/1 designs, within their faces, outside kept faces, with any numbering and number of
 * threads. */
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/surface_case.h"

enum { N = 10 }; /* cells along each axis of the box */

static const double pi = 3.14159265358979323846;

/* --- shapes; positive inside --- */

static double ball(const double *x)
{
    return 6.3 - hypot(hypot(x[0] - 5.2, x[1] - 4.8), x[2] - 5.1);
}

static double oblique(const double *x)
{
    return 6.1 - x[0] - 0.37 * (x[1] - 5.0) + 0.23 * (x[2] - 5.0);
}

/* A round column from face to face. */
static double column(const double *x)
{
    return 3.4 - hypot(x[0] - 4.9 - 0.3 * (x[2] - 5.0), x[1] - 5.1);
}

static double holes(const double *x)
{
    return fmin(hypot(x[0] - 3.1, x[2] - 3.2) - 2.1, hypot(x[0] - 7.2, x[2] - 7.1) - 1.7);
}

typedef double (*shape)(const double *x);
static const struct {
    const char *name;
    shape density;
} shapes[] = {{"ball", ball}, {"oblique cut", oblique}, {"column", column}, {"holes", holes}};
enum { N_SHAPE = sizeof shapes / sizeof shapes[0] };

/* 1 if the element at x is forced solid. */
typedef int (*chooser)(const double *x);

/* The 0/1 design of a shape, cut and smoothed; is_patch: elements that are forced solid. */
static void make_part(part *p, int kind, shape density, fixture_order order, chooser is_patch)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {N, N, N}, .distort = 0.0, .seed = 5};
    hx_surface_smoothing smoothing;
    uint8_t *solid = NULL;
    memset(p, 0, sizeof *p);
    CHECK_OK(mixed_create(&p->mesh, &box));
    CHECK_OK(fixture_finish(&p->mesh, order));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    solid = calloc((size_t)p->mesh.n_elem, 1);
    if (!p->rho || !solid) abort();
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p->mesh, e, x);
        p->rho[e] = density(x) > 0.0 ? 1.0 : 0.001;
        if (!is_patch || !is_patch(x)) continue;
        solid[e] = 1;
        for (int f = 0; f < 6; f++) solid[e] |= hx_surface_kept_face(f);
    }
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, is_patch ? solid : NULL));
    /* a high threshold puts the rim close to the nodes of the patch */
    CHECK_OK(hx_surface_extract(&p->surface, &p->field, is_patch ? 0.95 : 0.45));
    CHECK_OK(hx_surface_smooth(&p->surface, &p->field, HX_SURFACE_STEPS, &smoothing));
    free(solid);
}

/* --- the measure --- */

/* A cut through a box of hexahedra whose rims have teeth of this height at every second element. */
static void measure_teeth(double height, hx_surface_rims *rims)
{
    part p;
    const fixture_box box = {.n = {N, N, N}, .length = {N, N, N}};
    make_box(&p, &box);
    for (int64_t a = 0; a < p.mesh.n_node; a++) {
        const double *const x = p.mesh.xyz + 3 * a;
        const double size = p.mesh.box_max[0] / N;
        p.field.value[a] = 5.5 * size - x[0] + (llround(x[1] / size) % 2 ? height * size : 0.0);
    }
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
    CHECK_OK(hx_surface_measure_rims(&p.surface, &p.mesh, rims));
    CHECK_REL(rims->length, (2.0 * N + 2.0 * N * hypot(1.0, height)) * p.mesh.box_max[0] / N, 1e-9);
    part_free(&p);
}

static void test_measure(void)
{
    hx_surface_rims rims;
    measure_teeth(0.0, &rims);
    CHECK_MSG(rims.n_sample > 0 && rims.worst < 1e-6, "a straight rim turns back by %g",
              rims.worst);
    measure_teeth(0.3, &rims);
    const double angle = 2.0 * atan(0.3) * 180.0 / pi;
    CHECK_MSG(fabs(rims.worst - angle) < 2.0 && rims.high > 0.9 * angle,
              "teeth of %g degrees are measured as %g, 1 %% as %g", angle, rims.worst, rims.high);
}

/* --- smoothed --- */

/* Vertices of caps, and all others, are in the box, and every cap is in a face of it. */
static void check_box(const hx_surface *s, const char *what)
{
    for (int64_t t = 0; t < s->n_tri; t++) {
        int is_on = 0;
        for (int d = 0; d < 3; d++)
            for (int side = 0; side < 2; side++) {
                int n = 0;
                for (int k = 0; k < 3; k++)
                    n += fabs(s->xyz[3 * (int64_t)s->tri[3 * t + k] + d] - side * N) < 1e-12 * N;
                is_on |= n == 3;
            }
        CHECK_MSG(is_on || !s->is_cap[t], "%s: a cap left its face", what);
    }
    for (int64_t i = 0; i < 3 * s->n_vertex; i++)
        CHECK_MSG(s->xyz[i] >= -1e-12 * N && s->xyz[i] <= N * (1.0 + 1e-12),
                  "%s: a vertex at %.17g is outside the box", what, s->xyz[i]);
}

/* Rims of 0/1 designs turn back by less than if they are not smoothed, and by little. */
static void test_smoothed(int kind, double most, double *worst_before)
{
    for (int i = 0; i < N_SHAPE; i++) {
        hx_surface_rims rims[2];
        hx_surface_report before, after;
        char what[96];
        snprintf(what, sizeof what, "%s of %s", shapes[i].name, mixed_name[kind]);
        for (int k = 0; k < 2; k++) {
            part p;
            make_part(&p, kind, shapes[i].density, FIXTURE_SHUFFLED, NULL);
            CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &before));
            CHECK_OK(hx_surface_improve(&p.surface, &p.field, k ? HX_SURFACE_STEPS : 0, 0, NULL));
            CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &after));
            CHECK_OK(hx_surface_measure_rims(&p.surface, &p.mesh, &rims[k]));
            CHECK_MSG(after.is_closed_manifold && after.n_crossing == 0 &&
                          after.genus == before.genus && after.n_shell == before.n_shell,
                      "%s: another shape", what);
            CHECK_REL(after.volume, before.volume, 2e-6);
            CHECK_MSG(after.worst_quality > 0.1 && after.low_quality > 0.2,
                      "%s: quality %.3f, 1 %% below %.3f", what, after.worst_quality,
                      after.low_quality);
            check_box(&p.surface, what);
            part_free(&p);
        }
        test_worst(worst_before, rims[0].worst);
        CHECK_MSG(rims[1].worst < most, "%s: a rim turns back by %.1f degrees, before %.1f", what,
                  rims[1].worst, rims[0].worst);
        CHECK_MSG(rims[1].high <= rims[0].high,
                  "%s: 1 %% of the rims turn back by %.1f, before %.1f", what, rims[1].high,
                  rims[0].high);
    }
}

/* --- kept faces --- */

/* Elements of the top layer around its middle. */
static int is_in_patch(const double *x)
{
    return x[2] > N - 1.0 && fabs(x[0] - 5.0) < 2.0 && fabs(x[1] - 5.0) < 2.0;
}

/* A column whose rim on the top face comes close to the corners of the patch. */
static double below_patch(const double *x)
{
    return 2.6 - hypot(x[0] - 5.0, x[1] - 5.0);
}

/* 1 if a point of the top face is in a cap. */
static int is_covered(const hx_surface *s, double x, double y)
{
    for (int64_t t = 0; t < s->n_tri; t++) {
        int n_inside = 0;
        for (int k = 0; s->is_cap[t] && k < 3; k++) {
            const double *const p = s->xyz + 3 * (int64_t)s->tri[3 * t + k];
            const double *const q = s->xyz + 3 * (int64_t)s->tri[3 * t + (k + 1) % 3];
            const double side = (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
            n_inside += p[2] > N * (1.0 - 1e-12) && side >= -1e-9;
        }
        if (n_inside == 3) return 1;
    }
    return 0;
}

/* Faces that are kept, because they are loaded or held, stay in the part as a whole. */
static void test_kept(int kind)
{
    enum { N_POINT = 41 };
    static const double reach = 1.9; /* edits move a surface by a tenth of a triangle at most */
    part p;
    int64_t n_bare = 0;
    make_part(&p, kind, below_patch, FIXTURE_SHUFFLED, is_in_patch);
    CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, 0, NULL));
    for (int i = 0; i < N_POINT; i++)
        for (int k = 0; k < N_POINT; k++)
            n_bare += !is_covered(&p.surface, 5.0 + reach * (2.0 * i / (N_POINT - 1.0) - 1.0),
                                  5.0 + reach * (2.0 * k / (N_POINT - 1.0) - 1.0));
    CHECK_MSG(n_bare == 0, "%s: %lld points of a kept face are not in the part", mixed_name[kind],
              (long long)n_bare);
    part_free(&p);
}

int main(void)
{
    static const double most = 15.0;
    double worst_before = 0.0;
    test_measure();
    for (int kind = 0; kind < MIXED_N_KIND; kind++) test_smoothed(kind, most, &worst_before);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) test_kept(kind);
    CHECK_MSG(worst_before > 2.0 * most, "without smoothed rims they turn back by only %.1f",
              worst_before);
    TEST_END();
}
