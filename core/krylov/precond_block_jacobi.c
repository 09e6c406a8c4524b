/* Block Jacobi: M consists of the 3x3 diagonal blocks of A, one per point, in double precision.
 * Rows and columns of fixed entries are those of the identity. */
#include "../operator/element_ops.h"
#include "precond.h"

static int create_block_jacobi(hx_precond *pc)
{
    const hx_linear *a = pc->a;
    double *d_block;
    if (a->components != 3 || !a->block_diagonal)
        return HX_RAISE(HX_EINPUT,
                        "preconditioner 'block-jacobi' needs 3x3 blocks, which '%s' does not have: "
                        "use 'jacobi'",
                        a->name);
    HX_TRY(a->dev->ops->alloc(a->dev, (size_t)a->n / 3 * 6 * sizeof(double), &d_block));
    pc->impl = d_block;
    return HX_OK;
}

static int setup_block_jacobi(hx_precond *pc)
{
    const hx_linear *a = pc->a;
    HX_TRY(a->block_diagonal(a, pc->impl));
    return a->dev->ops->element->block_invert(a->dev, a->n / 3, pc->impl);
}

static int apply_block_jacobi(hx_precond *pc, const double *d_r, double *d_z)
{
    const hx_linear *a = pc->a;
    return a->dev->ops->element->block_apply(a->dev, a->n / 3, pc->impl, d_r, d_z);
}

static void destroy_block_jacobi(hx_precond *pc)
{
    pc->a->dev->ops->release(pc->a->dev, pc->impl);
}

/* Summing the blocks requires the node lists. */
static size_t block_jacobi_bytes(const hx_problem *problem, const hx_device_ops *device,
                                 const hx_operator_kind *op_kind)
{
    (void)device;
    if (problem->space.element != HX_ELEMENT_LINEAR || hx_operator_kind_needs_lists(op_kind))
        return 0;
    return hx_device_mesh_list_bytes(problem->mesh);
}

const hx_precond_kind hx_precond_block_jacobi = {
    .name = "block-jacobi",
    .help = "the 3x3 diagonal blocks of K, one per node",
    .vectors = 2, /* six numbers per node */
    .bytes = block_jacobi_bytes,
    .create = create_block_jacobi,
    .setup = setup_block_jacobi,
    .apply = apply_block_jacobi,
    .destroy = destroy_block_jacobi,
};
