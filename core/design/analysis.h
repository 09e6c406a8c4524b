/* The static analysis of a design: solves K(rho) u = f for every load case and evaluates what
 * follows from u.
 *
 *     hx_analysis_create
 *     hx_analysis_solve            once per design
 *     hx_analysis_compliance, hx_analysis_displacement, hx_analysis_reaction, ...
 *
 * The prefix `d_` marks device memory. A vector has 3 n_point doubles, a field has n_elem. */
#ifndef HX_ANALYSIS_H
#define HX_ANALYSIS_H

#include "../device/snapshot.h"
#include "../dist/dist.h"
#include "../solver/solver.h"

HX_C_BEGIN

typedef struct hx_case_record {
    double compliance; /* set by hx_analysis_compliance */
    hx_pcg_result pcg;
} hx_case_record;

/* Covers all solves with the K of one design. */
typedef struct hx_analysis_record {
    int pcg_iterations; /* sum */
    int pcg_fell_back;  /* solves that mixed precision handed to double precision */
    /* refinement steps against the exact operator, if K is stored rounded; sum over the solves */
    int pcg_refinements;
    int pcg_took_exact;  /* solves finished with the exact operator */
    int pcg_restarts;    /* solves that broke down and were restarted */
    double pcg_residual; /* worst */
    /* hx_pcg_result.error: the weighted sum of the cases divided by the weighted sum of their
     * scales (the element energies); 0 unless estimated */
    double pcg_error;
    hx_pcg_reason reason;   /* worst */
    double spmv_seconds;    /* operator products */
    double precond_seconds; /* applying the preconditioner */
    double prepare_seconds; /* setup of the preconditioner */
} hx_analysis_record;

/* Load vector f of a case. It is stored as a vector if the design changes it, if it is not mostly 0
 * or if precision is mixed; otherwise only its nonzero entries are stored. */
typedef struct hx_case_load {
    double *d_f; /* NULL: entries are stored instead (owned, like the rest) */
    /* the part of f that does not depend on the design; NULL: none, or all of f */
    double *d_static;
    int64_t n_entry;
    int64_t *d_at;
    double *d_value;
    double *d_strain; /* field: free thermal expansion; NULL: none, or uniform */
} hx_case_load;

typedef struct hx_analysis {
    const hx_problem *problem; /* the whole problem (borrowed, like the next) */
    const hx_problem *fields;  /* the problem of `op`, to whose elements the fields belong */
    hx_device *dev;            /* its device */
    /* Not NULL: several processes solve, each a subdomain, to which `op`, the fields and the
     * vectors below belong. All of them call the functions below together, except
     * hx_analysis_own_...; arrays of the whole are the first rank's and may be NULL on the others.
     * NULL: one process solves. (borrowed, like the next three) */
    hx_dist *dist;
    hx_operator *op;
    hx_precond *pc;
    hx_pcg *pcg;
    /* the solver that holds these parts (owned); NULL: the parts are the caller's */
    hx_solver *own;
    int warm_start; /* 1: PCG starts from u of the last design */
    double penalty; /* value in the last solve */
    int design; /* number of the next design in timeline marks (timeline.h); the owner sets it */
    const double *d_rho; /* field of the last solve (borrowed) */
    double *d_density;   /* that field if it came from the host (owned) */
    double *d_modulus;   /* field: the operator's (borrowed) */
    double *d_energy;    /* field; NULL: element energies are not needed (owned) */
    double **d_u;        /* [n_case] vectors (owned) */
    float **d_last;      /* [n_case] d_u of the previous design; NULL: no extrapolation (owned) */
    hx_case_load *load;  /* [n_case] (owned) */
    hx_case_record *load_case; /* [n_case] (owned) */
    double compliance;         /* NaN until computed */
    hx_analysis_record record; /* since the last hx_analysis_solve */
} hx_analysis;

/* Device bytes of the loads of an analysis, which also holds a vector per case. O(n_point) per
 * case. */
size_t hx_analysis_load_bytes(const hx_problem *problem, hx_precision precision);

/* d_f: load vector of a case in the last solve. Queued. */
int hx_analysis_force(const hx_analysis *analysis, int load_case, double *d_f);

/* Creates the analysis of the operator's problem. HX_EINPUT: loads by mass or by thermal expansion
 * on a device that does not support them. */
int hx_analysis_create(hx_analysis *analysis, hx_operator *op, hx_precond *pc, hx_pcg *pcg,
                       int warm_start);

/* Enables extrapolated first guesses: u of the last design plus the multiple of its last change
 * that lowers the energy most. Costs a product, two copies and three sums per case and design. The
 * vectors are kept in single precision; if they need many bytes, extrapolation is enabled only if
 * far more memory is available. It is not used if the analysis starts from zero or displacements
 * are prescribed. HX_EENV, HX_ENOMEM. */
int hx_analysis_follow(hx_analysis *analysis);

/* Lower bound of the device bytes of extrapolation for a number of vectors, one per case or adjoint
 * solution, regardless of the available memory. */
size_t hx_analysis_follow_bytes(const hx_problem *problem, int n_vector);

/* Creates an analysis with a solver of its own and a warm start: everything from device and problem
 * to displacements. Also returns HX_EINPUT and HX_EENV of hx_solver_create. */
int hx_analysis_open(hx_analysis *analysis, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params);

