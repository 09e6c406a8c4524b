/* What operator and preconditioner list of a mesh on the host: made before there is a device, while
 * its driver starts, counted by those who foretell memory, and taken by the set-ups. hx_problem has
 * one or none; all goes without, then each makes its own. */
#ifndef HX_PLAN_H
#define HX_PLAN_H

#include "lattice.h"
#include "precond.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_plan {
    const hx_mesh *mesh; /* that all is of (borrowed); NULL: nothing is made yet */

    const hx_strategy *strategy; /* whose lists were made; NULL: none */
    void *lists;                 /* of hx_strategy.plan until setup has them (owned) */
    size_t bytes, single_bytes;  /* as hx_strategy.bytes and single_bytes, counted on them */

    hx_lattice_draft *lattice;     /* until multigrid has it, or it is finished (owned) */
    hx_lattice *finished;          /* likewise (owned) */
    double coarsening;             /* of it; 0: there was none */
    double n_lattice_node, n_cell; /* nodes and cells of its first level */
    double aspect;                 /* hx_lattice_aspect of the mesh; 0: not measured */
} hx_plan;

/* The lists of a strategy, unless they were made. Without a word where it has no plan or there is
 * no memory: setup will say so. O(n_elem). */
void hx_plan_operator(hx_plan *plan, const hx_problem *problem, const hx_strategy *strategy);

/* What the preconditioner takes from the mesh for such a device, likewise. */
void hx_plan_precond(hx_plan *plan, const hx_problem *problem, const hx_precond_kind *kind,
                     const hx_device_ops *device);

/* What can be made of that beyond what tells its memory. Without a word where there is none. */
void hx_plan_finish_precond(hx_plan *plan, const hx_problem *problem, const hx_precond_kind *kind);

/* The problem's plan, if it has the strategy's lists or had them: `bytes` count. Else NULL. */
const hx_plan *hx_plan_of(const hx_problem *problem, const hx_strategy *strategy);

/* The draft of the problem's lattice, which the caller frees; NULL: none. */
hx_lattice_draft *hx_plan_take_lattice(const hx_problem *problem, double coarsening);

/* 1: *lattice is the problem's finished one, which the caller frees. */
int hx_plan_take_finished(const hx_problem *problem, double coarsening, hx_lattice *lattice);

/* hx_lattice_aspect of the problem's mesh, measured or of its plan. */
double hx_plan_aspect(const hx_problem *problem);

/* Frees the lists, once setup has them. */
void hx_plan_drop_lists(hx_plan *plan);

/* Accepts a zeroed struct. */
void hx_plan_free(hx_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
