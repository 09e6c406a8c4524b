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

/* 1 if r'z < 0, which proves that an estimate is so low that M is not positive definite, unless the
 * first refresh has been done or the solve is about to end. */
static int is_estimate_low(const hx_pcg_run *s)
{
    return s->monitoring.patience == s->pc->monitoring->patience && s->state.rz < 0.0 &&
           decades_left(&s->state) > s->pc->monitoring->decades;
}

static int refresh_estimates(hx_pcg_run *s)
{
    s->monitoring.patience *= 2;
    return s->pc->kind->refresh(s->pc);
}

void hx_pcg_begin_monitoring(hx_pcg_run *s)
{
    s->monitoring = (hx_pcg_monitoring){.left = decades_left(&s->state)};
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
    if (*changed == 0 && kind->refresh && n_done >= s->monitoring.patience)
        *changed = refresh_estimates(s);
    return *changed < 0 ? *changed : HX_OK;
}
