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
    HX_PCG_RELATIVE,  /* |r| <= tolerance * |f| */
    HX_PCG_ABSOLUTE,  /* r' z <= tolerance (the paper's) */
    HX_PCG_COMPLIANCE /* |e|_K^2 <= tolerance * energy, e = exact u - u, as estimated */
} hx_pcg_criterion;

/* Scalars of one solve, in device memory. Once reason != HX_PCG_RUNNING every pcg_* operation
 * leaves all vectors as they are, so queued iterations past the end do no harm. */
typedef struct hx_pcg_state {
    double rz;    /* r' z */
    double rr;    /* r' r */
    double pq;    /* p' K p */
    double alpha; /* rz / pq */
    double beta;  /* rz / previous rz; 0: the next direction is z alone */
    double stop;  /* bound on rr (relative, squared), on rz (absolute), on rest / scale */
    int32_t criterion;
    int32_t iterations, max_iterations;
    int32_t reason;
    int32_t is_early; /* an update tests too: no z is made of a residual that ends a solve */
    int32_t is_low;   /* since the last test a step was low, see hx_pcg_state_estimate */
    /* With HX_PCG_COMPLIANCE; else 0 and not touched. */
    double energy; /* 2 f'u - u'Ku of the u reached */
    double rest;   /* |e|_K^2 that is left, as estimated; infinite: not known yet */
    double low;    /* energy of the lowest step so far; 0: none */
    double low_rz; /* the r'z that it began with */
    double since;  /* energy of the steps after it */
    double grow;   /* rest over the last low step: the most that was seen, fading */
    double slow;   /* rest over r'z: the most that was seen, of earlier solves too, fading */
    double scale;  /* energy that the rest is compared with; 0: |energy| */
    double floor;  /* rr that ends a solve in any case: rounding */
    double roof;   /* rr above which no estimate ends it */
} hx_pcg_state;

/* The scalar steps of PCG, one formula for host and device: each takes a finished sum. */
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

/* How a step's energy is told from the sum of those that come after it. GROW: the least that is
 * believed of rest over step. FADE: of what was seen, at each low step. FORGET: a low step that so
 * many times its energy followed was early, and says nothing of the end. */
#define HX_PCG_GROW 1.0
#define HX_PCG_FADE 0.9
#define HX_PCG_FORGET 1e4

/* The energy that the coming steps will find, from those that are done. Step k takes alpha rz off
 * |e|_K^2 (Hestenes and Stiefel 1952), so that the error of an earlier u is the sum of the steps
 * since, but for the rest. A delay that adapts itself (Meurant, Papez and Tichy, Numer. Algorithms
 * 88, 2021) keeps all steps and looks back; here the steps are cut where one falls to half of the
 * lowest before: with steps that fall evenly from one such to the next, `since` is grow times what
 * the low step fell by, and `rest` is grow times the new one. Between them the rest stays as it
 * was, which is too much.
 *
 * After a warm start the first steps take what is rough off the error, and nothing in them tells of
 * a smooth rest: |e|_K^2 is up to r'z over the smallest eigenvalue of M^-1 K. What earlier steps
 * and solves have shown of that, in place of a bound that nobody knows, is `slow`. */
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

/* The least that is left after a low step, of the r'z that followed it. */
static HX_HD double hx_pcg_state_left(const hx_pcg_state *s, double rz)
{
    return s->is_low && s->rest < s->slow * rz ? s->slow * rz : s->rest;
}

/* What the z of an update's residual is good for, r'z, is not known yet: it is taken for twice what
 * the residual before would say, and the test that fails then waits for the true one. */
#define HX_PCG_EARLY 2.0

static HX_HD void hx_pcg_state_test_early(hx_pcg_state *s, double rz)
{
    const double was = s->rest;
    if (!s->is_early || s->criterion == HX_PCG_ABSOLUTE) return;
    s->rest = hx_pcg_state_left(s, HX_PCG_EARLY * rz);
    if (s->rr >= 0.0 && hx_pcg_state_is_done(s)) {
        s->rz = rz; /* what a residual that replaces this one is compared with */
        s->reason = HX_PCG_CONVERGED;
        return;
    }
    s->rest = was;
}

/* A residual that was computed, not updated. beta stays: 0 from the host at the beginning, later
 * that of the direction, whose conjugacy the new residual does not change; so does what is known of
 * the rest, but for what the residual was off. */
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

/* beta is set before. */
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

/* The flexible rule, for a preconditioner that is not the same linear map at every step (rounded
 * to single precision): beta = z'(r - r_old) / rz_old, where r - r_old = -alpha q (Notay, SIAM J.
 * Sci. Comput. 22, 2000). */
static HX_HD void hx_pcg_state_beta_flexible(hx_pcg_state *s, double rz, double zq)
{
    s->beta = -s->alpha * zq / s->rz;
    hx_pcg_state_take_rz(s, rz);
}

/* Where several processes have parts of the vectors, each takes a step with its own sums in a state
 * beside the solve's; what is first in those states is added up, and the solve's takes that. */
typedef enum {
    HX_PCG_STEP_START,
    HX_PCG_STEP_ALPHA,
    HX_PCG_STEP_UPDATE, /* rr, of a state by `start` */
    HX_PCG_STEP_BOTH,   /* the same and beta */
    HX_PCG_STEP_BETA,
    HX_PCG_STEP_FLEXIBLE, /* beta is the sum of the parts' */
    HX_N_PCG_SUM = 5      /* numbers that are added up: rz, rr, pq, alpha, beta */
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

/* Fused passes over vectors (vector_ops.h). d_m is the inverse diagonal of the preconditioner,
 * applied on the fly (z is then NULL), or NULL and z = M^-1 r comes from the preconditioner's own
 * apply.
 *   start:      rz = r'z, rr = r'r, convergence test
 *   direction:  p = z + beta p
 *   alpha:      pq = p'q, alpha = rz / pq
 *   alpha_from: the same, p'q already summed
 *   update:     u += alpha p, r -= alpha q, rr = r'r, iterations++, with is_early a convergence
 *               test; with d_m also as `beta`; sums run over the first n_sum of the n entries
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
    int (*take)(hx_device *dev, hx_pcg_step step, const hx_pcg_state *d_sums,
                hx_pcg_state *d_state); /* hx_pcg_state_take */
    int (*update)(hx_device *dev, int64_t n, int64_t n_sum, const double *d_m, const double *d_p,
                  const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state);
    int (*beta)(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state);
    /* Optional, all or none: the same of a z in single precision, by the flexible rule; sums in
     * double. NULL: z is a vector in double. */
    int (*start_rounded)(hx_device *dev, int64_t n, const float *d_z, const double *d_r,
                         hx_pcg_state *d_state);
    int (*direction_rounded)(hx_device *dev, int64_t n, const float *d_z, double *d_p,
                             hx_pcg_state *d_state);
    int (*beta_rounded)(hx_device *dev, int64_t n, const double *d_r, const float *d_z,
                        const double *d_q, hx_pcg_state *d_state);
    /* Optional, all or none: vectors in single precision, sums and scalars in double. There is
     * always d_m. NULL: no mixed precision on this device. */
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

#ifdef __cplusplus
}
#endif

#endif
