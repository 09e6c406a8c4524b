/* Several processes that each know a part of something, as those see it who only want to know what
 * it is in all (core/team has the processes). All of them call the same functions in the same
 * order. NULL: there is one process, and its part is all. */
#ifndef HX_ALL_H
#define HX_ALL_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_all {
    int rank, size;
    /* every[size][bytes] := what each has, by rank. */
    int (*gather)(const struct hx_all *all, const void *own, size_t bytes, void *every);
} hx_all;

/* value[n] := sums over all, added in the order of the ranks: the same bits everywhere. O(n size).
 */
int hx_all_sum(const hx_all *all, int n, double *value);
int hx_all_sum_i64(const hx_all *all, int n, int64_t *value);

/* value[n] := the largest of all. */
int hx_all_most(const hx_all *all, int n, double *value);

/* *before := the sum over lower ranks. */
int hx_all_sum_before(const hx_all *all, int64_t value, int64_t *before);

/* The same, the smallest, of long arrays; 1 MB a process of scratch. */
int hx_all_least_u16(const hx_all *all, int64_t n, uint16_t *value);

#ifdef __cplusplus
}
#endif

#endif