/* Sets the modulus E rho^penalty and the loads that depend on it from the physical densities d_rho,
 * which it keeps (borrowed), sets up the preconditioner and solves all cases. If PCG does not
 * converge, the record shows it; that is no error. Waits. */
int hx_analysis_solve(hx_analysis *analysis, const double *d_rho, double penalty);

/* Like hx_analysis_solve, with densities rho[n_elem] in (0, 1] on the host; NULL: solid
 * everywhere. */
int hx_analysis_solve_density(hx_analysis *analysis, const double *rho, double penalty);

/* Solves K u = f with the K of the last solve, for example for adjoint loads. u is the first guess
 * and holds the prescribed values at fixed degrees of freedom. A solve that breaks down (p'Kp <= 0
 * or NaN) is restarted once: from the current u, or from 0 after NaN. Adds to the record. Waits. */
int hx_analysis_solve_for(hx_analysis *analysis, const double *d_f, double *d_u,
                          hx_pcg_result *result);

/* *compliance: weighted sum over the cases of f'u; load_case receives each f'u. If PCG stops by
 * HX_PCG_COMPLIANCE, 2 f'u - u'K u is used instead: it is equal for the exact u, and its error is
 * |e|_K^2, whereas f'u has a first-order error. Prescribed displacements u_p with reactions r enter
 * as f'u - r'u_p = 2 f'u - u'K u (minus twice the potential energy), so that lower is stiffer.
 * Computed once per solve. Waits. */
int hx_analysis_compliance(hx_analysis *analysis, double *compliance);

/* Adds factor v' df/drho of a case to the field d_dg; does nothing unless the load of the case
 * depends on the densities (hx_problem_load_varies). d_v: a vector. Queued. */
int hx_analysis_load_work(const hx_analysis *analysis, int load_case, double factor,
                          const double *d_v, double *d_dg);

/* Field d_energy = weighted sum over the cases of u_e' Ke u_e for unit modulus. d_work: another
 * field. */
int hx_analysis_energy(hx_analysis *analysis, double *d_energy, double *d_work);

/* *error: relative error of the weighted compliance that is due to the operator's own error
 * (hx_operator_kind.error: stiffness stored in single precision). If solves were refined by an
 * exact product, it is the remaining sum of u'(K u - f) divided by that compliance. Otherwise it is
 * the sum of u'(K - K*)u, with K computed from the elements in double precision and K* the
 * operator's. Both are exact to first order. Rounded entries do not cancel rigid motions exactly,
 * so the second is 6e-8 times the ratio of the elements' stiffness to the part's (slender, or on
 * soft springs). d_work: a field. Costs a product and an energy per case. Waits. */
int hx_analysis_stiffness_error(hx_analysis *analysis, double *d_work, double *error);

/* Downloads E rho^p[n_elem], in the order of the mesh. */
int hx_analysis_modulus(const hx_analysis *analysis, double *host);

/* Download u of a case (0-based). The first returns u[n_node][components]; for a spline, its values
 * at the nodes. The second returns u[n_point][components] at all points, including those of
 * quadratic elements or control points. */
int hx_analysis_displacement(const hx_analysis *analysis, int load_case, double *u);
int hx_analysis_point_displacement(const hx_analysis *analysis, int load_case, double *u);

/* Return only what this process solves (with ranks, its subdomain) without communication. own[] has
 * the elements, or the points, of the operator's problem. */
int hx_analysis_own_modulus(const hx_analysis *analysis, double *own);
int hx_analysis_own_displacement(const hx_analysis *analysis, int load_case, double *own);

/* Call after a failed solve: the next one starts without a first guess, like the first. */
int hx_analysis_reset(hx_analysis *analysis);

/* An entry that is a vector of all points, from or to the subdomains. */
int hx_analysis_snapshot_vector(hx_analysis *analysis, hx_snapshot *image, const char *name,
                                double *d_v);

/* (*d_v)[n_point][components] := a vector whose values at all points of the whole problem every
 * rank has on its host; the caller releases it. */
int hx_analysis_put_vector(const hx_analysis *analysis, const double *whole, double **d_v);

/* Saves or loads what the next design needs: displacements with a warm start and the
 * preconditioner's state. */
int hx_analysis_snapshot(hx_analysis *analysis, hx_snapshot *image);

/* Sum of the forces of a case, including loads by mass. */
int hx_analysis_load(const hx_analysis *analysis, int load_case, double total[3]);

/* K u - f of a case at all points, with springs in K: residual[n_point][components]. At free
 * degrees of freedom it is PCG's residual, at fixed ones the reaction; for a rigid set only the
 * resultants vanish. */
int hx_analysis_residual(hx_analysis *analysis, int load_case, double *residual);

/* Sum of the reactions K u - f at the fixed degrees of freedom of a case, with springs in K. */
int hx_analysis_reaction(hx_analysis *analysis, int load_case, double total[3]);

/* Sum of the forces -S u that the springs exert on the part; with ranks, on the first one. */
int hx_analysis_spring_force(const hx_analysis *analysis, int load_case, double total[3]);

/* Heat only: heat that convection removes from the part, int h (T - ambient) dA; with ranks, on the
 * first one. */
int hx_analysis_film_heat(const hx_analysis *analysis, int load_case, double *heat);

/* Accepts a zeroed struct. */
void hx_analysis_free(hx_analysis *analysis);

HX_C_END

#endif
