/* Sorting by 64-bit keys in parallel; not installed. */
#ifndef HX_RADIX_SORT_H
#define HX_RADIX_SORT_H

#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* order[n] := 0 .. n-1 in the order of key[n], equal keys ascending: one result whatever the number
 * of threads. Keys have n_bits bits and are destroyed. O(n), 12 n bytes besides. */
int hx_radix_sort(uint64_t *key, int32_t *order, int64_t n, int n_bits);

#ifdef __cplusplus
}
#endif

#endif
