/* Method of moving asymptotes (Svanberg 1987; Svanberg 2007) for m constraints and many variables:
 *
 *     minimise    f_0(x) + a_0 z + sum of (c y_i + d y_i^2 / 2)
 *     subject to  f_i(x) - a_i z - y_i <= 0,  low <= x <= high,  y, z >= 0.
 *
 * Each design replaces f_i by the separable convex function, with t_e = (x_e - x_e') / o_e about
 * the analysed design x', asymptotes x' -+ o, derivatives g and s = 0.501 |g| + r_i,
 *
 *     f_i(x') + sum over e of  o t / (1 - t^2) (g + 2 t s),
 *
 * which is Svanberg's sum of p / (U - x) and q / (x - L) without the cancellation of its terms.
 * Its r_i is relative to the mean |g_i| of the free elements, so that neither the number of
 * elements nor units influence the steps. For multipliers lambda the minimum over x is an explicit
 * formula for each element, and the dual problem has m variables. One pass over the elements
 * computes value, gradient and Hessian of the dual function (mma.c).
 *
 * With far asymptotes the functions are almost linear, and designs near an optimum begin to
 * oscillate. If the Lagrangian is larger than before the last step, which minimised its
 * approximation, no asymptote is farther than HX_MMA_FARTHEST_IF_WORSE
 * (doc/notebook/2026-11-29-moving-asymptotes.md). Under a projection both limits are smaller
 * (hx_mma_limit_asymptotes).
 *
 * The distance of the asymptotes is kept relative to high - low, together with the direction of the
 * last change, in one double per element (hx_mma_state_after). Host and device use the formulas below. */
#ifndef HX_MMA_H
#define HX_MMA_H

#include <math.h>

#include "../base/host_device.h"
#include "design_ops.h"

HX_C_BEGIN

enum {
    HX_MMA_MOST = 16,                                     /* constraints */
    HX_MMA_SUMS = 2 + HX_MMA_MOST * (HX_MMA_MOST + 3) / 2 /* of a pass for the dual */
};

/* Input of the passes over the elements: [n] each. */
struct hx_device_mma {
    int64_t n;
    int m;            /* constraints */
    double low, high; /* bounds of x */
    double move;      /* largest change of x */
    double first;     /* distance of the first asymptotes, relative to high - low */
    double farthest;  /* largest distance in this design, relative, at most HX_MMA_FARTHEST */
    /* 1: the lower asymptote is at least 0, so that a function which falls with x is approximated by
     * one that grows beyond all bounds as x approaches 0; but for small x by HX_MMA_AT_ZERO */
    int is_cautious;
    const double *d_design;
    const double *d_passive;        /* NaN where free; NULL: all free */
    double *d_state;                /* asymptotes; 0 before the first design */
    double *d_proposal;             /* out */
    const hx_device_groups *groups; /* linked elements, of proportional derivatives; NULL: none */
    /* objective first; a NULL derivative is 0 */
    const double *d_derivative[1 + HX_MMA_MOST];
    double scale[1 + HX_MMA_MOST];     /* factors of the derivatives */
    double convexity[1 + HX_MMA_MOST]; /* r, of the scaled function */
    double lambda[1 + HX_MMA_MOST];    /* multipliers; that of the objective is 1 */
};

