/* Guarantees of a solve in either precision: its stopping criteria, its reasons, high contrast. */
#ifndef PCG_PROMISES_H
#define PCG_PROMISES_H

#include "dense_model.h"

/* 1 if a repeated solve gives bitwise equal results. This does not hold with atomic sums, which add
 * in any order (ebe on a GPU); operators that wrap others use the device's ebe. */
static inline int repeats(const fixture_settings *settings)
{
    const hx_operator_kind *const ebe = hx_operator_kind_find(device.ops->name, "ebe");
    const hx_operator_kind *const op_kind = settings->op_kind ? settings->op_kind : ebe;
    return op_kind->setup == wrapper_setup ? ebe->deterministic : op_kind->deterministic;
}

/* Fewer solves of the same kinds, under tools that make them hundreds of times slower. */
static int is_quick;

/* Largest difference in iterations between two solves with different rounding. */
enum { APART = 2 };

/* Repeats the solve with one iteration less than it took: it must end there without convergence.
 * Returns its residual. In mixed precision, a true residual may have met the tolerance before it
 * was computed; if solves are not reproducible bit by bit, this one may have converged. */
static inline void check_one_less(model *m, const fixture_settings *base, int needed,
                                  const char *label)
{
    fixture_settings settings = *base;
    const int mixed = base->pcg.precision == HX_PRECISION_MIXED, repeated = repeats(base);
    const double rounding = mixed ? 1e-5 : 1e-4, slack = repeated ? 0.0 : rounding;
    const double tolerance = base->pcg.tolerance;
    double rz;
    settings.pcg.max_iterations = needed - 1;
    const hx_pcg_result result = solve(m, &settings, NULL);
    const double off = residual_of(m, strcmp(base->precond, "block-jacobi") == 0, &rz);
    const double rr = off / load_norm(m);
    const double tested = base->pcg.criterion == HX_PCG_RELATIVE ? rr : rz;
    CHECK_MSG(fabs(result.residual - rr) <= rounding * result.residual + 1e-13, "%s: %g, true %g",
              label, result.residual, rr);
    if (result.reason == HX_PCG_CONVERGED) {
        CHECK_MSG(mixed || !repeated, "%s: %d iterations, then %d", label, needed,
                  result.iterations);
        CHECK_MSG(mixed || result.iterations >= needed - APART, "%s: %d iterations, then %d", label,
                  needed, result.iterations);
        CHECK(result.iterations <= needed - 1);
        CHECK_MSG(tested <= tolerance * (1.0 + rounding), "%s: %.6g over %g", label, tested,
                  tolerance);
    } else {
        CHECK_MSG(result.reason == HX_PCG_MAX_ITER && result.iterations == needed - 1,
                  "%s: %s after %d of %d", label, hx_pcg_reason_name(result.reason),
                  result.iterations, needed - 1);
        CHECK_MSG(tested > tolerance * (1.0 - slack), "%s: %.6g, not done at %g", label, tested,
                  tolerance);
    }
}

/* Both stopping criteria hold for the true residual; in double precision they do not hold one
 * iteration earlier. */
static inline void check_criteria(model *m, const fixture_settings *base, const char *label)
{
    static const double tolerance[] = {1e-2, 1e-5, 1e-10};
    const double norm = load_norm(m);
    const int mixed = base->pcg.precision == HX_PRECISION_MIXED;
    const int blocks = strcmp(base->precond, "block-jacobi") == 0;
    /* mixed: error of a true residual in single precision */
    const double rounding = mixed ? 1e-5 : 1e-4;
    double rz;
    for (int criterion = HX_PCG_RELATIVE; criterion <= HX_PCG_ABSOLUTE; criterion++)
        for (int i = is_quick ? 1 : 0; i < (is_quick ? 2 : 3); i++) {
            fixture_settings settings = *base;
            settings.pcg.criterion = (hx_pcg_criterion)criterion;
            settings.pcg.tolerance = tolerance[i];
            const hx_pcg_result result = solve(m, &settings, NULL);
            const double rr = residual_of(m, blocks, &rz);
            const double tested = criterion == HX_PCG_RELATIVE ? rr / norm : rz;
            CHECK(result.reason == HX_PCG_CONVERGED);
            CHECK(result.fell_back == 0 && (result.replacements > 0) == mixed);
            CHECK_MSG(tested <= tolerance[i] * (1.0 + rounding), "%s: criterion %d: %.6g over %g",
                      label, criterion, tested, tolerance[i]);
            CHECK_MSG(fabs(result.residual - rr / norm) <= rounding * result.residual + 1e-13,
                      "%s: %g, true %g", label, result.residual, rr / norm);
            check_one_less(m, &settings, result.iterations, label);
        }
}

