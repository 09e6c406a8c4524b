/* Reductions over all ranks, for code that need not know about MPI (core/comm implements the
 * communication). All functions are collective: every rank calls them in the same order. If
 * `reduce` is NULL, there is only one rank and the value stays as it is. */
#ifndef HX_REDUCE_H
#define HX_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

HX_C_BEGIN

typedef struct hx_reduce {
    int rank, size;
    /* every[size][bytes] := `own` of every rank, in the order of the ranks. */
    int (*gather)(const struct hx_reduce *reduce, const void *own, size_t bytes, void *every);
} hx_reduce;

/* value[n] := sum over all ranks, added in the order of the ranks, so the result is bitwise the
 * same on every rank. O(n size). */
int hx_reduce_sum(const hx_reduce *reduce, int n, double *value);
int hx_reduce_sum_i64(const hx_reduce *reduce, int n, int64_t *value);

/* value[n] := maximum over all ranks. */
int hx_reduce_max(const hx_reduce *reduce, int n, double *value);

/* p[bytes] := that of the first rank. For a few numbers. */
int hx_reduce_first(const hx_reduce *reduce, void *p, size_t bytes);

/* *before := sum over lower ranks. */
int hx_reduce_exscan(const hx_reduce *reduce, int64_t value, int64_t *before);

/* value[n] := minimum over all ranks, for long arrays. Scratch memory: 1 MB for every rank of the
 * communicator. */
int hx_reduce_min_u16(const hx_reduce *reduce, int64_t n, uint16_t *value);

HX_C_END

#endif
