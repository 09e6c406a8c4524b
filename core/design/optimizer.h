/* The design loop (P1, Figure 1): analyse, sensitivities, filter, optimality criteria. What is
 * minimised (objective.h) and how the next design is proposed (update.h) are kinds.
 *
 *     hx_optimizer_create
 *     for (;;) {
 *         hx_optimizer_step          analyses the design, proposes the next
 *         ... record, write ...
 *         if (last) break;
 *         hx_optimizer_advance       adopts the proposal
 *     }
 * so what is written after a step is the design that was analysed. */
#ifndef HX_OPTIMIZER_H
#define HX_OPTIMIZER_H

#include "../device/snapshot.h"
#include "../solver/pcg.h"
#include "filter.h"
#include "least_volume.h"
#include "objective.h"
#include "stair.h"
#include "ties.h"
#include "update.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_optimizer_params {
    const hx_objective_kind *objective; /* NULL: compliance */
    const void *objective_data;         /* of that kind (borrowed as long as the optimizer lives) */
    const hx_update_kind *update;       /* NULL: optimality criteria */
    double move;                        /* largest change of a density in a step, (0, 1] */
    double damping;                     /* eta of the optimality criteria, (0, 1] */
    /* Continuation of the SIMP exponent up to problem->penalty, and of the projection's beta from
     * the filter's; zeroed: none. */
    hx_stair penalty, beta;
    const hx_least_volume *least; /* of this filter and beta, if it is known; NULL: it is found */
    double settled; /* both rise early when no density changes by this much; 0: they do not */
} hx_optimizer_params;

/* Stages of a run (P1, Figure 15). */
typedef enum {
    HX_STAGE_SETUP, /* pre-computation: mesh, problem, Ke, filter's cells */
    HX_STAGE_PCG,
    HX_STAGE_COMPLIANCE, /* energies, compliance, sensitivities */
    HX_STAGE_FILTER,
    HX_STAGE_UPDATE,
    HX_STAGE_OUTPUT,
    HX_N_STAGE
} hx_stage;
const char *hx_stage_name(hx_stage stage);

/* Relative error from which on a design's volume counts as missed: a design that may not move as
 * far as it should, or has no such volume. */
#define HX_VOLUME_TOLERANCE 1e-4

typedef struct hx_iteration {
    int iteration;        /* 1-based */
    double objective;     /* of the analysed design; lower is better */
    double compliance;    /* weighted sum over cases, of the analysed design */
    double volume;        /* volume fraction of the analysed design, passive elements included */
    int volume_missed;    /* 1: it is off problem->volume_fraction by more than
                             HX_VOLUME_TOLERANCE */
    double change;        /* largest density change proposed by this step */
    double penalty, beta; /* what it was analysed with; beta = 0: no projection */
    int raised;           /* 1: penalty or beta rises after this iteration */
    int climbing;         /* 1: penalty or beta was not at its last value */
    int volume_trials;    /* updates of this step, until the proposal's volume was right */
    double greyness;     /* 4 sum v rho (1 - rho) / sum v over free elements, 0 = black and white */
    int pcg_iterations;  /* sum over cases, adjoint ones included as in all of these */
    int pcg_fell_back;   /* cases that mixed precision left to double */
    int pcg_refinements; /* against the exact operator, where K is stored rounded */
    int pcg_took_exact;  /* cases finished with the exact operator itself */
    int pcg_restarts;    /* solves that broke down and were begun again */
    double pcg_residual; /* worst case */
    double pcg_error;    /* of the compliance, relative, as estimated (analysis.h) */
    hx_pcg_reason reason; /* worst case */
    double seconds;
    double stage[HX_N_STAGE]; /* seconds */
    double spmv_seconds;      /* part of stage[HX_STAGE_PCG] */
    double precond_seconds;   /* part of stage[HX_STAGE_PCG]: applying the preconditioner */
    double prepare_seconds;   /* part of stage[HX_STAGE_PCG]: setting the preconditioner up */
    const hx_case_record
        *load_case; /* [n_case] (borrowed from the analysis, until the next step) */
} hx_iteration;

enum { HX_OPTIMIZER_FIELDS = 7 }; /* at most */

