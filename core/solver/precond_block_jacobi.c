/* Block Jacobi: M = the 3x3 diagonal blocks of A, a point each, exact. Fixed entries are rows and
 * columns of the identity. */
#include "element_ops.h"
#include "precond.h"

static int create(hx_precond *pc)
{
    const hx_linear *a = pc->a;
    double *d_block;
    if (a->components != 3 || !a->block_diagonal)
        return HX_RAISE(
            HX_EINPUT,
            "preconditioner 'block-jacobi' takes blocks of 3x3, which '%s' has not: use "
            "'jacobi'",
            a->name);
    HX_TRY(a->dev->ops->alloc(a->dev, (size_t)a->n / 3 * 6 * sizeof(double), &d_block));
    pc->impl = d_block;
    return HX_OK;
}

static int setup(hx_precond *pc)
{
    const hx_linear *a = pc->a;
    HX_TRY(a->block_diagonal(a, pc->impl));
    return a->dev->ops->element->block_invert(a->dev, a->n / 3, pc->impl);
}

static int apply(hx_precond *pc, const double *d_r, double *d_z)
{
    const hx_linear *a = pc->a;
    return a->dev->ops->element->block_apply(a->dev, a->n / 3, pc->impl, d_r, d_z);
}

static void destroy(hx_precond *pc)
{
    pc->a->dev->ops->release(pc->a->dev, pc->impl);
}

/* The blocks are summed by the node lists. */
static size_t bytes(const hx_problem *problem, const hx_device_ops *device,
                    const hx_strategy *strategy)
{
    (void)device;
    if (problem->space.element != HX_ELEMENT_LINEAR || hx_strategy_needs_lists(strategy)) return 0;
    return hx_device_mesh_list_bytes(problem->mesh);
}

const hx_precond_kind hx_precond_block_jacobi = {
    .name = "block-jacobi",
    .help = "the 3x3 diagonal blocks of K, one a node",
    .vectors = 2, /* six numbers a node */
    .bytes = bytes,
    .create = create,
    .setup = setup,
    .apply = apply,
    .destroy = destroy,
};
