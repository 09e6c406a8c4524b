/* The steps of PCG over shares, of the backend's vector operations: sums run over own points and
 * then over the processes, so that each step waits. All processes find the same scalars and so take
 * the same steps. */
#include "ranks.h"

static int get(hx_ranks *ranks, const hx_pcg_state *d_state, hx_pcg_state *state)
{
    return ranks->plain->download(&ranks->dev, state, d_state, sizeof *state);
}

static int put(hx_ranks *ranks, hx_pcg_state *d_state, const hx_pcg_state *state)
{
    return ranks->plain->upload(&ranks->dev, d_state, state, sizeof *state);
}

/* z'r of the preconditioner: z, or the diagonal m, or the identity, on own points. */
static int own_rz(hx_ranks *ranks, int64_t n, const double *d_m, const double *d_z,
                  const double *d_r, double *rz)
{
    const hx_vector_ops *const vector = ranks->plain->vector;
    hx_device *const dev = &ranks->dev;
    const size_t bytes = (size_t)n * sizeof(double);
    const double *d_own;
    HX_TRY(hx_ranks_own(ranks, n, d_r, &n, &d_own));
    if (!d_m) return vector->dot(dev, n, d_own, d_z ? d_z : d_r, rz);
    if (!ranks->d_work) HX_TRY(ranks->plain->alloc(dev, bytes, &ranks->d_work));
    HX_TRY(vector->multiply(dev, n, d_m, d_r, ranks->d_work));
    return vector->dot(dev, n, d_own, ranks->d_work, rz);
}

/* Of a vector with another on own points. */
static int own_dot(hx_ranks *ranks, int64_t n, const double *d_a, const double *d_b, double *result)
{
    const double *d_own;
    HX_TRY(hx_ranks_own(ranks, n, d_a, &n, &d_own));
    return ranks->plain->vector->dot(&ranks->dev, n, d_own, d_b, result);
}

static int start(hx_device *dev, int64_t n, const double *d_m, const double *d_z, const double *d_r,
                 hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    hx_pcg_state state;
    double sum[2];
    HX_TRY(own_rz(ranks, n, d_m, d_z, d_r, &sum[0]));
    HX_TRY(own_dot(ranks, n, d_r, d_r, &sum[1]));
    HX_TRY(hx_ranks_sum(ranks, 2, sum));
    HX_TRY(get(ranks, d_state, &state));
    hx_pcg_state_start(&state, sum[0], sum[1]);
    return put(ranks, d_state, &state);
}

static int take_alpha(hx_ranks *ranks, double pq, hx_pcg_state *d_state)
{
    hx_pcg_state state;
    HX_TRY(hx_ranks_sum(ranks, 1, &pq));
    HX_TRY(get(ranks, d_state, &state));
    if (state.reason != HX_PCG_RUNNING) return HX_OK;
    hx_pcg_state_alpha(&state, pq);
    return put(ranks, d_state, &state);
}

static int alpha(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                 hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    double pq;
    HX_TRY(own_dot(ranks, n, d_p, d_q, &pq));
    return take_alpha(ranks, pq, d_state);
}

static int alpha_from(hx_device *dev, const double *d_sum, hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    double pq;
    HX_TRY(ranks->plain->download(dev, &pq, d_sum, sizeof pq));
    return take_alpha(ranks, pq, d_state);
}

static int update(hx_device *dev, int64_t n, const double *d_m, const double *d_p,
                  const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    const hx_vector_ops *const vector = ranks->plain->vector;
    hx_pcg_state state;
    double sum[2] = {0.0, 0.0};
    HX_TRY(get(ranks, d_state, &state));
    if (state.reason != HX_PCG_RUNNING) return HX_OK; /* in all processes */
    HX_TRY(vector->axpy(dev, n, state.alpha, d_p, d_u));
    HX_TRY(vector->axpy(dev, n, -state.alpha, d_q, d_r));
    HX_TRY(own_dot(ranks, n, d_r, d_r, &sum[0]));
    if (d_m) HX_TRY(own_rz(ranks, n, d_m, NULL, d_r, &sum[1]));
    HX_TRY(hx_ranks_sum(ranks, 2, sum));
    hx_pcg_state_update(&state, sum[0]);
    if (d_m) hx_pcg_state_beta(&state, sum[1]);
    return put(ranks, d_state, &state);
}

