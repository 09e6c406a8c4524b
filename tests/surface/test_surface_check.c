/* Faults of a surface are detected. */
#include "tests/lib/surface_case.h"

/* A box whose top is pushed through its bottom intersects itself; a box beside another does not. */
static void test_crossings(void)
{
    const fixture_box box = {{4, 4, 1}, {4.0, 4.0, 1.0}, 0.0, 0};
    part p;
    hx_surface_report r;
    make_box(&p, &box);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &r));
    CHECK(r.n_crossing == 0);
    for (int64_t v = 0; v < p.surface.n_vertex; v++) {
        double *x = p.surface.xyz + 3 * v;
        if (x[0] == 2.0 && x[1] == 2.0 && x[2] == 1.0) { /* a spike */
            x[0] = 2.3;
            x[1] = 2.4;
            x[2] = -0.5;
        }
    }
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &r));
    CHECK_MSG(r.n_crossing > 0 && r.n_crossing < 16, "%lld crossings", (long long)r.n_crossing);
    CHECK(r.is_closed_manifold);
    part_free(&p);
}

/* Open, non-manifold and degenerate surfaces are detected. */
static void test_check(void)
{
    const fixture_box box = {{2, 2, 2}, {2.0, 2.0, 2.0}, 0.0, 0};
    part p;
    hx_surface_report r;
    make_box(&p, &box);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
    p.surface.n_tri--;
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &r));
    CHECK(r.n_bad_edge == 3 && !r.is_closed_manifold);
    p.surface.n_tri++;
    const int32_t swap = p.surface.tri[0];
    p.surface.tri[0] = p.surface.tri[1];
    p.surface.tri[1] = swap;
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F64, &r));
    CHECK(r.n_bad_edge == 3);
    p.surface.tri[1] = p.surface.tri[0];
    p.surface.tri[0] = swap;
    for (int64_t i = 0; i < 3 * p.surface.n_vertex; i++) p.surface.xyz[i] += 3.0;
    for (int d = 0; d < 3; d++) { /* two vertices that coincide in single precision */
        const double *x = p.surface.xyz + 3 * p.surface.tri[1];
        p.surface.xyz[3 * p.surface.tri[0] + d] = x[d] + 1e-12;
    }
    CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F32, &r));
    CHECK(r.n_degenerate == 2 && !r.is_closed_manifold);
    part_free(&p);
}

int main(void)
{
    fixture_set_threads(1);
    test_check();
    test_crossings();
    TEST_END();
}
