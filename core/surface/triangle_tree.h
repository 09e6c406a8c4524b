/* Where places lie against a closed surface of triangles: a tree of bounding boxes over them; not
 * installed. */
#ifndef HX_TRIANGLE_TREE_H
#define HX_TRIANGLE_TREE_H

#include "surface.h"

/* A box over triangles order[first .. first + n), or over its two children where n = 0. */
typedef struct hx_triangle_box {
    double low[3], high[3];
    int32_t first, n; /* of children the first; the second follows it */
} hx_triangle_box;

typedef struct hx_triangle_tree {
    const hx_surface *surface; /* (borrowed) */
    int64_t n_box;
    hx_triangle_box *box; /* (owned) */
    int32_t *order;       /* [n_tri] (owned) */
} hx_triangle_tree;

/* O(n log n). */
int hx_triangle_tree_create(hx_triangle_tree *tree, const hx_surface *surface);

/* 1: x is inside, by the parity of a ray; where it meets an edge, of another. O(log n). */
int hx_triangle_tree_inside(const hx_triangle_tree *tree, const double x[3]);

/* The first crossing on the way from a to b: 1 and *share of the way, or 0. */
int hx_triangle_tree_crossing(const hx_triangle_tree *tree, const double a[3], const double b[3],
                              double *share);

/* 1 if the box of some triangle meets this one. */
int hx_triangle_tree_meets(const hx_triangle_tree *tree, const double low[3], const double high[3]);

/* Accepts a zeroed tree. */
void hx_triangle_tree_free(hx_triangle_tree *tree);

#endif
