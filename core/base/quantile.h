/* Order statistics of a few measured values. */
#ifndef HX_QUANTILE_H
#define HX_QUANTILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts ascending. */
void hx_sort_values(double *value, size_t n);
/* The quantile q, 0.5 for the median, of n >= 1 sorted values; between two of them linearly. */
double hx_quantile(const double *sorted, size_t n, double q);

#ifdef __cplusplus
}
#endif

#endif
