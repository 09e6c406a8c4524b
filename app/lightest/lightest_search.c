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

/* Two bounds count as equal if they differ by less than this share, measured from zero_of. */
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

int hx_lightest_is_unknown(const hx_lightest_try *t, int limit)
{
    return t->unknown && t->unknown[limit];
}

static double usage_at(const hx_lightest *l, const hx_lightest_try *t, int design, int limit)
{
    if (design == l->made && hx_lightest_is_unknown(t, limit)) return (double)INFINITY;
    return hx_lightest_usage(l, limit, t->value[design][limit]);
}

/* 1 if a limit of the volume or mass is met: the search does not have to come close to it. */
static int is_spare_amount(const hx_lightest *l, int limit, double usage)
{
    return hx_lightest_is_of_amount(l, (size_t)l->limit[limit].constraint) &&
           usage <= HX_LIGHTEST_HIGH;
}

void hx_lightest_judge(const hx_lightest *l, hx_lightest_try *t)
{
    t->worst = 0;
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) {
        t->usage[d] = 0.0;
        for (int i = 0; i < l->n_limit; i++) {
            const double usage = usage_at(l, t, d, i);
            if (!(usage > t->usage[d]) || is_spare_amount(l, i, usage)) continue;
            t->usage[d] = usage;
            if (d == l->made) t->worst = i;
        }
    }
    t->made = t->error ? (double)INFINITY : t->usage[l->made];
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
            (kept < 0 ||
             hx_lightest_amount(l, &l->tries[i]) < hx_lightest_amount(l, &l->tries[kept])))
            kept = i;
    return kept;
}

int hx_lightest_nearest(const hx_lightest *l)
{
    int nearest = l->n_try > 0 ? 0 : -1;
    for (int i = 1; i < l->n_try; i++) {
        const hx_lightest_try *const a = &l->tries[i], *const b = &l->tries[nearest];
        /* a part with a limit that cannot be judged is nearer than none */
        if (worst_of(a) < worst_of(b) || (isinf(worst_of(b)) && b->error && !a->error)) nearest = i;
    }
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
    if (worst < 0 || hx_lightest_is_unknown(t, worst)) return 1.0;
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

/* 1 if bound a asks for less material than b. */
static int is_looser(double a, double b, int is_max)
{
    return is_max ? a > b : a < b;
}

/* The bound of a grey design with which the surface is to use the share `aim` of the bound of FILE, by
 * the ratio of surface and grey design in try t. A grey design need not reach its bound, for example
 * because the run ended too early: for the limit that is worst on the surface, the bound changes at
 * least as much as the usage has to. */
static double scaled_bound(const hx_lightest *l, const hx_lightest_try *t, size_t i, int is_max,
                           double stated, double before)
{
    const double ratio = transfer(l, t, i), usage = worst_of(t);
    const int inverse = is_inverse(stated, is_max);
    const double scaled = inverse ? stated / (aim * ratio) : aim * stated / ratio,
                 moved = inverse ? before * usage / aim : before * aim / usage;
    if (l->limit[t->worst].constraint != (int)i || !(usage > 0.0) || isinf(usage)) return scaled;
    const int is_further = is_looser(moved, scaled, is_max) == (usage < aim);
    return is_further ? moved : scaled;
}

static int is_same_bound(double a, double b, double zero)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= same_bound * fabs(b - zero);
}

/* 1 if an earlier try had these bounds. */
static int repeats(const hx_lightest *l, const hx_lightest_try *next)
{
    for (int k = 0; k < l->n_try; k++) {
        size_t n = 0;
        while (n < l->n_constraint &&
               is_same_bound(next->max[n], l->tries[k].max[n], zero_of(l, n)) &&
               is_same_bound(next->min[n], l->tries[k].min[n], zero_of(l, n)))
            n++;
        if (n == l->n_constraint) return 1;
    }
    return 0;
}

