/* Mixed precision: iterations in single precision, whose residual is replaced by the true one. */
#include <math.h>

#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"
#include "pcg_internal.h"

/* The residual is replaced when |r| has dropped to DROP times its largest value since the last
 * replacement, so that the rounding error of the floats stays small compared with the remaining
 * residual, and at the latest after LONGEST iterations, to see how far the two have drifted apart.
 * A replacement is lost if the true residual is at least twice that of the recurrence and more than
 * half of the smallest true one so far. After MAX_LOST lost replacements in a row, single precision
 * is abandoned. */
#define DROP 0.1
enum { LONGEST = 1000, MAX_LOST = 3 };

/* r = (f - K u) / |f|, computed with u in double precision; the direction is kept. */
static int true_residual(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    const hx_vector_ops *const vector = s->dev->ops->vector;
    float *d_r = pcg->single.d_r;
    HX_TRY(hx_pcg_exact_product(s->a, s->d_u, pcg->d_q));
    HX_TRY(hx_pcg_put_energy(s, s->load->d_f));
    HX_TRY(vector->subtract_single(s->dev, pcg->n, 1.0 / s->norm, s->load->d_f, pcg->d_q, d_r));
    HX_TRY(hx_linear_constrain_single(s->a, d_r));
    HX_TRY(s->ops->start_single(s->dev, pcg->n, pcg->single.d_m, d_r, pcg->d_state));
    return hx_pcg_read_state(s);
}

int hx_pcg_start_mixed(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    const hx_vector_ops *const vector = s->dev->ops->vector;
    const int64_t n = pcg->n;
    const double *d_m = s->pc->d_inverse_diagonal;
    HX_TRY(hx_pcg_put_state(s));
    if (!d_m) { /* identity preconditioner */
        HX_TRY(s->dev->ops->zero(s->dev, pcg->d_q, (size_t)n * sizeof(double)));
        HX_TRY(vector->invert(s->dev, n, pcg->d_q));
        d_m = pcg->d_q;
    }
    HX_TRY(vector->subtract_single(s->dev, n, 1.0, d_m, NULL, pcg->single.d_m));
    HX_TRY(s->dev->ops->zero(s->dev, pcg->single.d_p, (size_t)n * sizeof(float)));
    HX_TRY(s->dev->ops->zero(s->dev, pcg->single.d_u, (size_t)n * sizeof(float)));
    HX_TRY(true_residual(s));
    s->replacement = (hx_pcg_replacement){.best = s->state.rr, .largest = s->state.rr};
    return HX_OK;
}

int hx_pcg_replace_residual(hx_pcg_run *s)
{
    hx_pcg_replacement *const p = &s->replacement;
    const double recurrence = s->state.rr;
    p->largest = fmax(p->largest, recurrence);
    if (s->state.reason == HX_PCG_RUNNING && !(recurrence <= DROP * DROP * p->largest) &&
        s->state.iterations - p->replaced_at < LONGEST)
        return HX_OK;
    /* the increment may contain NaN and is discarded */
    if (s->state.reason == HX_PCG_NAN) return HX_OK;
    /* u += the increment. Several ranks may hold increments at an interface point that differ by
     * single precision rounding, and a residual summed from subdomains with different u would not
     * reveal it; therefore u is made consistent. */
    HX_TRY(
        s->dev->ops->vector->flush_single(s->dev, s->pcg->n, s->norm, s->pcg->single.d_u, s->d_u));
    HX_TRY(hx_interface_make_consistent(s->dev, s->a->components, s->d_u));
    if (s->state.reason == HX_PCG_INDEFINITE) return HX_OK;
    HX_TRY(true_residual(s));
    const double rr = s->state.rr;
    p->n_lost = rr > 4.0 * recurrence && rr > 0.25 * p->best ? p->n_lost + 1 : 0;
    p->best = fmin(p->best, rr);
    p->largest = rr;
    p->replaced_at = s->state.iterations;
    s->is_stalled = p->n_lost >= MAX_LOST;
    s->result->replacements++;
    return HX_OK;
}
