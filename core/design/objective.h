/* The objective function: one const table per file, hx_objective_<name>.
 *
 * J(u(rho), rho) with K(rho) u = f(rho) in every load case has the total derivative by rho
 *
 *     dJ/drho + sum over the cases of lambda'(df/drho - dK/drho u),  K lambda = dJ/du,
 *
 * with lambda = 0 at fixed degrees of freedom (adjoint method; Bendsoe and Sigmund 2003, 5.2.1). A
 * kind provides J and its partial derivatives; the adjoint solves and the sum are common to all
 * kinds. If lambda is a multiple of u (self-adjoint, like compliance), the kind has no adjoint load
 * and no solve is needed. */
#ifndef HX_OBJECTIVE_H
#define HX_OBJECTIVE_H

#include "analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_objective hx_objective;

/* Fields are [n_elem], vectors [n_node][3], on the device. */
typedef struct hx_objective_kind {
    const char *name, *help; /* name: value of optimization.objective */
    /* *value for the analysed design; lower is better. Waits. */
    int (*value)(const hx_objective *objective, double *value);
    /* Field d_dc = derivative by the physical densities: the total one if adjoint_load is NULL,
     * otherwise at constant u. May be NULL in the latter case if it is 0. d_energy:
     * hx_analysis_energy. */
    int (*derivative)(const hx_objective *objective, const double *d_energy, double *d_dc);
    /* Vector d_load = derivative by u of a case (0-based). NULL: self-adjoint. */
    int (*adjoint_load)(const hx_objective *objective, int load_case, double *d_load);
} hx_objective_kind;

extern const hx_objective_kind hx_objective_compliance;

struct hx_objective {
    const hx_objective_kind *kind;
    hx_analysis *analysis; /* (borrowed) */
    const void *data;      /* parameters of the kind (borrowed) */
    double **d_adjoint;    /* [n_case] lambda; NULL: self-adjoint (owned) */
    double *d_load;        /* scratch vector (owned) */
};

/* Number of device vectors that an objective holds. */
int hx_objective_vectors(const hx_objective_kind *kind, const hx_problem *problem);

int hx_objective_create(hx_objective *objective, const hx_objective_kind *kind,
                        hx_analysis *analysis, const void *data);

/* Call after each hx_analysis_solve; adds to its record. Computes lambda of every case, starting
 * from the last design's if the analysis has a warm start. Waits; does nothing if self-adjoint. */
int hx_objective_solve_adjoint(hx_objective *objective);

/* Field d_dc = total derivative, after the adjoint solve. d_work: two more fields. */
int hx_objective_derivative(const hx_objective *objective, const double *d_energy, double *d_dc,
                            double *const d_work[2]);

/* After a failed step: the next adjoint solves start from 0. */
int hx_objective_reset(hx_objective *o);

/* Saves or loads what the next design needs: lambda with a warm start. */
int hx_objective_snapshot(hx_objective *objective, hx_snapshot *image);

/* Accepts a zeroed struct. */
void hx_objective_free(hx_objective *objective);

#ifdef __cplusplus
}
#endif

#endif
