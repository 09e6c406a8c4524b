/* Preconditioned conjugate gradients, independent of any device: all work goes through
 * hx_vector_ops, hx_pcg_ops and the operator (linear.h).
 *
 * An iteration with a diagonal preconditioner takes one operator product and 13 passes over vectors
 * (r, m, p, +p | p, q | p, q, u, r, m, +u, +r), which is 312 bytes per node; 11 passes and 264
 * bytes if the operator sums p'K p itself; half of that in single precision. It does not wait for
 * the device.
 *
 * Mixed precision: the residual, the direction, K p and the increment of u are floats, and K is
 * applied in single precision; scalars and sums are doubles. When the residual has dropped by some
 * factor, the increment is added to u and the residual is replaced by the true one, computed in
 * double precision. The direction is kept, so that convergence continues undisturbed (residual
 * replacement, van der Vorst and Ye, SIAM J. Sci. Comput. 22, 2000; reliable updates, Clark et al.,
 * Comput. Phys. Commun. 181, 2010). Only a true residual ends a solve. If single precision makes no
 * further progress, the rest of the solve runs in double precision.
 *
 * If the operator stores K rounded and also has an exact product, the iterations use the rounded K,
 * and the residuals at the beginning and the end of the solve use the exact K. If the final
 * residual does not satisfy the criterion, the solve continues from it (iterative refinement,
 * Wilkinson 1963), so that u is the solution of the exact operator. This costs one more exact
 * product per solve, and some more iterations if the rounding matters. If the corrections gain
 * little, or if the rounded K is not positive definite, the rest of the solve uses the exact
 * product. */
#ifndef HX_PCG_H
#define HX_PCG_H

#include "pcg_ops.h"
#include "precond.h"

HX_C_BEGIN

/* Advice in messages about values that are not finite. */
#define HX_NOT_FINITE_REMEDY                                                                       \
    "forces, material or coordinates are too large or too small for double precision (other units" \
    " would help); if a second run succeeds, the machine failed"

typedef enum { HX_PRECISION_DOUBLE, HX_PRECISION_MIXED, HX_N_PRECISION } hx_precision;
const char *hx_precision_name(hx_precision precision);

typedef struct hx_pcg_params {
    hx_pcg_criterion criterion;
    double tolerance;
    int max_iterations; /* in all precisions together */
    /* iterations queued between two downloads of the state from the device; 0: chosen
     * automatically */
    int check_every;
    hx_precision precision;
} hx_pcg_params;

typedef struct hx_pcg_result {
    hx_pcg_reason reason;
    int iterations;
    /* |r| / |f| on exit: from the recurrence in double precision, the true residual in mixed
     * precision */
    double residual;
    double norm;  /* |f| */
    double eased; /* the bound on |r| that applied, over that of the tolerance: 1 to 10 */
    /* The next three are set with HX_PCG_COMPLIANCE and are 0 otherwise. */
    /* 2 f'u - u'Ku, computed as f'u + r'u if no displacement is prescribed; its error is |e|_K^2 */
    double energy;
    double error; /* estimate of |e|_K^2 = exact energy - energy; infinite: unknown */
    double scale; /* the energy that the tolerance is relative to */
    double seconds;
    /* part of `seconds` spent in operator products, sampled in the first two batches of iterations
     * and in every eighth after them */
    double spmv_seconds;
    /* part of `seconds` spent in the preconditioner, if it has an apply function; sampled like
     * spmv_seconds */
    double precond_seconds;
    int replacements; /* number of residual replacements in mixed precision */
    /* number of refinement steps with the exact operator, if K is stored rounded */
    int refinements;
    int took_exact; /* 1: refinement stalled, and the solve finished with the exact operator */
    int fell_back;  /* 1: mixed precision stalled, and the solve finished in double precision */
} hx_pcg_result;

/* Vectors of mixed precision. They share memory with the double precision vectors, which only the
 * true residual and a fallback to double precision need. */
typedef struct hx_pcg_single {
    float *d_r, *d_p, *d_q, *d_u, *d_m; /* [n] d_u: increment of u divided by |f|; d_m: M^-1 */
} hx_pcg_single;

/* A recorded batch of iterations, valid for one u, operator and version of the preconditioner. */
typedef struct hx_pcg_recording {
    void *batch;        /* NULL: none (owned) */
    const double *d_u;  /* NULL: single precision */
    const hx_linear *a; /* the operator that it multiplies by */
    int version;        /* of the preconditioner */
} hx_pcg_recording;

