/* The steps of PCG on a device (hx_device_ops.pcg), and the scalars of a solve. The scalars are
 * stored in device memory, so that an iteration never waits for the host. `d_` names device
 * memory. */
#ifndef HX_PCG_OPS_H
#define HX_PCG_OPS_H

#include "../base/host_device.h"
#include "../device/device.h"

HX_C_BEGIN

typedef enum {
    HX_PCG_RUNNING = 0,
    HX_PCG_CONVERGED,
    HX_PCG_MAX_ITER,
    HX_PCG_INDEFINITE, /* p' K p <= 0, or r' M^-1 r = 0 */
    HX_PCG_NAN
} hx_pcg_reason;

typedef enum {
    HX_PCG_RELATIVE, /* |r| <= tolerance * |f| */
    HX_PCG_ABSOLUTE, /* |r' z| <= tolerance (the criterion of P1) */
    /* |e|_K^2 <= tolerance * energy, with an estimate of |e|_K for e = exact u - u */
    HX_PCG_COMPLIANCE
} hx_pcg_criterion;

/* Scalars of one solve, in device memory. Once reason != HX_PCG_RUNNING, the operations of
 * hx_pcg_ops leave all vectors unchanged, so that iterations queued past the end do no harm. */
typedef struct hx_pcg_state {
    double rz;    /* r' z */
    double rr;    /* r' r */
    double pq;    /* p' K p */
    double alpha; /* rz / pq */
    double beta;  /* rz / previous rz; 0: the next direction is z without a part of the last one */
    /* bound on rr (relative, squared), on rz (absolute), or on rest / scale (compliance) */
    double stop;
    int32_t criterion;
    int32_t iterations, max_iterations;
    int32_t reason;
    /* 1: an update tests for convergence too, which saves the z of a residual that ends the
     * solve */
    int32_t is_early;
    int32_t is_low; /* 1: there was a low step since the last test (hx_pcg_state_estimate) */
    /* The fields below are used with HX_PCG_COMPLIANCE; otherwise they are 0 and stay untouched. */
    double energy; /* 2 f'u - u'Ku of the current u */
    double rest;   /* estimate of the remaining |e|_K^2; infinite: unknown */
    double low;    /* energy of the lowest step so far; 0: no step yet */
    double low_rz; /* r'z at the beginning of that step */
    double since;  /* energy of the steps after it */
    /* ratio of the rest to the last low step: the largest that was seen, with fading */
    double grow;
    /* ratio of the rest to r'z: the largest that was seen, also in earlier solves, with fading */
    double slow;
    double scale; /* energy that the rest is compared with; 0: |energy| */
    double floor; /* rr at or below which the solve ends in any case, as only rounding is left */
    double roof;  /* rr above which no estimate ends the solve */
} hx_pcg_state;

/* The scalar steps of PCG, shared by host and device code. Each takes a finished sum. */
static HX_HD int hx_pcg_state_is_done(const hx_pcg_state *s)
{
    if (s->criterion == HX_PCG_RELATIVE) return s->rr <= s->stop;
    if (s->criterion == HX_PCG_ABSOLUTE) return (s->rz < 0.0 ? -s->rz : s->rz) <= s->stop;
    const double energy = s->energy < 0.0 ? -s->energy : s->energy;
    const double scale = s->scale > 0.0 ? s->scale : energy;
    return s->rr <= s->floor || (s->rr <= s->roof && s->rest <= s->stop * scale);
}

static HX_HD void hx_pcg_state_test(hx_pcg_state *s)
{
    if (!(s->rr >= 0.0) || !(s->rz - s->rz == 0.0))
        s->reason = HX_PCG_NAN; /* NaN or infinite */
    else if (hx_pcg_state_is_done(s))
        s->reason = HX_PCG_CONVERGED;
    else if (s->iterations >= s->max_iterations)
        s->reason = HX_PCG_MAX_ITER;
}

/* Constants for estimating, from the energy of a step, the energy of all steps after it. GROW:
 * lower bound of the ratio rest / step. FADE: factor at each low step by which an observed ratio
 * loses influence. FORGET: a low step that was followed by this many times its energy came too
 * early to be useful, and is discarded. */
#define HX_PCG_GROW 1.0
#define HX_PCG_FADE 0.9
#define HX_PCG_FORGET 1e4

