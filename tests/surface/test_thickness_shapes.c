/* The least thickness of smooth solids of known shape, cut from cubes and tetrahedra, along the
 * axes and rotated: struts, webs, necks and border walls are members, wedges, feather edges and
 * rounded edges are not; a slot is a gap. */
#include "core/base/vec3.h"
#include "core/surface/surface_thickness.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/surface_case.h"

enum { NX = 26, NY = 18, NZ = 18 };

/* Distance from a solid, negative inside, at x relative to the middle of the box. */
typedef double (*shape)(const double x[3]);

static double box(const double x[3], double a, double b, double c)
{
    return fmax(fabs(x[0]) - a, fmax(fabs(x[1]) - b, fabs(x[2]) - c));
}

/* Two thick blocks, which reach beyond the mesh. */
static double blocks(const double x[3])
{
    return 6.0 - fabs(x[0]);
}

static double strut(const double x[3])
{
    return fmin(blocks(x), box(x, 30.0, 1.5, 1.5));
}

static double flat_strut(const double x[3])
{
    return fmin(blocks(x), box(x, 30.0, 1.25, 4.0));
}

static double web(const double x[3])
{
    return fmin(blocks(x), box(x, 30.0, 1.25, 30.0));
}

static double neck(const double x[3])
{
    const double ball = hypot(hypot(fabs(x[0]) - 7.0, x[1]), x[2]) - 6.0;
    const double waist = hypot(x[1], x[2]) - 2.0 - 0.1 * x[0] * x[0];
    return fmin(ball, fmax(waist, fabs(x[0]) - 6.0));
}

/* A dull edge of 30 degrees. */
static double wedge(const double x[3])
{
    const double slope = 0.26794919243112270; /* of 15 degrees */
    return fmax((fabs(x[1]) - slope * (x[0] + 9.0)) * 0.966, box(x, 30.0, 7.0, 30.0));
}

/* A plate of thickness 2.5 whose edge is a half-circle. */
static double rounded(const double x[3])
{
    const double off = fmin(0.0, x[0] + 6.0);
    return hypot(off, x[1]) - 1.25;
}

/* A block with a round hole that touches its lower face from above. */
static double feather(const double x[3])
{
    return fmax(fmax(-4.0 - x[1], x[1] - 7.0), 3.0 - hypot(x[0], x[1] + 1.0));
}

/* A wall along the lower face of the mesh, below a thick block on either side. */
static double border(const double x[3])
{
    return fmin(blocks(x), x[1] + 0.5 * NY - 2.5);
}

static double slot(const double x[3])
{
    return fmax(1.5 - fabs(x[0]), box(x, 10.0, 7.0, 7.0));
}

/* Turns about (1, 1, 1) by an angle. */
static void turn(const double x[3], double angle, double y[3])
{
    const double third = (x[0] + x[1] + x[2]) / 3.0, c = cos(angle), s = sin(angle) / sqrt(3.0);
    for (int d = 0; d < 3; d++) {
        const double across = x[(d + 2) % 3] - x[(d + 1) % 3];
        y[d] = third + c * (x[d] - third) + s * across;
    }
}

static void measure(mixed_kind kind, shape of, double angle, hx_thickness_of what,
                    hx_thickness *least)
{
    const mixed_box cells = {.kind = kind, .n = {NX, NY, NZ}};
    part p;
    memset(&p, 0, sizeof p);
    CHECK_OK(mixed_create(&p.mesh, &cells));
    CHECK_OK(fixture_finish(&p.mesh, FIXTURE_SHUFFLED));
    p.rho = malloc((size_t)p.mesh.n_elem * sizeof *p.rho);
    if (!p.rho) abort();
    for (int64_t e = 0; e < p.mesh.n_elem; e++) p.rho[e] = 1.0;
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
    for (int64_t a = 0; a < p.mesh.n_node; a++) {
        const double *const at = p.mesh.xyz + 3 * a;
        const double x[3] = {at[0] - 0.5 * NX, at[1] - 0.5 * NY, at[2] - 0.5 * NZ};
        double y[3];
        turn(x, angle, y);
        p.field.value[a] = fmin(1.0, fmax(0.0, 0.5 - 0.2 * of(y)));
    }
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
    CHECK_OK(hx_surface_thickness(&p.surface, what, least));
    part_free(&p);
}

/* low = high: that thickness; high = HUGE_VAL: nothing thinner than low. */
static const struct {
    const char *name;
    shape of;
    double low, high;
    int is_fixed; /* 1: only along the axes */
} shapes[] = {
    {"a strut", strut, 3.0, 3.0, 0},
    {"a flat strut", flat_strut, 2.5, 2.5, 0},
    {"a web", web, 2.5, 2.5, 0},
    {"a neck between balls", neck, 4.0, 4.0, 0},
    {"a wedge", wedge, 6.0, HUGE_VAL, 0},
    {"a plate with a rounded edge", rounded, 2.5, 2.5, 0},
    {"a feather edge", feather, 5.0, HUGE_VAL, 1},
    {"a wall at the border of the mesh", border, 2.5, 2.5, 1},
};

static void test_shapes(mixed_kind kind, double angle)
{
    static const double off = 0.06;
    hx_thickness least;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].is_fixed && angle != 0.0) continue;
        measure(kind, shapes[i].of, angle, HX_THICKNESS_OF_MEMBERS, &least);
        const double low = (1.0 - off) * shapes[i].low, high = (1.0 + off) * shapes[i].high;
        CHECK_MSG((least.value >= low && least.value <= high) ||
                      (isinf(high) && isnan(least.value)),
                  "%s, %s, turned by %g: %g at %g, %g, %g", shapes[i].name, mixed_name[kind], angle,
                  least.value, least.place[0], least.place[1], least.place[2]);
    }
    measure(kind, slot, angle, HX_THICKNESS_OF_GAPS, &least);
    CHECK_MSG(fabs(least.value - 3.0) < 3.0 * off, "a slot, %s, turned by %g: %g", mixed_name[kind],
              angle, least.value);
}

int main(void)
{
    static const double angle[] = {0.0, 0.35};
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
        test_shapes(MIXED_HEXAHEDRA, angle[i]);
        test_shapes(MIXED_TETRAHEDRA, angle[i]);
    }
    TEST_END();
}
