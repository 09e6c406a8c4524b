/* Terms that an operator adds to its elements: springs and films (convection) on the device. Those
 * at interface points come before the others. */
#ifndef HX_OPERATOR_SPRINGS_H
#define HX_OPERATOR_SPRINGS_H

#include "operator.h"

HX_C_BEGIN

/* Uploads the springs and films of the problem; op->model must know the interface points. The
 * operator frees them, also after a failure. Set-up only. */
int hx_operator_put_springs(hx_operator *op, const hx_problem *problem);

/* Adds the contributions of springs and films to one part of K x, once that part is in y: after
 * BOUNDARY those at interface points, after REST all others. Runs in every PCG iteration. */
int hx_operator_add_springs_part(const hx_operator *op, hx_product_part part, const double *d_x,
                                 double *d_y);
int hx_operator_add_springs_part_single(const hx_operator *op, hx_product_part part,
                                        const float *d_x, float *d_y);

HX_C_END

#endif
