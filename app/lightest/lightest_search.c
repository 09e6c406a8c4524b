/* What the next try of a search is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightest.h"

/* The usage that a try aims at. */
static const double aim = 0.5 * (HX_LIGHTEST_LOW + HX_LIGHTEST_HIGH);

/* Largest factor by which a step changes a bound or a volume. */
static const double most_step = 4.0;

/* Number of tries after which the change of a bound is halved, on a logarithmic scale. */
enum { UNDAMPED = 3 };

/* Two bounds count as equal if they differ by less than this share. */
static const double same_bound = 1e-3;

/* Smallest ratio of two volumes, or bounds, of which one passes and the other does not. */
static const double least_bracket = 1.01;

/* --- usage --- */

/* 1 if the magnitude of a value must be at least that of the bound. */
static int is_inverse(double bound, int is_max)
{
    return is_max ? bound < 0.0 : bound > 0.0;
}

static double usage_of(double value, double bound, int is_max)
{
    const double share = value / bound;
    if (isnan(bound)) return 0.0;
    if (!is_inverse(bound, is_max)) return isnan(share) ? (double)INFINITY : fmax(share, 0.0);
    return share > 0.0 ? 1.0 / share : (double)INFINITY;
}

/* The value from which those of a constraint count. */
static double zero_of(const hx_lightest *l, size_t constraint)
{
    const hx_config_constraint *const c = hx_lightest_constraint(l, constraint);
    return strcmp(c->kind, "temperature") == 0 && !c->set_2 ? l->reference : 0.0;
}

double hx_lightest_usage(const hx_lightest *l, int limit, double value)
{
    const size_t i = (size_t)l->limit[limit].constraint;
    const hx_config_constraint *const c = hx_lightest_constraint(l, i);
    const double zero = zero_of(l, i);
    return fmax(usage_of(value - zero, c->max - zero, 1), usage_of(value - zero, c->min - zero, 0));
}

static double usage_at(const hx_lightest *l, const hx_lightest_try *t, int design, int limit)
{
    return hx_lightest_usage(l, limit, t->value[design][limit]);
}

void hx_lightest_judge(const hx_lightest *l, hx_lightest_try *t)
{
    t->worst = 0;
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) {
        t->usage[d] = 0.0;
        for (int i = 0; i < l->n_limit; i++) {
            const double usage = usage_at(l, t, d, i);
            if (!(usage > t->usage[d])) continue;
            t->usage[d] = usage;
            if (d == l->made) t->worst = i;
        }
    }
    t->made = t->usage[l->made];
}

static double worst_of(const hx_lightest_try *t)
{
    return t->made;
}

int hx_lightest_kept(const hx_lightest *l)
{
    int kept = -1;
    for (int i = 0; i < l->n_try; i++)
        if (worst_of(&l->tries[i]) <= HX_LIGHTEST_HIGH &&
            (kept < 0 || l->tries[i].volume < l->tries[kept].volume))
            kept = i;
    return kept;
}

int hx_lightest_nearest(const hx_lightest *l)
{
    int nearest = l->n_try > 0 ? 0 : -1;
    for (int i = 1; i < l->n_try; i++)
        if (worst_of(&l->tries[i]) < worst_of(&l->tries[nearest])) nearest = i;
    return nearest;
}

/* --- bounds --- */

/* Value of the made part divided by the value of the grey design, for the load case of a constraint
 * that uses most of its bound; 1 if it is unknown. */
static double transfer(const hx_lightest *l, const hx_lightest_try *t, size_t constraint)
{
    int worst = -1;
    for (int i = 0; i < l->n_limit; i++)
        if (l->limit[i].constraint == (int)constraint &&
            (worst < 0 || usage_at(l, t, l->made, i) > usage_at(l, t, l->made, worst)))
            worst = i;
    if (worst < 0) return 1.0;
    const double zero = zero_of(l, constraint);
    const double ratio =
        (t->value[l->made][worst] - zero) / (t->value[HX_LIGHTEST_GREY][worst] - zero);
    if (!(ratio > 0.0)) return 1.0;
    return fmax(1.0 / most_step, fmin(most_step, ratio));
}

/* Factor of the bounds, or inverse factor of the volume, if the part of the last try cannot be
 * analysed. */
static const double retreat = 0.8;

