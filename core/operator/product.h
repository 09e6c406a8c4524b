/* y = K x over all ranks: the elements of an operator kind, plus springs and films. If a subdomain
 * has interface points and the kind can divide its product, the values at these points are
 * exchanged while the other elements are multiplied. */
#ifndef HX_PRODUCT_H
#define HX_PRODUCT_H

#include "operator.h"

HX_C_BEGIN

/* y = K x on all rows, including springs and films of `op`. `state` belongs to that operator kind
 * and was set up on op's model. The product runs in parts if the kind supports them; otherwise the
 * whole product is computed before the exchange. Runs in every PCG iteration. */
int hx_operator_multiply(const hx_operator *op, const hx_operator_kind *op_kind, void *state,
                         const double *d_x, double *d_y);

/* hx_operator_multiply in single precision. */
int hx_operator_multiply_single(const hx_operator *op, const hx_operator_kind *op_kind, void *state,
                                const float *d_x, float *d_y);

HX_C_END

#endif
