/* Sorting lists of numbers in ascending order; records are sorted by qsort or radix_sort.h. */
#ifndef HX_SORT_H
#define HX_SORT_H

#include <stdint.h>

/* For lists of any length. O(n) if already sorted, otherwise O(n log n). */
void hx_sort_i32(int32_t *list, int64_t n);
void hx_sort_i64(int64_t *list, int64_t n);

/* For lists of mostly a few entries: insertion sort, O(n^2), for at most 64 entries, otherwise as
 * above. */
void hx_sort_few_i32(int32_t *list, int64_t n);
void hx_sort_few_u32(uint32_t *list, int64_t n);

/* Removes duplicates from a sorted list; returns the number of entries left. */
int64_t hx_unique_i32(int32_t *list, int64_t n);
int64_t hx_unique_i64(int64_t *list, int64_t n);

/* Returns the number of entries of an ascending list that are below `value`. O(log n). */
int64_t hx_count_below_i32(const int32_t *list, int64_t n, int64_t value);
int64_t hx_count_below_i64(const int64_t *list, int64_t n, int64_t value);

/* Sorts the four nodes of a face. */
static inline void hx_sort_four(int32_t v[4])
{
    static const int pair[5][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
    for (int k = 0; k < 5; k++) {
        int32_t *const a = &v[pair[k][0]], *const b = &v[pair[k][1]];
        if (*a <= *b) continue;
        const int32_t larger = *a;
        *a = *b;
        *b = larger;
    }
}

#endif
