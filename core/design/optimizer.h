/* The design loop (P1, Figure 1): analysis, sensitivities, filter, optimality criteria. The
 * objective (response.h) and the update of the design (update.h) are kinds.
 *
 *     hx_optimizer_create
 *     for (;;) {
 *         hx_optimizer_step          analyses the design, proposes the next
 *         ... record, write ...
 *         if (last) break;
 *         hx_optimizer_advance       adopts the proposal
 *     }
 *
 * What is written after a step is therefore the analysed design. */
#ifndef HX_OPTIMIZER_H
#define HX_OPTIMIZER_H

#include "../device/snapshot.h"
#include "../krylov/pcg.h"
#include "filter.h"
#include "groups_dist.h"
#include "least_volume.h"
#include "response.h"
#include "stress_limit.h"
#include "update.h"

HX_C_BEGIN

/* A response with limits. */
typedef struct hx_constraint_spec {
    const hx_response_kind *kind;
    hx_response_params params;
    double max, min;  /* NAN: none; at least one is given, neither is hx_response_zero */
    const char *name; /* for records; NULL: the kind's (borrowed until create returns) */
} hx_constraint_spec;

typedef struct hx_optimizer_params {
    const hx_response_kind *objective; /* NULL: compliance of all cases, without parameters */
    hx_response_params objective_params;
    /* beside volume_fraction; the update may take no more than a certain number of limits
     * (update.h) */
    int n_constraint;
    /* [n_constraint] (borrowed until create returns, but the names in params for longer) */
    const hx_constraint_spec *constraint;
    const hx_update_kind *update; /* NULL: optimality criteria */
    /* least volume for this filter and beta, if known; NULL: it is computed */
    const hx_least_volume *least;
    /* > 0: the best design with at most this violation is kept, and with stress limits by the
     * augmented Lagrangian the nearest to it (hx_optimizer_return_result) */
    double keep_within;
} hx_optimizer_params;

/* Stages of a run (P1, Figure 15). */
typedef enum {
    HX_STAGE_SETUP, /* pre-computation: mesh, problem, Ke, cells of the filter */
    HX_STAGE_PCG,
    HX_STAGE_COMPLIANCE, /* energies, compliance, sensitivities */
    HX_STAGE_FILTER,
    HX_STAGE_UPDATE,
    HX_STAGE_OUTPUT,
    HX_N_STAGE
} hx_stage;
const char *hx_stage_name(hx_stage stage);

/* Relative error above which a design's volume counts as missed: either the move limit prevented
 * it, or no design has the volume. */
#define HX_VOLUME_TOLERANCE 1e-4

/* 1 if a volume fraction differs from the prescribed one by more than HX_VOLUME_TOLERANCE, or
 * exceeds it by more if the update takes it as an upper limit. */
int hx_volume_is_missed(const hx_update_kind *update, double volume, double wanted);

/* How far a value lies beyond max or min (NAN: no such limit), relative to the distance of that
 * limit from hx_response_zero; 0: it meets both, or is NAN. */
double hx_limits_exceeded(double value, double max, double min, double zero);

/* A limited response of the analysed design. */
typedef struct hx_response_record {
    const char *name;
    double value, max, min; /* NAN: no such limit */
    double zero;            /* hx_response_zero */
    double violation;       /* of the worse limit (hx_limits_exceeded); 0: both are met */
} hx_response_record;

typedef struct hx_iteration {
    int iteration;     /* 1-based */
    double objective;  /* value for the analysed design; lower is better */
    double compliance; /* weighted sum over cases, of the analysed design */
    double volume;     /* volume fraction of the analysed design, passive elements included */
    /* 1: it differs from the prescribed fraction by more than HX_VOLUME_TOLERANCE, or exceeds it by
     * more if that is an upper limit (update.h); 0 if none is prescribed */
    int volume_missed;
    double change; /* largest density change proposed by this step */
    /* 1: near asymptotes of the update hold the densities back, so that a change below
     * change_tolerance is no convergence */
    int is_held_back;
    int is_rejected; /* 1: the update rejected designs before this one (gcmma, update.h) */
    double kkt;      /* hx_update_step.kkt: 0 at an optimum; NAN: the update does not compute it */
    /* of the objective from the last design, relative to its distance from hx_response_zero;
     * infinite if the last design belongs to another function */
    double objective_change;
    double violation; /* largest relative violation of a limit, volume_fraction included; 0: none */
    int n_response;
    const hx_response_record
        *response; /* [n_response] in the order of the specs (borrowed until the next step) */
    double penalty, beta; /* values of this analysis; beta = 0: no projection */
    int raised;           /* 1: penalty or beta rises after this iteration */
    int climbing;         /* 1: penalty or beta had not reached its last value */
    int volume_trials;    /* updates of this step until the proposal's volume was right */
    int is_flat;     /* 1: no derivative of the objective is negative; the update kept the design */
    double greyness; /* 4 sum v rho (1 - rho) / sum v over free elements; 0 = black and white */
    int is_eroded; /* 1: the analysed design is the eroded one, but volume and greyness are those of
                      * the design that is made */
    int pcg_iterations;   /* sum over cases; all PCG numbers include adjoint solves */
    int pcg_fell_back;    /* cases that mixed precision handed to double precision */
    int pcg_refinements;  /* steps against the exact operator, if K is stored rounded */
    int pcg_took_exact;   /* cases finished with the exact operator */
    int pcg_restarts;     /* solves that broke down and were restarted */
    double pcg_residual;  /* worst case */
    double pcg_error;     /* estimated relative error of the compliance (analysis.h) */
    hx_pcg_reason reason; /* worst case */
    double seconds;
    double stage[HX_N_STAGE]; /* seconds */
    double spmv_seconds;      /* part of stage[HX_STAGE_PCG] */
    double precond_seconds;   /* part of stage[HX_STAGE_PCG]: preconditioner applications */
    double prepare_seconds;   /* part of stage[HX_STAGE_PCG]: preconditioner setup */
    const hx_case_record
        *load_case; /* [n_case] (borrowed from the analysis, until the next step) */
} hx_iteration;

