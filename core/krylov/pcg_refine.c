/* Iterative refinement of a solve whose operator is stored rounded. */
#include "pcg_internal.h"

#include <math.h>

#include "../linalg/vector_ops.h"

/* A correction is lost if it reduces |r| by less than a fifth (GAIN). MAX_LOST lost corrections in
 * a row, or MAX_REFINEMENTS corrections, end the refinement. */
enum { MAX_LOST = 3, MAX_REFINEMENTS = 40 };
#define GAIN 0.8

/* Each correction is solved to this fraction of |r|; rounding rarely allows less. */
#define COARSE 1e-2

int hx_pcg_refine(hx_pcg_run *s)
{
    const hx_pcg *const pcg = s->pcg;
    hx_pcg_refinement *const p = &s->refinement;
    const int is_relative = pcg->params.criterion == HX_PCG_RELATIVE;
    const double bound = hx_pcg_ease(s) * (pcg->params.tolerance * s->norm);
    double rr;
    if (!(s->a->exact && s->state.reason == HX_PCG_INDEFINITE) &&
        !((s->a->exact || s->result->took_exact) && s->state.reason == HX_PCG_CONVERGED))
        return HX_OK;
    HX_TRY(hx_pcg_residual(s));
    HX_TRY(s->dev->ops->vector->dot(s->dev, pcg->n, pcg->d_r, pcg->d_r, &rr));
    if (is_relative && sqrt(rr) <= bound) {
        /* the usual case: converged without another application of the preconditioner */
        s->state.rr = rr;
        s->state.reason = HX_PCG_CONVERGED;
        return HX_OK;
    }
    p->n_lost = rr > GAIN * GAIN * p->best ? p->n_lost + 1 : 0;
    p->best = fmin(p->best, rr);
    const int is_over = p->n_lost >= MAX_LOST || p->n++ >= MAX_REFINEMENTS;
    /* as accurate as rounding in double precision allows */
    if (is_over && !s->a->exact) return HX_OK;
    if (is_over || s->state.reason == HX_PCG_INDEFINITE) {
        s->a = s->a->exact;
        *p = (hx_pcg_refinement){.best = INFINITY};
        s->result->took_exact = 1;
    }
    if (is_relative) { /* the bound of this correction; with the exact operator, of the solve */
        const double least = s->a->exact ? COARSE * COARSE * rr : 0.0;
        const double stop = fmax(bound * bound, least);
        HX_TRY(s->dev->ops->upload(s->dev, &pcg->d_state->stop, &stop, sizeof stop));
    }
    HX_TRY(hx_pcg_start_from_residual(s));
    s->result->refinements += s->state.reason == HX_PCG_RUNNING;
    return HX_OK;
}
