/* Interface points in host memory, for code that divides elements by them. */
#ifndef HX_COMMON_POINTS_H
#define HX_COMMON_POINTS_H

#include <stdint.h>

#include "../base/error.h"
#include "../base/memory.h"

/* (*is_common)[n_point], owned by the caller: 1 at point[n], 0 elsewhere. */
static inline int hx_mark_common(int64_t n_point, int64_t n, const int32_t *point,
                                 uint8_t **is_common)
{
    HX_TRY(hx_alloc(is_common, (size_t)n_point, sizeof **is_common, "interface points"));
    for (int64_t i = 0; i < n; i++) (*is_common)[point[i]] = 1;
    return HX_OK;
}

#endif
