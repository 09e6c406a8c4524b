/* Mixed precision: the guarantees of double precision, when it falls back, and when it is refused.
 *
 *     test_pcg_mixed [cpu | cuda] [quick]
 *
 * `quick`, for sanitizers, does not limit the iterations with the device's own products at a
 * contrast of 1e9, because they depend on the rounding of a build: otf took 996 and 1295, where
 * 1288 are allowed. */
#include "tests/lib/pcg_promises.h"

/* The next operator kind of the device with a product in single precision; the wrapper comes
 * first. */
static const hx_operator_kind *next_single(size_t *next, int *layout, hx_layout *found)
{
    const hx_operator_kind *op_kind;
    *found = HX_LAYOUT_INTERLEAVED;
    if (*next == 0 && *layout == 0) {
        *layout = HX_N_LAYOUT + 1; /* wrapper done; the device's own kinds follow */
        return &wrapper_single;
    }
    if (*next == 0 && *layout == HX_N_LAYOUT + 1) *layout = 0;
    while ((op_kind = fixture_next_operator_kind(&device, next, layout, found)))
        if (op_kind->apply_single) break;
    return op_kind;
}

/* Mixed precision gives the guarantees of double precision, with moderately more iterations. */
static void check_mixed(model *m, const char *label)
{
    fixture_settings settings = fixture_defaults(), in_double = settings;
    const hx_precond_kind *precond;
    size_t next = 0;
    int layout = 0;
    settings.pcg.precision = HX_PRECISION_MIXED;
    while ((settings.op_kind = next_single(&next, &layout, &settings.layout))) {
        check_criteria(m, &settings, label);
        size_t i = 0;
        while ((precond =
                    fixture_next_precond(&device, settings.op_kind, settings.pcg.precision, &i))) {
            settings.precond = in_double.precond = precond->name;
            const int n_double = solve(m, &in_double, NULL).iterations;
            const hx_pcg_result result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10,
                      "%s, %s mixed, %s: %s, off by %.3g", label, settings.op_kind->name,
                      precond->name, hx_pcg_reason_name(result.reason), error_of(m));
            CHECK_MSG(result.iterations <= 2 * n_double, "%s, %s mixed: %d, in double %d", label,
                      settings.op_kind->name, result.iterations, n_double);
            printf("%s, %s, %s: mixed %d iterations, %d replacements%s; double %d\n", label,
                   settings.op_kind->name, precond->name, result.iterations, result.replacements,
                   result.fell_back ? ", fell back" : "", n_double);
            for (int k = 0; k < N_DOF; k++)
                if (is_fixed(m, k))
                    CHECK(
                        m->u[k] ==
                        (m->problem.supports.prescribed ? m->problem.supports.prescribed[k] : 0.0));
        }
        settings.precond = in_double.precond = "jacobi";
        const int n_double = check_contrast(m, &in_double);
        const int n_mixed = check_contrast(m, &settings);
        const int is_held = !is_quick || settings.op_kind == &wrapper_single;
        CHECK_MSG(!is_held || n_mixed <= 4 * n_double, "%d iterations for %d", n_mixed, n_double);
        check_reasons(m, &settings);
    }
}

/* With a wrong product in single precision, and with a tolerance that no true residual reaches, the
 * solve finishes in double precision as if that had been requested. */
static void check_fall_back(model *m)
{
    fixture_settings settings = fixture_defaults();
    for (int i = 0; i < 2; i++) {
        settings.op_kind = i == 0 ? &wrapper_wrong : &wrapper_single;
        settings.pcg.tolerance = i == 0 ? 1e-10 : 1e-18;
        settings.pcg.precision = HX_PRECISION_MIXED;
        const hx_pcg_result result = solve(m, &settings, NULL);
        CHECK_MSG(result.reason == HX_PCG_CONVERGED && result.fell_back == 1, "%s, fell back: %d",
                  hx_pcg_reason_name(result.reason), result.fell_back);
        CHECK_MSG(error_of(m) <= 1e-9, "off by %g", error_of(m));
        printf("fall-back %d: %d iterations, %d replacements\n", i, result.iterations,
               result.replacements);
        /* How long single precision makes progress depends on rounding: only a reproducible
         * operator needs the same number of iterations a second time. */
        settings.pcg.max_iterations =
            repeats(&settings) ? result.iterations - 1 : result.iterations / 2;
        CHECK(solve(m, &settings, NULL).reason == HX_PCG_MAX_ITER);
        settings.pcg.max_iterations = fixture_defaults().pcg.max_iterations;
    }
}

/* Mixed precision is refused if it is not supported. */
static void check_refusal(model *m)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    settings.pcg.precision = HX_PRECISION_MIXED;
    settings.op_kind = &wrapper_dot;
    CHECK(fixture_solver_create(&s, &device, &m->problem, &settings) == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), "'dot'") != NULL, "%s", hx_error_message());
    const hx_precond_kind kind = {.name = "other", .apply = hx_precond_find("none")->apply};
    CHECK(hx_pcg_check_precision(HX_PRECISION_MIXED, &wrapper_single, &kind) == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), "'other'") != NULL, "%s", hx_error_message());
    CHECK_OK(hx_pcg_check_precision(HX_PRECISION_DOUBLE, &wrapper_dot, &kind));
    CHECK_OK(hx_pcg_check_precision(HX_PRECISION_MIXED, &wrapper_single, hx_precond_find("none")));
    hx_error_clear();
}

int main(int argc, char **argv)
{
    static model m;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    is_quick = argc > 2 && strcmp(argv[2], "quick") == 0;
    CHECK_OK(make_model(&m, 0));
    check_mixed(&m, "loads");
    check_fall_back(&m);
    check_refusal(&m);
    free_model(&m);
    CHECK_OK(make_model(&m, 1));
    check_mixed(&m, "prescribed displacements");
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
