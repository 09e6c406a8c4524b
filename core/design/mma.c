#include "mma.h"

#include <string.h>

#include "../linalg/vector_ops.h"

/* Barrier parameters: of the first design, of later ones, which begin with the last multipliers, of
 * another solution for the same design, and the last one, to which multipliers times slacks are
 * accurate. Newton's method from the last multipliers needs no larger one, however far they are. */
#define FIRST_BARRIER 1.0
#define LATER_BARRIER 1e-7
#define AGAIN_BARRIER LAST_BARRIER
#define LAST_BARRIER 1e-9

#define GROWTH 10.0       /* of a multiplier in a step, if it is larger than 1 */
#define NEAR_CENTRE 100.0 /* limits of a slack, relative to barrier / lambda */

/* Newton steps per barrier parameter, trials per step, and passes after which the multipliers are
 * taken as they are */
enum { MOST_STEPS = 60, MOST_CUTS = 20, MOST_PASSES = 400 };

/* Solutions of the dual problem with other offsets of linear functions, and the value that ends
 * them. */
enum { MOST_OFFSETS = 12 };
#define OFFSET_EXACT 5e-4

/* Largest distances of asymptotes under a projection, relative to its width 1 / (1 + beta). */
#define PROJECTED_FARTHEST 2.0
#define PROJECTED_FARTHEST_IF_WORSE 0.5

const hx_mma hx_mma_defaults = {
    .at = {.high = 1.0, .move = 1.0, .first = 0.5, .farthest = HX_MMA_FARTHEST},
    .a0 = 1.0,
    .c = 1000.0,
    .d = 1.0,
    .farthest = HX_MMA_FARTHEST,
    .farthest_if_worse = HX_MMA_FARTHEST_IF_WORSE};

void hx_mma_limit_asymptotes(hx_mma *mma, double beta)
{
    const double width = 1.0 / (1.0 + beta);
    mma->farthest = beta > 0.0 ? PROJECTED_FARTHEST * width : HX_MMA_FARTHEST;
    mma->farthest_if_worse =
        beta > 0.0 ? PROJECTED_FARTHEST_IF_WORSE * width : HX_MMA_FARTHEST_IF_WORSE;
}

/* The dual function at lambda > 0 with its derivatives, and the multipliers of lambda >= 0 and of
 * a'lambda <= a0, which are the slacks of the constraints and z. */
typedef struct dual {
    double lambda[HX_MMA_MOST], slack[HX_MMA_MOST], z;
    double value, gradient[HX_MMA_MOST], hessian[HX_MMA_MOST][HX_MMA_MOST];
} dual;

static double positive(double x)
{
    return x > 0.0 ? x : 0.0;
}

/* a0 - a'lambda */
static double room_of_z(const hx_mma *mma, const double *lambda)
{
    double room = mma->a0;
    for (int i = 0; i < mma->at.m; i++) room -= mma->a[i] * lambda[i];
    return room;
}

/* Value, gradient and Hessian at p->lambda: of the sum over the elements, and of
 * lambda'f + min over y of (c y + d y^2 / 2 - lambda y). */
static int evaluate(hx_device *dev, hx_mma *mma, dual *p)
{
    const int m = mma->at.m;
    double sum[HX_MMA_SUMS];
    mma->at.lambda[0] = 1.0;
    memcpy(mma->at.lambda + 1, p->lambda, (size_t)m * sizeof *p->lambda);
    HX_TRY(dev->ops->design->mma_dual(dev, &mma->at, sum));
    mma->n_pass++;
    p->value = mma->approximate[0] = sum[0];
    mma->distance = sum[1];
    for (int i = 0; i < m; i++) {
        const double y = mma->y[i] = positive(p->lambda[i] - mma->c) / mma->d;
        const double value = mma->value[i] + mma->a[i] * mma->shift;
        mma->approximate[1 + i] = value + sum[2 + i];
        mma->approximate[0] -= p->lambda[i] * sum[2 + i];
        p->value += p->lambda[i] * (value - mma->offset[i]) - 0.5 * mma->d * y * y;
        p->gradient[i] = mma->approximate[1 + i] - mma->offset[i] - y;
        for (int k = i; k < m; k++)
            p->hessian[i][k] = p->hessian[k][i] = -sum[hx_mma_entry(m, i, k)];
        if (y > 0.0) p->hessian[i][i] -= 1.0 / mma->d;
    }
    return isfinite(p->value)
               ? HX_OK
               : HX_RAISE(HX_ENUMERIC, "the update 'mma' found a derivative that is not finite");
}