typedef struct hx_optimizer {
    hx_optimizer_params params;
    const hx_problem
        *problem; /* that its fields are of: the analysis' (borrowed), like the next two */
    hx_analysis *analysis;
    hx_filter *filter;
    hx_objective objective; /* (owned), like the next two */
    hx_update update;
    hx_device_ties ties; /* no groups: none */
    int iteration;
    hx_stair penalty, beta; /* as they are for the next design */
    double total_volume;
    double last_value; /* the objective of the last step; infinite where it was another one */
    struct {
        hx_stair penalty, beta;
        double last_value;
    } before; /* the step: what hx_optimizer_undo gives back */
    /* [n_elem] on the device. The modulus is the operator's. What is needed between the solves
     * alone lies in PCG's vectors where these are long enough: the energy in r, dv in p, dc in z.
     */
    double *d_design, *d_proposal; /* densities */
    double *d_physical;            /* those of a step; d_design where the filter leaves it */
    double *d_energy;              /* weighted u_e' Ke u_e for unit modulus */
    double *d_dc, *d_dv;           /* filtered, after a step; d_dv until hx_optimizer_energy,
                                      hx_optimizer_stiffness_error or
                                      hx_analysis_residual needs it */
    double *d_volume;
    double *field[HX_OPTIMIZER_FIELDS]; /* [n_field] those of their own memory (owned) */
    int n_field;
} hx_optimizer;

/* Of the analysis' fields, on its device; with a design in shares all processes create, each of its
 * elements, and what follows is called by the leader, to whom go arrays of the whole. HX_EINPUT: a
 * move limit or damping out of range, densities not in [0, 1], a volume fraction that is below the
 * least volume (least_volume.h). Starts from problem->initial_density, or the uniform density whose
 * image through the filter takes up the volume, or from density[n_elem] if given (passive elements
 * keep theirs). Analysis and filter are borrowed; both keep their place. */
int hx_optimizer_create(hx_optimizer *opt, const hx_optimizer_params *params, hx_analysis *analysis,
                        hx_filter *filter, const double *density);

/* Before the first step: the members of each group get the mean of their densities, and one density
 * in all designs that follow. `ties` is not needed afterwards. */
int hx_optimizer_tie(hx_optimizer *opt, const hx_ties *ties);

/* d_physical of d_design, as a step begins. Queued. */
int hx_optimizer_filter(hx_optimizer *opt);

/* Waits. HX_ENUMERIC: compliance, sensitivities or densities not finite, or PCG broke down. PCG
 * that did not converge is in record->reason, not an error. */
int hx_optimizer_step(hx_optimizer *opt, hx_iteration *record);
void hx_optimizer_advance(hx_optimizer *opt);

/* After a step that failed: as after the one before it, for hx_optimizer_snapshot; what the solver
 * knew of the last design is given up. Fails where the device is lost. */
int hx_optimizer_undo(hx_optimizer *opt);

/* Download a field of the design just analysed into host[n_elem], in the order of the mesh: the
 * physical density; the filtered sensitivity; the weighted u_e' K_e u_e of the elements. Cold: for
 * output. */
int hx_optimizer_density(const hx_optimizer *opt, double *host);
int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host);
int hx_optimizer_energy(hx_optimizer *opt, double *host);

/* The same fields of the elements that this process has of the design, all in one process. With
 * ranks every process that has a part of it calls it for itself: nothing travels. */
typedef enum { HX_DESIGN_DENSITY, HX_DESIGN_SENSITIVITY, HX_DESIGN_ENERGY } hx_design_field;
int hx_optimizer_own_field(hx_optimizer *opt, hx_design_field field, double *own);

/* hx_analysis_stiffness_error of the design just analysed. */
int hx_optimizer_stiffness_error(hx_optimizer *opt, double *error);

/* All that outlives a design, of the optimizer and of what it works with (analysis, preconditioner,
 * filter, update): saved between hx_optimizer_step and hx_optimizer_advance; loaded, by one that
 * was made of the same mesh and settings, before its first step, which then is the one that would
 * have followed, bit for bit where the operator is deterministic. HX_EINPUT: an image of something
 * else. Waits. */
int hx_optimizer_snapshot(hx_optimizer *opt, hx_snapshot *image);

/* In a follower whose design is in shares (analysis->is_joint): does its part of what the leader
 * calls for, until that calls hx_analysis_dismiss. */
int hx_optimizer_serve(hx_optimizer *opt);

/* Device bytes of the element fields and the update, NULL for optimality criteria, with a filter
 * and a preconditioner. The host holds none. */
size_t hx_optimizer_bytes(const hx_problem *problem, const hx_update_kind *update,
                          const hx_filter_kind *filter, const hx_filter_params *params,
                          const hx_precond_kind *precond);
void hx_optimizer_free(hx_optimizer *opt);

#ifdef __cplusplus
}
#endif

#endif
