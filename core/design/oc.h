/* Optimality criteria (P1, section 2; Bendsoe and Sigmund 2003):
 *
 *     rho_e B_e^eta, B_e = -dc_e / (lambda dv_e), clipped to the move limits and [rho_min, 1].
 *
 * Loads by mass, and objectives that are not self-adjoint, make some dc_e positive, and lambda may
 * be negative. As the volume is prescribed, s dv_e may be subtracted from every dc_e without
 * changing the optimum (a shift as in Ma, Kikuchi and Hagiwara, Comput. Mech. 13, 1993); elements
 * with a negative B_e drop to their lower limit. The optimizer takes s as the mean of the positive
 * dc_e / dv_e, and more after a step that increased the objective: with 0 the designs oscillate,
 * and with the largest ratio they progress slowly.
 *
 * With t_e = rho_e (-dc_e / dv_e)^eta computed once, the volume is a monotone function of the scale
 * s = lambda^-eta, linear between the scales at which an element reaches a limit. Each pass over
 * the elements evaluates several trial scales to bracket the root, which is interpolated at the
 * end. Host and device use one formula. */
#ifndef HX_OC_H
#define HX_OC_H

#include <math.h>

#include "../base/host_device.h"
#include "design_ops.h"

HX_C_BEGIN

enum { HX_OC_TRIALS = 8, HX_OC_MOST_PASSES = 64 };

/* Lives in device memory, so that passes are queued without waiting; passes after the last one do
 * nothing. */
typedef struct hx_oc_state {
    double target;                  /* prescribed volume of the free elements */
    double low, high;               /* scales that bracket the root */
    double low_volume, high_volume; /* volumes there */
    double trial[HX_OC_TRIALS];     /* scales of the next pass */
    double scale;                   /* the root, once done */
    double change;                  /* largest change of a density, after oc_end */
    int32_t pass, done;
    /* sums of the last pass over the elements, from which the state was computed */
    double sum[HX_OC_TRIALS];
} hx_oc_state;

/* Input of a step: [n] each. */
struct hx_device_oc {
    int64_t n;
    double move, damping, rho_min;
    const double *d_design, *d_dc, *d_dv;
    const double *d_passive; /* NaN where free; NULL: all free */
    double *d_proposal;      /* out; holds t until the scale is known */
    hx_oc_state *d_state;    /* with `target` set */
    /* NULL, or groups of equal design and, up to rounding, equal dc / dv. A group gets one t and
     * therefore bitwise equal densities. */
    const hx_device_groups *groups;
    double shift; /* added to -dc / dv */
};

/* Queues passes until the volume of the free elements is within 1e-11 of `target` (relative), or as
 * near as possible; waits. *change: the largest change of a density. */
int hx_oc_update(hx_device *dev, const hx_device_oc *oc, double target, double *change);

/* Like hx_oc_update; if no scale changes any density, because no derivative is negative, it sets
 * oc->shift = 1 and updates again, so that densities that do not influence the objective keep their
 * ratios and meet the target instead of falling to their lower limits. *is_flat: 1 in that case;
 * NULL: it never updates again. */
int hx_oc_update_or_keep(hx_device *dev, hx_device_oc *oc, double target, double *change,
                         int *is_flat);

/* Computes the proposal for a given scale instead of a target volume; waits. */
int hx_oc_scaled(hx_device *dev, const hx_device_oc *oc, double scale, double *change);

/* A scale that puts all densities at one end of their range. */
#define HX_OC_ALL_UP 1e150

static HX_HD double hx_oc_clipped(double value, double rho, double move, double rho_min)
{
    /* Comparisons instead of fmin and fmax, which are function calls because of NaN. */
    const double low = rho - move > rho_min ? rho - move : rho_min;
    const double high = rho + move < 1.0 ? rho + move : 1.0;
    const double raised = value > low ? value : low;
    return raised < high ? raised : high;
}

/* Sets the first trials from the sums over the free elements of dv t and of dv rho. Without
 * clipping, their ratio would preserve the volume. */
static HX_HD void hx_oc_state_begin(hx_oc_state *s, double sum_t, double sum_rho)
{
    const double ratio = sum_t > 0.0 ? sum_rho / sum_t : 1.0;
    const double guess = ratio < 1e140 ? ratio : 1e140;
    s->sum[0] = sum_t;
    s->sum[1] = sum_rho;
    s->low = s->low_volume = s->high_volume = s->scale = s->change = 0.0;
    s->high = HX_OC_ALL_UP;
    s->pass = s->done = 0;
    s->trial[0] = 0.0;
    s->trial[1] = guess / 64.0;
    s->trial[2] = guess / 4.0;
    s->trial[3] = guess * 0.8;
    s->trial[4] = guess * 1.25;
    s->trial[5] = guess * 4.0;
    s->trial[6] = guess * 64.0;
    s->trial[7] = HX_OC_ALL_UP;
}

