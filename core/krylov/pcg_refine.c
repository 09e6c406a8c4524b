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

static int is_over(hx_pcg_refinement *p, double rr)
{
    p->n_lost = rr > GAIN * GAIN * p->best ? p->n_lost + 1 : 0;
    p->best = fmin(p->best, rr);
    return p->n_lost >= MAX_LOST || p->n++ >= MAX_REFINEMENTS;
}

/* Uploads the bound for the next correction, which starts with |r|; with the exact operator, the
 * bound of the solve. */
static int put_stop(const hx_pcg_run *s, double rr)
{
    const hx_pcg *const pcg = s->pcg;
    const double bound = pcg->params.tolerance * s->norm;
    const double stop = s->a->exact ? fmax(bound * bound, COARSE * COARSE * rr) : bound * bound;
    if (pcg->params.criterion != HX_PCG_RELATIVE) return HX_OK;
    return pcg->dev->ops->upload(pcg->dev, &pcg->d_state->stop, &stop, sizeof stop);
}

int hx_pcg_refine(hx_pcg_run *s, hx_pcg_refinement *refinement, hx_pcg_result *result)
{
    const hx_pcg *const pcg = s->pcg;
    double rr;
    HX_TRY(hx_pcg_find_residual(s));
    HX_TRY(pcg->dev->ops->vector->dot(pcg->dev, pcg->n, pcg->d_r, pcg->d_r, &rr));
    if (pcg->params.criterion == HX_PCG_RELATIVE && sqrt(rr) <= pcg->params.tolerance * s->norm) {
        /* the usual case: converged without another application of the preconditioner */
        s->state.rr = rr;
        s->state.reason = HX_PCG_CONVERGED;
        return HX_OK;
    }
    const int is_idle = is_over(refinement, rr);
    /* as accurate as rounding in double precision allows */
    if (is_idle && !s->a->exact) return HX_OK;
    if (is_idle || s->state.reason == HX_PCG_INDEFINITE) {
        s->a = s->a->exact;
        *refinement = (hx_pcg_refinement){.best = INFINITY};
        result->took_exact = 1;
    }
    HX_TRY(put_stop(s, rr));
    HX_TRY(hx_pcg_start_from_residual(s));
    result->refinements += s->state.reason == HX_PCG_RUNNING;
    return HX_OK;
}
