/* Monitors convergence: decides when, in the middle of a long solve, PCG calls its preconditioner
 * to enable deflation (`enable_deflation`) or to refresh its estimates (`refresh`). */
#include <math.h>

#include "pcg_internal.h"

/* Decades of the residual left to reduce; 0 if the criterion does not use the residual. */
static double decades_left(const hx_pcg_state *s)
{
    if (s->criterion == HX_PCG_COMPLIANCE || !(s->stop > 0.0)) return 0.0;
    return 0.5 * log10((s->criterion == HX_PCG_RELATIVE ? s->rr : fabs(s->rz)) / s->stop);
}

static int is_time_to_deflate(hx_pcg_run *s, int n_done)
{
    const hx_precond_monitoring *const m = s->pc->monitoring;
    hx_pcg_monitoring *const p = &s->monitoring;
    if (n_done >= m->deflate_after || n_done < m->earliest || n_done % m->every != 0)
        return n_done >= m->deflate_after;
    const double left = decades_left(&s->state), each = (p->left - left) / (n_done - p->judged);
    p->left = left;
    p->judged = n_done;
    return left > m->decades && each * (m->far - n_done) < left;
}

static int is_time_to_refresh(hx_pcg_run *s, int n_done)
{
    const hx_precond_monitoring *const m = s->pc->monitoring;
    hx_pcg_monitoring *const p = &s->monitoring;
    const double left = decades_left(&s->state), before = p->late_left;
    const int n = n_done - p->late_judged;
    if (n_done < p->patience - m->every || n < m->every) return 0;
    p->late_left = left;
    p->late_judged = n_done;
    return n_done >= p->patience && !(left > 0.0 && (before - left) * m->worth > left * n);
}

/* 1 if the solve shows that an estimate is too low, unless the first refresh has been done. At once
 * if r'z < 0, which proves that M is not positive definite. */
static int is_estimate_low(hx_pcg_run *s)
{
    const hx_precond_monitoring *const m = s->pc->monitoring;
    const hx_pcg_state *const state = &s->state;
    hx_pcg_monitoring *const p = &s->monitoring;
    const int rises = state->rr > p->rr;
    p->rr = state->rr;
    p->n_rise += rises;
    return p->patience == m->patience && ((rises && p->n_rise == m->rises) ||
                                          (state->rz < 0.0 && decades_left(state) > m->decades));
}

static int refresh_estimates(hx_pcg_run *s)
{
    s->monitoring.patience *= 2;
    return s->pc->kind->refresh(s->pc);
}

void hx_pcg_begin_monitoring(hx_pcg_run *s)
{
    s->monitoring = (hx_pcg_monitoring){.left = decades_left(&s->state), .rr = s->state.rr};
    if (s->pc->monitoring) s->monitoring.patience = s->pc->monitoring->patience;
}

int hx_pcg_monitor(hx_pcg_run *s, int *changed)
{
    const hx_precond_kind *const kind = s->pc->kind;
    const int n_done = s->state.iterations - s->n_begun;
    *changed = 0;
    if (!s->pc->monitoring || s->state.reason != HX_PCG_RUNNING) return HX_OK;
    if (is_estimate_low(s) && kind->refresh) *changed = refresh_estimates(s);
    if (*changed == 0 && kind->enable_deflation && !s->monitoring.deflated &&
        is_time_to_deflate(s, n_done)) {
        s->monitoring.deflated = 1;
        *changed = kind->enable_deflation(s->pc);
    }
    if (*changed == 0 && kind->refresh && is_time_to_refresh(s, n_done))
        *changed = refresh_estimates(s);
    return *changed < 0 ? *changed : HX_OK;
}
