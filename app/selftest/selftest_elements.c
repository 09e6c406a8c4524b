/* Results known in closed form: constant strain on distorted meshes, bars, slabs, a beam. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "selftest_solve.h"

static const char *suffix(const hx_sample_spec *spec)
{
    return spec->element == HX_ELEMENT_QUADRATIC ? ", quadratic" : "";
}

/* Patch test: a linear field prescribed on the boundary is found inside. */
static int check_patch(hx_selftest *t, const hx_sample_spec *spec)
{
    const int is_heat = spec->physics == HX_PHYSICS_HEAT;
    double *u = NULL, error = NAN;
    hx_sample s;
    int rc;
    if (!hx_selftest_operator(t, is_heat ? 1 : 3, spec->element)) return HX_OK;
    hx_selftest_begin(t, "patch test, %s%s%s", hx_sample_name(spec->cells), is_heat ? ", heat" : "",
                      suffix(spec));
    HX_TRY_FAIL(hx_sample_create(&s, spec));
    HX_TRY_FAIL(hx_alloc(&u, (size_t)s.n, sizeof *u, "displacements"));
    const hx_selftest_solve_params params = {.tolerance = 1e-14};
    double num = 0.0, den = 0.0;
    HX_TRY_FAIL(hx_selftest_solve(t, &s, &params, u, NULL, NULL));
    for (int64_t i = 0; i < s.n; i++) {
        double exact[3];
        hx_sample_field(s.problem.space.xyz + 3 * (i / s.c), exact);
        const double is = u[i] + (s.c == 1 ? s.problem.reference : 0.0);
        hx_selftest_worst(&num, fabs(is - exact[i % s.c]));
        hx_selftest_worst(&den, fabs(exact[i % s.c]));
    }
    error = num / den;
fail:
    free(u);
    hx_sample_free(&s);
    return hx_selftest_end(t, rc, error, 1e-12, is_heat ? "constant flux" : "constant strain");
}

/* The compliance f'u of a load. */
static int compliance_of(hx_selftest *t, const hx_sample_spec *spec, double *compliance)
{
    const hx_selftest_solve_params params = {.tolerance = 1e-13};
    double *u = NULL;
    hx_sample s;
    int rc;
    HX_TRY_FAIL(hx_sample_create(&s, spec));
    HX_TRY_FAIL(hx_alloc(&u, (size_t)s.n, sizeof *u, "displacements"));
    HX_TRY_FAIL(hx_selftest_solve(t, &s, &params, u, compliance, NULL));
fail:
    free(u);
    hx_sample_free(&s);
    return rc;
}

/* A bar in tension, for heat a slab: E = k = 1, traction and flux 1: f'u = A L. */
static int check_bar(hx_selftest *t, const hx_sample_spec *spec)
{
    const int is_heat = spec->physics == HX_PHYSICS_HEAT;
    const double exact = spec->length[0] * spec->length[1] * spec->length[2];
    double found = NAN;
    if (!hx_selftest_operator(t, is_heat ? 1 : 3, spec->element)) return HX_OK;
    hx_selftest_begin(t, "%s, %s%s", is_heat ? "slab" : "bar", hx_sample_name(spec->cells),
                      suffix(spec));
    const int rc = compliance_of(t, spec, &found);
    return hx_selftest_end(t, rc, fabs(found / exact - 1.0), 1e-11,
                           is_heat ? "Q L / (k A)" : "F^2 L / (E A)");
}

/* A clamped beam with a shear force at its end: bending, and shear with the coefficient 5/6 of a
 * rectangle. Poisson's ratio is 0, so that the clamp only prevents warping; with that and the mesh,
 * hexahedra are 3e-4 off, tetrahedra 6e-4. */
static int check_beam(hx_selftest *t, const hx_sample_spec *spec)
{
    const double l = spec->length[0], b = spec->length[1], h = spec->length[2];
    const double inertia = b * h * h * h / 12.0, shear = 5.0 / 6.0 * b * h * 0.5, force = b * h;
    const double exact = force * force * (l * l * l / (3.0 * inertia) + l / shear);
    double found = NAN;
    if (!hx_selftest_operator(t, 3, spec->element)) return HX_OK;
    hx_selftest_begin(t, "beam, %s%s", hx_sample_name(spec->cells), suffix(spec));
    const int rc = compliance_of(t, spec, &found);
    return hx_selftest_end(t, rc, fabs(found / exact - 1.0), 1e-3, "Timoshenko");
}

int hx_selftest_elements(hx_selftest *t)
{
    for (int physics = 0; physics < HX_N_PHYSICS; physics++) /* a mesh is not a spline */
        for (int element = 0; element <= HX_ELEMENT_QUADRATIC; element++)
            for (int cells = HX_SAMPLE_HEXAHEDRA; cells <= HX_SAMPLE_MIXED; cells++) {
                hx_sample_spec spec = hx_sample_box((hx_sample_cells)cells, 3, 3, 4);
                spec.length[1] = 2.5;
                spec.element = (hx_element)element;
                spec.physics = (hx_physics)physics;
                spec.hold = HX_SAMPLE_HELD;
                HX_TRY(check_patch(t, &spec));
                if (cells != HX_SAMPLE_MIXED) continue;
                spec.hold = HX_SAMPLE_BAR;
                HX_TRY(check_bar(t, &spec));
            }
    for (int cells = HX_SAMPLE_HEXAHEDRA; cells <= HX_SAMPLE_TETRAHEDRA; cells++) {
        hx_sample_spec beam = hx_sample_box((hx_sample_cells)cells, 10, 1, 2);
        beam.length[2] = 1.0;
        beam.distort = 0.0;
        beam.element = HX_ELEMENT_QUADRATIC;
        beam.no_poisson = 1;
        HX_TRY(check_beam(t, &beam));
    }
    return HX_OK;
}
