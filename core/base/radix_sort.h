/* Parallel sorting by 64-bit keys. Not installed. */
#ifndef HX_RADIX_SORT_H
#define HX_RADIX_SORT_H

#include <stdint.h>

#include "error.h"

HX_C_BEGIN

/* Number of bits for values 0 .. n-1, at least 1. */
static inline int hx_bits(uint64_t n)
{
    int bits = 1;
    while (bits < 63 && (uint64_t)1 << bits < n) bits++;
    return bits;
}

/* order[n] := 0 .. n-1 in ascending order of key[n], ties in ascending order of the index, so the
 * result does not depend on the number of threads. Keys have n_bits bits and are overwritten. O(n);
 * 12 n bytes of scratch memory. */
int hx_radix_sort(uint64_t *key, int32_t *order, int64_t n, int n_bits);

HX_C_END

#endif
