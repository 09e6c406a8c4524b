/* The steps of PCG on the CPU (pcg_ops.h). Sums run over fixed parts, so results are bitwise
 * independent of the number of threads. */
#include "../../base/sum.h"
#include "cpu_ops.h"

#define REAL double
#define NAME(x) x
#include "pcg_cpu_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "pcg_cpu_real.inc"
#undef REAL
#undef NAME

static int cpu_start(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                     const double *d_r, hx_pcg_state *state)
{
    double rz, rr;
    (void)dev;
    if (d_m) {
        sum_residual(n, d_m, d_r, &rz, &rr);
    } else {
        rz = hx_dot(n, d_r, d_z);
        rr = hx_dot(n, d_r, d_r);
    }
    hx_pcg_state_start(state, rz, rr);
    return HX_OK;
}

static int cpu_start_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                            hx_pcg_state *state)
{
    double rz, rr;
    (void)dev;
    sum_residual_single(n, d_m, d_r, &rz, &rr);
    hx_pcg_state_start(state, rz, rr);
    return HX_OK;
}

static int cpu_direction(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                         const double *d_r, double *d_p, hx_pcg_state *state)
{
    const double beta = state->beta;
    (void)dev;
    if (state->reason != HX_PCG_RUNNING) return HX_OK;
    if (d_m) {
        add_direction(n, beta, d_m, d_r, d_p);
    } else {
#pragma omp parallel for simd schedule(static)
        for (int64_t k = 0; k < n; k++) d_p[k] = d_z[k] + beta * d_p[k];
    }
    return HX_OK;
}

static int cpu_direction_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                                float *d_p, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason == HX_PCG_RUNNING) add_direction_single(n, (float)state->beta, d_m, d_r, d_p);
    return HX_OK;
}

static int cpu_alpha_from(hx_device *dev, const double *d_sum, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason == HX_PCG_RUNNING) hx_pcg_state_alpha(state, *d_sum);
    return HX_OK;
}

static int cpu_take(hx_device *dev, hx_pcg_step step, const hx_pcg_state *sums, hx_pcg_state *state)
{
    (void)dev;
    hx_pcg_state_take(state, step, sums);
    return HX_OK;
}

static int cpu_beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z,
                    const double *d_q, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason != HX_PCG_RUNNING) return HX_OK;
    const double rz = hx_dot(n, d_r, d_z);
    if (d_q)
        hx_pcg_state_beta_flexible(state, rz, hx_dot(n, d_z, d_q));
    else
        hx_pcg_state_beta(state, rz);
    return HX_OK;
}

/* Dot product of a double vector with a float vector. */
static double sum_mixed(int64_t n, const double *a, const float *b)
{
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        const int64_t begin = hx_part_begin(n, i), end = hx_part_begin(n, i + 1);
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = begin; k < end; k++) sum += a[k] * (double)b[k];
        part[i] = sum;
    }
    return hx_sum_parts(part);
}

static int cpu_start_rounded(hx_device *dev, int64_t n, const float *d_z, const double *d_r,
                             hx_pcg_state *state)
{
    (void)dev;
    hx_pcg_state_start(state, sum_mixed(n, d_r, d_z), hx_dot(n, d_r, d_r));
    return HX_OK;
}

static int cpu_direction_rounded(hx_device *dev, int64_t n, const float *d_z, double *d_p,
                                 hx_pcg_state *state)
{
    const double beta = state->beta;
    (void)dev;
    if (state->reason != HX_PCG_RUNNING) return HX_OK;
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_p[k] = (double)d_z[k] + beta * d_p[k];
    return HX_OK;
}

static int cpu_beta_rounded(hx_device *dev, int64_t n, const double *d_r, const float *d_z,
                            const double *d_q, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason != HX_PCG_RUNNING) return HX_OK;
    hx_pcg_state_beta_flexible(state, sum_mixed(n, d_r, d_z), sum_mixed(n, d_q, d_z));
    return HX_OK;
}

const hx_pcg_ops hx_cpu_pcg_ops = {
    .start = cpu_start,
    .direction = cpu_direction,
    .alpha = cpu_alpha,
    .alpha_from = cpu_alpha_from,
    .take = cpu_take,
    .update = cpu_update,
    .beta = cpu_beta,
    .start_rounded = cpu_start_rounded,
    .direction_rounded = cpu_direction_rounded,
    .beta_rounded = cpu_beta_rounded,
    .start_single = cpu_start_single,
    .direction_single = cpu_direction_single,
    .alpha_single = cpu_alpha_single,
    .update_single = cpu_update_single,
};
