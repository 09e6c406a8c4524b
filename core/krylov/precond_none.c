/* No preconditioner: z = r, by a copy, so that PCG's general path is exercised. */
#include "precond.h"

static int create(hx_precond *pc)
{
    (void)pc;
    return HX_OK;
}

static int setup(hx_precond *pc)
{
    (void)pc;
    return HX_OK;
}

static int apply(hx_precond *pc, const double *d_r, double *d_z)
{
    const hx_linear *a = pc->a;
    return a->dev->ops->copy(a->dev, d_z, d_r, (size_t)a->n * sizeof(double));
}

static void destroy(hx_precond *pc)
{
    (void)pc;
}

const hx_precond_kind hx_precond_none = {
    .name = "none",
    .help = "plain conjugate gradients",
    .vectors = 0,
    .identity = 1,
    .create = create,
    .setup = setup,
    .apply = apply,
    .destroy = destroy,
};
