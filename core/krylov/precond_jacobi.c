/* Jacobi: M = diag A in double precision, fused into PCG's vector passes. */
#include "../linalg/vector_ops.h"
#include "precond.h"

static int create_jacobi(hx_precond *pc)
{
    const hx_linear *a = pc->a;
    return a->dev->ops->alloc(a->dev, (size_t)a->n * sizeof(double), &pc->d_inverse_diagonal);
}

static int setup_jacobi(hx_precond *pc)
{
    const hx_linear *a = pc->a;
    HX_TRY(a->diagonal(a, pc->d_inverse_diagonal));
    return a->dev->ops->vector->invert(a->dev, a->n, pc->d_inverse_diagonal);
}

static void destroy_jacobi(hx_precond *pc)
{
    pc->a->dev->ops->release(pc->a->dev, pc->d_inverse_diagonal);
}

const hx_precond_kind hx_precond_jacobi = {
    .name = "jacobi",
    .help = "the diagonal of K",
    .vectors = 1,
    .chosen_from = 1,
    .create = create_jacobi,
    .setup = setup_jacobi,
    .apply = NULL,
    .destroy = destroy_jacobi,
};
