#include "sort.h"

#include <stdlib.h>

enum { FEW = 64 };

/* The functions below are defined for each type of number. */
#define DEFINE_COMPARE(compare, type)                                                              \
    static int compare(const void *a, const void *b)                                               \
    {                                                                                              \
        const type x = *(const type *)a, y = *(const type *)b;                                     \
        return (x > y) - (x < y);                                                                  \
    }

/* NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type */
#define DEFINE_SORT(sort, type, compare)                                                           \
    void sort(type *list, int64_t n)                                                               \
    {                                                                                              \
        int64_t i = 1;                                                                             \
        while (i < n && list[i - 1] <= list[i]) i++;                                               \
        if (i < n) qsort(list, (size_t)n, sizeof *list, compare);                                  \
    }

#define DEFINE_SORT_FEW(sort, type, compare)                                                       \
    void sort(type *list, int64_t n)                                                               \
    {                                                                                              \
        if (n > FEW) {                                                                             \
            qsort(list, (size_t)n, sizeof *list, compare);                                         \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const type value = list[i];                                                            \
            int64_t k = i;                                                                         \
            for (; k > 0 && list[k - 1] > value; k--) list[k] = list[k - 1];                       \
            list[k] = value;                                                                       \
        }                                                                                          \
    }

#define DEFINE_UNIQUE(unique, type)                                                                \
    int64_t unique(type *list, int64_t n)                                                          \
    {                                                                                              \
        int64_t kept = 0;                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];                    \
        return kept;                                                                               \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

DEFINE_COMPARE(compare_i32, int32_t)
DEFINE_COMPARE(compare_i64, int64_t)
DEFINE_COMPARE(compare_u32, uint32_t)
DEFINE_SORT(hx_sort_i32, int32_t, compare_i32)
DEFINE_SORT(hx_sort_i64, int64_t, compare_i64)
DEFINE_SORT_FEW(hx_sort_few_i32, int32_t, compare_i32)
DEFINE_SORT_FEW(hx_sort_few_u32, uint32_t, compare_u32)
DEFINE_UNIQUE(hx_unique_i32, int32_t)
DEFINE_UNIQUE(hx_unique_i64, int64_t)

#define DEFINE_COUNT_BELOW(NAME, TYPE)                                                             \
    int64_t NAME(const TYPE *list, int64_t n, int64_t value)                                       \
    {                                                                                              \
        int64_t low = 0, high = n;                                                                 \
        while (low < high) {                                                                       \
            const int64_t middle = low + (high - low) / 2;                                         \
            if (list[middle] < value)                                                              \
                low = middle + 1;                                                                  \
            else                                                                                   \
                high = middle;                                                                     \
        }                                                                                          \
        return low;                                                                                \
    }

DEFINE_COUNT_BELOW(hx_count_below_i32, int32_t)
DEFINE_COUNT_BELOW(hx_count_below_i64, int64_t)