/* The dual function with logarithmic barriers. */
static double barrier_value(const hx_mma *mma, const dual *p, double barrier)
{
    double value = p->value + barrier * log(room_of_z(mma, p->lambda));
    for (int i = 0; i < mma->at.m; i++) value += barrier * log(p->lambda[i]);
    return value;
}

static void barrier_gradient(const hx_mma *mma, const dual *p, double barrier, double *gradient)
{
    const double of_z = barrier / room_of_z(mma, p->lambda);
    for (int i = 0; i < mma->at.m; i++)
        gradient[i] = p->gradient[i] + barrier / p->lambda[i] - of_z * mma->a[i];
}

/* b := a^-1 b by Cholesky; a, positive semidefinite, is overwritten. */
static void solve_dense(int n, double a[HX_MMA_MOST][HX_MMA_MOST], double *b)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, a[i][i]);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++) {
            double sum = a[i][k];
            for (int l = 0; l < k; l++) sum -= a[i][l] * a[k][l];
            a[i][k] = k < i ? sum / a[k][k] : sqrt(fmax(sum, 1e-15 * largest));
        }
        for (int k = 0; k < i; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

/* Newton direction of the conditions
 *     gradient + slack - a z = 0,  lambda slack = barrier,  (a0 - a'lambda) z = barrier. */
static void find_direction(const hx_mma *mma, const dual *p, const double *gradient, double *step)
{
    const int m = mma->at.m;
    const double of_z = p->z / room_of_z(mma, p->lambda);
    double matrix[HX_MMA_MOST][HX_MMA_MOST];
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < m; k++) matrix[i][k] = of_z * mma->a[i] * mma->a[k] - p->hessian[i][k];
        matrix[i][i] += p->slack[i] / p->lambda[i];
        step[i] = gradient[i];
    }
    solve_dense(m, matrix, step);
}

/* Largest share of a change that keeps `value` positive, up to 1. */
static double keep_positive(double share, double value, double change)
{
    return change < 0.0 ? fmin(share, -0.99 * value / change) : share;
}

/* Largest share of a change of a multiplier that does not leave the vicinity in which the Hessian
 * is useful: without curvature, as if all variables are at their limits, the step is long. At c the
 * artificial variable begins to grow; it balances the gradient at most at c + d gradient. */
static double keep_near(const hx_mma *mma, const dual *p, int i, double share, double change)
{
    const double lambda = p->lambda[i], beyond = mma->d * fmax(p->gradient[i], 1e-3);
    double most = GROWTH * fmax(1.0, lambda);
    if (lambda < mma->c) most = fmin(most, mma->c + beyond);
    return change > 0.0 ? fmin(share, fmax(0.0, most - lambda) / change) : share;
}

/* The slacks and z for a step of lambda from `from`. */
static void follow_slacks(const hx_mma *mma, const dual *from, const double *step, double barrier,
                          dual *to)
{
    const int m = mma->at.m;
    const double room = room_of_z(mma, from->lambda);
    double change[HX_MMA_MOST], of_z = barrier / room - from->z, share = 1.0;
    for (int i = 0; i < m; i++) {
        const double lambda = from->lambda[i];
        change[i] = (barrier - from->slack[i] * step[i]) / lambda - from->slack[i];
        of_z += from->z / room * mma->a[i] * step[i];
        share = keep_positive(share, from->slack[i], change[i]);
    }
    share = keep_positive(share, from->z, of_z);
    for (int i = 0; i < m; i++) {
        const double centre = barrier / to->lambda[i];
        to->slack[i] = from->slack[i] + share * change[i];
        to->slack[i] = fmax(centre / NEAR_CENTRE, fmin(centre * NEAR_CENTRE, to->slack[i]));
    }
    to->z = from->z + share * of_z;
}

