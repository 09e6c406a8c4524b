/* Coarse grids that are built on the host before the device is available (while its driver
 * starts). Memory estimates are counted on them, and multigrid's set-up takes them over.
 * hx_problem has at most one such plan; without one, each set-up builds its own grids. */
#ifndef HX_PLAN_COARSE_H
#define HX_PLAN_COARSE_H

#include "../krylov/precond.h"
#include "coarse.h"

HX_C_BEGIN

typedef struct hx_coarse_plan {
    const hx_mesh *mesh; /* the mesh of the grids (borrowed); NULL: nothing has been made */

    hx_coarse_draft *draft;       /* until multigrid takes it or it is finished (owned) */
    hx_coarse *finished;          /* finished coarse grids, until multigrid takes them (owned) */
    double coarsening;            /* coarsening of the draft; 0: there was no draft */
    double n_coarse_node, n_cell; /* nodes and cells of the first coarse grid */
    double aspect;                /* hx_coarse_aspect of the mesh; 0: not measured */
} hx_coarse_plan;

/* Makes what the preconditioner needs from the mesh on such a device, unless it exists. Silently
 * does nothing if the kind plans nothing or if memory runs out: the set-up will report that.
 * O(n_elem). */
void hx_coarse_plan_make(hx_coarse_plan *plan, const hx_problem *problem,
                         const hx_precond_kind *kind, const hx_device_ops *device);

/* Completes the grids beyond what the memory estimate needs. Silently does nothing if there are
 * none. */
void hx_coarse_plan_finish(hx_coarse_plan *plan, const hx_problem *problem,
                           const hx_precond_kind *kind);

/* Passes ownership of the draft of the coarse grids to the caller. NULL: there is none. */
hx_coarse_draft *hx_coarse_plan_take_draft(const hx_problem *problem, double coarsening);

/* Returns 1 and passes ownership of the finished coarse grids to the caller, or returns 0 if there
 * are none. */
int hx_coarse_plan_take_finished(const hx_problem *problem, double coarsening, hx_coarse *coarse);

/* hx_coarse_aspect of the problem's mesh, measured or from its plan. */
double hx_coarse_plan_aspect(const hx_problem *problem);

/* Accepts a zeroed struct. */
void hx_coarse_plan_free(hx_coarse_plan *plan);

HX_C_END

#endif
