/* When conjugate gradients ask their preconditioner, in the middle of a solve that takes long, for
 * what it can do better. */
#include <math.h>

#include "pcg_internal.h"

/* Iterations after which a preconditioner is asked to mend what it can, once: sooner, from SOON on
 * every so many, where as many as FAR or more are foretold by the last ones; and after which one
 * that estimates is asked to look again, doubled each time: later where the last EVERY foretell
 * that fewer than WORTH are left, which looking would take as well
 * (doc/notebook/2026-11-26-lines.md). */
enum { SOON = 16, EVERY = 4, FAR = 60, MEND = 30, PATIENCE = 40, WORTH = 10 };

/* A residual that rises so often tells of an estimate that missed something: what it does not cover
 * is made larger by the preconditioner. Its first look again comes then
 * (doc/notebook/2026-11-28-rigid-motions-and-rounding.md), or at once where r'z < 0 proves that M
 * is not positive definite. */
enum { RISES = 4 };

/* Decades that are to go where mending is foretold to pay, or looking again at r'z < 0: a residual
 * rises and falls by a third of one in two iterations, so nearer to the end the last ones say
 * little (doc/notebook/2026-11-28-loose-parts.md). */
static const double MUCH = 1.0;

/* Decades of the residual that are left; 0 where the criterion goes by something else. */
static double decades_left(const hx_pcg_state *s)
{
    if (s->criterion == HX_PCG_COMPLIANCE || !(s->stop > 0.0)) return 0.0;
    return 0.5 * log10((s->criterion == HX_PCG_RELATIVE ? s->rr : fabs(s->rz)) / s->stop);
}

static int is_time_to_mend(const hx_pcg_run *s, hx_pcg_asking *a, int n_done)
{
    if (n_done >= MEND || n_done < SOON || n_done % EVERY != 0) return n_done >= MEND;
    const double left = decades_left(&s->state), each = (a->left - left) / (n_done - a->judged);
    a->left = left;
    a->judged = n_done;
    return left > MUCH && each * (FAR - n_done) < left;
}

static int is_time_to_revise(const hx_pcg_run *s, hx_pcg_asking *a, int n_done)
{
    const double left = decades_left(&s->state), before = a->late_left;
    const int n = n_done - a->late_judged;
    if (n_done < a->patience - EVERY || n < EVERY) return 0;
    a->late_left = left;
    a->late_judged = n_done;
    return n_done >= a->patience && !(left > 0.0 && (before - left) * WORTH > left * n);
}

/* 1 where a solve shows that an estimate missed something, unless the first look was had. */
static int has_missed(hx_pcg_asking *a, const hx_pcg_state *state)
{
    const int rises = state->rr > a->rr;
    a->rr = state->rr;
    a->n_rise += rises;
    return a->patience == PATIENCE &&
           ((rises && a->n_rise == RISES) || (state->rz < 0.0 && decades_left(state) > MUCH));
}

static int revise(hx_pcg_run *s, hx_pcg_asking *a)
{
    a->patience *= 2;
    return s->pc->kind->revise(s->pc);
}

void hx_pcg_begin_asking(hx_pcg_asking *a, const hx_pcg_state *state)
{
    *a = (hx_pcg_asking){.left = decades_left(state), .patience = PATIENCE, .rr = state->rr};
}

int hx_pcg_ask(hx_pcg_run *s, int n_done, hx_pcg_asking *a, int *changed)
{
    const hx_precond_kind *const kind = s->pc->kind;
    *changed = 0;
    if (has_missed(a, &s->state) && kind->revise) *changed = revise(s, a);
    if (*changed == 0 && kind->mend && !a->mended && is_time_to_mend(s, a, n_done)) {
        a->mended = 1;
        *changed = kind->mend(s->pc);
    }
    if (*changed == 0 && kind->revise && is_time_to_revise(s, a, n_done)) *changed = revise(s, a);
    return *changed < 0 ? *changed : HX_OK;
}
