/* Jacobi: M = diag K(E), exact, from coordinates. Fused into PCG's vector passes. */
#include "precond.h"
#include "vector_ops.h"

static int create(hx_precond *pc, const hx_operator *op)
{
    return op->dev->ops->alloc(op->dev, (size_t)op->n_dof * sizeof(double),
                               &pc->d_inverse_diagonal);
}

static int setup(hx_precond *pc)
{
    const hx_operator *op = pc->op;
    HX_TRY(hx_operator_diagonal(op, pc->d_inverse_diagonal));
    return op->dev->ops->vector->invert(op->dev, op->n_dof, pc->d_inverse_diagonal);
}

static void destroy(hx_precond *pc)
{
    pc->op->dev->ops->release(pc->op->dev, pc->d_inverse_diagonal);
}

const hx_precond_kind hx_precond_jacobi = {
    .name = "jacobi",
    .help = "the diagonal of K",
    .vectors = 1,
    .create = create,
    .setup = setup,
    .apply = NULL,
    .destroy = destroy,
};