static int beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z, const double *d_q,
                hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    hx_pcg_state state;
    double sum[2] = {0.0, 0.0};
    HX_TRY(get(ranks, d_state, &state));
    if (state.reason != HX_PCG_RUNNING) return HX_OK;
    HX_TRY(own_dot(ranks, n, d_r, d_z ? d_z : d_r, &sum[0]));
    if (d_q) HX_TRY(own_dot(ranks, n, d_z, d_q, &sum[1]));
    HX_TRY(hx_ranks_sum(ranks, 2, sum));
    if (d_q)
        hx_pcg_state_beta_flexible(&state, sum[0], sum[1]);
    else
        hx_pcg_state_beta(&state, sum[0]);
    return put(ranks, d_state, &state);
}

/* Steps in single precision: the backend adds up what this process has, into a state of its own
 * scalars (start_single tests nothing that is kept), and the processes take that sum together. */
static int own_residual_single(hx_ranks *ranks, int64_t n, const float *d_m, const float *d_r,
                               hx_pcg_state *d_state, double sum[2])
{
    const float *d_own;
    hx_pcg_state own;
    HX_TRY(hx_ranks_own_single(ranks, n, d_r, &ranks->d_own_single, &n, &d_own));
    HX_TRY(ranks->plain->pcg->start_single(&ranks->dev, n, d_m, d_own, d_state));
    HX_TRY(get(ranks, d_state, &own));
    sum[0] = own.rz;
    sum[1] = own.rr;
    return hx_ranks_sum(ranks, 2, sum);
}

static int start_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                        hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    hx_pcg_state state;
    double sum[2];
    HX_TRY(get(ranks, d_state, &state));
    HX_TRY(own_residual_single(ranks, n, d_m, d_r, d_state, sum));
    hx_pcg_state_start(&state, sum[0], sum[1]);
    return put(ranks, d_state, &state);
}

static int alpha_single(hx_device *dev, int64_t n, const float *d_p, const float *d_q,
                        hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    const float *d_own;
    hx_pcg_state state, own;
    HX_TRY(get(ranks, d_state, &state));
    if (state.reason != HX_PCG_RUNNING) return HX_OK; /* in all processes */
    HX_TRY(hx_ranks_own_single(ranks, n, d_p, &ranks->d_own_single, &n, &d_own));
    HX_TRY(ranks->plain->pcg->alpha_single(dev, n, d_own, d_q, d_state));
    HX_TRY(get(ranks, d_state, &own));
    HX_TRY(put(ranks, d_state, &state));
    return take_alpha(ranks, own.pq, d_state);
}

static int update_single(hx_device *dev, int64_t n, const float *d_m, const float *d_p,
                         const float *d_q, float *d_u, float *d_r, hx_pcg_state *d_state)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    hx_pcg_state state;
    double sum[2];
    HX_TRY(get(ranks, d_state, &state));
    if (state.reason != HX_PCG_RUNNING) return HX_OK;
    HX_TRY(ranks->plain->pcg->update_single(dev, n, d_m, d_p, d_q, d_u, d_r, d_state));
    HX_TRY(own_residual_single(ranks, n, d_m, d_r, d_state, sum));
    hx_pcg_state_update(&state, sum[1]);
    hx_pcg_state_beta(&state, sum[0]);
    return put(ranks, d_state, &state);
}

/* A backend without mixed precision has none in shares. */
static void set_single(hx_pcg_ops *pcg, const hx_pcg_ops *plain)
{
    if (!plain->start_single) return;
    pcg->start_single = start_single;
    pcg->direction_single = plain->direction_single;
    pcg->alpha_single = alpha_single;
    pcg->update_single = update_single;
}

void hx_ranks_set_pcg(hx_ranks *ranks)
{
    ranks->pcg = (hx_pcg_ops){
        .start = start,
        .direction = ranks->plain->pcg->direction, /* reads scalars, sums nothing */
        .alpha = alpha,
        .alpha_from = alpha_from,
        .update = update,
        .beta = beta,
    };
    set_single(&ranks->pcg, ranks->plain->pcg);
    ranks->ops.pcg = &ranks->pcg;
}
