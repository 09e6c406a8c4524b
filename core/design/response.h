/* What an optimization minimises or limits: one const table per file, hx_objective_<name> or
 * hx_constraint_<name>.
 *
 * g(u(rho), rho) with K(rho) u = f(rho) in every load case has the total derivative by rho
 *
 *     dg/drho + sum over the cases of lambda'(df/drho - dK/drho u),  K lambda = dg/du,
 *
 * with lambda = 0 at fixed degrees of freedom (adjoint method; Bendsoe and Sigmund 2003, 5.2.1). A
 * kind provides g and its partial derivatives; the adjoint solves and the sum are common to all
 * kinds. If lambda is a multiple of u (self-adjoint, like compliance), or if g does not depend on
 * u, the kind has no adjoint load and no solve is needed. */
#ifndef HX_RESPONSE_H
#define HX_RESPONSE_H

#include "analysis.h"

HX_C_BEGIN

typedef struct hx_response hx_response;

/* Parameters that a kind may take, from the config or a program. */
typedef struct hx_response_params {
    const char *set;     /* name of a set of the mesh; NULL: not given (borrowed) */
    double direction[3]; /* of any length; all 0: not given */
    const char *origin;  /* prefix of messages about them; NULL: the kind's name (borrowed) */
    const void *data;    /* for kinds that a program defines (borrowed) */
} hx_response_params;

enum { HX_TAKES_SET = 1, HX_TAKES_DIRECTION = 2 };

/* The analysed design as the optimizer has measured it. */
typedef struct hx_measured {
    const double *d_physical, *d_volume; /* fields */
    double volume;                       /* fraction, passive elements included */
} hx_measured;

/* Fields are [n_elem], vectors [n_point][components], on the device. Required: name, help, value,
 * and `derivative` or `adjoint_load`; bytes, create and destroy come together. */
typedef struct hx_response_kind {
    const char *name, *help; /* name: value of optimization.objective, column of history.csv */
    unsigned takes;          /* HX_TAKES_*: these are required, others are refused */
    int is_linear;           /* 1: the value is linear in the physical densities */
    int is_distributed; /* 1: supports several processes: its vectors are those of a subdomain */
    /* HX_EINPUT: the kind cannot be used with this problem. Called before anything is computed.
     * NULL: it always can. */
    int (*check)(const hx_problem *problem, const hx_response_params *params);
    /* Device bytes that `create` allocates. NULL: `create` allocates nothing. */
    size_t (*bytes)(const hx_problem *problem);
    /* Called once, after `check`. NULL: nothing to create. */
    int (*create)(hx_response *response);
    /* *value for the analysed design; of an objective, lower is better; of a constraint, at most
     * response->limit is admissible. Waits. */
    int (*value)(const hx_response *response, double *value);
    /* Field d_dg = derivative by the physical densities: the total one if adjoint_load is NULL,
     * otherwise at constant u. May be NULL in the latter case if it is 0. d_energy:
     * hx_analysis_energy. */
    int (*derivative)(const hx_response *response, const double *d_energy, double *d_dg);
    /* Vector d_load = derivative by u of a case (0-based). NULL: not needed. */
    int (*adjoint_load)(const hx_response *response, int load_case, double *d_load);
    /* State that the next design reuses (snapshot.h). NULL: none. */
    int (*snapshot)(hx_response *response, hx_snapshot *image);
    /* Accepts a half-created response. */
    void (*destroy)(hx_response *response);
} hx_response_kind;

typedef hx_response_kind hx_objective_kind;
typedef hx_response_kind hx_constraint_kind;

extern const hx_objective_kind hx_objective_compliance;
extern const hx_constraint_kind hx_constraint_volume;

enum { HX_RESPONSE_ROLE = 24 };

struct hx_response {
    const hx_response_kind *kind;
    char role[HX_RESPONSE_ROLE]; /* "objective", "constraint 2": also in names of snapshots */
    hx_analysis *analysis;       /* (borrowed) */
    const hx_measured *measured; /* (borrowed) */
    hx_response_params params;
    double **d_adjoint; /* [n_case] lambda; NULL: self-adjoint (owned) */
    double *d_load;     /* scratch vector (owned) */
    void *impl;         /* (owned by the kind) */
    /* of a constraint, set by the optimizer */
    double limit, now; /* largest admissible value; value of the analysed design */
    /* 1: not limited; in place of the objective, the largest now / limit of these is minimised */
    int in_largest;
    const double *d_derivative; /* field: derivative by the design (borrowed) */
};

/* HX_EINPUT: the table lacks a required entry (named), a parameter is missing or not taken, or the
 * kind cannot be used with the problem. role: see
 * hx_response. */
int hx_response_check(const hx_response_kind *kind, const char *role, const hx_problem *problem,
                      const hx_response_params *params);

/* Device bytes of a response: its adjoint vectors and those of its kind. */
size_t hx_response_bytes(const hx_response_kind *kind, const hx_problem *problem);

/* Checks, then creates. params: NULL: none. Also HX_EINPUT: several processes. */
int hx_response_create(hx_response *response, const hx_response_kind *kind, const char *role,
                       hx_analysis *analysis, const hx_measured *measured,
                       const hx_response_params *params);

/* Call after each hx_analysis_solve; adds to its record. Computes lambda of every case, starting
 * from the last design's if the analysis has a warm start. Waits; does nothing if self-adjoint. */
int hx_response_solve_adjoint(hx_response *response);

/* Field d_dg = total derivative, after the adjoint solve. d_work: two more fields. */
int hx_response_derivative(const hx_response *response, const double *d_energy, double *d_dg,
                           double *const d_work[2]);

/* After a failed step: the next adjoint solves start from 0. */
int hx_response_reset(hx_response *response);

/* Saves or loads what the next design needs: lambda with a warm start, and the kind's state. */
int hx_response_snapshot(hx_response *response, hx_snapshot *image);

/* Accepts a zeroed struct. */
void hx_response_free(hx_response *response);

HX_C_END

#endif
