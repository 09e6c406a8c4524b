/* A patch from what a file says of it. */
#ifndef HX_SPLINE_PATCH_H
#define HX_SPLINE_PATCH_H

#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a patch as it is read, nothing of it checked. */
typedef struct hx_spline_raw {
    int64_t degree[3], n_knot[3];
    const double *knot[3];             /* [n_knot] each (borrowed, like all) */
    int64_t n_coordinate, n_weight;    /* numbers that there are */
    const double *coordinate, *weight; /* of the control points, first direction fastest; weight:
                                          NULL for a B-spline */
} hx_spline_raw;

/* Checks and copies. Weights that are all 1 are left out. HX_EINPUT, naming direction, index and
 * value: what hx_knots_create refuses, counts that are not the product of the functions, weights
 * that are not above 0, numbers that are not finite. Half-made patches are freed. */
int hx_spline_patch_make(hx_spline_patch *patch, const hx_spline_raw *raw);

/* Accepts a zeroed or half-made patch. */
void hx_spline_patch_free(hx_spline_patch *patch);

#ifdef __cplusplus
}
#endif

#endif
