/* The static analysis of a design: K(rho) u = f for every load case, and what follows from u.
 *
 *     hx_analysis_create
 *     hx_analysis_solve            once a design
 *     hx_analysis_compliance, hx_analysis_displacement, hx_analysis_reaction, ...
 *
 * `d_` names memory of the device; vectors have 3 n_point doubles, fields n_elem. */
#ifndef HX_ANALYSIS_H
#define HX_ANALYSIS_H

#include "../device/snapshot.h"
#include "../ranks/ranks.h"
#include "../solver/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_case_record {
    double compliance; /* after hx_analysis_compliance */
    hx_pcg_result pcg;
} hx_case_record;

/* Of all solves with the K of one design. */
typedef struct hx_analysis_record {
    int pcg_iterations;     /* sum */
    int pcg_fell_back;      /* solves that mixed precision left to double */
    int pcg_refinements;    /* against the exact operator, where K is stored rounded; sum */
    int pcg_took_exact;     /* solves finished with the exact operator itself */
    int pcg_restarts;       /* solves that broke down and were begun again */
    double pcg_residual;    /* worst */
    double pcg_error;       /* hx_pcg_result.error: the weighted sum of the cases over that of their
                               scale, the element energies; 0 unless estimated */
    hx_pcg_reason reason;   /* worst */
    double spmv_seconds;    /* operator products */
    double precond_seconds; /* applying the preconditioner */
    double prepare_seconds; /* setting the preconditioner up */
} hx_analysis_record;

/* f of a case: a vector where the design changes it, where it is not mostly 0 or precision is
 * mixed; else its entries that are not 0. */
typedef struct hx_case_load {
    double *d_f;      /* NULL: entries (owned, like the rest) */
    double *d_static; /* the part of f that the design does not change; NULL: none, or all of f */
    int64_t n_entry;
    int64_t *d_at;
    double *d_value;
} hx_case_load;

typedef struct hx_analysis {
    const hx_problem *problem; /* the whole (borrowed), like the next */
    /* What fields of the design are of, and where they lie: the whole, or with ranks whose design
     * is in shares (design_ranks.h) op's. */
    const hx_problem *fields;
    hx_device *dev;
    int is_joint; /* 1: the latter. All processes then call hx_analysis_solve, compliance,
                     body_work, energy, forget and snapshot together; the rest is the leader's. */
    /* Several processes solve it: op is of a share, the fields and vectors below of the share where
     * they are not said to be of the whole. NULL: one does. (borrowed, like the next three) */
    hx_ranks *ranks;
    hx_operator *op;
    hx_precond *pc;
    hx_pcg *pcg;
    hx_solver *own;      /* whose parts these are; NULL: the caller's (owned) */
    int warm_start;      /* keep u of the last design as PCG's first guess */
    double penalty;      /* of the last solve */
    int design;          /* of the next one, in marks (timeline.h); its owner sets it */
    const double *d_rho; /* field of the last solve (borrowed); NULL in a follower of a whole */
    double *d_density;   /* the same where it came from the host (owned) */
    double *d_modulus;   /* field: the operator's, or (owned) d_modulus_whole */
    double *d_rho_share, *d_modulus_whole, *d_field, *d_work, *d_field_whole; /* with ranks (owned)
                                                                               */
    double *d_energy;   /* field; NULL: the energy of the elements is not asked for (owned) */
    double **d_u;       /* [n_case] vectors (owned) */
    float **d_last;     /* [n_case] d_u of the design before; NULL: not followed (owned) */
    hx_case_load *load; /* [n_case] (owned) */
    hx_case_record *load_case; /* [n_case] (owned) */
    double compliance;         /* NaN until asked for */
    hx_analysis_record record; /* since the last hx_analysis_solve */
} hx_analysis;

/* Device bytes of the loads of an analysis, which besides holds a vector for each case. O(n_point)
 * a case. */
size_t hx_analysis_load_bytes(const hx_problem *problem, hx_precision precision);

/* d_f: the load of a case as a vector, of the last solve. Queued. */
int hx_analysis_force(const hx_analysis *analysis, int load_case, double *d_f);

/* Of the operator's problem. HX_EINPUT: loads by mass on a device that has none. */
int hx_analysis_create(hx_analysis *analysis, hx_operator *op, hx_precond *pc, hx_pcg *pcg,
                       int warm_start);

/* First guesses go on along the change of u from the design before the last one to the last, as far
 * as lowers the energy most: a product, two copies and three sums a case and design. Where the
 * vectors in single precision that this takes are many bytes, only where there is far more memory;
 * not where the analysis starts from zero or displacements are prescribed. HX_EENV, HX_ENOMEM. */
int hx_analysis_follow(hx_analysis *analysis);

/* Device bytes of that at least, whatever memory there is. */
size_t hx_analysis_follow_bytes(const hx_problem *problem);

/* The same on a solver of its own, with a warm start: all that it takes from device and problem to
 * the displacements. HX_EINPUT, HX_EENV of hx_solver_create besides. */
int hx_analysis_open(hx_analysis *analysis, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params);

