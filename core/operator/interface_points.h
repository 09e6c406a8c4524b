/* Interface points in host memory, for code that divides elements by them. */
#ifndef HX_INTERFACE_POINTS_H
#define HX_INTERFACE_POINTS_H

#include <stdint.h>

#include "../base/error.h"
#include "../base/memory.h"

/* (*is_interface)[n_point], owned by the caller: 1 at point[n], 0 elsewhere. */
static inline int hx_mark_interface(int64_t n_point, int64_t n, const int32_t *point,
                                    uint8_t **is_interface)
{
    HX_TRY(hx_alloc(is_interface, (size_t)n_point, sizeof **is_interface, "interface points"));
    for (int64_t i = 0; i < n; i++) (*is_interface)[point[i]] = 1;
    return HX_OK;
}

#endif
