/* Host-side lists of the operator and the preconditioner, made before the device is available
 * (while its driver starts). Memory estimates are counted on them, and the set-ups take them over.
 * hx_problem has at most one plan; without one, each set-up makes its own lists. */
#ifndef HX_PLAN_H
#define HX_PLAN_H

#include "coarse.h"
#include "precond.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_plan {
    const hx_mesh *mesh; /* the mesh of all lists (borrowed); NULL: nothing has been made */

    const hx_operator_kind *op_kind; /* operator kind of the lists; NULL: none */
    void *lists; /* from hx_operator_kind.plan, until `setup` takes them (owned) */
    /* values of hx_operator_kind.bytes and single_bytes, counted on the lists */
    size_t bytes, single_bytes;

    hx_coarse_draft *coarse;      /* until multigrid takes it or it is finished (owned) */
    hx_coarse *finished;          /* finished coarse grids, until multigrid takes them (owned) */
    double coarsening;            /* coarsening of the draft; 0: there was no draft */
    double n_coarse_node, n_cell; /* nodes and cells of the first coarse grid */
    double aspect;                /* hx_coarse_aspect of the mesh; 0: not measured */
} hx_plan;

/* Makes the lists of an operator kind unless they exist. Silently does nothing if the kind has no
 * plan function or if memory runs out: the set-up will report that. O(n_elem). */
void hx_plan_operator(hx_plan *plan, const hx_problem *problem, const hx_operator_kind *op_kind);

/* Makes what the preconditioner needs from the mesh on such a device; silent like
 * hx_plan_operator. */
void hx_plan_precond(hx_plan *plan, const hx_problem *problem, const hx_precond_kind *kind,
                     const hx_device_ops *device);

/* Completes the preconditioner's lists beyond what the memory estimate needs. Silently does nothing
 * if there are none. */
void hx_plan_finish_precond(hx_plan *plan, const hx_problem *problem, const hx_precond_kind *kind);

/* The problem's plan if it has or had the lists of the operator kind, so that `bytes` is valid;
 * otherwise NULL. */
const hx_plan *hx_plan_of(const hx_problem *problem, const hx_operator_kind *op_kind);

/* Passes ownership of the draft of the coarse grids to the caller. NULL: there is none. */
hx_coarse_draft *hx_plan_take_coarse(const hx_problem *problem, double coarsening);

/* Returns 1 and passes ownership of the finished coarse grids to the caller, or returns 0 if there
 * are none. */
int hx_plan_take_finished(const hx_problem *problem, double coarsening, hx_coarse *coarse);

/* hx_coarse_aspect of the problem's mesh, measured or from its plan. */
double hx_plan_aspect(const hx_problem *problem);

/* Frees the lists after `setup` has used them. */
void hx_plan_drop_lists(hx_plan *plan);

/* Accepts a zeroed struct. */
void hx_plan_free(hx_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