/* The best design of its penalty and beta that meets all limits; with stress limits by the augmented
 * Lagrangian the newest that does, or as long as none does the one that exceeds them least. A design
 * that is judged by its parts (optimizer_judge.c) is better than one that is not. */
typedef struct hx_kept_design {
    double *d_design; /* densities; NULL: none is kept (owned, in `field`) */
    int iteration;    /* 0: no design so far */
    double objective, violation, penalty, beta, change, kkt, objective_change; /* of its record */
    double
        judged; /* largest violation of a limit by the design as it is made and by its parts; NAN:
                    * not judged */
} hx_kept_design;

/* A variant of the design that is analysed beside the one that is made (optimizer_sides.c). */
typedef struct hx_optimizer_side {
    hx_design_variant variant;
    const char *name; /* NULL: there is none */
    hx_analysis analysis;
    hx_measured measured;
    int n;
    hx_response *response; /* [n]: the objective, and the limits that differ (owned) */
    double **d_derivative; /* [n] fields (owned) */
} hx_optimizer_side;

enum { HX_OPTIMIZER_SIDES = 2 };

enum { HX_OPTIMIZER_FIELDS = 8 }; /* maximum number of fields, without those of constraints */

typedef struct hx_optimizer {
    hx_optimizer_params params;
    const hx_problem
        /* the problem whose elements the fields belong to: the analysis' (borrowed, like the next
         * two) */
        *problem;
    hx_analysis *analysis;
    hx_filter *filter;
    const hx_design_params *design; /* the filter's (borrowed) */
    hx_measured measured;           /* the analysed design */
    hx_response objective;          /* (owned, like the next three) */
    /* [n_constraint]: the volume if volume_fraction is given, those of the specs, and the cases of
     * an objective that is the largest of them */
    int n_constraint;
    hx_response *constraint;
    /* Stress limits without rows (hx_response_kind.lagrangian): the augmented Lagrangian of all,
     * which is added to `scale` times the objective; kind = NULL: there are none. */
    struct {
        hx_response sum;
        hx_stress_list list;
        const hx_response **limit; /* [list.n] (owned) */
        double *d_derivative;      /* field */
        double scale;              /* 0: not yet known */
    } lagrangian;
    hx_optimizer_side side[HX_OPTIMIZER_SIDES]; /* (owned) */
    int has_volume;                             /* 1: the first constraint is volume_fraction */
    hx_limit_row *row;                          /* [update.n_row] (owned) */
    hx_response_record *record;                 /* [params.n_constraint] (owned, with the names) */
    hx_update update;
    hx_device_groups groups; /* without groups if no elements are linked */
    struct hx_linked linked; /* with several ranks (owned) */
    int iteration;
    hx_schedule penalty, beta; /* values for the next design */
    double total_volume;
    double last_value; /* objective of the last step; infinite if it belongs to another function */
    struct {
        hx_schedule penalty, beta;
        double last_value;
    } before; /* state before the step, restored by hx_optimizer_undo */
    /* [n_elem] on the device. The modulus is the operator's. Fields that are needed only between
     * solves use PCG's vectors if these are long enough: the energy in r, dv in p, dc in z. */
    double *d_design, *d_proposal; /* densities */
    double *d_physical; /* densities of a step; d_design if the filter does not map the design */
    double *d_made;     /* those that are made; d_physical unless another variant is analysed */
    double made_share;  /* volume of the design that is made, relative to that of the dilated one */
    double *d_energy;   /* weighted u_e' Ke u_e for unit modulus */
    /* filtered, after a step; d_dv is valid until hx_optimizer_energy, hx_optimizer_stiffness_error
     * or hx_analysis_residual reuses it */
    double *d_dc, *d_dv;
    double *d_volume;
    hx_kept_design kept; /* d_design = NULL: no design is kept */
    double *d_part;      /* a 0/1 part that is judged; NULL: none is (owned, in `field`) */
    double judged;       /* hx_kept_design.judged of the design of the present step */
    double **d_more; /* [n_constraint] derivatives of the constraints; NULL: that of the volume */
    double **field;  /* [n_field] fields with memory of their own (owned) */
    int n_field;
} hx_optimizer;

