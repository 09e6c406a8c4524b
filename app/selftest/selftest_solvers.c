/* Every preconditioner: the solution agrees with the reference. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "selftest_solve.h"

const hx_precond_kind *hx_selftest_precond(const hx_selftest *t, const char *name)
{
    for (size_t i = 0; t->parts.preconds[i]; i++)
        if (strcmp(t->parts.preconds[i]->name, name) == 0) return t->parts.preconds[i];
    return NULL;
}

hx_solver_params hx_selftest_solver_params(const hx_selftest *t, const hx_operator_kind *op_kind,
                                           const hx_precond_kind *precond, double tolerance)
{
    hx_solver_params params = {.op_kind = op_kind, .precond = precond, .tolerance = tolerance};
    params.choose.op_kinds = t->parts.op_kinds;
    params.choose.preconds = t->parts.preconds;
    params.choose.layout = hx_layout_first(op_kind);
    params.max_iterations = 20000;
    return params;
}

static int solve_analysis(hx_analysis *analysis, const hx_selftest_solve_params *params, double *u,
                          double *compliance, int *iterations)
{
    double c;
    const double penalty = params->penalty > 0.0 ? params->penalty : 1.0;
    HX_TRY(hx_analysis_solve_density(analysis, params->density, penalty));
    if (iterations) *iterations = analysis->record.pcg_iterations;
    if (analysis->record.reason != HX_PCG_CONVERGED)
        return HX_RAISE(HX_ENUMERIC, "PCG: %s after %d %s",
                        hx_pcg_reason_name(analysis->record.reason),
                        analysis->record.pcg_iterations,
                        hx_noun(analysis->record.pcg_iterations, "iteration", "iterations"));
    HX_TRY(hx_analysis_compliance(analysis, &c));
    if (compliance) *compliance = c;
    return hx_analysis_point_displacement(analysis, 0, u);
}

int hx_selftest_solve(hx_selftest *t, const hx_sample *s, const hx_selftest_solve_params *params,
                      double *u, double *compliance, int *iterations)
{
    const hx_operator_kind *const op_kind =
        params->op_kind ? params->op_kind : hx_selftest_operator(t, s->c, s->spec.element);
    const hx_precond_kind *const precond =
        params->precond ? params->precond : hx_selftest_precond(t, "jacobi");
    hx_analysis analysis = {0};
    if (!op_kind) return HX_RAISE(HX_EINPUT, "the device has no operator for it");
    hx_solver_params how = hx_selftest_solver_params(t, op_kind, precond, params->tolerance);
    how.choose.precision = params->precision;
    HX_TRY(hx_analysis_open(&analysis, &t->device, &s->problem, &how));
    const int rc = solve_analysis(&analysis, params, u, compliance, iterations);
    hx_analysis_free(&analysis);
    return rc;
}

static int check_precond(hx_selftest *t, const hx_sample *s, const double *expected, double *u,
                         const hx_precond_kind *kind, hx_precision precision)
{
    const int mixed = precision == HX_PRECISION_MIXED;
    const hx_selftest_solve_params params = {.precond = kind,
                                             .precision = precision,
                                             .tolerance = 1e-10,
                                             .density = s->density,
                                             .penalty = 1.0};
    int iterations = 0;
    hx_selftest_begin(t, "%s%s, %s%s%s", kind->name, mixed ? ", mixed precision" : "",
                      hx_sample_name(s->spec.cells), s->c == 1 ? ", heat" : "",
                      s->spec.element == HX_ELEMENT_QUADRATIC ? ", quadratic" : "");
    for (int64_t i = 0; i < s->n; i++) u[i] = NAN;
    const int rc = hx_selftest_solve(t, s, &params, u, NULL, &iterations);
    if (rc == HX_EINPUT && s->c == 1) return HX_OK; /* it needs three unknowns per point */
    if (iterations > 0)
        hx_selftest_note(t, "%d %s", iterations, hx_noun(iterations, "iteration", "iterations"));
    return hx_selftest_end(t, rc, hx_selftest_difference(s->n, u, expected), 1e-9,
                           "u of CG on the host");
}

static int run_solvers(hx_selftest *t, const hx_sample_spec *spec)
{
    hx_sample s;
    double *expected = NULL;
    int rc = HX_OK;
    if (!hx_selftest_operator(t, spec->physics == HX_PHYSICS_HEAT ? 1 : 3, spec->element))
        return rc;
    HX_TRY_FAIL(hx_sample_create(&s, spec));
    HX_TRY_FAIL(hx_alloc(&expected, 2 * (size_t)s.n, sizeof *expected, "solutions"));
    double *const u = expected + s.n;
    const hx_operator_kind *const op_kind = hx_selftest_operator(t, s.c, s.spec.element);
    HX_TRY_FAIL(hx_sample_solve(&s, expected));
    for (size_t i = 0; t->parts.preconds[i]; i++) {
        const hx_precond_kind *const kind = t->parts.preconds[i];
        if (kind->runs_on && !kind->runs_on(t->parts.device)) continue;
        HX_TRY_FAIL(check_precond(t, &s, expected, u, kind, HX_PRECISION_DOUBLE));
        if (hx_operator_kind_of(op_kind, s.c)->apply_single && strcmp(kind->name, "jacobi") == 0)
            HX_TRY_FAIL(check_precond(t, &s, expected, u, kind, HX_PRECISION_MIXED));
    }
fail:
    free(expected);
    hx_sample_free(&s);
    return rc;
}

int hx_selftest_solvers(hx_selftest *t)
{
    hx_sample_spec specs[] = {hx_sample_box(HX_SAMPLE_HEXAHEDRA, 12, 6, 6),
                              hx_sample_box(HX_SAMPLE_MIXED, 8, 4, 4),
                              hx_sample_box(HX_SAMPLE_MIXED, 3, 2, 4)};
    specs[0].contrast = specs[1].contrast = 1e3;
    specs[1].physics = HX_PHYSICS_HEAT;
    specs[2].element = HX_ELEMENT_QUADRATIC;
    specs[2].contrast = 1e2;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) HX_TRY(run_solvers(t, &specs[i]));
    return HX_OK;
}