/* The problem, its multipliers and the approximation of the last design. */
typedef struct hx_mma {
    hx_device_mma at;
    double objective; /* of the analysed design, scaled */
    /* [m] of the analysed design, scaled: f_i, admissible if at most 0 */
    double value[HX_MMA_MOST];
    double a0, a[HX_MMA_MOST]; /* factors of z */
    double shift; /* a_i times this is added to the values, so that the best z is positive */
    double c, d;  /* cost of y */
    /* largest distances of the asymptotes, relative to high - low, without and with a Lagrangian
     * that has increased */
    double farthest, farthest_if_worse;
    /* > 0: convexity[] is set by the caller (GCMMA); 0: 1e-5 of the mean derivatives (MMA) */
    int has_convexity;
    double added; /* to convexity[0] of MMA: for an objective with a known curvature */
    /* 1: lambda[1..m] are those of the last design, where the search begins, and the values were
     * these, objective first, infinite if the functions were others; saved with a design */
    int has_lambda;
    double last[1 + HX_MMA_MOST];
    /* Linear functions, which need no approximation: 1 for each constraint that the proposal meets
     * to first order in spite of it, by an offset of its value. The offsets of the next design are
     * saved with a design. */
    int is_linear[HX_MMA_MOST];
    double offset[HX_MMA_MOST];
    /* results */
    double z, y[HX_MMA_MOST];
    double approximate[1 + HX_MMA_MOST]; /* change of the objective, values of the constraints */
    double distance;                     /* sum over e of 2 o t^2 / (1 - t^2), see GCMMA */
    double change;                       /* largest change of an x */
    /* Like `change`, but with the change of an element whose asymptotes permit less than the move
     * limit enlarged by that ratio: whether a small change is due to near asymptotes. */
    double free_change;
    double mean[1 + HX_MMA_MOST]; /* mean |g_i| of the free elements */
    /* Largest |dL/dx| that no bound balances, relative to its first value, which is saved with a
     * design; 0 at a KKT point. first_kkt = 0: not known yet. */
    double kkt, first_kkt;
    int n_pass; /* passes over the elements for the dual */
} hx_mma;

/* a0 = 1, a = 0, c = 1000, d = 1, asymptotes 0.5 (Svanberg 2007). */
extern const hx_mma hx_mma_defaults;

/* Limits the distance of the asymptotes to 2 / (1 + beta) for x that are projected with this beta,
 * and to 0.5 / (1 + beta) if the Lagrangian has increased. A projection rises from 0 to 1 within a
 * range of x of about 2 / beta, and the derivatives describe the functions only within it: with
 * farther asymptotes a step may remove whole members of the design
 * (doc/notebook/2026-11-30-projection-and-limits.md). beta = 0: the defaults. */
void hx_mma_limit_asymptotes(hx_mma *mma, double beta);

/* Proposes the next design in at.d_proposal, updates the asymptotes and sets the results. Device
 * traffic: mma.c. HX_ENUMERIC: derivatives are not finite. Waits. */
int hx_mma_propose(hx_device *dev, hx_mma *mma);

/* Its steps, apart from the asymptotes: the proposal and z, y, approximate and distance; change,
 * free_change and kkt. */
int hx_mma_solve(hx_device *dev, hx_mma *mma);
int hx_mma_measure(hx_device *dev, hx_mma *mma);

/* The state of an element: v = +-o / (high - low) with the sign of the last change; |v| is
 * HX_MMA_STILL times as large if it was 0, and 0 before the first design. The product is exact. */
#define HX_MMA_STILL 4096.0
#define HX_MMA_NEAREST 0.01 /* limits of o / (high - low) */
#define HX_MMA_FARTHEST 10.0
#define HX_MMA_AT_ZERO 0.01 /* least limit of o / (high - low) near x = 0 if is_cautious is set */
#define HX_MMA_FARTHEST_IF_WORSE 1.0

/* o / (high - low) */
static HX_HD double hx_mma_distance(const hx_device_mma *mma, double state)
{
    const double size = fabs(state);
    if (!(size > 0.0)) return mma->first;
    const double distance = size > 2.0 * HX_MMA_FARTHEST ? size / HX_MMA_STILL : size;
    return distance < mma->farthest ? distance : mma->farthest;
}