/* One Newton step, shortened until it increases the concave barrier function. */
static int take_step(hx_device *dev, hx_mma *mma, double barrier, dual *p)
{
    const int m = mma->at.m;
    const dual from = *p;
    const double before = barrier_value(mma, p, barrier), rounding = 1e-13 * (1.0 + fabs(before));
    double gradient[HX_MMA_MOST], step[HX_MMA_MOST], share = 1.0, slope = 0.0, of_room = 0.0;
    barrier_gradient(mma, p, barrier, gradient);
    find_direction(mma, p, gradient, step);
    for (int i = 0; i < m; i++) {
        slope += gradient[i] * step[i];
        of_room -= mma->a[i] * step[i];
        share = keep_positive(share, from.lambda[i], step[i]);
        share = keep_near(mma, &from, i, share, step[i]);
    }
    share = keep_positive(share, room_of_z(mma, from.lambda), of_room);
    for (int trial = 0; trial < MOST_CUTS; trial++) {
        double now = 0.0;
        for (int i = 0; i < m; i++) p->lambda[i] = from.lambda[i] + share * step[i];
        HX_TRY(evaluate(dev, mma, p));
        barrier_gradient(mma, p, barrier, gradient);
        for (int i = 0; i < m; i++) now += gradient[i] * step[i];
        if (now >= 0.0) break; /* not yet at the maximum along the step */
        if (barrier_value(mma, p, barrier) >= before + 1e-4 * share * slope - rounding) break;
        share *= fmax(0.1, fmin(0.9, slope / (slope - now)));
    }
    follow_slacks(mma, &from, step, barrier, p);
    return HX_OK;
}

static double residual(const hx_mma *mma, const dual *p, double barrier)
{
    double worst = fabs(p->z * room_of_z(mma, p->lambda) - barrier);
    for (int i = 0; i < mma->at.m; i++) {
        worst = fmax(worst, fabs(p->lambda[i] * p->slack[i] - barrier));
        worst = fmax(worst, fabs(p->gradient[i] + p->slack[i] - mma->a[i] * p->z));
    }
    return worst;
}

/* Mean derivatives, and from them the convexity of MMA. */
static int begin(hx_device *dev, hx_mma *mma)
{
    const int m = mma->at.m;
    double sum[2 + HX_MMA_MOST];
    HX_TRY(dev->ops->design->mma_begin(dev, &mma->at, sum));
    for (int i = 0; i <= m; i++) {
        mma->mean[i] = sum[1 + i] / fmax(1.0, sum[0]);
        if (!mma->has_convexity)
            mma->at.convexity[i] = 1e-5 * mma->mean[i] + (i == 0 ? mma->added : 0.0);
    }
    return HX_OK;
}

/* 1: the last step increased the Lagrangian of its multipliers. */
static int is_worse(const hx_mma *mma)
{
    double rise = mma->objective - mma->last[0];
    for (int i = 0; i < mma->at.m; i++)
        rise += mma->at.lambda[1 + i] * (mma->value[i] - mma->last[1 + i]);
    return mma->has_lambda && rise > 0.0;
}

/* The multipliers of the last design, kept away from 0, or 1; within a'lambda < a0. */
static void first_multipliers(const hx_mma *mma, double barrier, dual *p)
{
    const int m = mma->at.m;
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
        p->lambda[i] = mma->has_lambda ? fmax(mma->at.lambda[1 + i], barrier) : 1.0;
        sum += mma->a[i] * p->lambda[i];
    }
    const double most = mma->has_lambda ? 0.999 * mma->a0 : 0.5 * mma->a0;
    for (int i = 0; sum > most && i < m; i++)
        if (mma->a[i] > 0.0) p->lambda[i] *= most / sum;
    for (int i = 0; i < m; i++) p->slack[i] = barrier / p->lambda[i];
    p->z = barrier / room_of_z(mma, p->lambda);
}

/* Slacks that the gradient demands, which is far from the centre for a constraint that is not active,
 * near enough to the centre for Newton's method. */
static void take_slacks(const hx_mma *mma, double barrier, dual *p)
{
    for (int i = 0; i < mma->at.m; i++) {
        const double centre = barrier / p->lambda[i];
        p->slack[i] = fmax(centre, fmin(centre * NEAR_CENTRE, -p->gradient[i]));
    }
}

/* The dual problem by a primal-dual interior-point method (Svanberg 2007, but in the m multipliers
 * instead of all variables), then x. In brackets doubles read and written per element, with m + 1
 * derivatives. */
static int solve_dual(hx_device *dev, hx_mma *mma, double barrier)
{
    dual p;
    first_multipliers(mma, barrier, &p);
    HX_TRY(evaluate(dev, mma, &p)); /* value, gradient, Hessian [m + 3] */
    take_slacks(mma, barrier, &p);
    for (;;) {
        for (int i = 0; i < MOST_STEPS && residual(mma, &p, barrier) > 0.9 * barrier; i++)
            HX_TRY(take_step(dev, mma, barrier, &p)); /* [m + 3 per trial] */
        if (barrier <= LAST_BARRIER || mma->n_pass > MOST_PASSES) break;
        barrier = fmax(LAST_BARRIER, fmin(0.1 * barrier, barrier * sqrt(barrier)));
    }
    mma->z = room_of_z(mma, p.lambda) < mma->a0 ? p.z : 0.0;
    mma->has_lambda = 1;
    HX_TRY(dev->ops->design->mma_end(dev, &mma->at)); /* x(lambda) [m + 4] */
    if (!mma->at.groups) return HX_OK;
    return dev->ops->design->copy_largest(dev, mma->at.groups, mma->at.d_proposal);
}

