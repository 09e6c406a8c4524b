/* All that solves K u = f of a problem on a device: operator, preconditioner and PCG, chosen where
 * they are not named.
 *
 *     const hx_solver_params params = hx_solver_defaults();     of registry.h: all of this build
 *     hx_solver_create(&solver, &device, &problem, &params);
 */
#ifndef HX_SOLVER_H
#define HX_SOLVER_H

#include "choose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed but for the lists in `choose`: everything is chosen. */
typedef struct hx_solver_params {
    hx_choose_params choose;        /* what to choose from, and what is asked for */
    const hx_strategy *strategy;    /* NULL: chosen; else in choose.layout, where it knows that */
    const hx_precond_kind *precond; /* NULL: chosen */
    double tolerance;               /* of PCG by choose.criterion; 0: hx_pcg_tolerance */
    int max_iterations;             /* 0: 10,000 */
} hx_solver_params;

/* Its parts point at each other: it must not move. */
typedef struct hx_solver {
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    char note[128]; /* why this operator; "" if it was named */
} hx_solver;

/* HX_EINPUT, HX_EENV as hx_choose_operator, hx_operator_create and hx_pcg_create. Timing operators
 * takes a few set-ups of each (choose.h). */
int hx_solver_create(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params);

/* Accepts a zeroed struct. */
void hx_solver_free(hx_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
