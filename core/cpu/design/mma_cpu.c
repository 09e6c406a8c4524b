/* Passes of the method of moving asymptotes on the CPU (mma.h). Sums run over fixed parts, so
 * results are bitwise independent of the number of threads. */
#include "../../base/sum.h"
#include "../../design/mma.h"
#include "../device/cpu_ops.h"

static int is_free(const double *passive, int64_t e)
{
    return !passive || isnan(passive[e]);
}

static double derivative(const hx_device_mma *mma, int i, int64_t e)
{
    return mma->d_derivative[i] ? mma->scale[i] * mma->d_derivative[i][e] : 0.0;
}

int hx_cpu_mma_begin(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    double part[HX_N_PART][2 + HX_MMA_MOST] = {{0.0}};
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < HX_N_PART; k++)
        for (int64_t e = hx_part_begin(mma->n, k); e < hx_part_begin(mma->n, k + 1); e++) {
            if (!is_free(mma->d_passive, e)) continue;
            part[k][0] += 1.0;
            for (int i = 0; i <= mma->m; i++) part[k][1 + i] += fabs(derivative(mma, i, e));
        }
    for (int i = 0; i < 2 + mma->m; i++) {
        sum[i] = 0.0;
        for (int k = 0; k < HX_N_PART; k++) sum[i] += part[k][i];
    }
    return HX_OK;
}

/* b and s of the Lagrangian of an element; g[m + 1]: the scaled derivatives. */
static void add_functions(const hx_device_mma *mma, int64_t e, double *g, double *b, double *s)
{
    *b = *s = 0.0;
    for (int i = 0; i <= mma->m; i++) {
        g[i] = derivative(mma, i, e);
        *b += mma->lambda[i] * g[i];
        *s += mma->lambda[i] * hx_mma_weight(g[i], mma->convexity[i]);
    }
}

/* Adds an element to the sums of the dual. */
static void add_dual(const hx_device_mma *mma, int64_t e, double *sum)
{
    const hx_mma_range range = hx_mma_range_of(mma, mma->d_design[e], mma->d_state[e]);
    double g[1 + HX_MMA_MOST], slope[HX_MMA_MOST], b, s;
    add_functions(mma, e, g, &b, &s);
    const double best = hx_mma_minimum(b, s), t = hx_mma_clipped(&range, best);
    const double rest = 1.0 - t * t, w = range.offset * t / rest;
    sum[0] += w * (b + 2.0 * t * s);
    sum[1] += 2.0 * w * t;
    for (int i = 0; i < mma->m; i++) {
        const double gi = g[1 + i], si = hx_mma_weight(gi, mma->convexity[1 + i]);
        sum[2 + i] += w * (gi + 2.0 * t * si);
        slope[i] = gi * (1.0 + t * t) + 4.0 * t * si;
    }
    if (t != best) return;
    const double curvature = 2.0 * rest * (s * (2.0 + 6.0 * t * t) + b * t * (3.0 + t * t));
    const double factor = curvature > 0.0 ? range.offset / curvature : 0.0;
    double *entry = sum + 2 + mma->m;
    for (int i = 0; i < mma->m; i++)
        for (int k = i; k < mma->m; k++) *entry++ += factor * slope[i] * slope[k];
}

int hx_cpu_mma_dual(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    double part[HX_N_PART][HX_MMA_SUMS]; /* 310 KB */
    const int n_sum = 2 + mma->m * (mma->m + 3) / 2;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < HX_N_PART; k++) {
        double own[HX_MMA_SUMS] = {0.0};
        for (int64_t e = hx_part_begin(mma->n, k); e < hx_part_begin(mma->n, k + 1); e++)
            if (is_free(mma->d_passive, e)) add_dual(mma, e, own);
        for (int i = 0; i < n_sum; i++) part[k][i] = own[i];
    }
    for (int i = 0; i < n_sum; i++) {
        sum[i] = 0.0;
        for (int k = 0; k < HX_N_PART; k++) sum[i] += part[k][i];
    }
    return HX_OK;
}

int hx_cpu_mma_end(hx_device *dev, const hx_device_mma *mma)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mma->n; e++) {
        const double x = mma->d_design[e];
        double g[1 + HX_MMA_MOST], b, s;
        mma->d_proposal[e] = x;
        if (!is_free(mma->d_passive, e)) continue;
        const hx_mma_range range = hx_mma_range_of(mma, x, mma->d_state[e]);
        add_functions(mma, e, g, &b, &s);
        mma->d_proposal[e] =
            hx_mma_moved(mma, &range, x, hx_mma_clipped(&range, hx_mma_minimum(b, s)));
    }
    return HX_OK;
}

int hx_cpu_mma_measure(hx_device *dev, const hx_device_mma *mma, double *change, double sum[2])
{
    double part[2][HX_N_PART], largest = 0.0;
    (void)dev;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int k = 0; k < HX_N_PART; k++) {
        double left = 0.0, all = 0.0;
        for (int64_t e = hx_part_begin(mma->n, k); e < hx_part_begin(mma->n, k + 1); e++) {
            const double x = mma->d_design[e], moved = mma->d_proposal[e] - x;
            if (!is_free(mma->d_passive, e)) continue;
            if (fabs(moved) > largest) largest = fabs(moved);
            hx_mma_add_kkt(mma, x, e, &left, &all);
        }
        part[0][k] = left;
        part[1][k] = all;
    }
    *change = largest;
    sum[0] = hx_sum_parts(part[0]);
    sum[1] = hx_sum_parts(part[1]);
    return HX_OK;
}

int hx_cpu_mma_settle(hx_device *dev, const hx_device_mma *mma)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mma->n; e++)
        if (is_free(mma->d_passive, e))
            mma->d_state[e] =
                hx_mma_state_after(mma, mma->d_state[e], mma->d_proposal[e] - mma->d_design[e]);
    return HX_OK;
}
