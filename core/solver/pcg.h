/* Preconditioned conjugate gradients, free of device words: everything goes through
 * hx_vector_ops, hx_pcg_ops and the operator (linear.h).
 *
 * Per iteration with a diagonal preconditioner: one operator product and 13 passes over vectors
 * (r, m, p, +p | p, q | p, q, u, r, m, +u, +r), 312 bytes a node, 11 and 264 where the operator
 * sums p'K p itself, half of it in single precision; no wait for the device.
 *
 * Mixed precision: residual, direction, K p and the increment of u are floats and K is applied in
 * single precision; scalars and sums are doubles. When the residual has dropped by some factor the
 * increment is added to u and the residual replaced by the true one, in double; the direction is
 * kept, so that the convergence goes on as if nothing had happened (residual replacement, van der
 * Vorst and Ye, SIAM J. Sci. Comput. 22, 2000; the reliable updates of Clark et al., Comput. Phys.
 * Commun. 181, 2010). Only a true residual ends a solve. Where single precision does not lead
 * further the rest is done in double.
 *
 * An operator whose stored K is rounded, and that has an exact product besides, is what the
 * iterations see; the residual at the beginning and at the end is that of the exact K. Where it
 * does not meet the criterion the solve goes on from it (iterative refinement, Wilkinson 1963), so
 * that u is the exact operator's: one exact product more a solve, and where rounding counts some
 * iterations more. Where corrections gain little, or K as it is stored is not positive definite,
 * the rest is done with the exact product. */
#ifndef HX_PCG_H
#define HX_PCG_H

#include "pcg_ops.h"
#include "precond.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to do about numbers that are not finite, in messages. */
#define HX_NOT_FINITE_REMEDY                                                                       \
    "forces, material or coordinates are too large or too small for double precision (other units" \
    " would help) or, if it does not happen again, the machine failed"

typedef enum { HX_PRECISION_DOUBLE, HX_PRECISION_MIXED, HX_N_PRECISION } hx_precision;
const char *hx_precision_name(hx_precision precision);

typedef struct hx_pcg_params {
    hx_pcg_criterion criterion;
    double tolerance;
    int max_iterations; /* in all, whatever their precision */
    int check_every;    /* iterations queued between looks at the device; 0: chosen */
    hx_precision precision;
} hx_pcg_params;

typedef struct hx_pcg_result {
    hx_pcg_reason reason;
    int iterations;
    double residual; /* |r| / |f| on exit: in double by the recurrence, in mixed the true one */
    /* With HX_PCG_COMPLIANCE; else 0. */
    double energy; /* 2 f'u - u'Ku; f'u + r'u where nothing is prescribed: off by |e|_K^2 only */
    double error;  /* |e|_K^2 = exact energy - energy, as estimated; infinite: not known */
    double scale;  /* what the tolerance was a share of */
    double seconds;
    double spmv_seconds;    /* share of `seconds` in operator products, sampled after the first two
                               looks and each eighth */
    double precond_seconds; /* the same in applications of the preconditioner, where it has any */
    int replacements;       /* of the residual, in mixed precision */
    int refinements;        /* against the exact operator, where K is stored rounded */
    int took_exact;         /* 1: they led no further, finished with the exact operator itself */
    int fell_back;          /* 1: mixed precision did not lead further, finished in double */
} hx_pcg_result;

/* Vectors of mixed precision. They lie in the memory of those in double, which only the true
 * residual and a fall-back need. */
typedef struct hx_pcg_single {
    float *d_r, *d_p, *d_q, *d_u, *d_m; /* [n] d_u: increment of u over |f|; d_m: M^-1 */
} hx_pcg_single;

typedef struct hx_pcg {
    hx_pcg_params params;
    hx_device *dev;                /* (borrowed) */
    int64_t n;                     /* of the operator */
    double *d_r, *d_p, *d_q, *d_z; /* [n]; z only where M^-1 is neither a fused diagonal nor leaves
                                      it in single precision (owned) */
    const float *d_z_single;       /* [n] the preconditioner's; NULL: none (borrowed) */
    double *d_sum;                 /* p'K p of the operator (owned) */
    hx_pcg_single single;          /* (borrowed from the vectors above) */
    hx_pcg_state *d_state;         /* (owned) */
    double slow;                   /* hx_pcg_state.slow of the last solve; 0: none yet */
    double scale;                  /* hx_pcg_state.scale of the solves that follow; 0 at first */
    void *recording;               /* the iterations between two looks, or NULL (owned) */
    const double *d_recorded_u;    /* what they work on; NULL: in single precision */
    const hx_linear *recorded_a;   /* and multiply by */
    int recorded_version;          /* of the preconditioner */
    int cannot_record;             /* HX_OK, or why they are queued one by one instead */
    char not_recorded[128];        /* the same in words */
    /* After each look at the device: iterations of this solve, 0 at its start, and |r| in a scale of
     * its own; for progress reports. NULL: none. */
    void (*watch)(void *context, int iterations, double residual);
    void *context; /* (borrowed) */
} hx_pcg;

/* A right-hand side: a vector, or the entries that are not 0, where d_f is NULL. */
typedef struct hx_load {
    const double *d_f; /* [n] of the operator (borrowed, like the next two) */
    int64_t n_entry;
    const int64_t *d_at;   /* [n_entry] each once */
    const double *d_value; /* [n_entry] */
} hx_load;

/* d_to[n] = f; queued. */
int hx_load_expand(hx_device *dev, const hx_load *load, int64_t n, double *d_to);

/* Device vectors of n doubles that a solver holds besides the caller's u and f, for either
 * precision; is_projected: the operator has rigid sets. */
int hx_pcg_vectors(const hx_precond_kind *kind, int is_projected);

/* The operator and the preconditioner must stay the same, on the same device memory, until the
 * solver is freed: what it queues is recorded. HX_EINPUT: mixed precision with an operator without
 * apply_single, or a preconditioner that is neither a diagonal nor the identity. */
int hx_pcg_create(hx_pcg *pcg, const hx_pcg_params *params, const hx_linear *a,
                  const hx_precond *pc);

/* Solves A u = f from the u given (warm start). Values of u at fixed degrees of freedom are the
 * prescribed displacements and stay. The stopping rule's |f| is the norm of the load on free
 * degrees of freedom, the load of prescribed displacements included. Returns an error only if the
 * device failed; the numerical outcome is in result->reason. */
int hx_pcg_solve(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const double *d_f, double *d_u,
                 hx_pcg_result *result);

/* The same of any load, in mixed precision of a vector only: it lies in the solver's own vectors
 * whenever it is needed, to the same bits. */
int hx_pcg_solve_load(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const hx_load *load,
                      double *d_u, hx_pcg_result *result);

/* HX_EINPUT as in hx_pcg_create, before anything is allocated. */
int hx_pcg_check_precision(hx_precision precision, const hx_strategy *strategy,
                           const hx_precond_kind *kind);

/* HX_EINPUT: rigid sets in mixed precision. */
int hx_pcg_check_rigid(hx_precision precision, int n_rigid);

const char *hx_pcg_reason_name(hx_pcg_reason reason);

/* |r| / |f| below which HX_PCG_COMPLIANCE expects nothing more from double precision. */
#define HX_PCG_ROUNDING 1e-12

/* The default of a criterion: 1e-5, of HX_PCG_COMPLIANCE 1e-6. */
double hx_pcg_tolerance(hx_pcg_criterion criterion);

void hx_pcg_free(hx_pcg *pcg);

#ifdef __cplusplus
}
#endif

#endif