/* The scale at which linear interpolation between the ends reaches the target. */
static HX_HD double hx_oc_state_line(const hx_oc_state *s)
{
    const double part = (s->target - s->low_volume) / (s->high_volume - s->low_volume);
    return part >= 0.0 && part <= 1.0 ? s->low + part * (s->high - s->low) : s->low;
}

/* The bracket is open (low = 0, or high puts all densities up): trials are powers of two from the
 * other end. */
static HX_HD void hx_oc_state_open(hx_oc_state *s)
{
    double factor = 2.0;
    for (int i = 0; i < HX_OC_TRIALS; i++, factor *= factor)
        s->trial[i] = s->low == 0.0 ? s->high / factor : s->low * factor;
}

/* The bracket is wider than a factor of two: geometric means and the interpolated scale. */
static HX_HD void hx_oc_state_wide(hx_oc_state *s)
{
    double *const t = s->trial, low = sqrt(s->low), high = sqrt(s->high);
    t[3] = low * high;
    t[1] = low * sqrt(t[3]);
    t[5] = sqrt(t[3]) * high;
    t[0] = low * sqrt(t[1]);
    t[2] = sqrt(t[1]) * sqrt(t[3]);
    t[4] = sqrt(t[3]) * sqrt(t[5]);
    t[6] = sqrt(t[5]) * high;
    t[7] = hx_oc_state_line(s);
}

/* Trials are the quarters, so that every pass removes three of them, and the interpolated scale
 * with its vicinity: the interpolation error is quadratic in the width. */
static HX_HD void hx_oc_state_narrow(hx_oc_state *s)
{
    const double width = s->high - s->low, line = hx_oc_state_line(s);
    s->trial[0] = s->low + 0.25 * width;
    s->trial[1] = s->low + 0.5 * width;
    s->trial[2] = s->low + 0.75 * width;
    s->trial[3] = line - width / 64.0;
    s->trial[4] = line - width / 4096.0;
    s->trial[5] = line;
    s->trial[6] = line + width / 4096.0;
    s->trial[7] = line + width / 64.0;
}

/* Takes the volumes at the trials: narrows the bracket, then finishes or chooses new trials. */
static HX_HD void hx_oc_state_step(hx_oc_state *s, const double volume[HX_OC_TRIALS])
{
    for (int i = 0; i < HX_OC_TRIALS; i++) s->sum[i] = volume[i];
    if (s->pass++ == 0 && (volume[HX_OC_TRIALS - 1] <= s->target || volume[0] >= s->target)) {
        s->scale = volume[HX_OC_TRIALS - 1] <= s->target ? HX_OC_ALL_UP : 0.0;
        s->done = 1; /* the target is out of reach */
        return;
    }
    for (int i = 0; i < HX_OC_TRIALS; i++) {
        if (volume[i] < s->target && s->trial[i] >= s->low) {
            s->low = s->trial[i];
            s->low_volume = volume[i];
        }
        if (volume[i] >= s->target && s->trial[i] <= s->high) {
            s->high = s->trial[i];
            s->high_volume = volume[i];
        }
    }
    if (s->high_volume - s->low_volume <= 1e-11 * s->target ||
        s->high - s->low <= 4e-16 * s->high || s->pass >= HX_OC_MOST_PASSES) {
        s->scale = hx_oc_state_line(s);
        s->done = 1;
    } else if (s->low == 0.0 || s->high == HX_OC_ALL_UP) {
        hx_oc_state_open(s);
    } else if (s->high > 2.0 * s->low) {
        hx_oc_state_wide(s);
    } else {
        hx_oc_state_narrow(s);
    }
}

/* Takes the step from the sums of several processes, each of which has a local state
 * (design_ops.h). */
static HX_HD void hx_oc_state_take(hx_oc_state *s, int is_begin, const hx_oc_state *sums)
{
    if (is_begin)
        hx_oc_state_begin(s, sums->sum[0], sums->sum[1]);
    else if (!s->done)
        hx_oc_state_step(s, sums->sum);
}

HX_C_END

#endif
