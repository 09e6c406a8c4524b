/* A surface of fewer triangles, and how far it is from the one it was. */
#ifndef HX_SURFACE_SIMPLIFY_H
#define HX_SURFACE_SIMPLIFY_H

#include "surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_surface_simplification {
    int64_t n_before, n_after; /* triangles */
    /* Distance of the old vertices from the new triangles, and of the new vertices and middles of
     * triangles from the old ones, the larger; at most n_point each way, spread evenly. Walks end
     * at the nearest triangle around, so that none is too small. 0: nothing was changed. */
    double largest, mean; /* length */
    int64_t n_point;      /* measured, both ways */
} hx_surface_simplification;

/* Collapses edges until there are at most n_want triangles, or none can go without turning a
 * triangle or opening the surface, which stays closed and manifold; its box to the measured
 * distance. value[n_value][n_vertex]: what the vertices have; the new ones get what the old surface
 * has at its nearest point. surface->edge and is_cap are lost. HX_EINPUT: it was not closed.
 * O(n); 300 bytes a triangle while it runs. The same for any number of threads. */
int hx_surface_simplify(hx_surface *surface, int64_t n_want, size_t n_value, float *const *value,
                        hx_surface_simplification *result);

#ifdef __cplusplus
}
#endif

#endif