/* Sets the modulus E rho^penalty and the loads by mass of the physical densities d_rho, which it
 * keeps, sets the preconditioner up and solves all cases. A PCG that did not converge is in the
 * record, no error. Waits. */
int hx_analysis_solve(hx_analysis *analysis, const double *d_rho, double penalty);

/* The same with rho[n_elem] of the host, in (0, 1]; NULL: solid everywhere. */
int hx_analysis_solve_density(hx_analysis *analysis, const double *rho, double penalty);

/* K u = f with the K of the last solve: adjoint loads, say. u is the first guess and has the
 * prescribed values at fixed degrees of freedom. A solve that breaks down (p'Kp <= 0, NaN) is begun
 * again, once: from where it is, or after NaN from 0. Adds to the record. Waits. */
int hx_analysis_solve_for(hx_analysis *analysis, const double *d_f, double *d_u,
                          hx_pcg_result *result);

/* *compliance: weighted sum of the cases' f'u, which go to load_case; where PCG stops by
 * HX_PCG_COMPLIANCE 2 f'u - u'K u, which is the same for the exact u and off by |e|_K^2 for
 * another, where f'u is off to first order. Prescribed displacements u_p with reactions r enter as
 * f'u - r'u_p = 2 f'u - u'K u (minus twice the potential energy), so that lower is stiffer.
 * Computed once a solve. Waits. */
int hx_analysis_compliance(hx_analysis *analysis, double *compliance);

/* Field d_dc += the loads' by mass: sum over the cases of 2 weight u' df/drho. Nothing
 * without such loads. */
int hx_analysis_body_work(hx_analysis *analysis, double *d_dc);

/* Field d_energy = weighted sum over the cases of u_e' Ke u_e for unit modulus; d_work: another
 * field. */
int hx_analysis_energy(hx_analysis *analysis, double *d_energy, double *d_work);

/* *error: what the operator's own error (hx_strategy.error: stiffness stored in single precision)
 * adds to the weighted compliance, relative. Where solves were refined by an exact product it is
 * what they left: sum of u'(K u - f) over that compliance. Else the sum of u'(K - K*)u, K of the
 * elements in double, K* the operator's. Either is exact to first order. Rounded entries no longer
 * cancel rigid motions, so that the latter is 6e-8 times the ratio of the stiffness of elements to
 * that of the part (slender, or on soft springs). d_work: a field. A product and an energy a case.
 * Waits. */
int hx_analysis_stiffness_error(hx_analysis *analysis, double *d_work, double *error);

/* Downloads E rho^p[n_elem], in the order of the mesh. */
int hx_analysis_modulus(const hx_analysis *analysis, double *host);

/* Downloads u of a case (0-based): u[n_node][components], of a spline its values there, and of all
 * points, those of quadratic elements or control points, u[n_point][components]. */
int hx_analysis_displacement(const hx_analysis *analysis, int load_case, double *u);
int hx_analysis_point_displacement(const hx_analysis *analysis, int load_case, double *u);

/* The same of what this process solves, its share with ranks: nothing is said to others. own[] of
 * the elements, and of the points, of the operator's problem. */
int hx_analysis_own_modulus(const hx_analysis *analysis, double *own);
int hx_analysis_own_displacement(const hx_analysis *analysis, int load_case, double *own);

/* After a solve that failed: the next one begins from nothing, as the first did. */
int hx_analysis_forget(hx_analysis *analysis);

/* What outlives a design: displacements with a warm start, the preconditioner's part. image: NULL
 * in a follower. */
int hx_analysis_snapshot(hx_analysis *analysis, hx_snapshot *image);

/* Sum of the forces of a case, loads by mass included. */
int hx_analysis_load(const hx_analysis *analysis, int load_case, double total[3]);

/* K u - f of a case, springs in K, at all points: residual[n_point][components]. Of free degrees of
 * freedom what PCG left, of fixed ones the reaction; of a rigid set only its resultants vanish. */
int hx_analysis_residual(hx_analysis *analysis, int load_case, double *residual);

/* Reactions K u - f, springs in K, at the fixed degrees of freedom of a case, summed. */
int hx_analysis_reaction(hx_analysis *analysis, int load_case, double total[3]);

/* Force -S u of the springs on the part, summed. */
int hx_analysis_spring_force(const hx_analysis *analysis, int load_case, double total[3]);

/* Of heat: what convection takes from the part, int h (T - ambient) dA. */
int hx_analysis_film_heat(const hx_analysis *analysis, int load_case, double *heat);

/* By the leader, with ranks: report[size] of all processes. */
int hx_analysis_report(hx_analysis *analysis, hx_ranks_report *report);

/* In a follower: does its share of what the leader asks for, until that calls hx_analysis_dismiss.
 */
int hx_analysis_serve(hx_analysis *analysis);
/* By the leader: the followers leave hx_analysis_serve. Nothing in one process. */
void hx_analysis_dismiss(hx_analysis *analysis);

/* Accepts a zeroed struct. */
void hx_analysis_free(hx_analysis *analysis);

#ifdef __cplusplus
}
#endif

#endif
