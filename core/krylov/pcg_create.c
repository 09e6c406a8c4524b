/* Creates a PCG solver, and checks which operators and preconditioners it can be used with. */
#include <string.h>

#include "pcg_internal.h"

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

double hx_pcg_tolerance(hx_pcg_criterion criterion)
{
    return criterion == HX_PCG_COMPLIANCE ? 1e-6 : 1e-5;
}

const char *hx_precision_name(hx_precision precision)
{
    return precision == HX_PRECISION_MIXED ? "mixed" : "double";
}

/* 1 if z = M^-1 r is a vector owned by PCG, neither computed on the fly nor stored by the
 * preconditioner. */
static int keeps_z(const hx_precond_kind *kind, int is_projected)
{
    return (kind->apply && !kind->single_z) || is_projected;
}

int hx_pcg_vectors(const hx_precond_kind *kind, int is_projected)
{
    return 3 + keeps_z(kind, is_projected);
}

int hx_pcg_check_rigid(hx_precision precision, int n_rigid)
{
    if (precision == HX_PRECISION_DOUBLE || n_rigid == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "\"mixed\" does not support rigid couplings; use \"double\", or "
                               "coupling = \"distributing\"");
}

static int check_single(int has_single, const char *name, const char *device,
                        const hx_precond_kind *kind)
{
    if (!has_single)
        return HX_RAISE(HX_EINPUT,
                        "operator '%s' on device '%s' has no product in single precision", name,
                        device);
    if (kind->apply && !kind->identity)
        return HX_RAISE(
            HX_EINPUT,
            "preconditioner '%s' is not a diagonal, which \"mixed\" requires; use \"double\"",
            kind->name);
    return HX_OK;
}

int hx_pcg_check_precision(hx_precision precision, const hx_operator_kind *op_kind,
                           const hx_precond_kind *kind)
{
    if (precision == HX_PRECISION_DOUBLE) return HX_OK;
    return check_single(op_kind->apply_single != NULL, op_kind->name, op_kind->device, kind);
}

/* Requirements of mixed precision for any operator. */
static int check_mixed(const hx_linear *a, const hx_precond_kind *kind)
{
    const char *device = a->dev->ops->name;
    HX_TRY(check_single(a->apply_single != NULL, a->name, device, kind));
    HX_TRY(hx_pcg_check_rigid(HX_PRECISION_MIXED, a->project != NULL));
    if (a->dev->ops->pcg->start_single) return HX_OK;
    return HX_RAISE(HX_EINPUT, "device '%s' does not support precision = \"mixed\"; use \"double\"",
                    device);
}

int hx_pcg_create(hx_pcg *pcg, const hx_pcg_params *params, const hx_linear *a,
                  const hx_precond *pc)
{
    hx_device *dev = a->dev;
    const int64_t stride = (a->n + 63) / 64 * 64; /* in floats, of vectors in single precision */
    const size_t bytes = 2 * (size_t)stride * sizeof(float);
    const int has_rounded = dev->ops->pcg->start_rounded != NULL;
    int rc;
    memset(pcg, 0, sizeof *pcg);
    if (params->precision == HX_PRECISION_MIXED) HX_TRY(check_mixed(a, pc->kind));
    pcg->params = *params;
    /* `rounded` preconditioners are expensive: one unneeded iteration costs more than a status
     * check */
    if (pcg->params.check_every <= 0)
        pcg->params.check_every = pc->kind->rounded ? 1 : dev->ops->look_every;
    pcg->dev = dev;
    pcg->n = a->n;
    if (a->prepare_exact) HX_TRY_FAIL(a->prepare_exact(a));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_r));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_p));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_q));
    if (keeps_z(pc->kind, a->project != NULL) || (pc->kind->single_z && !has_rounded))
        HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &pcg->d_z));
    if (!pcg->d_z && pc->kind->single_z) pcg->d_z_single = pc->kind->single_z(pc);
    HX_TRY_FAIL(dev->ops->alloc(dev, sizeof *pcg->d_sum, &pcg->d_sum));
    HX_TRY_FAIL(dev->ops->alloc(dev, sizeof *pcg->d_state, &pcg->d_state));
    pcg->single.d_r = (float *)pcg->d_r;
    pcg->single.d_m = pcg->single.d_r + stride;
    pcg->single.d_p = (float *)pcg->d_p;
    pcg->single.d_u = pcg->single.d_p + stride;
    pcg->single.d_q = (float *)pcg->d_q;
    if (params->precision == HX_PRECISION_MIXED && a->prepare_single)
        HX_TRY_FAIL(a->prepare_single(a));
    return HX_OK;
fail:
    hx_pcg_free(pcg);
    return rc;
}

void hx_pcg_free(hx_pcg *pcg)
{
    hx_device *dev = pcg->dev;
    if (!dev) return;
    hx_pcg_reset_recordings(pcg);
    dev->ops->release(dev, pcg->d_r);
    dev->ops->release(dev, pcg->d_p);
    dev->ops->release(dev, pcg->d_q);
    dev->ops->release(dev, pcg->d_z);
    dev->ops->release(dev, pcg->d_sum);
    dev->ops->release(dev, pcg->d_state);
    memset(pcg, 0, sizeof *pcg);
}