/* Load cases and adjoint solutions are solved in turn. */
enum { HX_PCG_RECORDINGS = 8 };

typedef struct hx_pcg {
    hx_pcg_params params;
    hx_device *dev; /* (borrowed) */
    int64_t n;      /* size of the operator */
    /* [n] d_z is NULL if M^-1 is a fused diagonal or leaves z in single precision (owned) */
    double *d_r, *d_p, *d_q, *d_z;
    /* [n] result of the preconditioner in single precision; NULL: it has none (borrowed) */
    const float *d_z_single;
    double *d_sum;         /* p'K p as summed by the operator (owned) */
    hx_pcg_single single;  /* (shares memory with the vectors above) */
    hx_pcg_state *d_state; /* (owned) */
    double slow;           /* hx_pcg_state.slow of the last solve; 0: no solve yet */
    double scale;          /* hx_pcg_state.scale for later solves; 0 at first */
    /* HX_PCG_RELATIVE: |r| at which later solves may end too, but at most 10 times the bound of the
     * tolerance; 0 at first: none */
    double enough;
    hx_pcg_recording recording[HX_PCG_RECORDINGS]; /* the last solved u first */
    int cannot_record; /* HX_OK, or the error because of which iterations are queued one by one */
    char not_recorded[128]; /* the message of that error */
    /* Called after each status check: iterations of this solve, 0 at its start, and |r| in a scale
     * of its own; for progress reports. NULL: none. */
    void (*watch)(void *context, int iterations, double residual);
    void *context; /* (borrowed) */
} hx_pcg;

/* A right-hand side: a full vector, or, if d_f is NULL, the list of its nonzero entries. */
typedef struct hx_load {
    const double *d_f; /* [n] n as in the operator (borrowed, like the next two) */
    int64_t n_entry;
    const int64_t *d_at;   /* [n_entry] no index occurs twice */
    const double *d_value; /* [n_entry] */
} hx_load;

/* d_to[n] = f. Queued. */
int hx_load_expand(hx_device *dev, const hx_load *load, int64_t n, double *d_to);

/* Number of device vectors of n doubles that a solver holds in addition to the caller's u and f,
 * for either precision. is_projected: the operator has rigid sets. */
int hx_pcg_vectors(const hx_precond_kind *kind, int is_projected);

/* The operator and the preconditioner must stay the same objects, in the same device memory, until
 * the solver is freed, because queued work is recorded. HX_EINPUT: mixed precision with an operator
 * without apply_single, or with a preconditioner that is neither a diagonal nor the identity. */
int hx_pcg_create(hx_pcg *pcg, const hx_pcg_params *params, const hx_linear *a,
                  const hx_precond *pc);

/* Solves A u = f, starting from the given u (warm start). Values of u at fixed degrees of freedom
 * are the prescribed displacements and are kept. The |f| of the stopping rule is the norm of the
 * load on the free degrees of freedom, including the load from prescribed displacements. Returns an
 * error only if the device fails; result->reason contains the numerical outcome. */
int hx_pcg_solve(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const double *d_f, double *d_u,
                 hx_pcg_result *result);

/* hx_pcg_solve for any load; mixed precision accepts only a full vector. A sparse load is expanded
 * into the solver's own vectors when it is needed, with bitwise equal results. */
int hx_pcg_solve_load(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const hx_load *load,
                      double *d_u, hx_pcg_result *result);

/* HX_EINPUT in the cases of hx_pcg_create, checked before anything is allocated. */
int hx_pcg_check_precision(hx_precision precision, const hx_operator_kind *op_kind,
                           const hx_precond_kind *kind);

/* HX_EINPUT if there are rigid sets and the precision is mixed. */
int hx_pcg_check_rigid(hx_precision precision, int n_rigid);

const char *hx_pcg_reason_name(hx_pcg_reason reason);

/* HX_PCG_COMPLIANCE accepts any solution with |r| / |f| below this: double precision allows no
 * better. */
#define HX_PCG_ROUNDING 1e-12

/* Default tolerance of a criterion: 1e-6 for HX_PCG_COMPLIANCE, 1e-5 for the others. */
double hx_pcg_tolerance(hx_pcg_criterion criterion);

void hx_pcg_free(hx_pcg *pcg);

HX_C_END

#endif
