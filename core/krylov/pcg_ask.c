/* Decides when, in the middle of a long solve, PCG calls its preconditioner to enable deflation
 * (`enable_deflation`) or to refresh its estimates (`refresh`). */
#include <math.h>

#include "pcg_internal.h"

/* Iteration counts. Deflation is enabled at most once per solve: after MEND iterations, or earlier,
 * from SOON on and every EVERY iterations, if recent convergence predicts at least FAR iterations
 * in all. Estimates are refreshed after PATIENCE iterations, a limit that is doubled each time, but
 * later if the last EVERY or more iterations predict that fewer than WORTH are left, which is about
 * the cost of a refresh (doc/notebook/2026-11-26-lines.md). */
enum { SOON = 16, EVERY = 4, FAR = 60, MEND = 30, PATIENCE = 40, WORTH = 10 };

/* If the residual rises this often, an eigenvalue estimate is too low, and the smoother amplifies
 * the modes above it. The first refresh then comes early
 * (doc/notebook/2026-11-28-rigid-motions-and-rounding.md). It comes at once if r'z < 0, which
 * proves that M is not positive definite. */
enum { RISES = 4 };

/* Decades that must be left to reduce for early deflation, and for a refresh because of r'z < 0.
 * The residual varies by a third of a decade within two iterations, so closer to the end recent
 * convergence predicts little (doc/notebook/2026-11-28-loose-parts.md). */
static const double MUCH = 1.0;

/* Decades of the residual left to reduce; 0 if the criterion does not use the residual. */
static double decades_left(const hx_pcg_state *s)
{
    if (s->criterion == HX_PCG_COMPLIANCE || !(s->stop > 0.0)) return 0.0;
    return 0.5 * log10((s->criterion == HX_PCG_RELATIVE ? s->rr : fabs(s->rz)) / s->stop);
}

static int is_time_to_deflate(const hx_pcg_run *s, hx_pcg_asking *a, int n_done)
{
    if (n_done >= MEND || n_done < SOON || n_done % EVERY != 0) return n_done >= MEND;
    const double left = decades_left(&s->state), each = (a->left - left) / (n_done - a->judged);
    a->left = left;
    a->judged = n_done;
    return left > MUCH && each * (FAR - n_done) < left;
}

static int is_time_to_refresh(const hx_pcg_run *s, hx_pcg_asking *a, int n_done)
{
    const double left = decades_left(&s->state), before = a->late_left;
    const int n = n_done - a->late_judged;
    if (n_done < a->patience - EVERY || n < EVERY) return 0;
    a->late_left = left;
    a->late_judged = n_done;
    return n_done >= a->patience && !(left > 0.0 && (before - left) * WORTH > left * n);
}

/* 1 if the solve shows that an estimate is too low, unless the first refresh has been done. */
static int has_missed(hx_pcg_asking *a, const hx_pcg_state *state)
{
    const int rises = state->rr > a->rr;
    a->rr = state->rr;
    a->n_rise += rises;
    return a->patience == PATIENCE &&
           ((rises && a->n_rise == RISES) || (state->rz < 0.0 && decades_left(state) > MUCH));
}

static int refresh(hx_pcg_run *s, hx_pcg_asking *a)
{
    a->patience *= 2;
    return s->pc->kind->refresh(s->pc);
}

void hx_pcg_begin_asking(hx_pcg_asking *a, const hx_pcg_state *state)
{
    *a = (hx_pcg_asking){.left = decades_left(state), .patience = PATIENCE, .rr = state->rr};
}

int hx_pcg_ask(hx_pcg_run *s, int n_done, hx_pcg_asking *a, int *changed)
{
    const hx_precond_kind *const kind = s->pc->kind;
    *changed = 0;
    if (has_missed(a, &s->state) && kind->refresh) *changed = refresh(s, a);
    if (*changed == 0 && kind->enable_deflation && !a->deflated &&
        is_time_to_deflate(s, a, n_done)) {
        a->deflated = 1;
        *changed = kind->enable_deflation(s->pc);
    }
    if (*changed == 0 && kind->refresh && is_time_to_refresh(s, a, n_done))
        *changed = refresh(s, a);
    return *changed < 0 ? *changed : HX_OK;
}
