/* Passes of the method of moving asymptotes on the CPU (mma.h). Sums run over fixed parts, so
 * results are bitwise independent of the number of threads. */
#include "../../base/sum.h"
#include "../../base/vectorised.h"
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

/* Elements of a block, whose loops are vectorised. */
enum { BLOCK = 64 };

/* Adds n <= BLOCK elements from e0 to the sums of the dual; is_free[n]: 0 for passive elements. */
HX_INLINED void add_dual_lanes(const hx_device_mma *mma, int64_t e0, int n, const double *is_free,
                               double *sum)
{
    double g[1 + HX_MMA_MOST][BLOCK], slope[HX_MMA_MOST][BLOCK];
    double b[BLOCK], s[BLOCK], t[BLOCK], w[BLOCK], factor[BLOCK], value = 0.0, distance = 0.0;
    for (int j = 0; j < n; j++) b[j] = s[j] = 0.0;
    for (int i = 0; i <= mma->m; i++) {
        const double *const d_g = mma->d_derivative[i], scale = mma->scale[i];
        const double lambda = mma->lambda[i], convexity = mma->convexity[i];
        for (int j = 0; j < n; j++) {
            g[i][j] = d_g ? is_free[j] * scale * d_g[e0 + j] : 0.0;
            b[j] += lambda * g[i][j];
            s[j] += lambda * hx_mma_weight(g[i][j], convexity);
        }
    }
#pragma omp simd reduction(+ : value, distance)
    for (int j = 0; j < n; j++) {
        const hx_mma_range range =
            hx_mma_range_of(mma, mma->d_design[e0 + j], mma->d_state[e0 + j]);
        const double best = hx_mma_minimum(b[j], s[j]), at = hx_mma_clipped(&range, best);
        const double rest = 1.0 - at * at, square = at * at;
        const double curvature =
            2.0 * rest * (s[j] * (2.0 + 6.0 * square) + b[j] * at * (3.0 + square));
        t[j] = at;
        w[j] = is_free[j] * range.offset * at / rest;
        factor[j] = at == best && curvature > 0.0 ? is_free[j] * range.offset / curvature : 0.0;
        value += w[j] * (b[j] + 2.0 * at * s[j]);
        distance += 2.0 * w[j] * at;
    }
    sum[0] += value;
    sum[1] += distance;
    for (int i = 0; i < mma->m; i++) {
        const double *const gi = g[1 + i], convexity = mma->convexity[1 + i];
        double change = 0.0;
#pragma omp simd reduction(+ : change)
        for (int j = 0; j < n; j++) {
            const double si = hx_mma_weight(gi[j], convexity);
            change += w[j] * (gi[j] + 2.0 * t[j] * si);
            slope[i][j] = gi[j] * (1.0 + t[j] * t[j]) + 4.0 * t[j] * si;
        }
        sum[2 + i] += change;
    }
    double *entry = sum + 2 + mma->m;
    for (int i = 0; i < mma->m; i++)
        for (int k = i; k < mma->m; k++) {
            double product = 0.0;
#pragma omp simd reduction(+ : product)
            for (int j = 0; j < n; j++) product += factor[j] * slope[i][j] * slope[k][j];
            *entry++ += product;
        }
}

HX_VERSIONS(add_dual,
            (const hx_device_mma *mma, int64_t e0, int n, const double *is_free, double *sum),
            (mma, e0, n, is_free, sum))

/* The elements [begin, end). */
static void add_part(const hx_device_mma *mma, int64_t begin, int64_t end, double *sum)
{
    double free[BLOCK];
    for (int64_t e0 = begin; e0 < end; e0 += BLOCK) {
        const int n = (int)(end - e0 < BLOCK ? end - e0 : BLOCK);
        for (int j = 0; j < n; j++) free[j] = is_free(mma->d_passive, e0 + j);
        add_dual(mma, e0, n, free, sum);
    }
}

int hx_cpu_mma_dual(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    double part[HX_N_PART][HX_MMA_SUMS]; /* 310 KB */
    const int n_sum = 2 + mma->m * (mma->m + 3) / 2;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < HX_N_PART; k++) {
        double own[HX_MMA_SUMS] = {0.0};
        add_part(mma, hx_part_begin(mma->n, k), hx_part_begin(mma->n, k + 1), own);
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

int hx_cpu_mma_measure(hx_device *dev, const hx_device_mma *mma, double *largest)
{
    double change = 0.0, free_change = 0.0, kkt = 0.0;
    (void)dev;
#pragma omp parallel for schedule(static) reduction(max : change, free_change, kkt)
    for (int64_t e = 0; e < mma->n; e++) {
        const double x = mma->d_design[e], moved = mma->d_proposal[e] - x;
        if (!is_free(mma->d_passive, e)) continue;
        const double size = hx_mma_free_change(mma, mma->d_state[e], moved);
        const double left = hx_mma_kkt(mma, x, e);
        if (fabs(moved) > change) change = fabs(moved);
        if (size > free_change) free_change = size;
        if (left > kkt) kkt = left;
    }
    largest[HX_MMA_CHANGE] = change;
    largest[HX_MMA_FREE_CHANGE] = free_change;
    largest[HX_MMA_KKT] = kkt;
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