/* Estimates the energy that the coming steps will gain from the steps that are done. Step k reduces
 * |e|_K^2 by alpha rz (Hestenes and Stiefel 1952), so the error of an earlier u is the sum of the
 * steps since then plus the rest. An adaptive delay (Meurant, Papez and Tichy, Numer. Algorithms
 * 88, 2021) stores all steps and looks back. Here the sequence is divided instead wherever a step
 * falls to half of the lowest step before. If steps decrease evenly between such points, `since` is
 * `grow` times the decrease of the low step, and `rest` is `grow` times the new low step. Between
 * these points the rest is left unchanged, which overestimates it.
 *
 * After a warm start, the first steps remove the rough part of the error and contain no information
 * about a smooth rest: |e|_K^2 can be as large as r'z over the smallest eigenvalue of M^-1 K. Since
 * no bound for that eigenvalue is available, `slow` is what earlier steps and solves have shown of
 * this ratio. */
static HX_HD void hx_pcg_state_estimate(hx_pcg_state *s)
{
    const double step = s->alpha * s->rz;
    s->energy += step;
    s->since += step;
    if (s->low > 0.0 && !(step <= 0.5 * s->low) && s->since <= HX_PCG_FORGET * s->low) return;
    if (s->low > 0.0 && step <= 0.5 * s->low) {
        const double seen = s->since / (s->low - step);
        s->grow *= HX_PCG_FADE;
        if (s->grow < HX_PCG_GROW) s->grow = HX_PCG_GROW;
        if (s->grow < seen) s->grow = seen;
        s->rest = s->grow * step;
        if (s->slow < seen * s->low / s->low_rz) s->slow = seen * s->low / s->low_rz;
        s->is_low = 1;
    }
    s->low = step;
    s->low_rz = s->rz;
    s->since = 0.0;
}

/* Lower bound of the rest after a low step, from the r'z that followed it. */
static HX_HD double hx_pcg_state_left(const hx_pcg_state *s, double rz)
{
    return s->is_low && s->rest < s->slow * rz ? s->slow * rz : s->rest;
}

/* In an update, the r'z of the new residual is not known yet. It is assumed to be twice what the
 * previous residual suggests; if this early test fails, the next one uses the true value. */
#define HX_PCG_EARLY 2.0

static HX_HD void hx_pcg_state_test_early(hx_pcg_state *s, double rz)
{
    const double was = s->rest;
    if (!s->is_early || s->criterion == HX_PCG_ABSOLUTE) return;
    s->rest = hx_pcg_state_left(s, HX_PCG_EARLY * rz);
    if (s->rr >= 0.0 && hx_pcg_state_is_done(s)) {
        s->rz = rz; /* reference for a residual that replaces this one */
        s->reason = HX_PCG_CONVERGED;
        return;
    }
    s->rest = was;
}

/* Starts from a residual that was computed, not updated. beta keeps its value: 0, set by the host,
 * at the beginning; later that of the direction, whose conjugacy the new residual does not change.
 * The estimate of the rest is kept too, scaled by the change of r'z. */
static HX_HD void hx_pcg_state_start(hx_pcg_state *s, double rz, double rr)
{
    if (s->criterion == HX_PCG_COMPLIANCE && s->rz > 0.0) s->rest *= rz / s->rz;
    s->rz = rz;
    s->rr = rr;
    s->is_low = 0;
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
    const double rz = s->rz * (rr / s->rr);
    if (s->criterion == HX_PCG_COMPLIANCE) hx_pcg_state_estimate(s);
    s->rr = rr;
    s->iterations++;
    hx_pcg_state_test_early(s, rz);
}

/* beta must have been set before. */
static HX_HD void hx_pcg_state_take_rz(hx_pcg_state *s, double rz)
{
    if (s->criterion == HX_PCG_COMPLIANCE) s->rest = hx_pcg_state_left(s, rz);
    s->is_low = 0;
    s->rz = rz;
    hx_pcg_state_test(s);
}

static HX_HD void hx_pcg_state_beta(hx_pcg_state *s, double rz)
{
    s->beta = rz / s->rz;
    hx_pcg_state_take_rz(s, rz);
}

/* The flexible rule, for a preconditioner that is not the same linear map in every step because it
 * is rounded to single precision: beta = z'(r - r_old) / rz_old, where r - r_old = -alpha q (Notay,
 * SIAM J. Sci. Comput. 22, 2000). */
static HX_HD void hx_pcg_state_beta_flexible(hx_pcg_state *s, double rz, double zq)
{
    s->beta = -s->alpha * zq / s->rz;
    hx_pcg_state_take_rz(s, rz);
}

