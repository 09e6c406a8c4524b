/* What an optimization minimises or limits: one const table per file, hx_response_<name>.
 *
 * g(u(rho), rho) with K(rho) u = f(rho) in every load case has the total derivative by rho
 *
 *     dg/drho + sum over the cases of lambda'(df/drho - dK/drho u),  K lambda = dg/du,
 *
 * with lambda = 0 at fixed degrees of freedom (adjoint method; Bendsoe and Sigmund 2003, 5.2.1). A
 * kind provides g and its partial derivatives; the adjoint solves and the sum are common to all
 * kinds. If lambda is a multiple of u (self-adjoint, like compliance), or if g does not depend on
 * u, the kind has no adjoint load and no solve is needed. If an adjoint load happens to be a
 * multiple of the load of its case, lambda is that multiple of u, and the solve is left out. */
#ifndef HX_RESPONSE_H
#define HX_RESPONSE_H

#include "analysis.h"

HX_C_BEGIN

typedef struct hx_response hx_response;

enum { HX_ALL_CASES = -1 };

/* Parameters that a kind may take, from the config or a program. */
typedef struct hx_response_params {
    const char *set, *set_2; /* names of sets of the mesh; NULL: not given (borrowed) */
    double direction[3];     /* of any length; all 0: not given */
    int is_magnitude;        /* 1: the absolute value */
    int of_largest;          /* 1: the largest over the set; 0: the mean */
    int load_case;           /* 0-based; HX_ALL_CASES: the weighted sum of the cases */
    /* of `stress` only (stress_limit.h), HX_TAKES_STRESS: exponent of the density, which weakens
     * the stress; names of sets whose elements do not count (borrowed); 1: a limit is met by the
     * augmented Lagrangian; `limit` is then set by the optimizer */
    double relaxation, limit;
    /* of `local_volume` only: radius of the balls, a length, 0: not given; 1: the value is measured
     * once and not differentiated, so large balls may cost more (ball.h) */
    double radius;
    int is_measured;
    const char *const *exclude;
    int n_exclude, is_lagrangian;
    const char *origin; /* prefix of messages about them; NULL: the kind's name (borrowed) */
    const void *data;   /* for kinds that a program defines (borrowed) */
} hx_response_params;

enum {
    HX_TAKES_SET = 1,
    HX_TAKES_DIRECTION = 2,
    HX_TAKES_SET_2 = 4,
    HX_TAKES_MAGNITUDE = 8,
    HX_TAKES_LARGEST = 16,
    HX_TAKES_CASE = 32,
    HX_TAKES_RELAXATION = 64,
    HX_TAKES_METHOD = 128,
    HX_TAKES_EXCLUDE = 256,
    HX_TAKES_EXCLUDE_RADIUS = 512,
    HX_TAKES_RADIUS = 1024,
    HX_TAKES_STRESS =
        HX_TAKES_RELAXATION | HX_TAKES_METHOD | HX_TAKES_EXCLUDE | HX_TAKES_EXCLUDE_RADIUS
};

/* What a value is measured in. */
typedef enum {
    HX_VALUE_NONE,
    HX_VALUE_LENGTH,
    HX_VALUE_FORCE,
    HX_VALUE_ENERGY,
    HX_VALUE_MASS,
    HX_VALUE_TEMPERATURE,
    HX_VALUE_POWER, /* heat only, like the next */
    HX_VALUE_POWER_TEMPERATURE,
    HX_VALUE_VOLUME,
    HX_VALUE_STRESS
} hx_response_unit;

/* The analysed design as the optimizer has measured it. */
typedef struct hx_measured {
    /* fields; d_made: the densities of the design that is made, if another one is analysed
     * (hx_design_variant), otherwise d_physical */
    const double *d_physical, *d_made, *d_volume;
    double volume; /* fraction of the design that is made, passive elements included */
    /* a vector that the responses share as scratch; NULL: each has its own (borrowed) */
    double *d_load;
    /* a field that they share as scratch, until the proposal; NULL: like above (borrowed) */
    double *d_scratch;
} hx_measured;

/* Fields are [n_elem], vectors [n_point][components], on the device. Required: name, help, value,
 * and `derivative` or `adjoint_load`; bytes, create and destroy come together. */
