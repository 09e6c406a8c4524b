/* Lame's cylinder as a spline with exact circles: the energy error decreases with the power 2p of
 * the span size. */
#include "core/spline/spline_refine.h"
#include "tests/lib/spline_model.h"

#define HEIGHT 0.5

static hx_device device;

/* A quarter ring with radii 1 and 2, directions radial, around and z, with degrees 1, 2, 1. */
static int make_ring(spline_model *s, int degree, int n_span)
{
    static const double around[3][2] = {{1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}};
    const int own[3] = {1, 2, 1}, one[3] = {1, 1, 1}, none[3] = {0, 0, 0};
    const int part[3] = {n_span, n_span, 1};
    memset(s, 0, sizeof *s);
    if (box_row(&s->spline, 1, own, one, none) < 0) return HX_EINTERNAL;
    hx_spline_patch *const p = &s->spline.patch[0];
    HX_TRY(hx_alloc(&p->weight, 12, sizeof *p->weight, "weights"));
    for (int i = 0; i < 12; i++) {
        const int k = i / 2 % 3;
        for (int d = 0; d < 2; d++) p->point[3 * i + d] = (1.0 + i % 2) * around[k][d];
        p->point[3 * i + 2] = HEIGHT * (i / 6);
        p->weight[i] = k == 1 ? sqrt(0.5) : 1.0;
    }
    HX_TRY(hx_spline_refine(&s->spline, degree, 3, part));
    return spline_model_finish(s);
}

/* The missing compliance for an inner pressure of 1, plane strain, E = 1, nu = 0.3. */
static double error_of(int degree, int n_span)
{
    const hx_support_spec support[] = {{.set = "patch1:v-", .origin = "test", .fix = HX_FIX_Y},
                                       {.set = "patch1:v+", .origin = "test", .fix = HX_FIX_X},
                                       {.set = "patch1:w-", .origin = "test", .fix = HX_FIX_Z},
                                       {.set = "patch1:w+", .origin = "test", .fix = HX_FIX_Z}};
    const hx_load_spec load = {.set = "patch1:u-",
                               .origin = "test",
                               .kind = HX_LOAD_PRESSURE,
                               .value = {1.0, 0.0, 0.0},
                               .load_case = 1};
    /* displacement of the inner radius */
    const double displacement = 1.3 / 3.0 * ((1.0 - 0.6) * 1.0 + 4.0);
    const double exact = displacement * 0.5 * 3.14159265358979323846 * HEIGHT;
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    spline_model s;
    hx_problem problem;
    fixture_solver solver;
    double compliance = NAN;
    CHECK_OK(make_ring(&s, degree, n_span));
    params.space = &s.space;
    params.support = support;
    params.n_support = 4;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, &s.mesh, &params));
    settings.op_kind = hx_operator_kind_find("cpu", "bsr");
    settings.layout = hx_layout_first(settings.op_kind);
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(fixture_solver_create(&solver, &device, &problem, &settings));
    CHECK_OK(hx_analysis_solve_density(&solver.analysis, NULL, 1.0));
    CHECK_OK(hx_analysis_compliance(&solver.analysis, &compliance));
    const double error = 1.0 - compliance / exact;
    printf("degree %d, %2d x %2d spans: the energy lacks %.3e\n", degree, n_span, n_span, error);
    fixture_solver_free(&solver);
    hx_problem_free(&problem);
    spline_model_free(&s);
    return error;
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1); /* few cells: more threads would only wait */
    for (int degree = 2; degree <= 4; degree++) {
        const int n = degree == 4 ? 2 : 4;
        const double coarse = error_of(degree, n), fine = error_of(degree, 2 * n);
        const double order = log2(fabs(coarse / fine));
        printf("degree %d: order %.2f\n", degree, order);
        /* preasymptotic: with few spans of a high degree the order is below 2p */
        CHECK_MSG(order > 2.0 * degree - (degree == 4 ? 1.1 : 0.4), "%.3g", order);
        CHECK(fabs(fine) < pow(10.0, -degree - 1));
    }
    hx_device_close(&device);
    TEST_END();
}