/* The state after a change of x: closer if the direction changed, farther if not. */
static HX_HD double hx_mma_state_after(const hx_device_mma *mma, double state, double change)
{
    const double size = fabs(state), distance = hx_mma_distance(mma, state);
    const int was_still = !(size > 0.0) || size > 2.0 * HX_MMA_FARTHEST;
    const double product = was_still ? 0.0 : state * change;
    const double moved = distance * (product < 0.0 ? 0.7 : product > 0.0 ? 1.2 : 1.0);
    const double least = moved > HX_MMA_NEAREST ? moved : HX_MMA_NEAREST;
    const double next = least < HX_MMA_FARTHEST ? least : HX_MMA_FARTHEST;
    return change > 0.0 ? next : change < 0.0 ? -next : HX_MMA_STILL * next;
}

/* Range of t by bounds, move limit and nine tenths of the way to the asymptotes. */
typedef struct hx_mma_range {
    double offset, low, high;
} hx_mma_range;

static HX_HD hx_mma_range hx_mma_range_of(const hx_device_mma *mma, double x, double state)
{
    hx_mma_range r;
    const double range = mma->high - mma->low, far = hx_mma_distance(mma, state) * range;
    const double most = x > HX_MMA_AT_ZERO * range ? x : HX_MMA_AT_ZERO * range;
    r.offset = mma->is_cautious && most < far ? most : far;
    const double part = mma->move < 0.9 * r.offset ? mma->move / r.offset : 0.9;
    const double down = (mma->low - x) / r.offset, up = (mma->high - x) / r.offset;
    r.low = down > -part ? down : -part;
    r.high = up < part ? up : part;
    return r;
}

/* The minimum of o t / (1 - t^2) (b + 2 t s), t = (sqrt(q) - sqrt(p)) / (sqrt(q) + sqrt(p)) with p
 * and q = s +- b / 2, without cancellation. */
static HX_HD double hx_mma_minimum(double b, double s)
{
    const double square = s * s - 0.25 * b * b;
    const double sum = s + (square > 0.0 ? sqrt(square) : 0.0);
    return sum > 0.0 ? -0.5 * b / sum : 0.0;
}

static HX_HD double hx_mma_clipped(const hx_mma_range *range, double t)
{
    const double raised = t > range->low ? t : range->low;
    return raised < range->high ? raised : range->high;
}

/* The new x; exactly a bound if t is there. */
static HX_HD double hx_mma_moved(const hx_device_mma *mma, const hx_mma_range *range, double x,
                                 double t)
{
    const double moved = x + t * range->offset;
    const double raised = moved > mma->low ? moved : mma->low;
    return raised < mma->high ? raised : mma->high;
}

/* Convexity weight of a scaled derivative. */
static HX_HD double hx_mma_weight(double g, double convexity)
{
    return 0.501 * fabs(g) + convexity;
}

/* |dL/dx| of an element, L = sum of lambda_i f_i; 0 if a bound balances it. */
static HX_HD double hx_mma_kkt(const hx_device_mma *mma, double x, int64_t e)
{
    double b = 0.0;
    for (int i = 0; i <= mma->m; i++)
        if (mma->d_derivative[i]) b += mma->lambda[i] * mma->scale[i] * mma->d_derivative[i][e];
    return (x <= mma->low && b > 0.0) || (x >= mma->high && b < 0.0) ? 0.0 : fabs(b);
}

/* A change of x, enlarged if the asymptotes permit less than the move limit. */
static HX_HD double hx_mma_free_change(const hx_device_mma *mma, double state, double change)
{
    const double most = 0.9 * hx_mma_distance(mma, state) * (mma->high - mma->low);
    return mma->move > most ? fabs(change) * mma->move / most : fabs(change);
}

/* Results of mma_measure. */
enum { HX_MMA_CHANGE, HX_MMA_FREE_CHANGE, HX_MMA_KKT, HX_MMA_MEASURED };

/* Index in the sums of a pass of the entry (i, k), i <= k, 0-based, of the dual's Hessian. */
static HX_HD int hx_mma_entry(int m, int i, int k)
{
    return 2 + m + i * m - i * (i - 1) / 2 + k - i;
}

HX_C_END

#endif
