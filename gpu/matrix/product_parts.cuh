// Parts of a product (core/matrix/product_part.h) over lists in which items with interface points
// come first. Host code.
#ifndef HX_PRODUCT_PARTS_CUH
#define HX_PRODUCT_PARTS_CUH

#include <cstdint>

#include "core/matrix/product_part.h"

// Consecutive items of a list.
struct hx_slice {
    int64_t first, n;
};

// The part of n items of elements, of which the first n_boundary have interface points.
inline hx_slice hx_slice_of(hx_product_part part, int64_t n_boundary, int64_t n)
{
    if (part == HX_PRODUCT_WHOLE) return {0, n};
    if (part == HX_PRODUCT_BEGIN || part == HX_PRODUCT_REST) return {0, 0};
    return part == HX_PRODUCT_BOUNDARY ? hx_slice{0, n_boundary}
                                       : hx_slice{n_boundary, n - n_boundary};
}

// The part of n sums over the results of several such items.
inline hx_slice hx_sums_of(hx_product_part part, int64_t n_boundary, int64_t n)
{
    if (part == HX_PRODUCT_INTERIOR) return {0, 0};
    return hx_slice_of(part == HX_PRODUCT_REST ? HX_PRODUCT_INTERIOR : part, n_boundary, n);
}

#endif
