/* Block Jacobi: M = the 3x3 diagonal blocks of K(E), a node each, exact, from coordinates. Fixed
 * degrees of freedom are rows and columns of the identity. */
#include "element_ops.h"
#include "precond.h"

static int create(hx_precond *pc, const hx_operator *op)
{
    double *d_block;
    HX_TRY(op->dev->ops->alloc(op->dev, (size_t)op->model.n_node * 6 * sizeof(double), &d_block));
    pc->impl = d_block;
    return HX_OK;
}

static int setup(hx_precond *pc)
{
    const hx_operator *op = pc->op;
    HX_TRY(hx_operator_block_diagonal(op, pc->impl));
    return op->dev->ops->element->block_invert(op->dev, op->model.n_node, pc->impl);
}

static int apply(hx_precond *pc, const double *d_r, double *d_z)
{
    const hx_operator *op = pc->op;
    return op->dev->ops->element->block_apply(op->dev, op->model.n_node, pc->impl, d_r, d_z);
}

static void destroy(hx_precond *pc)
{
    pc->op->dev->ops->release(pc->op->dev, pc->impl);
}

const hx_precond_kind hx_precond_block_jacobi = {
    .name = "block-jacobi",
    .help = "the 3x3 diagonal blocks of K, one a node",
    .vectors = 2, /* six numbers a node */
    .create = create,
    .setup = setup,
    .apply = apply,
    .destroy = destroy,
};
