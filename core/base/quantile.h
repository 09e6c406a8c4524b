/* Order statistics of a few measured values. */
#ifndef HX_QUANTILE_H
#define HX_QUANTILE_H

#include <stddef.h>

#include "c_linkage.h"

HX_C_BEGIN

/* Sorts in ascending order. */
void hx_sort_values(double *value, size_t n);
/* Returns quantile q (0.5: the median) of n >= 1 sorted values, with linear interpolation between
 * two of them. */
double hx_quantile(const double *sorted, size_t n, double q);

HX_C_END

#endif
