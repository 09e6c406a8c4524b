/* Reduces the number of triangles of a surface and measures the distance to the original. */
#ifndef HX_SURFACE_SIMPLIFY_H
#define HX_SURFACE_SIMPLIFY_H

#include "surface.h"

HX_C_BEGIN

typedef struct hx_surface_simplification {
    int64_t n_before, n_after; /* triangles */
    /* Distances of the old vertices from the new triangles, and of the new vertices and triangle
     * midpoints from the old ones; the larger direction, at up to n_point evenly distributed points
     * each. The search descends to a local minimum, so it never underestimates. 0: the surface is
     * unchanged. */
    double largest, mean; /* length */
    int64_t n_point;      /* number of measured points in both directions */
} hx_surface_simplification;

/* Collapses edges until at most n_want triangles are left, or until every further collapse would
 * flip a triangle or open the surface. It stays closed and manifold, and its bounding box changes
 * by at most the measured distance. value[n_value][n_vertex]: vertex fields; new vertices get the
 * old surface's values at their nearest point. surface->edge and is_cap are discarded. HX_EINPUT:
 * it was not closed. O(n); 300 bytes per triangle while it runs. Results do not depend on the
 * number of threads. */
int hx_surface_simplify(hx_surface *surface, int64_t n_want, size_t n_value, float *const *value,
                        hx_surface_simplification *result);

HX_C_END

#endif
