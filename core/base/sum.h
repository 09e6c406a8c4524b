/* Sums over a fixed partition in a fixed order: bitwise the same for any number of threads.
 *
 * A range is cut into HX_N_PART contiguous parts, whichever threads process them; partial results
 * are added in the order of the parts. */
#ifndef HX_SUM_H
#define HX_SUM_H

#include <stdint.h>

#include "c_linkage.h"

HX_C_BEGIN

enum { HX_N_PART = 256 };

/* First index of part i of n. */
static inline int64_t hx_part_begin(int64_t n, int i)
{
    return n / HX_N_PART * i + (n % HX_N_PART * i) / HX_N_PART;
}

/* Sum of the partial results. */
double hx_sum_parts(const double part[HX_N_PART]);

double hx_sum(int64_t n, const double *a);
double hx_dot(int64_t n, const double *a, const double *b);

HX_C_END

#endif
