/* Preconditioned conjugate gradients, free of device words: everything goes through hx_device_ops.
 *
 * Per iteration with a diagonal preconditioner: one operator product and 13 passes over vectors
 * (p, q | p, q, u, r, m, +u, +r | r, m, p, +p), 312 bytes a node, no wait for the device. */
#ifndef HX_PCG_H
#define HX_PCG_H

#include "precond.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_pcg_params {
    hx_pcg_criterion criterion;
    double tolerance;
    int max_iterations;
    int check_every; /* iterations queued between looks at the device; 0: chosen */
} hx_pcg_params;

typedef struct hx_pcg_result {
    hx_pcg_reason reason;
    int iterations;
    double residual; /* |r| / |f| on exit, by the recurrence */
    double seconds;
    double spmv_seconds; /* share of `seconds` in operator products, sampled once a look */
} hx_pcg_result;

typedef struct hx_pcg {
    hx_pcg_params params;
    hx_device *dev; /* (borrowed) */
    int64_t n_dof;
    double *d_r, *d_p, *d_q, *d_z; /* [n_dof]; z only without a fused diagonal (owned) */
    hx_pcg_state *d_state;         /* (owned) */
} hx_pcg;

/* Device vectors that a solver holds besides the caller's u and f. */
int hx_pcg_vectors(const hx_precond_kind *kind);

int hx_pcg_create(hx_pcg *pcg, const hx_pcg_params *params, const hx_operator *op,
                  const hx_precond *pc);

/* Solves K u = f from the u given (warm start). Values of u at fixed degrees of freedom are the
 * prescribed displacements and stay. The stopping rule's |f| is the norm of the load on free
 * degrees of freedom, the load of prescribed displacements included. Returns an error only if the
 * device failed; the numerical outcome is in result->reason. */
int hx_pcg_solve(hx_pcg *pcg, const hx_operator *op, hx_precond *pc, const double *d_f, double *d_u,
                 hx_pcg_result *result);

const char *hx_pcg_reason_name(hx_pcg_reason reason);
void hx_pcg_free(hx_pcg *pcg);

#ifdef __cplusplus
}
#endif

#endif
