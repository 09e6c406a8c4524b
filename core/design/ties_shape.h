/* An element as seen from its centroid, in half-widths; not installed. */
#ifndef HX_TIES_SHAPE_H
#define HX_TIES_SHAPE_H

#include "../mesh/mesh.h"

/* d is an offset of 1 in the direction of a face where toward . d = 1. */
typedef struct hx_tie_shape {
    int n, is_even;      /* is_even: a hexahedron, whose three vectors count in both directions */
    double toward[6][3]; /* [n] 1 / length */
    double slack;        /* by which rounding may change an offset */
} hx_tie_shape;

/* The gradients of a hexahedron's reference coordinates at its centre, or of a collapsed cell a
 * vector per face; both are the same for every numbering of the corners. margin: rounding of a
 * length. */
void hx_tie_shape_find(hx_tie_shape *shape, const hx_mesh *mesh, int64_t elem, double margin);

/* d from the centroid, over the way from there to the face that it leads to. */
double hx_tie_shape_offset(const hx_tie_shape *shape, const double d[3]);

/* How far from the centroid an offset of 1 may lie, at most: length. */
double hx_tie_shape_reach(const hx_tie_shape *shape, const hx_mesh *mesh, int64_t elem);

#endif
