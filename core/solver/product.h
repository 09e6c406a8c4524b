/* y = K x of a strategy's elements with what stands beside them, over all processes: where a share
 * has points in common, the operator's own way of dividing its elements lets values of these travel
 * while the others are multiplied. */
#ifndef HX_PRODUCT_H
#define HX_PRODUCT_H

#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = K x on all rows, springs and films of `op` included; state of that strategy, set up on op's
 * model. In parts where the strategy has them; else the whole product first. Hot. */
int hx_operator_multiply(const hx_operator *op, const hx_strategy *strategy, void *state,
                         const double *d_x, double *d_y);

/* The same in single precision. */
int hx_operator_multiply_single(const hx_operator *op, const hx_strategy *strategy, void *state,
                                const float *d_x, float *d_y);

#ifdef __cplusplus
}
#endif

#endif
