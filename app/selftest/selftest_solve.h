/* One analysis of a sample on the device. */
#ifndef HX_SELFTEST_SOLVE_H
#define HX_SELFTEST_SOLVE_H

#include "selftest.h"
#include "selftest_sample.h"

typedef struct hx_selftest_solve_params {
    const hx_operator_kind *op_kind; /* NULL: hx_selftest_operator */
    const hx_precond_kind *precond;  /* NULL: the diagonal */
    hx_precision precision;
    double tolerance;
    const double *density; /* [n_elem]; NULL: solid */
    double penalty;
} hx_selftest_solve_params;

/* u[n] of all points; *compliance and *iterations may be NULL. HX_EINPUT: the parts do not support
 * the sample. HX_ENUMERIC: PCG did not converge. */
int hx_selftest_solve(hx_selftest *t, const hx_sample *s, const hx_selftest_solve_params *params,
                      double *u, double *compliance, int *iterations);

/* Parameters of an analysis: the operator, and PCG with this tolerance. */
hx_solver_params hx_selftest_solver_params(const hx_selftest *t, const hx_operator_kind *op_kind,
                                           const hx_precond_kind *precond, double tolerance);
/* The kind of that name in the parts; NULL: none. */
const hx_precond_kind *hx_selftest_precond(const hx_selftest *t, const char *name);

#endif
