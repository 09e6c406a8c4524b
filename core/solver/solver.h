/* Everything that is needed to solve K u = f for a problem on a device: operator, preconditioner
 * and PCG. Whatever the caller does not name is chosen automatically.
 *
 *     const hx_solver_params params = hx_solver_defaults();    from registry.h
 *     hx_solver_create(&solver, &device, &problem, &params); */
#ifndef HX_SOLVER_H
#define HX_SOLVER_H

#include "choose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A struct that is zeroed except for the lists in `choose` leaves every choice to the solver.
 * Parameters of multigrid belong to the problem (hx_problem.multigrid). */
typedef struct hx_solver_params {
    hx_choose_params choose; /* candidates and requirements */
    /* NULL: chosen automatically; otherwise used in choose.layout if the kind supports that */
    const hx_operator_kind *op_kind;
    const hx_precond_kind *precond; /* NULL: chosen automatically */
    double tolerance;               /* for PCG with choose.criterion; 0: hx_pcg_tolerance */
    int max_iterations;             /* 0: 10,000 */
} hx_solver_params;

/* A solver must not move, because its parts point to each other. */
typedef struct hx_solver {
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    char note[128]; /* why this operator was chosen; "" if it was named */
} hx_solver;

/* HX_EINPUT and HX_EENV as in hx_choose_operator, hx_operator_create and hx_pcg_create. Timing
 * operators takes a few set-ups of each (choose.h). */
int hx_solver_create(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params);

/* Accepts a zeroed struct. */
void hx_solver_free(hx_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
