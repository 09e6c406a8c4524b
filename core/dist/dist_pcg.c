/* The steps of PCG over subdomains. Each rank takes a step with its own points, storing partial
 * sums in a copy of the solve's scalars; the sums over the ranks then complete the step on every
 * rank. All ranks obtain the same scalars and therefore take the same steps. The host never waits
 * if exchanges go from device to device. */
#include <stddef.h>

#include "dist.h"

_Static_assert(offsetof(hx_pcg_state, beta) == (HX_N_PCG_SUM - 1) * sizeof(double),
               "summed scalars must be contiguous");

/* Copies the solve's scalars for a step with this rank's partial sums. */
static int begin_step(hx_dist *dist, const hx_pcg_state *d_state)
{
    hx_device *const dev = &dist->dev;
    if (!dist->d_sums) HX_TRY(dist->plain->alloc(dev, sizeof *dist->d_sums, &dist->d_sums));
    return dist->plain->copy(dev, dist->d_sums, d_state, sizeof *d_state);
}

/* Completes the step with the sums over all ranks, added in their order. */
static int end_step(hx_dist *dist, hx_pcg_step step, hx_pcg_state *d_state)
{
    double *const d_sum = &dist->d_sums->rz; /* the first of the scalars that are summed */
    HX_TRY(hx_dist_sum_few(dist, HX_N_PCG_SUM, d_sum));
    return dist->plain->pcg->take(&dist->dev, step, dist->d_sums, d_state);
}

static int start_dist_pcg(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                          const double *d_r, hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const int is_r = !d_m && (!d_z || d_z == d_r);
    const double *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own(dist, n, d_r, &n, &d_own));
    HX_TRY(dist->plain->pcg->start(dev, n, d_m, is_r ? d_own : d_z, d_own, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_START, d_state);
}

static int alpha(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                 hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const double *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own(dist, n, d_p, &n, &d_own));
    HX_TRY(dist->plain->pcg->alpha(dev, n, d_own, d_q, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_ALPHA, d_state);
}

static int alpha_from(hx_device *dev, const double *d_sum, hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(dist->plain->pcg->alpha_from(dev, d_sum, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_ALPHA, d_state);
}

/* All points are updated; sums run over own points, whose number each rank has itself, so n_sum is
 * unused. */
static int update(hx_device *dev, int64_t n, int64_t n_sum, const double *d_m, const double *d_p,
                  const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_pcg_step step = d_m ? HX_PCG_STEP_BOTH : HX_PCG_STEP_UPDATE;
    const double *d_own;
    const int is_prefix = hx_dist_has_own_first(dist);
    const int64_t n_own = is_prefix ? hx_dist_count_own(dist, n) : n;
    (void)n_sum;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(dist->plain->pcg->update(dev, n, n_own, is_prefix ? d_m : NULL, d_p, d_q, d_u, d_r,
                                    dist->d_sums));
    if (is_prefix) return end_step(dist, step, d_state);
    HX_TRY(hx_dist_own(dist, n, d_r, &n, &d_own));
    HX_TRY(dist->plain->pcg->start(dev, n, d_m, d_m ? NULL : d_own, d_own, dist->d_sums));
    return end_step(dist, step, d_state);
}

static int beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const double *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own(dist, n, d_z ? d_z : d_r, &n, &d_own));
    HX_TRY(dist->plain->pcg->beta(dev, n, d_z ? d_r : d_own, d_own, d_q, dist->d_sums));
    return end_step(dist, d_q ? HX_PCG_STEP_FLEXIBLE : HX_PCG_STEP_BETA, d_state);
}

static int start_rounded(hx_device *dev, int64_t n, const float *d_z, const double *d_r,
                         hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const double *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own(dist, n, d_r, &n, &d_own));
    HX_TRY(dist->plain->pcg->start_rounded(dev, n, d_z, d_own, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_START, d_state);
}

static int beta_rounded(hx_device *dev, int64_t n, const double *d_r, const float *d_z,
                        const double *d_q, hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const float *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own_single(dist, n, d_z, &dist->d_own_single, &n, &d_own));
    HX_TRY(dist->plain->pcg->beta_rounded(dev, n, d_r, d_own, d_q, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_FLEXIBLE, d_state);
}

static int start_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                        hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const float *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own_single(dist, n, d_r, &dist->d_own_single, &n, &d_own));
    HX_TRY(dist->plain->pcg->start_single(dev, n, d_m, d_own, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_START, d_state);
}

static int alpha_single(hx_device *dev, int64_t n, const float *d_p, const float *d_q,
                        hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const float *d_own;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(hx_dist_own_single(dist, n, d_p, &dist->d_own_single, &n, &d_own));
    HX_TRY(dist->plain->pcg->alpha_single(dev, n, d_own, d_q, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_ALPHA, d_state);
}

static int update_single(hx_device *dev, int64_t n, int64_t n_sum, const float *d_m,
                         const float *d_p, const float *d_q, float *d_u, float *d_r,
                         hx_pcg_state *d_state)
{
    hx_dist *const dist = hx_dist_of(dev);
    const float *d_own;
    const int is_prefix = hx_dist_has_own_first(dist);
    const int64_t n_own = is_prefix ? hx_dist_count_own(dist, n) : n;
    (void)n_sum;
    HX_TRY(begin_step(dist, d_state));
    HX_TRY(dist->plain->pcg->update_single(dev, n, n_own, d_m, d_p, d_q, d_u, d_r, dist->d_sums));
    if (is_prefix) return end_step(dist, HX_PCG_STEP_BOTH, d_state);
    HX_TRY(hx_dist_own_single(dist, n, d_r, &dist->d_own_single, &n, &d_own));
    HX_TRY(dist->plain->pcg->start_single(dev, n, d_m, d_own, dist->d_sums));
    return end_step(dist, HX_PCG_STEP_BOTH, d_state);
}

/* Without mixed precision in the backend there is none here. */
static void set_single(hx_pcg_ops *pcg, const hx_pcg_ops *plain)
{
    if (!plain->start_single) return;
    pcg->start_single = start_single;
    pcg->direction_single = plain->direction_single;
    pcg->alpha_single = alpha_single;
    pcg->update_single = update_single;
}

/* Likewise for a preconditioned residual z in single precision. */
static void set_rounded(hx_pcg_ops *pcg, const hx_pcg_ops *plain)
{
    if (!plain->start_rounded) return;
    pcg->start_rounded = start_rounded;
    pcg->direction_rounded = plain->direction_rounded;
    pcg->beta_rounded = beta_rounded;
}

void hx_dist_set_pcg(hx_dist *dist)
{
    dist->pcg = (hx_pcg_ops){
        .start = start_dist_pcg,
        .direction = dist->plain->pcg->direction, /* reads scalars and sums nothing */
        .alpha = alpha,
        .alpha_from = alpha_from,
        .update = update,
        .beta = beta,
    };
    set_rounded(&dist->pcg, dist->plain->pcg);
    set_single(&dist->pcg, dist->plain->pcg);
    dist->ops.pcg = &dist->pcg;
}
