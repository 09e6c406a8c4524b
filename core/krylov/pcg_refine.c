/* Iterative refinement of a solve whose operator is stored rounded: when it ends, and how far each
 * correction is solved. */
#include "pcg_internal.h"

#include <math.h>

/* A correction is lost if it reduces |r| by less than a fifth (GAIN). MAX_LOST lost corrections in
 * a row, or MAX_REFINEMENTS corrections, end the refinement. */
enum { MAX_LOST = 3, MAX_REFINEMENTS = 40 };
#define GAIN 0.8

/* Each correction is solved to this fraction of |r|; rounding rarely allows less. */
#define COARSE 1e-2

int hx_pcg_refinement_is_over(hx_pcg_refinement *p, double rr)
{
    p->n_lost = rr > GAIN * GAIN * p->best ? p->n_lost + 1 : 0;
    p->best = fmin(p->best, rr);
    return p->n_lost >= MAX_LOST || p->n++ >= MAX_REFINEMENTS;
}

int hx_pcg_put_refinement_stop(const hx_pcg_run *s, double rr)
{
    const hx_pcg *const pcg = s->pcg;
    const double bound = pcg->params.tolerance * s->norm;
    const double stop = s->a->exact ? fmax(bound * bound, COARSE * COARSE * rr) : bound * bound;
    if (pcg->params.criterion != HX_PCG_RELATIVE) return HX_OK;
    return pcg->dev->ops->upload(pcg->dev, &pcg->d_state->stop, &stop, sizeof stop);
}
