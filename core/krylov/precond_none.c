/* No preconditioner: z = r, by a copy, so that PCG's general path is exercised. */
#include "precond.h"

static int create_none(hx_precond *pc)
{
    (void)pc;
    return HX_OK;
}

static int setup_none(hx_precond *pc)
{
    (void)pc;
    return HX_OK;
}

static int apply_none(hx_precond *pc, const double *d_r, double *d_z)
{
    const hx_linear *a = pc->a;
    return a->dev->ops->copy(a->dev, d_z, d_r, (size_t)a->n * sizeof(double));
}

static void destroy_none(hx_precond *pc)
{
    (void)pc;
}

const hx_precond_kind hx_precond_none = {
    .name = "none",
    .help = "plain conjugate gradients",
    .vectors = 0,
    .identity = 1,
    .create = create_none,
    .setup = setup_none,
    .apply = apply_none,
    .destroy = destroy_none,
};
