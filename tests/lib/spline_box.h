/* Boxes as spline patches, for tests: their control points lie at the Greville abscissae, moved by
 * a map of the caller's, so that a linear map is kept exactly. */
#ifndef HX_SPLINE_BOX_H
#define HX_SPLINE_BOX_H

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/spline/spline.h"

/* An open knot vector on [start, start + 1] with n_span equal spans; knot `twice` (1 to n_span - 1;
 * 0: none) is double. */
static inline int box_knots(hx_knots *knots, int degree, int n_span, int twice, double start)
{
    double knot[64];
    int n = 0;
    for (int i = 0; i < degree; i++) knot[n++] = start;
    for (int i = 0; i <= n_span; i++)
        for (int k = 0; k < 1 + (twice > 0 && i == twice); k++)
            knot[n++] = start + (double)i / n_span;
    for (int i = 0; i < degree; i++) knot[n++] = start + 1.0;
    return hx_knots_create(knots, degree, n - degree - 1, knot);
}

static inline double box_greville(const hx_knots *knots, int i)
{
    double sum = 0.0;
    for (int k = 1; k <= knots->degree; k++) sum += knots->knot[i + k];
    return sum / knots->degree;
}

/* A patch on origin + [0, 1]^3, in degree[d] with n_span[d] spans. */
static inline int box_patch(hx_spline_patch *patch, const int degree[3], const int n_span[3],
                            const int twice[3], const double origin[3])
{
    for (int d = 0; d < 3; d++)
        if (box_knots(&patch->axis[d], degree[d], n_span[d], twice[d], 0.0) < 0) return -1;
    const int64_t n = hx_spline_patch_points(patch);
    if (hx_alloc(&patch->point, 3 * (size_t)n, sizeof(double), "points") < 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        const int at[3] = {(int)(i % patch->axis[0].n),
                           (int)(i / patch->axis[0].n % patch->axis[1].n),
                           (int)(i / patch->axis[0].n / patch->axis[1].n)};
        for (int d = 0; d < 3; d++)
            patch->point[3 * i + d] = origin[d] + box_greville(&patch->axis[d], at[d]);
    }
    return 0;
}

/* The patch with its direction d as direction to[d], reversed if flip[d]: the same solid in other
 * parameters (right-handed only if permutation and flips are even together). */
static inline int box_turn(hx_spline_patch *patch, const int to[3], const int flip[3])
{
    hx_spline_patch out = {0};
    int64_t stride[3];
    for (int d = 0; d < 3; d++) {
        const hx_knots *const from = &patch->axis[d];
        const int n_knot = from->n + from->degree + 1;
        double knot[64];
        for (int i = 0; i < n_knot; i++)
            knot[i] = flip[d] ? from->knot[0] + from->knot[n_knot - 1] - from->knot[n_knot - 1 - i]
                              : from->knot[i];
        if (hx_knots_create(&out.axis[to[d]], from->degree, from->n, knot) < 0) return -1;
    }
    stride[0] = 1;
    stride[1] = out.axis[0].n;
    stride[2] = stride[1] * out.axis[1].n;
    const int64_t n = hx_spline_patch_points(patch);
    if (hx_alloc(&out.point, 3 * (size_t)n, sizeof(double), "points") < 0) return -1;
    if (patch->weight && hx_alloc(&out.weight, (size_t)n, sizeof(double), "weights") < 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        const int at[3] = {(int)(i % patch->axis[0].n),
                           (int)(i / patch->axis[0].n % patch->axis[1].n),
                           (int)(i / patch->axis[0].n / patch->axis[1].n)};
        int64_t j = 0;
        for (int d = 0; d < 3; d++)
            j += stride[to[d]] * (flip[d] ? patch->axis[d].n - 1 - at[d] : at[d]);
        for (int c = 0; c < 3; c++) out.point[3 * j + c] = patch->point[3 * i + c];
        if (out.weight) out.weight[j] = patch->weight[i];
    }
    for (int d = 0; d < 3; d++) hx_knots_free(&patch->axis[d]);
    free(patch->point);
    free(patch->weight);
    *patch = out;
    return 0;
}

/* n patches in a row along x, each a unit box of the same kind, not glued. */
static inline int box_row(hx_spline *spline, int n, const int degree[3], const int n_span[3],
                          const int twice[3])
{
    *spline = (hx_spline){.n_patch = n};
    if (hx_alloc(&spline->patch, (size_t)n, sizeof *spline->patch, "patches") < 0) return -1;
    for (int k = 0; k < n; k++) {
        const double origin[3] = {(double)k, 0.0, 0.0};
        if (box_patch(&spline->patch[k], degree, n_span, twice, origin) < 0) return -1;
    }
    return 0;
}

#endif
