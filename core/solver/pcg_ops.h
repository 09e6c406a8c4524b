/* The steps of PCG on a device (hx_device_ops.pcg), and the scalars of a solve, which live in
 * device memory: an iteration never waits. `d_` names memory of the device. */
#ifndef HX_PCG_OPS_H
#define HX_PCG_OPS_H

#include "../base/host_device.h"
#include "../device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_PCG_RUNNING = 0,
    HX_PCG_CONVERGED,
    HX_PCG_MAX_ITER,
    HX_PCG_INDEFINITE, /* p' K p <= 0 */
    HX_PCG_NAN
} hx_pcg_reason;

typedef enum {
    HX_PCG_RELATIVE, /* |r| <= tolerance * |f| */
    HX_PCG_ABSOLUTE  /* r' z <= tolerance (the paper's) */
} hx_pcg_criterion;

/* Scalars of one solve, in device memory. Once reason != HX_PCG_RUNNING every pcg_* operation
 * leaves all vectors as they are, so queued iterations past the end do no harm. */
typedef struct hx_pcg_state {
    double rz;    /* r' z */
    double rr;    /* r' r */
    double pq;    /* p' K p */
    double alpha; /* rz / pq */
    double beta;  /* rz / previous rz; 0: the next direction is z alone */
    double stop;  /* bound on rr (relative, squared) or on rz (absolute) */
    int32_t criterion;
    int32_t iterations, max_iterations;
    int32_t reason;
} hx_pcg_state;

/* The scalar steps of PCG, one formula for host and device: each takes a finished sum. */
static HX_HD void hx_pcg_state_test(hx_pcg_state *s)
{
    const double tested = s->criterion == HX_PCG_RELATIVE ? s->rr : s->rz;
    if (!(s->rr >= 0.0) || !(s->rz - s->rz == 0.0))
        s->reason = HX_PCG_NAN; /* NaN or infinite */
    else if (tested <= s->stop)
        s->reason = HX_PCG_CONVERGED;
    else if (s->iterations >= s->max_iterations)
        s->reason = HX_PCG_MAX_ITER;
}

/* A residual that was computed, not updated. beta stays: 0 from the host at the beginning, later
 * that of the direction, whose conjugacy the new residual does not change. */
static HX_HD void hx_pcg_state_start(hx_pcg_state *s, double rz, double rr)
{
    s->rz = rz;
    s->rr = rr;
    s->reason = HX_PCG_RUNNING;
    hx_pcg_state_test(s);
}

static HX_HD void hx_pcg_state_alpha(hx_pcg_state *s, double pq)
{
    s->pq = pq;
    s->alpha = s->rz / pq;
    if (!(pq - pq == 0.0))
        s->reason = HX_PCG_NAN;
    else if (!(pq > 0.0))
        s->reason = HX_PCG_INDEFINITE;
}

static HX_HD void hx_pcg_state_update(hx_pcg_state *s, double rr)
{
    s->rr = rr;
    s->iterations++;
}

static HX_HD void hx_pcg_state_beta(hx_pcg_state *s, double rz)
{
    s->beta = rz / s->rz;
    s->rz = rz;
    hx_pcg_state_test(s);
}

/* The flexible rule, for a preconditioner that is not the same linear map at every step (rounded
 * to single precision): beta = z'(r - r_old) / rz_old, where r - r_old = -alpha q (Notay, SIAM J.
 * Sci. Comput. 22, 2000). */
static HX_HD void hx_pcg_state_beta_flexible(hx_pcg_state *s, double rz, double zq)
{
    s->beta = -s->alpha * zq / s->rz;
    s->rz = rz;
    hx_pcg_state_test(s);
}

/* Fused passes over vectors (vector_ops.h). d_m is the inverse diagonal of the preconditioner,
 * applied on the fly (z is then NULL), or NULL and z = M^-1 r comes from the preconditioner's own
 * apply.
 *   start:      rz = r'z, rr = r'r, convergence test
 *   direction:  p = z + beta p
 *   alpha:      pq = p'q, alpha = rz / pq
 *   alpha_from: the same, p'q already summed
 *   update:     u += alpha p, r -= alpha q, rr = r'r, iterations++; with d_m also as `beta`
 *   beta:       beta = r'z / rz, rz = r'z, convergence test (only without d_m); with q the
 *               flexible rule */
typedef struct hx_pcg_ops {
    int (*start)(hx_device *dev, int64_t n, const double *d_m, const double *d_z, const double *d_r,
                 hx_pcg_state *d_state);
    int (*direction)(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                     const double *d_r, double *d_p, hx_pcg_state *d_state);
    int (*alpha)(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                 hx_pcg_state *d_state);
    int (*alpha_from)(hx_device *dev, const double *d_sum, hx_pcg_state *d_state);
    int (*update)(hx_device *dev, int64_t n, const double *d_m, const double *d_p,
                  const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state);
    int (*beta)(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state);
    /* Optional, all or none: vectors in single precision, sums and scalars in double. There is
     * always d_m. NULL: no mixed precision on this device. */
    int (*start_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                        hx_pcg_state *d_state);
    int (*direction_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                            float *d_p, hx_pcg_state *d_state);
    int (*alpha_single)(hx_device *dev, int64_t n, const float *d_p, const float *d_q,
                        hx_pcg_state *d_state);
    int (*update_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_p,
                         const float *d_q, float *d_u, float *d_r, hx_pcg_state *d_state);
} hx_pcg_ops;

#ifdef __cplusplus
}
#endif

#endif
