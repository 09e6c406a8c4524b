#include "pcg.h"

#include <math.h>
#include <string.h>

#include "clock.h"

static const char *const reason_name[] = {
    [HX_PCG_RUNNING] = "running",
    [HX_PCG_CONVERGED] = "converged",
    [HX_PCG_MAX_ITER] = "max_iterations",
    [HX_PCG_INDEFINITE] = "indefinite",
    [HX_PCG_NAN] = "nan",
};

const char *hx_pcg_reason_name(hx_pcg_reason reason)
{
    return reason_name[reason];
}

int hx_pcg_vectors(const hx_precond_kind *kind)
{
    return 3 + (kind->apply ? 1 : 0);
}

int hx_pcg_create(hx_pcg *pcg, const hx_pcg_params *params, const hx_operator *op,
                  const hx_precond *pc)
{
    hx_device *dev = op->dev;
    const size_t bytes = (size_t)op->n_dof * sizeof(double);
    int rc;
    memset(pcg, 0, sizeof *pcg);
    pcg->params = *params;
    if (pcg->params.check_every <= 0) pcg->params.check_every = dev->ops->look_every;
    pcg->dev = dev;
    pcg->n_dof = op->n_dof;
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_r));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_p));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_q));
    if (pc->kind->apply) HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_z));
    HX_TRY_FAIL(dev->ops->alloc(dev, sizeof *pcg->d_state, &pcg->d_state));
    return HX_OK;
fail:
    hx_pcg_free(pcg);
    return rc;
}

/* Norm of the load on free degrees of freedom, that of prescribed displacements included. Uses r
 * and q as scratch. */
static int load_norm(hx_pcg *pcg, const hx_operator *op, const double *d_f, double *norm)
{
    const hx_device_ops *ops = pcg->dev->ops;
    double square;
    if (op->d_prescribed) {
        HX_TRY(hx_operator_apply_unmasked(op, op->d_prescribed, pcg->d_q));
        HX_TRY(ops->subtract(pcg->dev, pcg->n_dof, d_f, pcg->d_q, pcg->d_r));
    } else {
        HX_TRY(ops->copy(pcg->dev, pcg->d_r, d_f, (size_t)pcg->n_dof * sizeof(double)));
    }
    HX_TRY(ops->zero_entries(pcg->dev, op->n_fixed, op->d_fixed, pcg->d_r));
    HX_TRY(ops->dot(pcg->dev, pcg->n_dof, pcg->d_r, pcg->d_r, &square));
    *norm = sqrt(square);
    return HX_OK;
}

/* r = f - K u on free degrees of freedom, p = z = M^-1 r, first test. */
static int start(hx_pcg *pcg, const hx_operator *op, hx_precond *pc, const double *d_f,
                 const double *d_u)
{
    const hx_device_ops *ops = pcg->dev->ops;
    HX_TRY(hx_operator_apply_unmasked(op, d_u, pcg->d_q));
    HX_TRY(ops->subtract(pcg->dev, pcg->n_dof, d_f, pcg->d_q, pcg->d_r));
    HX_TRY(ops->zero_entries(pcg->dev, op->n_fixed, op->d_fixed, pcg->d_r));
    if (pcg->d_z) HX_TRY(pc->kind->apply(pc, pcg->d_r, pcg->d_z));
    return ops->pcg_start(pcg->dev, pcg->n_dof, pc->d_inverse_diagonal, pcg->d_z, pcg->d_r,
                          pcg->d_p, pcg->d_state);
}

static int iterate(hx_pcg *pcg, const hx_operator *op, hx_precond *pc, double *d_u, int marked)
{
    hx_device *dev = pcg->dev;
    const hx_device_ops *ops = dev->ops;
    const double *d_m = pc->d_inverse_diagonal;
    if (marked) HX_TRY(ops->mark(dev, 0));
    HX_TRY(hx_operator_apply(op, pcg->d_p, pcg->d_q));
    if (marked) HX_TRY(ops->mark(dev, 1));
    HX_TRY(ops->pcg_alpha(dev, pcg->n_dof, pcg->d_p, pcg->d_q, pcg->d_state));
    HX_TRY(ops->pcg_update(dev, pcg->n_dof, d_m, pcg->d_p, pcg->d_q, d_u, pcg->d_r, pcg->d_state));
    if (pcg->d_z) {
        HX_TRY(pc->kind->apply(pc, pcg->d_r, pcg->d_z));
        HX_TRY(ops->pcg_beta(dev, pcg->n_dof, pcg->d_r, pcg->d_z, pcg->d_state));
    }
    HX_TRY(ops->pcg_direction(dev, pcg->n_dof, d_m, pcg->d_z, pcg->d_r, pcg->d_p, pcg->d_state));
    return marked ? ops->mark(dev, 2) : HX_OK;
}

int hx_pcg_solve(hx_pcg *pcg, const hx_operator *op, hx_precond *pc, const double *d_f, double *d_u,
                 hx_pcg_result *result)
{
    const hx_pcg_params *params = &pcg->params;
    hx_device *dev = pcg->dev;
    const double begin = hx_clock();
    double norm, spmv_sampled = 0.0, all_sampled = 0.0;
    memset(result, 0, sizeof *result);

    HX_TRY(load_norm(pcg, op, d_f, &norm));
    if (norm == 0.0) { /* nothing pushes: the prescribed displacements are the solution */
        const size_t bytes = (size_t)pcg->n_dof * sizeof(double);
        if (op->d_prescribed)
            HX_TRY(dev->ops->copy(dev, d_u, op->d_prescribed, bytes));
        else
            HX_TRY(dev->ops->zero(dev, d_u, bytes));
        result->reason = HX_PCG_CONVERGED;
        return HX_OK;
    }
    hx_pcg_state state = {
        .criterion = params->criterion,
        .stop = params->criterion == HX_PCG_RELATIVE
                    ? params->tolerance * norm * params->tolerance * norm
                    : params->tolerance,
        .max_iterations = params->max_iterations,
    };
    HX_TRY(dev->ops->upload(dev, pcg->d_state, &state, sizeof state));
    HX_TRY(start(pcg, op, pc, d_f, d_u));
    HX_TRY(dev->ops->download(dev, &state, pcg->d_state, sizeof state));

    while (state.reason == HX_PCG_RUNNING) {
        double spmv, vectors;
        for (int i = 0; i < params->check_every; i++) HX_TRY(iterate(pcg, op, pc, d_u, i == 0));
        HX_TRY(dev->ops->download(dev, &state, pcg->d_state, sizeof state));
        HX_TRY(dev->ops->elapsed(dev, 0, 1, &spmv));
        HX_TRY(dev->ops->elapsed(dev, 1, 2, &vectors));
        spmv_sampled += spmv;
        all_sampled += spmv + vectors;
    }
    result->reason = (hx_pcg_reason)state.reason;
    result->iterations = state.iterations;
    result->residual = sqrt(state.rr) / norm;
    result->seconds = hx_clock() - begin;
    if (all_sampled > 0.0) result->spmv_seconds = result->seconds * spmv_sampled / all_sampled;
    return HX_OK;
}

void hx_pcg_free(hx_pcg *pcg)
{
    hx_device *dev = pcg->dev;
    if (!dev) return;
    dev->ops->release(dev, pcg->d_r);
    dev->ops->release(dev, pcg->d_p);
    dev->ops->release(dev, pcg->d_q);
    dev->ops->release(dev, pcg->d_z);
    dev->ops->release(dev, pcg->d_state);
    memset(pcg, 0, sizeof *pcg);
}