/* If the vectors are distributed, each rank takes a step with its own sums in a separate state. The
 * first fields of these states are summed over the ranks, and the state of the solve takes the step
 * with the sums. */
typedef enum {
    HX_PCG_STEP_START,
    HX_PCG_STEP_ALPHA,
    HX_PCG_STEP_UPDATE, /* rr, of a state that did `start` */
    HX_PCG_STEP_BOTH,   /* rr and beta */
    HX_PCG_STEP_BETA,
    HX_PCG_STEP_FLEXIBLE, /* beta is summed from the parts of the ranks */
    HX_N_PCG_SUM = 5      /* numbers to be summed: rz, rr, pq, alpha, beta */
} hx_pcg_step;

static HX_HD void hx_pcg_state_take(hx_pcg_state *s, hx_pcg_step step, const hx_pcg_state *sums)
{
    if (step == HX_PCG_STEP_START) hx_pcg_state_start(s, sums->rz, sums->rr);
    if (step == HX_PCG_STEP_START || s->reason != HX_PCG_RUNNING) return;
    if (step == HX_PCG_STEP_ALPHA) hx_pcg_state_alpha(s, sums->pq);
    if (step == HX_PCG_STEP_UPDATE || step == HX_PCG_STEP_BOTH) hx_pcg_state_update(s, sums->rr);
    if (step == HX_PCG_STEP_BOTH || step == HX_PCG_STEP_BETA) hx_pcg_state_beta(s, sums->rz);
    if (step != HX_PCG_STEP_FLEXIBLE) return;
    hx_pcg_state_beta(s, sums->rz);
    s->beta = sums->beta;
}

/* Fused passes over vectors (vector_ops.h). Either d_m is the inverse diagonal of the
 * preconditioner, applied on the fly (z is then NULL), or d_m is NULL and z = M^-1 r was computed
 * by the preconditioner's apply function.
 *   start:      rz = r'z, rr = r'r, convergence test
 *   direction:  p = z + beta p
 *   alpha:      pq = p'q, alpha = rz / pq
 *   alpha_from: alpha with p'q already summed
 *   update:     u += alpha p, r -= alpha q, rr = r'r, iterations++, with is_early a convergence
 *               test; with d_m also the work of `beta`; sums run over the first n_sum entries
 *   beta:       beta = r'z / rz, rz = r'z, convergence test (only without d_m); with q by the
 *               flexible rule */
typedef struct hx_pcg_ops {
    int (*start)(hx_device *dev, int64_t n, const double *d_m, const double *d_z, const double *d_r,
                 hx_pcg_state *d_state);
    int (*direction)(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                     const double *d_r, double *d_p, hx_pcg_state *d_state);
    int (*alpha)(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                 hx_pcg_state *d_state);
    int (*alpha_from)(hx_device *dev, const double *d_sum, hx_pcg_state *d_state);
    int (*take)(hx_device *dev, hx_pcg_step step, const hx_pcg_state *d_sums,
                hx_pcg_state *d_state); /* hx_pcg_state_take */
    int (*update)(hx_device *dev, int64_t n, int64_t n_sum, const double *d_m, const double *d_p,
                  const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state);
    int (*beta)(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state);
    /* Optional, all or none: these steps with z in single precision, by the flexible rule; sums in
     * double precision. NULL: z is a vector in double precision. */
    int (*start_rounded)(hx_device *dev, int64_t n, const float *d_z, const double *d_r,
                         hx_pcg_state *d_state);
    int (*direction_rounded)(hx_device *dev, int64_t n, const float *d_z, double *d_p,
                             hx_pcg_state *d_state);
    int (*beta_rounded)(hx_device *dev, int64_t n, const double *d_r, const float *d_z,
                        const double *d_q, hx_pcg_state *d_state);
    /* Optional, all or none: vectors in single precision, sums and scalars in double precision; d_m
     * is always given. NULL: the device does not support mixed precision. */
    int (*start_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                        hx_pcg_state *d_state);
    int (*direction_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                            float *d_p, hx_pcg_state *d_state);
    int (*alpha_single)(hx_device *dev, int64_t n, const float *d_p, const float *d_q,
                        hx_pcg_state *d_state);
    int (*update_single)(hx_device *dev, int64_t n, int64_t n_sum, const float *d_m,
                         const float *d_p, const float *d_q, float *d_u, float *d_r,
                         hx_pcg_state *d_state);
} hx_pcg_ops;

HX_C_END

#endif
