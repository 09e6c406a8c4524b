/* Locates points relative to a closed triangle surface, with a tree of bounding boxes; not
 * installed. */
#ifndef HX_TRIANGLE_TREE_H
#define HX_TRIANGLE_TREE_H

#include "surface.h"

/* A box over triangles order[first .. first + n), or over its two children if n = 0. */
typedef struct hx_triangle_box {
    double low[3], high[3];
    int32_t first, n; /* if it has children: index of the first; the second follows it */
} hx_triangle_box;

typedef struct hx_triangle_tree {
    const hx_surface *surface; /* (borrowed) */
    int64_t n_box;
    hx_triangle_box *box; /* (owned) */
    int32_t *order;       /* [n_tri] (owned) */
} hx_triangle_tree;

/* O(n log n). */
int hx_triangle_tree_create(hx_triangle_tree *tree, const hx_surface *surface);

/* Returns 1 if x is inside, by the parity of the crossings of a ray. If a ray meets an edge,
 * another one is used. O(log n). */
int hx_triangle_tree_inside(const hx_triangle_tree *tree, const double x[3]);

/* Finds the first crossing from a to b: returns 1 and *share, its relative position, or 0. */
int hx_triangle_tree_crossing(const hx_triangle_tree *tree, const double a[3], const double b[3],
                              double *share);

/* Like hx_triangle_tree_crossing, with the triangle that is met. */
int hx_triangle_tree_first(const hx_triangle_tree *tree, const double a[3], const double b[3],
                           double *share, int32_t *tri);

/* 1 if the bounding box of some triangle intersects this one. */
int hx_triangle_tree_meets(const hx_triangle_tree *tree, const double low[3], const double high[3]);

/* 1 if some triangle is within this distance of x. O(log n) if few are. */
int hx_triangle_tree_touches(const hx_triangle_tree *tree, const double x[3], double distance);

/* Distance of x from the nearest triangle with left_out[t] == 0 (left_out may be NULL), or `most` if
 * that is nearer. O(log n) if few are about as near. */
double hx_triangle_tree_distance(const hx_triangle_tree *tree, const double x[3],
                                 const uint8_t *left_out, double most);

/* Accepts a zeroed tree. */
void hx_triangle_tree_free(hx_triangle_tree *tree);

#endif