typedef struct hx_response_kind {
    const char *name, *help; /* name: value of `kind` in the config, column of history.csv */
    int is_objective, is_constraint; /* 1: can be minimised, can be limited */
    unsigned takes;                  /* HX_TAKES_*; others are refused */
    unsigned not_in_heat;            /* those of `takes` that are refused in heat */
    unsigned needs;                  /* those of `takes` that are required */
    int is_linear;                   /* 1: the value is linear in the physical densities */
    int is_of_made;     /* 1: value and derivative are those of the design that is made */
    int is_distributed; /* 1: supports several processes: its vectors are those of a subdomain */
    /* 1: not evaluated as it stands: the optimizer minimises the largest of the cases instead */
    int is_worst_case;
    hx_response_unit unit, heat_unit; /* in elasticity and in heat */
    int is_upper;                     /* 1: can only be limited from above */
    /* the kind that takes its place as a constraint if params.is_lagrangian: without a row, because
     * the optimizer adds the augmented Lagrangian of these limits to the objective; NULL: none */
    const struct hx_response_kind *lagrangian;
    int in_lagrangian; /* 1: this is such a kind, which needs no derivative */
    /* HX_EINPUT: the kind cannot be used with this problem. Called before anything is computed.
     * NULL: it always can. */
    int (*check)(const hx_problem *problem, const hx_response_params *params);
    /* Upper bound of the device bytes that `create` allocates. NULL: `create` allocates nothing. */
    size_t (*bytes)(const hx_problem *problem, const hx_response_params *params);
    /* Called once, after `check`. NULL: nothing to create. */
    int (*create)(hx_response *response);
    /* Once per analysed design, before all that follows: what the kind needs of u. Waits. NULL:
     * nothing. */
    int (*prepare)(hx_response *response);
    /* Once per design that the update does not reject, before its adjoint solves: adapts what must
     * not change while designs are compared. NULL: nothing. */
    int (*accept)(hx_response *response);
    /* *value for the analysed design. Waits. */
    int (*value)(const hx_response *response, double *value);
    /* What records have instead, if `value` only approximates it. Waits. NULL: the value. */
    int (*report)(const hx_response *response, double *value);
    /* Field d_dg = derivative by the physical densities: the total one if adjoint_load is NULL,
     * otherwise at constant u. May be NULL in the latter case if it is 0. d_energy:
     * hx_analysis_energy. */
    int (*derivative)(const hx_response *response, const double *d_energy, double *d_dg);
    /* Vector d_load = derivative by u of a case (0-based). Called only for the cases of the
     * response. NULL: not needed. */
    int (*adjoint_load)(const hx_response *response, int load_case, double *d_load);
    int is_apart; /* 1: that vector is no multiple of the load of a case, unless it is 0 */
    /* After the solve: d_lambda := lambda with what the kind adds at fixed degrees of freedom, where
     * lambda is 0. The derivative takes that vector. NULL: nothing. */
    int (*finish_adjoint)(const hx_response *response, int load_case, double *d_lambda);
    /* The value from which relative changes, and violations of a limit (hx_limits_exceeded), are
     * measured: the zero of a temperature scale is arbitrary. NULL: 0. */
    double (*zero)(const hx_problem *problem, const hx_response_params *params);
    /* State that the next design reuses (snapshot.h). NULL: none. */
    int (*snapshot)(hx_response *response, hx_snapshot *image);
    /* Accepts a half-created response. */
    void (*destroy)(hx_response *response);
} hx_response_kind;

extern const hx_response_kind hx_response_compliance, hx_response_volume, hx_response_mass;
/* The volume that volume_fraction prescribes, not as a fraction; not in the list of kinds. */
extern const hx_response_kind hx_constraint_volume;

enum { HX_RESPONSE_ROLE = 24 };

