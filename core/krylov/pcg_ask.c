/* Decides when, in the middle of a long solve, PCG calls its preconditioner to enable deflation
 * (`enable_deflation`) or to refresh its estimates (`refresh`). */
#include <math.h>

#include "pcg_internal.h"

/* Decades of the residual left to reduce; 0 if the criterion does not use the residual. */
static double decades_left(const hx_pcg_state *s)
{
    if (s->criterion == HX_PCG_COMPLIANCE || !(s->stop > 0.0)) return 0.0;
    return 0.5 * log10((s->criterion == HX_PCG_RELATIVE ? s->rr : fabs(s->rz)) / s->stop);
}

static int is_time_to_deflate(const hx_pcg_run *s, hx_pcg_asking *a, int n_done)
{
    const hx_precond_monitoring *const m = s->pc->monitoring;
    if (n_done >= m->deflate_after || n_done < m->earliest || n_done % m->every != 0)
        return n_done >= m->deflate_after;
    const double left = decades_left(&s->state), each = (a->left - left) / (n_done - a->judged);
    a->left = left;
    a->judged = n_done;
    return left > m->decades && each * (m->far - n_done) < left;
}

static int is_time_to_refresh(const hx_pcg_run *s, hx_pcg_asking *a, int n_done)
{
    const hx_precond_monitoring *const m = s->pc->monitoring;
    const double left = decades_left(&s->state), before = a->late_left;
    const int n = n_done - a->late_judged;
    if (n_done < a->patience - m->every || n < m->every) return 0;
    a->late_left = left;
    a->late_judged = n_done;
    return n_done >= a->patience && !(left > 0.0 && (before - left) * m->worth > left * n);
}

/* 1 if the solve shows that an estimate is too low, unless the first refresh has been done. At once
 * if r'z < 0, which proves that M is not positive definite. */
static int has_missed(const hx_pcg_run *s, hx_pcg_asking *a)
{
    const hx_precond_monitoring *const m = s->pc->monitoring;
    const hx_pcg_state *const state = &s->state;
    const int rises = state->rr > a->rr;
    a->rr = state->rr;
    a->n_rise += rises;
    return a->patience == m->patience && ((rises && a->n_rise == m->rises) ||
                                          (state->rz < 0.0 && decades_left(state) > m->decades));
}

static int refresh(hx_pcg_run *s, hx_pcg_asking *a)
{
    a->patience *= 2;
    return s->pc->kind->refresh(s->pc);
}

void hx_pcg_begin_asking(const hx_pcg_run *s, hx_pcg_asking *a)
{
    *a = (hx_pcg_asking){.left = decades_left(&s->state), .rr = s->state.rr};
    if (s->pc->monitoring) a->patience = s->pc->monitoring->patience;
}

int hx_pcg_ask(hx_pcg_run *s, int n_done, hx_pcg_asking *a, int *changed)
{
    const hx_precond_kind *const kind = s->pc->kind;
    *changed = 0;
    if (!s->pc->monitoring) return HX_OK;
    if (has_missed(s, a) && kind->refresh) *changed = refresh(s, a);
    if (*changed == 0 && kind->enable_deflation && !a->deflated &&
        is_time_to_deflate(s, a, n_done)) {
        a->deflated = 1;
        *changed = kind->enable_deflation(s->pc);
    }
    if (*changed == 0 && kind->refresh && is_time_to_refresh(s, a, n_done))
        *changed = refresh(s, a);
    return *changed < 0 ? *changed : HX_OK;
}