/* The digits that are given to the run. */
static double rounded(double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

/* A bound that asks for more material. */
static double stricter_bound(double bound, int is_max, double before)
{
    return is_inverse(bound, is_max) ? before / retreat : before * retreat;
}

/* The bound of a grey design whose surface is to use the share `aim` of the bound of FILE. before:
 * bound of the last try. */
static double next_bound(double bound, int is_max, double ratio, double before, int is_damped)
{
    const double scaled = is_inverse(bound, is_max) ? bound / (aim * ratio) : aim * bound / ratio;
    return is_damped ? copysign(sqrt(scaled * before), bound) : scaled;
}

static int is_same_bound(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= same_bound * fabs(b);
}

/* 1 if an earlier try had these bounds. */
static int repeats(const hx_lightest *l, const hx_lightest_try *next)
{
    for (int k = 0; k < l->n_try; k++) {
        size_t n = 0;
        while (n < l->n_constraint && is_same_bound(next->max[n], l->tries[k].max[n]) &&
               is_same_bound(next->min[n], l->tries[k].min[n]))
            n++;
        if (n == l->n_constraint) return 1;
    }
    return 0;
}

/* 1 if bound a asks for less material than b. */
static int is_looser(double a, double b, int is_max)
{
    return is_max ? a > b : a < b;
}

/* 1 if a try missed the limits of a constraint, or has no part. */
static int misses(const hx_lightest *l, const hx_lightest_try *t, size_t constraint)
{
    return t->error ||
           (worst_of(t) > HX_LIGHTEST_HIGH && l->limit[t->worst].constraint == (int)constraint);
}

/* missed: the strictest bound of a constraint that missed its limits; met: the loosest one that is
 * stricter and met them. NaN: there is none. Both count from zero_of. */
static void find_known(const hx_lightest *l, size_t i, int is_max, double *missed, double *met)
{
    const double zero = zero_of(l, i);
    *missed = *met = (double)NAN;
    for (int k = 0; k < l->n_try; k++) {
        const double given = (is_max ? l->tries[k].max[i] : l->tries[k].min[i]) - zero;
        if (misses(l, &l->tries[k], i) && (isnan(*missed) || is_looser(*missed, given, is_max)))
            *missed = given;
    }
    for (int k = 0; k < l->n_try; k++) {
        const double given = (is_max ? l->tries[k].max[i] : l->tries[k].min[i]) - zero;
        if (worst_of(&l->tries[k]) <= HX_LIGHTEST_HIGH && is_looser(*missed, given, is_max) &&
            (isnan(*met) || is_looser(given, *met, is_max)))
            *met = given;
    }
}

/* Keeps a bound between those that are known: the part of a thin design may break. Sets l->end if
 * these are close to each other. */
static double between_known(hx_lightest *l, size_t i, int is_max, double bound)
{
    double missed, met;
    find_known(l, i, is_max, &missed, &met);
    if (isnan(missed) || isnan(met)) return bound;
    if (fmax(missed / met, met / missed) < least_bracket) l->end = HX_LIGHTEST_BRACKET;
    if (is_looser(missed, bound, is_max) && is_looser(bound, met, is_max)) return bound;
    return copysign(sqrt(missed * met), bound);
}

static double propose_bound(hx_lightest *l, size_t i, int is_max)
{
    const hx_config_constraint *const c = hx_lightest_constraint(l, i);
    const double zero = zero_of(l, i), stated = (is_max ? c->max : c->min) - zero;
    const int is_volume = strcmp(c->kind, "volume") == 0; /* a fraction */
    const hx_lightest_try *const last = l->n_try > 0 ? &l->tries[l->n_try - 1] : NULL;
    if (isnan(stated) || !last) return is_max ? c->max : c->min;
    const double before = (is_max ? last->max[i] : last->min[i]) - zero;
    const double bound = last->error ? stricter_bound(stated, is_max, before)
                                     : next_bound(stated, is_max, transfer(l, last, i), before,
                                                  l->n_try >= UNDAMPED);
    const double next = rounded(between_known(l, i, is_max, bound) + zero);
    return is_volume && next > 1.0 ? 1.0 : next;
}

static void propose_bounds(hx_lightest *l, hx_lightest_try *next)
{
    next->volume_fraction = (double)NAN;
    for (size_t i = 0; i < l->n_constraint; i++) {
        next->max[i] = propose_bound(l, i, 1);
        next->min[i] = propose_bound(l, i, 0);
    }
    if (l->end == HX_LIGHTEST_GOES_ON && repeats(l, next)) l->end = HX_LIGHTEST_SAME;
}

/* --- volume --- */

/* The smallest volume that passes, and the largest below it that does not; NULL: there is none. */
static void find_bracket(const hx_lightest *l, const hx_lightest_try **fails,
                         const hx_lightest_try **passes)
{
    *fails = *passes = NULL;
    for (int i = 0; i < l->n_try; i++) {
        const hx_lightest_try *const t = &l->tries[i];
        if (worst_of(t) <= HX_LIGHTEST_HIGH &&
            (!*passes || t->volume_fraction < (*passes)->volume_fraction))
            *passes = t;
    }
    for (int i = 0; i < l->n_try; i++) {
        const hx_lightest_try *const t = &l->tries[i];
        if (worst_of(t) > HX_LIGHTEST_HIGH &&
            (!*passes || t->volume_fraction < (*passes)->volume_fraction) &&
            (!*fails || t->volume_fraction > (*fails)->volume_fraction))
            *fails = t;
    }
}

/* Number of the latest tries that ended on the same side as the last one. */
static int count_same_side(const hx_lightest *l)
{
    int n = 1;
    const int passes = worst_of(&l->tries[l->n_try - 1]) <= HX_LIGHTEST_HIGH;
    while (n < l->n_try && (worst_of(&l->tries[l->n_try - 1 - n]) <= HX_LIGHTEST_HIGH) == passes)
        n++;
    return n;
}

/* Regula falsi on the logarithms of volume and usage; the end that was kept twice counts half
 * (Illinois). */
static double between(const hx_lightest *l, const hx_lightest_try *fails,
                      const hx_lightest_try *passes)
{
    enum { EDGE = 20 }; /* stays off the ends by this part of the bracket */
    const double a = log(fails->volume_fraction), b = log(passes->volume_fraction);
    double u = log(worst_of(fails) / aim), v = log(fmax(worst_of(passes), 1e-3) / aim);
    if (!isfinite(u)) return exp(0.5 * (a + b));
    if (count_same_side(l) > 1) {
        const int moved_low = worst_of(&l->tries[l->n_try - 1]) > HX_LIGHTEST_HIGH;
        if (moved_low)
            v *= 0.5;
        else
            u *= 0.5;
    }
    const double share = u > v ? u / (u - v) : 0.5;
    return exp(a + (b - a) * fmax(1.0 / EDGE, fmin(1.0 - 1.0 / EDGE, share)));
}

/* The volume outside all tries so far; a displacement is taken as inversely proportional. */
static double beyond(const hx_lightest_try *t)
{
    enum { LEAST = 20 }; /* changes the volume by at least this part */
    const double factor = isfinite(worst_of(t)) ? worst_of(t) / aim : 1.0 / retreat;
    const double least = worst_of(t) > HX_LIGHTEST_HIGH ? 1.0 + 1.0 / LEAST : 1.0 / most_step,
                 most = worst_of(t) > HX_LIGHTEST_HIGH ? most_step : 1.0 - 1.0 / LEAST;
    return t->volume_fraction * fmax(least, fmin(most, factor));
}

/* A grey design deforms more than its surface, so the bounds of FILE would keep it from having less
 * volume. */
static double loose_bound(double bound, int is_max)
{
    return is_inverse(bound, is_max) ? bound / most_step : bound * most_step;
}

static double first_volume(const hx_lightest *l)
{
    const double stated = l->cfg.optimization.volume_fraction, start = l->cfg.optimization.start;
    if (!isnan(stated)) return stated;
    return isnan(start) ? 0.5 : start;
}

static void propose_volume(hx_lightest *l, hx_lightest_try *next)
{
    const hx_lightest_try *fails, *passes;
    for (size_t i = 0; i < l->n_constraint; i++) {
        const hx_config_constraint *const c = hx_lightest_constraint(l, i);
        const double zero = zero_of(l, i);
        next->max[i] = rounded(loose_bound(c->max - zero, 1) + zero);
        next->min[i] = rounded(loose_bound(c->min - zero, 0) + zero);
    }
    find_bracket(l, &fails, &passes);
    if (!fails && !passes)
        next->volume_fraction = first_volume(l);
    else if (fails && passes)
        next->volume_fraction = between(l, fails, passes);
    else
        next->volume_fraction = beyond(fails ? fails : passes);
    if (fails && passes && passes->volume_fraction < least_bracket * fails->volume_fraction)
        l->end = HX_LIGHTEST_BRACKET;
    if (fails && !passes && !(fails->volume_fraction < 1.0)) l->end = HX_LIGHTEST_FULL;
    next->volume_fraction = rounded(fmin(next->volume_fraction, 1.0));
}

void hx_lightest_propose(hx_lightest *l, hx_lightest_try *next)
{
    const hx_lightest_try *const last = l->n_try > 0 ? &l->tries[l->n_try - 1] : NULL;
    l->end = HX_LIGHTEST_GOES_ON;
    if (last && worst_of(last) >= HX_LIGHTEST_LOW && worst_of(last) <= HX_LIGHTEST_HIGH) {
        l->end = HX_LIGHTEST_FOUND;
        return;
    }
    if (l->vary == HX_LIGHTEST_VOLUME)
        propose_volume(l, next);
    else
        propose_bounds(l, next);
    if (l->end == HX_LIGHTEST_GOES_ON && l->n_try == l->n_most) l->end = HX_LIGHTEST_TRIES;
}
