/* Properties of the last designs of a run: whether the compliance falls, rises or alternates. */
#include <math.h>

#include "../session/continuation.h"
#include "diag_internal.h"

int hx_diag_has_converged(const hx_session *s, const hx_iteration *last)
{
    return hx_session_has_converged(s, last);
}

/* Designs that miss the volume or a limit cannot be compared with others. */
static int is_comparable(const hx_session *s, const hx_diag_record *r)
{
    const double wanted = hx_session_volume_wanted(s);
    return !(r->violation > HX_LIMIT_MET) &&
           (isnan(wanted) || !hx_volume_is_missed(hx_session_update(s), r->volume, wanted));
}

double hx_diag_lowest_of(const hx_session *s, const hx_diag_facts *f, int *back)
{
    *back = 0;
    for (int i = 1; i < f->n_recent; i++)
        if (is_comparable(s, &f->recent[i]) && f->recent[i].objective < f->recent[*back].objective)
            *back = i;
    return f->recent[*back].objective;
}

int hx_diag_since_met(const hx_session *s, const hx_diag_facts *f)
{
    int back = 0;
    while (back + 1 < f->n_recent && is_comparable(s, &f->recent[back + 1])) back++;
    return back;
}

static double relative(double a, double b)
{
    return fabs(a - b) / fmax(fabs(a), fabs(b));
}

double hx_diag_difference(const hx_diag_facts *f, double a, double b)
{
    return relative(a - f->zero, b - f->zero);
}

int hx_diag_has_no_influence(const hx_session *s, const hx_diag_facts *f)
{
    enum { ENOUGH = 3 };
    const hx_diag_span *const span = f->span;
    return span->n >= ENOUGH && !s->cfg.optimization.initial &&
           span->change > hx_diag_limit(HX_DIAG_CHANGING) &&
           hx_diag_difference(f, span->most, span->least) < hx_diag_limit(HX_DIAG_NO_INFLUENCE);
}

/* 1 if densities keep moving in steps that do not become smaller. */
static int is_moving(const hx_session *s, const hx_diag_facts *f, int n)
{
    const double tolerance = s->cfg.optimization.change_tolerance;
    double least = INFINITY;
    for (int i = 0; i < n; i++) least = fmin(least, f->recent[i].change);
    return least > hx_diag_limit(HX_DIAG_CHANGING) && least > 2.0 * tolerance &&
           f->recent[0].change > 0.9 * f->recent[n - 1].change;
}

int hx_diag_is_swinging(const hx_session *s, const hx_diag_facts *f)
{
    enum { N = 4 };
    const double near = 0.2, same = 1e-7, noise = fmax(1e-7, s->cfg.solver.tolerance),
                 projected = hx_diag_limit(HX_DIAG_CHANGING);
    double c[N];
    if (f->n_recent < N || hx_diag_since_met(s, f) < N - 1) return 0;
    for (int i = 0; i < N; i++) c[i] = f->recent[i].objective - f->zero;
    const double step = fabs(c[0] - c[1]);
    if (s->cfg.optimization.projection.given && relative(c[0], c[1]) < projected) return 0;
    if (!(step > hx_diag_limit(HX_DIAG_CHANGING) * fmin(fabs(c[0]), fabs(c[1]))) &&
        !is_moving(s, f, N))
        return 0;
    if (relative(c[0], c[1]) < same && relative(c[1], c[2]) < same) return 1;
    return fabs(c[0] - c[2]) < near * step && fabs(c[1] - c[3]) < near * step &&
           (c[0] - c[1]) * (c[1] - c[2]) < 0.0 && relative(c[0], c[1]) > noise;
}

int hx_diag_go_on_iterations(const hx_session *s, const hx_diag_facts *f)
{
    const int n = s->cfg.optimization.iterations, usual = 50;
    return f->last->climbing ? hx_continuation_iterations(&s->cfg) + 20
                             : 2 * (n > usual ? n : usual);
}

double hx_diag_fall_of(const hx_session *s, const hx_diag_facts *f)
{
    const double first = f->recent[hx_diag_since_met(s, f)].objective;
    return first > f->recent[0].objective ? hx_diag_difference(f, first, f->recent[0].objective)
                                          : 0.0;
}

int hx_diag_is_rising(const hx_session *s, const hx_diag_facts *f)
{
    int back;
    if (f->n_recent < 2) return 0;
    const double low = hx_diag_lowest_of(s, f, &back);
    return hx_diag_is_swinging(s, f) ||
           hx_diag_difference(f, f->recent[0].objective, low) > hx_diag_limit(HX_DIAG_CHANGING);
}

int hx_diag_goes_on(const hx_session *s, const hx_diag_facts *f)
{
    if (f->was_stopped || f->last->volume_missed || f->last->violation > HX_LIMIT_MET) return 0;
    if (f->last->climbing) return 1;
    if (hx_diag_is_rising(s, f) || hx_diag_has_converged(s, f->last)) return 0;
    return hx_diag_fall_of(s, f) > hx_diag_limit(HX_DIAG_CHANGING) ||
           s->cfg.optimization.change_tolerance > 0.0;
}

int hx_diag_most_of(int a, int b)
{
    return a > b ? a : b;
}
