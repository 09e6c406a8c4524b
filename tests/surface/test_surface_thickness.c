/* The least thickness of members: of bars and walls in 0/1 designs and in smooth surfaces, not of
 * bumps, spurs, corners and rims. */
#include "core/surface/surface_members.h"
#include "core/surface/surface_thickness.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/surface_case.h"

enum { NX = 20, NY = 12, NZ = 12, FROM = 6, TO = 14 };

/* --- 0/1 designs --- */

typedef int (*between)(int i, int j, int k);

static int is_bar(int j, int k, int n)
{
    return j >= 5 && j < 5 + n && k >= 5 && k < 5 + n;
}

static int thin(int i, int j, int k)
{
    return i >= FROM && i < TO && is_bar(j, k, 1);
}

static int thick(int i, int j, int k)
{
    return i >= FROM && i < TO && is_bar(j, k, 2);
}

/* Bumps on the end of a block, and a spur of two cells. */
static int bumps(int i, int j, int k)
{
    return thick(i, j, k) || (i == FROM && j == 2 && k == 2) || (i == TO - 1 && j == 9 && k == 2) ||
           (i <= FROM + 1 && i >= FROM && j == 9 && k == 9);
}

/* A wall that is one cell thick, and a thicker bar. */
static int wall(int i, int j, int k)
{
    (void)k;
    return (i >= FROM && i < TO && j == 2) || thick(i, j, k);
}

/* A bar of two cells with a neck of one. */
static int neck(int i, int j, int k)
{
    return i == 9 ? is_bar(j, k, 1) : thick(i, j, k);
}

static void test_elements(int kind, between has, double expected, double x, double reach)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {NX, NY, NZ}};
    hx_mesh mesh;
    hx_surface surface;
    hx_thickness least;
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    uint8_t *const solid = malloc((size_t)mesh.n_elem);
    if (!solid) abort();
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        double c[3];
        hx_mesh_centroid(&mesh, e, c);
        const int i = (int)c[0], j = (int)c[1], k = (int)c[2];
        const int is_block = (i < FROM || i >= TO) && j > 0 && j < NY - 1 && k > 0 && k < NZ - 1;
        solid[e] = (uint8_t)(is_block || has(i, j, k));
    }
    CHECK_OK(hx_surface_of_elements(&mesh, solid, NULL, &surface));
    CHECK_OK(hx_surface_thickness(&surface, HX_THICKNESS_OF_MEMBERS, &least));
    CHECK_MSG(fabs(least.value - expected) < 1e-6, "%s: %g instead of %g, at %g, %g, %g",
              mixed_name[kind], least.value, expected, least.place[0], least.place[1],
              least.place[2]);
    CHECK_MSG(fabs(least.place[0] - x) <= reach, "%s: at x = %g", mixed_name[kind], least.place[0]);
    hx_surface_free(&surface);
    hx_mesh_free(&mesh);
    free(solid);
}

/* --- surfaces of revolution --- */

enum { AROUND = 48, ALONG = 80 };

/* Radius at a place from 0 to 1. */
typedef double (*profile)(double at);

static double dumbbell(double at)
{
    const double off = at - 0.5;
    return 0.5 + 10.0 * off * off;
}

static double ball(double at)
{
    return 10.0 * sqrt(fmax(0.0, at * (1.0 - at)));
}

static double cone(double at)
{
    return 6.0 * (1.0 - at);
}

/* Length 20 along x, with a point at each end. */
static void make_round(hx_surface *s, profile radius)
{
    memset(s, 0, sizeof *s);
    s->n_vertex = AROUND * (ALONG - 1) + 2;
    s->xyz = malloc((size_t)s->n_vertex * 3 * sizeof *s->xyz);
    s->tri = malloc((size_t)2 * AROUND * ALONG * 3 * sizeof *s->tri);
    if (!s->xyz || !s->tri) abort();
    for (int i = 1; i < ALONG; i++)
        for (int k = 0; k < AROUND; k++) {
            const double at = (double)i / ALONG, angle = 2.0 * 3.14159265358979323846 * k / AROUND;
            double *const x = s->xyz + 3 * ((i - 1) * AROUND + k);
            x[0] = 20.0 * at;
            x[1] = radius(at) * cos(angle);
            x[2] = radius(at) * sin(angle);
        }
    const int32_t last = (int32_t)s->n_vertex - 1;
    for (int d = 0; d < 3; d++) {
        s->xyz[3 * (last - 1) + d] = 0.0;
        s->xyz[3 * last + d] = d == 0 ? 20.0 : 0.0;
    }
    for (int i = 0; i < ALONG; i++)
        for (int k = 0; k < AROUND; k++) {
            const int next = (k + 1) % AROUND;
            const int32_t a = i == 0 ? last - 1 : (i - 1) * AROUND + k,
                          b = i == 0 ? last - 1 : (i - 1) * AROUND + next,
                          c = i == ALONG - 1 ? last : i * AROUND + next,
                          d = i == ALONG - 1 ? last : i * AROUND + k;
            int32_t *t = s->tri + 3 * s->n_tri;
            if (i > 0) {
                t[0] = a, t[1] = b, t[2] = c;
                s->n_tri++;
                t += 3;
            }
            if (i == ALONG - 1) continue;
            t[0] = a, t[1] = c, t[2] = d;
            s->n_tri++;
        }
}

static void test_round(profile radius, double expected)
{
    hx_surface s;
    hx_thickness least;
    make_round(&s, radius);
    /* the triangles face outwards */
    double volume = 0.0;
    for (int64_t t = 0; t < s.n_tri; t++) {
        const double *const a = s.xyz + 3 * (int64_t)s.tri[3 * t],
                            *const b = s.xyz + 3 * (int64_t)s.tri[3 * t + 1],
                            *const c = s.xyz + 3 * (int64_t)s.tri[3 * t + 2];
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0])) /
                  6.0;
    }
    CHECK_MSG(volume > 0.0, "the volume is %g", volume);
    CHECK_OK(hx_surface_thickness(&s, HX_THICKNESS_OF_MEMBERS, &least));
    if (isnan(expected))
        CHECK_MSG(isnan(least.value), "%g at x = %g", least.value, least.place[0]);
    else
        CHECK_REL(least.value, expected, 0.01);
    if (!isnan(expected)) CHECK_MSG(fabs(least.place[0] - 10.0) < 0.6, "x = %g", least.place[0]);
    hx_surface_free(&s);
}

static void test_nothing(void)
{
    hx_surface s = {0};
    hx_thickness least;
    CHECK_OK(hx_surface_thickness(&s, HX_THICKNESS_OF_MEMBERS, &least));
    CHECK(isnan(least.value));
}

int main(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        test_elements(kind, thin, 1.0, 10.0, 4.0);
        test_elements(kind, thick, 2.0, 10.0, 4.0);
        test_elements(kind, bumps, 2.0, 10.0, 4.0);
        test_elements(kind, wall, 1.0, 10.0, 4.0);
        test_elements(kind, neck, 1.0, 9.5, 0.5);
    }
    test_round(dumbbell, 1.0);
    test_round(ball, (double)NAN);
    test_round(cone, (double)NAN);
    test_nothing();
    TEST_END();
}
