#include "product.h"

#include "interface_ops.h"
#include "operator_springs.h"

/* The arguments of one product. */
typedef struct product {
    const hx_operator *op;
    const hx_operator_kind *op_kind;
    void *state;
    const void *d_x;
    void *d_y;
} product;

static int run_product(const void *context, hx_product_part part)
{
    const product *const p = context;
    if (part == HX_PRODUCT_WHOLE)
        HX_TRY(p->op_kind->apply(p->state, p->d_x, p->d_y));
    else
        HX_TRY(p->op_kind->apply_part(p->state, part, p->d_x, p->d_y));
    return hx_operator_add_springs_part(p->op, part, p->d_x, p->d_y);
}

static int run_single(const void *context, hx_product_part part)
{
    const product *const p = context;
    if (part == HX_PRODUCT_WHOLE)
        HX_TRY(p->op_kind->apply_single(p->state, p->d_x, p->d_y));
    else
        HX_TRY(p->op_kind->apply_part_single(p->state, part, p->d_x, p->d_y));
    return hx_operator_add_springs_part_single(p->op, part, p->d_x, p->d_y);
}

int hx_operator_multiply(const hx_operator *op, const hx_operator_kind *op_kind, void *state,
                         const double *d_x, double *d_y)
{
    const int components = op->linear.components;
    const product whole = {op, op_kind, state, d_x, d_y};
    const hx_product_parts parts = {&whole, run_product};
    if (op_kind->apply_part) return hx_interface_add_parts(op->dev, components, &parts, d_y);
    HX_TRY(run_product(&whole, HX_PRODUCT_WHOLE));
    return hx_interface_add(op->dev, components, d_y);
}

int hx_operator_multiply_single(const hx_operator *op, const hx_operator_kind *op_kind, void *state,
                                const float *d_x, float *d_y)
{
    const int components = op->linear.components;
    const product whole = {op, op_kind, state, d_x, d_y};
    const hx_product_parts parts = {&whole, run_single};
    if (op_kind->apply_part_single)
        return hx_interface_add_parts_single(op->dev, components, &parts, d_y);
    HX_TRY(run_single(&whole, HX_PRODUCT_WHOLE));
    return hx_interface_add_single(op->dev, components, d_y);
}