/* Creates the optimizer for the analysis' fields on its device. With several ranks all call it,
 * each for its elements, and likewise the functions below; arrays of the whole are the first
 * rank's and may be NULL on the others. HX_EINPUT: a move limit or damping out
 * of range, densities not in [0, 1], or a volume fraction below the least volume
 * (least_volume.h). Starts from hx_design_initial_density, or from the uniform density whose
 * filtered image has the prescribed volume, or from density[n_elem] if given (passive elements
 * keep their densities). Analysis and filter are borrowed and must not move. */
int hx_optimizer_create(hx_optimizer *opt, const hx_optimizer_params *params, hx_analysis *analysis,
                        hx_filter *filter, const double *density);

/* Call before the first step: the members of each group get the mean of their densities and share
 * one density in all later designs. `groups` is not needed afterwards. */
int hx_optimizer_link(hx_optimizer *opt, const hx_groups *groups);

/* Computes d_physical and d_made from d_design, the first operation of a step. Queued. */
int hx_optimizer_filter(hx_optimizer *opt);

/* Waits. HX_ENUMERIC: compliance, sensitivities or densities are not finite, or PCG broke down. If
 * PCG did not converge, record->reason shows it; that is no error. */
int hx_optimizer_step(hx_optimizer *opt, hx_iteration *record);
void hx_optimizer_advance(hx_optimizer *opt);

/* After a failed step: restores the state after the previous step, for hx_optimizer_snapshot, and
 * discards the solver's state from the last design. Fails if the device is lost. */
int hx_optimizer_undo(hx_optimizer *opt);

/* 1 if a design with the last penalty and beta is kept that is judged by its parts, or that meets
 * limits, or misses them by less, while the last one misses one by more than params.keep_within. */
int hx_optimizer_keeps_better(const hx_optimizer *opt, const hx_iteration *last);

/* 1 if the result of a run that ends with this design is to be analysed: a better design is kept, or
 * the analysed design is the eroded one, which is not made. */
int hx_optimizer_has_result(const hx_optimizer *opt, const hx_iteration *last);

/* Its iteration. */
int hx_optimizer_result_iteration(const hx_optimizer *opt, const hx_iteration *last);

/* Analyses the kept design if it is better, or else the last one, as it is made, with its iteration
 * as number, so that it is the design just analysed. last: of the last step. No step may follow;
 * save a snapshot before. Waits. Errors: those of a step. */
int hx_optimizer_return_result(hx_optimizer *opt, const hx_iteration *last, hx_iteration *record);

/* Download a field of the design just analysed into host[n_elem] in the order of the mesh: the
 * physical density, the filtered sensitivity, or the weighted u_e' K_e u_e of the elements. For
 * output; not performance-critical. */
int hx_optimizer_density(const hx_optimizer *opt, double *host);
int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host);
int hx_optimizer_energy(hx_optimizer *opt, double *host);

/* Returns a field for the elements that this process holds, which are all in a single process. With
 * ranks every process that holds a part calls it independently; nothing is communicated. */
typedef enum { HX_DESIGN_DENSITY, HX_DESIGN_SENSITIVITY, HX_DESIGN_ENERGY } hx_design_field;
int hx_optimizer_own_field(hx_optimizer *opt, hx_design_field field, double *own);

/* hx_analysis_stiffness_error of the design just analysed. */
int hx_optimizer_stiffness_error(hx_optimizer *opt, double *error);

/* Saves or loads the whole state that the next design depends on: of the optimizer, the analysis,
 * the preconditioner, the filter and the update. Save between hx_optimizer_step and
 * hx_optimizer_advance. Load into an optimizer created from the same mesh and settings, before its
 * first step; that step is then the one that would have followed, bitwise if the operator is
 * deterministic. HX_EINPUT: the image belongs to something else. Waits. */
int hx_optimizer_snapshot(hx_optimizer *opt, hx_snapshot *image);

/* Number of designs that are kept, 0 or 1. */
int hx_optimizer_count_kept(const hx_optimizer_params *params);

/* Device bytes of the responses: objective and constraints, without their fields. */
size_t hx_optimizer_response_bytes(const hx_problem *problem, const hx_optimizer_params *params);

/* Device bytes of the element fields, also those of the constraints, and the update, with a filter
 * and a preconditioner, without hx_optimizer_response_bytes. The host holds none. */
size_t hx_optimizer_bytes(const hx_problem *problem, const hx_optimizer_params *params,
                          const hx_filter_kind *filter, const hx_filter_params *filter_params,
                          const hx_precond_kind *precond);
void hx_optimizer_free(hx_optimizer *opt);

HX_C_END

#endif