struct hx_response {
    const hx_response_kind *kind;
    char role[HX_RESPONSE_ROLE]; /* "objective", "constraint 2": also in names of snapshots */
    hx_analysis *analysis;       /* (borrowed) */
    const hx_measured *measured; /* (borrowed) */
    hx_response_params params;
    /* [n_case] lambda; an entry is NULL if the response does not depend on the case; NULL:
     * self-adjoint (owned) */
    double **d_adjoint;
    /* [n_case]: after hx_response_solve_adjoint, lambda is this multiple of u; NAN: it is d_adjoint
     * (owned) */
    double *multiple;
    /* [n_case] lambda of the previous design, like hx_analysis.d_last; NULL: no extrapolation
     * (owned) */
    float **d_last;
    /* 1: d_load of a case is the same in all designs, set by `create`; the multiple of a case whose
     * load does not vary either is found once (is_found[n_case], owned) */
    int has_constant_load;
    char *is_found;
    double *d_load;             /* scratch vector */
    int owns_load;              /* 1: d_load is owned; 0: borrowed from `measured` */
    int n_solve;                /* adjoint solves since its creation */
    void *impl;                 /* (owned by the kind) */
    double now;                 /* value of the analysed design, set by the optimizer */
    const double *d_derivative; /* field: derivative by the design (borrowed) */
};

/* 1 if the response depends on a load case (0-based). */
static inline int hx_response_has_case(const hx_response *o, int load_case)
{
    return o->params.load_case == HX_ALL_CASES || o->params.load_case == load_case;
}

/* Weight of a case in the value: 1 if the response has only that case. */
static inline double hx_response_weight(const hx_response *o, int load_case)
{
    return o->params.load_case == HX_ALL_CASES ? o->analysis->problem->cases.weight[load_case]
                                               : 1.0;
}

/* hx_response_kind.zero of a kind. */
static inline double hx_response_zero(const hx_response_kind *kind, const hx_problem *problem,
                                      const hx_response_params *params)
{
    return kind->zero ? kind->zero(problem, params) : 0.0;
}

/* Both depend on the physics. */
hx_response_unit hx_response_unit_of(const hx_response_kind *kind, const hx_problem *problem);
unsigned hx_response_takes(const hx_response_kind *kind, int is_heat);
/* "set, case": the keys of the parameters that the kind takes; returns text. */
const char *hx_response_keys(const hx_response_kind *kind, int is_heat, char *text, size_t n_text);

/* HX_EINPUT: the kind does not take one of the parameters `given` (HX_TAKES_*), lacks one that it
 * needs, or is given a magnitude without the sign that it removes. origin: prefix of the message. */
int hx_response_check_given(const hx_response_kind *kind, const char *role, const char *origin,
                            int is_heat, unsigned given);

/* The value for records. */
static inline int hx_response_report(const hx_response *o, double *value)
{
    return o->kind->report ? o->kind->report(o, value) : o->kind->value(o, value);
}

/* HX_EINPUT: the table lacks a required entry (named), a parameter is missing or not taken, or the
 * kind cannot be used with the problem. params: NULL: none, all cases. role: see hx_response. */
int hx_response_check(const hx_response_kind *kind, const char *role, const hx_problem *problem,
                      const hx_response_params *params);

/* Device bytes of a response: its adjoint vectors and those of its kind, without the scratch vector
 * that all responses share. */
size_t hx_response_bytes(const hx_response_kind *kind, const hx_problem *problem,
                         const hx_response_params *params);

/* Checks, then creates. params: NULL: none, all cases. Also HX_EINPUT: several processes. */
int hx_response_create(hx_response *response, const hx_response_kind *kind, const char *role,
                       hx_analysis *analysis, const hx_measured *measured,
                       const hx_response_params *params);

/* Call after each hx_analysis_solve, before the value is requested. Waits. */
int hx_response_prepare(hx_response *response);

/* Call after hx_response_prepare if the derivative is needed; adds to the record of the analysis.
 * Computes lambda of every case, starting from the last design's if the analysis has a warm start.
 * Waits. */
int hx_response_solve_adjoint(hx_response *response);

/* response->multiple[c] := the number by which the load of a case becomes the adjoint load at free
 * degrees of freedom, so that lambda is that multiple of u; NAN if there is none. For kinds with an
 * adjoint load and no finish_adjoint, after `prepare`. Uses vectors of PCG. */
int hx_response_find_multiple(hx_response *response, int load_case);

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
