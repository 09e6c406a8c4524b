/* Everything that is needed to solve K u = f for a problem on a device: operator, preconditioner
 * and PCG. Whatever the caller does not name is chosen automatically.
 *
 *     const hx_solver_params params = hx_solver_defaults();    from registry.h
 *     hx_solver_create(&solver, &device, &problem, &params); */
#ifndef HX_SOLVER_H
#define HX_SOLVER_H

#include "../base/notes.h"
#include "choose.h"

HX_C_BEGIN

/* A struct that is zeroed except for the lists in `choose` leaves every choice to the solver.
 * Parameters of multigrid belong to the problem (hx_problem.multigrid). */
typedef struct hx_solver_params {
    hx_choose_params choose; /* candidates and requirements */
    /* part of choose.other_bytes that is already allocated */
    size_t held_bytes;
    /* NULL: chosen automatically; otherwise used in choose.layout if the kind supports that
     * layout */
    const hx_operator_kind *op_kind;
    const hx_precond_kind *precond; /* NULL: chosen automatically */
    double tolerance;               /* for PCG with choose.criterion; 0: hx_pcg_tolerance */
    int max_iterations;             /* 0: 10,000 */
} hx_solver_params;

typedef enum { HX_SOLVER_OPERATOR, HX_SOLVER_PRECOND, HX_SOLVER_PCG } hx_solver_part;

/* A solver must not be moved in memory, because its parts point to each other. */
typedef struct hx_solver {
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    const hx_operator_kind *op_kind;
    hx_layout layout;
    const hx_precond_kind *precond;
    int chose_operator, chose_precond; /* 1: chosen automatically, so it may be replaced */
    char note[128];                    /* why this operator was chosen; "" if it was named */
    hx_notes notes;                    /* warnings: what replaced a choice, and why (owned) */
    hx_account account;                /* of device memory */
    hx_solver_part part;               /* the part that the last error concerns */
} hx_solver;

/* hx_solver_choose, then hx_solver_make; after an error the solver is empty. HX_EINPUT and HX_EENV
 * as in hx_choose_operator, hx_operator_create and hx_pcg_create. Timing operators takes a few
 * set-ups of each (choose.h). */
int hx_solver_create(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params);

/* Chooses what the parameters do not name. `solver` is zeroed, or its parts are freed; afterwards
 * `op` holds the operator if it was timed last. */
int hx_solver_choose(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params);

/* Makes operator (unless it exists), preconditioner and PCG as chosen. Uses the lists that the
 * plans of the problem hold, and makes missing ones. If there is not enough memory for an automatic
 * choice, one that needs less replaces it, with a warning in `notes`. After an error the parts are
 * freed; if memory was missing, the message then states what would fit. */
int hx_solver_make(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                   const hx_solver_params *params);

/* The operator only, for callers that measure it before they make the rest. */
int hx_solver_make_operator(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                            const hx_solver_params *params);

/* Called after HX_ENOMEM or HX_EENV of an allocation that needs the memory of the parts; it frees
 * them. Returns 1 if an automatic choice was replaced, with a warning in `notes`; hx_solver_make
 * then makes the parts again. Returns 0 if nothing needs less memory; the message then states what
 * would fit. Does nothing in a subdomain, since the other processes would keep their choice. */
int hx_solver_take_less(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                        const hx_solver_params *params, int rc);

/* Frees operator, preconditioner and PCG, and keeps the choice. */
void hx_solver_free_parts(hx_solver *solver);

/* Accepts a zeroed struct. */
void hx_solver_free(hx_solver *solver);

HX_C_END

#endif
