/* What stands beside the elements of an operator: springs and films on the device, those at points
 * that other processes have too before the others. */
#ifndef HX_OPERATOR_SPRINGS_H
#define HX_OPERATOR_SPRINGS_H

#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the problem's to the device; op->model knows the points in common. The operator frees them,
 * also after a failure. Cold. */
int hx_operator_put_springs(hx_operator *op, const hx_problem *problem);

/* y += what belongs to a part of K x, which has been added to y: after BOUNDARY those at points in
 * common, after REST all others. Hot. */
int hx_operator_add_springs_part(const hx_operator *op, hx_product_part part, const double *d_x,
                                 double *d_y);
int hx_operator_add_springs_part_single(const hx_operator *op, hx_product_part part,
                                        const float *d_x, float *d_y);

#ifdef __cplusplus
}
#endif

#endif