/* The value that a linear constraint has in the proposal [4]. */
static int value_of_proposal(hx_device *dev, const hx_mma *mma, int i, double *value)
{
    const hx_device_mma *const at = &mma->at;
    double before, after;
    HX_TRY(dev->ops->vector->field_dot(dev, at->n, at->d_derivative[1 + i], at->d_design, &before));
    HX_TRY(
        dev->ops->vector->field_dot(dev, at->n, at->d_derivative[1 + i], at->d_proposal, &after));
    *value = mma->value[i] + at->scale[1 + i] * (after - before);
    return HX_OK;
}

/* now[i]: the value of a linear constraint in the proposal, which must be 0 if it has a multiplier,
 * at most 0 without one, and at least 0 if the offset cannot be met; otherwise 0. *error: the largest
 * of them. */
static int find_errors(hx_device *dev, const hx_mma *mma, double *now, double *error)
{
    *error = 0.0;
    for (int i = 0; i < mma->at.m; i++) {
        now[i] = 0.0;
        if (!mma->is_linear[i]) continue;
        HX_TRY(value_of_proposal(dev, mma, i, &now[i]));
        if (mma->y[i] > 0.0) now[i] = fmin(now[i], 0.0);
        if (mma->at.lambda[1 + i] < 1e-6) now[i] = positive(now[i]);
        *error = fmax(*error, fabs(now[i]));
    }
    return HX_OK;
}

/* Changes the offsets by the values, which follow the approximations with a slope of at most 1. An
 * approximation is at its offset, below it if the constraint is not active, or above it if it cannot
 * be met. last: approximation and value before; NaN: none. */
static void correct_offsets(hx_mma *mma, const double *now, double (*last)[2])
{
    for (int i = 0; i < mma->at.m; i++) {
        const double reached = mma->approximate[1 + i];
        double slope = 1.0;
        if (now[i] == 0.0) continue;
        if (isfinite(last[i][0]) && reached != last[i][0])
            slope = (now[i] - last[i][1]) / (reached - last[i][0]);
        last[i][0] = reached;
        last[i][1] = now[i];
        mma->offset[i] = reached - now[i] / fmax(0.1, fmin(1.0, slope));
    }
}

int hx_mma_solve(hx_device *dev, hx_mma *mma)
{
    double last[HX_MMA_MOST][2], now[HX_MMA_MOST], error;
    mma->n_pass = 0;
    mma->at.farthest = is_worse(mma) ? mma->farthest_if_worse : mma->farthest;
    mma->last[0] = mma->objective;
    memcpy(mma->last + 1, mma->value, sizeof mma->value);
    for (int i = 0; i < mma->at.m; i++) last[i][0] = NAN;
    HX_TRY(begin(dev, mma)); /* mean |g_i|, r_i [m + 1] */
    HX_TRY(solve_dual(dev, mma, mma->has_lambda ? LATER_BARRIER : FIRST_BARRIER));
    for (int i = 0; i < MOST_OFFSETS; i++) {
        HX_TRY(find_errors(dev, mma, now, &error));
        correct_offsets(mma, now, last); /* at the end for the next design */
        if (error <= OFFSET_EXACT) break;
        HX_TRY(solve_dual(dev, mma, AGAIN_BARRIER));
    }
    return HX_OK;
}

int hx_mma_measure(hx_device *dev, hx_mma *mma)
{
    double largest[HX_MMA_MEASURED];
    HX_TRY(dev->ops->design->mma_measure(dev, &mma->at, largest));
    mma->change = largest[HX_MMA_CHANGE];
    mma->free_change = largest[HX_MMA_FREE_CHANGE];
    if (!(mma->first_kkt > 0.0)) mma->first_kkt = largest[HX_MMA_KKT];
    mma->kkt = mma->first_kkt > 0.0 ? largest[HX_MMA_KKT] / mma->first_kkt : 0.0;
    return HX_OK;
}

int hx_mma_propose(hx_device *dev, hx_mma *mma)
{
    HX_TRY(hx_mma_solve(dev, mma));
    HX_TRY(hx_mma_measure(dev, mma));                   /* [m + 3] */
    return dev->ops->design->mma_settle(dev, &mma->at); /* asymptotes [4] */
}
