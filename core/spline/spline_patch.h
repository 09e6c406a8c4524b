/* Makes a patch from the data of a file. */
#ifndef HX_SPLINE_PATCH_H
#define HX_SPLINE_PATCH_H

#include "../base/c_linkage.h"
#include "spline.h"

HX_C_BEGIN

/* The data of a patch as read, unchecked. */
typedef struct hx_spline_raw {
    int64_t degree[3], n_knot[3];
    const double *knot[3];          /* [n_knot] each (borrowed, like all) */
    int64_t n_coordinate, n_weight; /* lengths of the arrays below */
    /* data of the control points, first direction fastest; weight: NULL for a B-spline */
    const double *coordinate, *weight;
} hx_spline_raw;

/* Checks and copies. Weights that are all 1 are dropped. HX_EINPUT, naming direction, index and
 * value: errors of hx_knots_create, counts that differ from the product of the numbers of
 * functions, weights that are not positive, numbers that are not finite. Frees partial patches on
 * failure. */
int hx_spline_patch_make(hx_spline_patch *patch, const hx_spline_raw *raw);

/* Accepts a zeroed or partial patch. */
void hx_spline_patch_free(hx_spline_patch *patch);

HX_C_END

#endif