/* 1 if a try missed the limits of a constraint, or has no part. */
static int misses(const hx_lightest *l, const hx_lightest_try *t, size_t constraint)
{
    if (t->is_refused) return 0; /* its bounds are too strict */
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

/* The last try whose run was not refused; NULL: there is none. */
static const hx_lightest_try *last_that_ran(const hx_lightest *l)
{
    int i = l->n_try - 1;
    while (i >= 0 && l->tries[i].is_refused) i--;
    return i >= 0 ? &l->tries[i] : NULL;
}

/* 1 if the made part meets the limits of a constraint. */
static int meets(const hx_lightest *l, const hx_lightest_try *t, size_t constraint)
{
    int all = 1;
    for (int i = 0; i < l->n_limit; i++)
        if (l->limit[i].constraint == (int)constraint)
            all &= usage_at(l, t, l->made, i) <= HX_LIGHTEST_HIGH;
    return all;
}

/* Secant method on the logarithms of bound and usage: the change of the one divided by that of the
 * other in the last two tries, if this constraint had the worst limit in both. Otherwise 1, and
 * after UNDAMPED tries one half, since then limits take turns. */
static double find_power(const hx_lightest *l, size_t i, int is_max)
{
    static const double least = 0.5, most = 3.0, little = 1e-3;
    const double otherwise = l->n_try >= UNDAMPED ? 0.5 : 1.0, zero = zero_of(l, i);
    if (l->n_try < 2) return otherwise;
    const hx_lightest_try *const a = &l->tries[l->n_try - 2], *const b = a + 1;
    if (a->error || b->error || l->limit[a->worst].constraint != (int)i ||
        l->limit[b->worst].constraint != (int)i)
        return otherwise;
    const double from = (is_max ? a->max[i] : a->min[i]) - zero,
                 to = (is_max ? b->max[i] : b->min[i]) - zero, usage = log(b->made / a->made),
                 change = is_inverse(to, is_max) ? log(from / to) : log(to / from);
    if (!(fabs(usage) > little) || !(change / usage > 0.0)) return otherwise;
    return fmax(least, fmin(most, change / usage));
}

static double propose_bound(hx_lightest *l, size_t i, int is_max)
{
    const hx_config_constraint *const c = hx_lightest_constraint(l, i);
    const double zero = zero_of(l, i), stated = (is_max ? c->max : c->min) - zero;
    const int is_volume = strcmp(c->kind, "volume") == 0; /* a fraction */
    const hx_lightest_try *const last = last_that_ran(l);
    if (isnan(stated) || !last) return is_max ? c->max : c->min;
    const double before = (is_max ? last->max[i] : last->min[i]) - zero;
    if (hx_lightest_is_of_amount(l, i) && meets(l, last, i)) return before;
    double bound;
    if (last->error ||
        (hx_lightest_is_unknown(last, last->worst) && l->limit[last->worst].constraint == (int)i))
        bound = stricter_bound(stated, is_max, before);
    else
        bound = before * pow(scaled_bound(l, last, i, is_max, stated, before) / before,
                             find_power(l, i, is_max));
    const double next = rounded(between_known(l, i, is_max, bound) + zero);
    return is_volume && next > 1.0 ? 1.0 : next;
}

/* The latest try whose run was refused and that has no bound stricter than those of next; NULL: there
 * is none. */
static const hx_lightest_try *find_refused(const hx_lightest *l, const hx_lightest_try *next)
{
    for (int k = l->n_try - 1; k >= 0; k--) {
        const hx_lightest_try *const t = &l->tries[k];
        int may_run = !t->is_refused;
        for (size_t i = 0; i < l->n_constraint; i++)
            may_run |=
                is_looser(next->max[i], t->max[i], 1) || is_looser(next->min[i], t->min[i], 0);
        if (!may_run) return t;
    }
    return NULL;
}

/* The geometric mean of a bound that was refused and the last one that was not. *ratio: the larger
 * of *ratio and that of both. */
static double retreat_bound(double refused, double ran, double zero, double *ratio)
{
    const double a = refused - zero, b = ran - zero;
    if (isnan(refused)) return refused;
    *ratio = fmax(*ratio, fmax(a / b, b / a));
    return rounded(copysign(sqrt(a * b), b) + zero);
}

/* Moves bounds that a run would refuse towards those of the last run. */
static void retreat_bounds(hx_lightest *l, hx_lightest_try *next)
{
    const hx_lightest_try *const refused = find_refused(l, next), *const ran = last_that_ran(l);
    double ratio = 1.0;
    if (!refused) return;
    for (size_t i = 0; i < l->n_constraint; i++) {
        const double zero = zero_of(l, i);
        next->max[i] = retreat_bound(refused->max[i], ran->max[i], zero, &ratio);
        next->min[i] = retreat_bound(refused->min[i], ran->min[i], zero, &ratio);
    }
    if (ratio < least_bracket) l->end = HX_LIGHTEST_REFUSED;
}

/* The aims of a narrow window, its bounds moved inwards, cross. Then the run gets half the window, on
 * a logarithmic scale, about the value that the made part turns into the middle of the window: with
 * the ratio of the last try, or, if that has no part, moved towards more material. */
static void keep_order(const hx_lightest *l, hx_lightest_try *next)
{
    const hx_lightest_try *const last = last_that_ran(l);
    for (size_t i = 0; last && i < l->n_constraint; i++) {
        const hx_config_constraint *const c = hx_lightest_constraint(l, i);
        const double zero = zero_of(l, i), max = c->max - zero, min = c->min - zero;
        if (!(next->min[i] > next->max[i]) || !(max * min > 0.0)) continue;
        const double before = sqrt((last->max[i] - zero) * (last->min[i] - zero)),
                     moved =
                         last->error ? retreat * before : sqrt(max * min) / transfer(l, last, i),
                     middle = copysign(moved, max);
        next->max[i] = rounded(middle * pow(max / min, 0.25) + zero);
        next->min[i] = rounded(middle * pow(min / max, 0.25) + zero);
    }
}

static void propose_bounds(hx_lightest *l, hx_lightest_try *next)
{
    next->volume_fraction = (double)NAN;
    for (size_t i = 0; i < l->n_constraint; i++) {
        next->max[i] = propose_bound(l, i, 1);
        next->min[i] = propose_bound(l, i, 0);
    }
    keep_order(l, next);
    retreat_bounds(l, next);
    if (l->end == HX_LIGHTEST_GOES_ON && repeats(l, next)) l->end = HX_LIGHTEST_SAME;
}

/* --- volume --- */

/* The smallest and the largest volume of a run that was not refused. */
static void find_range(const hx_lightest *l, double *least, double *most)
{
    *least = (double)INFINITY;
    *most = 0.0;
    for (int i = 0; i < l->n_try; i++) {
        if (l->tries[i].is_refused) continue;
        *least = fmin(*least, l->tries[i].volume_fraction);
        *most = fmax(*most, l->tries[i].volume_fraction);
    }
}

/* The smallest refused volume above all others, at which passive void leaves too little; infinite if
 * there is none. A refused volume below the others is too small for what is passive solid, and fails
 * like any other. */
static double find_ceiling(const hx_lightest *l)
{
    double least, most, ceiling = (double)INFINITY;
    find_range(l, &least, &most);
    for (int i = 0; i < l->n_try; i++)
        if (l->tries[i].is_refused && l->tries[i].volume_fraction > most)
            ceiling = fmin(ceiling, l->tries[i].volume_fraction);
    return ceiling;
}

/* The smallest volume that passes, and the largest below it that does not; NULL: there is none. */
static void find_bracket(const hx_lightest *l, const hx_lightest_try **fails,
                         const hx_lightest_try **passes)
{
    const double ceiling = find_ceiling(l);
    *fails = *passes = NULL;
    for (int i = 0; i < l->n_try; i++) {
        const hx_lightest_try *const t = &l->tries[i];
        if (worst_of(t) <= HX_LIGHTEST_HIGH &&
            (!*passes || t->volume_fraction < (*passes)->volume_fraction))
            *passes = t;
    }
    for (int i = 0; i < l->n_try; i++) {
        const hx_lightest_try *const t = &l->tries[i];
        if (worst_of(t) > HX_LIGHTEST_HIGH && t->volume_fraction < ceiling &&
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
    const double ceiling = find_ceiling(l);
    if (fails && !passes &&
        (!(fails->volume_fraction < 1.0) || ceiling < least_bracket * fails->volume_fraction))
        l->end = HX_LIGHTEST_FULL;
    if (fails && rounded(next->volume_fraction) >= ceiling)
        next->volume_fraction = sqrt(ceiling * fails->volume_fraction);
    next->volume_fraction = rounded(fmin(next->volume_fraction, 1.0));
}

/* 1 if the last two tries, the second with more material, do not permit to judge a limit, and no try
 * meets all limits: the set has to be made solid. */
static int stays_unknown(const hx_lightest *l)
{
    const int n = l->n_try;
    if (n < 2 || hx_lightest_kept(l) >= 0) return 0;
    return hx_lightest_is_unknown(&l->tries[n - 1], l->tries[n - 1].worst) &&
           hx_lightest_is_unknown(&l->tries[n - 2], l->tries[n - 2].worst);
}

void hx_lightest_propose(hx_lightest *l, hx_lightest_try *next)
{
    const hx_lightest_try *const last = l->n_try > 0 ? &l->tries[l->n_try - 1] : NULL;
    l->end = HX_LIGHTEST_GOES_ON;
    if (last && worst_of(last) >= HX_LIGHTEST_LOW && worst_of(last) <= HX_LIGHTEST_HIGH) {
        l->end = HX_LIGHTEST_FOUND;
        return;
    }
    if (stays_unknown(l)) {
        l->end = HX_LIGHTEST_UNKNOWN;
        return;
    }
    if (l->vary == HX_LIGHTEST_VOLUME)
        propose_volume(l, next);
    else
        propose_bounds(l, next);
    if (l->end == HX_LIGHTEST_GOES_ON && l->n_try == l->n_most) l->end = HX_LIGHTEST_TRIES;
}
