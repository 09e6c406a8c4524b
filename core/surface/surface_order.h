/* An order of a surface's vertices and triangles by their places; not installed. */
#ifndef HX_SURFACE_ORDER_H
#define HX_SURFACE_ORDER_H

#include "surface.h"

/* Copies of the arrays in this order. */
typedef struct hx_surface_order {
    int64_t n_vertex, n_tri;
    int32_t *vertex;   /* [n_vertex] number of each vertex before (owned) */
    int32_t *triangle; /* [n_tri] (owned) */
    double *xyz;       /* [n_vertex][3] (owned) */
    int32_t *tri;      /* [n_tri][3] from the first vertex of each triangle (owned) */
} hx_surface_order;

/* 1 if coordinates along axis d should be counted backwards, so that a part and its mirror image
 * get the same order: by the third moment of the vertices. 0 if the part is symmetric. O(n). */
int hx_surface_turns_back(const hx_surface *surface, int d);

/* xyz: in a box of size 1 at the origin. O(n), 8 bytes per vertex and triangle while it runs. */
int hx_surface_order_create(hx_surface_order *order, int64_t n_vertex, const double *xyz,
                            int64_t n_tri, const int32_t *tri);

/* Writes the copies, which may have changed, back to where they came from. */
void hx_surface_order_return(const hx_surface_order *order, double *xyz, int32_t *tri);

/* Accepts a zeroed struct. */
void hx_surface_order_free(hx_surface_order *order);

#endif