static inline void check_reasons(model *m, const fixture_settings *base)
{
    fixture_settings settings = *base;
    const int mixed = base->pcg.precision == HX_PRECISION_MIXED;
    const double *up = m->problem.supports.prescribed;
    const size_t bytes = N_DOF * sizeof(double);
    const hx_operator_kind *const op_kind =
        base->op_kind ? base->op_kind : hx_operator_kind_find(device.ops->name, "ebe");
    const hx_precond_kind *kind;
    hx_pcg_result result;
    for (int absolute = 0; absolute < (is_quick ? 1 : 2); absolute++)
        for (size_t i = 0;
             (kind = fixture_next_precond(&device, op_kind, base->pcg.precision, &i));) {
            settings.precond = kind->name;
            settings.pcg.criterion = absolute ? HX_PCG_ABSOLUTE : HX_PCG_RELATIVE;
            for (int64_t e = 0; e < m->mesh.n_elem; e++) m->modulus[e] = -1.0;
            result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_INDEFINITE, "%s, %s", kind->name,
                      hx_pcg_reason_name(result.reason));
            for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == (up ? up[k] : 0.0));

            m->modulus[7] = NAN;
            result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_NAN, "%s", hx_pcg_reason_name(result.reason));
            for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == (up ? up[k] : 0.0));
            set_modulus(m, 10.0, 3);

            double f[N_DOF];
            memcpy(f, m->f, sizeof f);
            for (int k = 0; k < N_DOF; k++)
                if (!is_fixed(m, k)) f[k] = k % 2 ? NAN : INFINITY;
            CHECK_OK(device.ops->upload(&device, m->d_f, f, bytes));
            result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_NAN, "%s", hx_pcg_reason_name(result.reason));
            CHECK_OK(device.ops->upload(&device, m->d_f, m->f, bytes));
        }
    /* p'Kp overflows */
    double huge[N_DOF];
    for (int k = 0; k < N_DOF; k++) huge[k] = 1e9 * m->f[k];
    for (int64_t e = 0; e < m->mesh.n_elem; e++) m->modulus[e] = 1e303;
    CHECK_OK(device.ops->upload(&device, m->d_f, huge, bytes));
    settings.precond = "none";
    result = solve(m, &settings, NULL);
    CHECK_MSG(result.reason == HX_PCG_NAN, "%s", hx_pcg_reason_name(result.reason));
    for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == (up ? up[k] : 0.0));
    CHECK_OK(device.ops->upload(&device, m->d_f, m->f, bytes));
    set_modulus(m, 10.0, 3);

    settings = *base;
    settings.pcg.max_iterations = 0;
    result = solve(m, &settings, NULL);
    CHECK(result.reason == HX_PCG_MAX_ITER && result.iterations == 0);
    CHECK_REL(result.residual, 1.0, mixed ? 1e-6 : 1e-12);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_CONVERGED), "converged") == 0);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_MAX_ITER), "max_iterations") == 0);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_INDEFINITE), "indefinite") == 0);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_NAN), "nan") == 0);
}

/* Stiffness over nine decades: the stopping rule still holds for the true residual, and the
 * compliance is that of the dense solution. Returns the iterations. */
static inline int check_contrast(model *m, const fixture_settings *base)
{
    fixture_settings settings = *base;
    double compliance = 0.0, exact = 0.0, rz;
    set_modulus(m, 1e9, 8);
    settings.pcg.tolerance = 1e-9;
    const hx_pcg_result result = solve(m, &settings, NULL);
    const double residual = residual_of(m, 0, &rz) / load_norm(m);
    for (int k = 0; k < N_DOF; k++) {
        compliance += m->f[k] * m->u[k];
        exact += m->f[k] * m->exact[k];
    }
    printf("contrast 1e9, %s: %d iterations, %d replacements, true residual %.2e, compliance off "
           "by %.1e\n",
           hx_precision_name(settings.pcg.precision), result.iterations, result.replacements,
           residual, fabs(compliance / exact - 1.0));
    CHECK(result.reason == HX_PCG_CONVERGED && result.fell_back == 0);
    CHECK_MSG(residual <= (base->pcg.precision == HX_PRECISION_MIXED ? 1.00001e-9 : 2e-9), "%g",
              residual);
    CHECK_REL(compliance, exact, 1e-6);
    set_modulus(m, 10.0, 3);
    return result.iterations;
}

#endif
