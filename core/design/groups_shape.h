/* The shape of an element around its centroid, in half-widths; not installed. */
#ifndef HX_GROUPS_SHAPE_H
#define HX_GROUPS_SHAPE_H

#include "../mesh/mesh.h"

/* toward . d = 1 means that d has offset 1 in the direction of that face. */
typedef struct hx_group_shape {
    int n, is_even; /* is_even: a hexahedron, whose three vectors are used in both directions */
    double toward[6][3]; /* [n] 1 / length */
    double slack;        /* largest change of an offset by rounding */
} hx_group_shape;

/* The gradients of a hexahedron's reference coordinates at its centre, or a vector per face of a
 * collapsed cell; both are independent of the corner numbering. margin: rounding error of a
 * length. */
void hx_group_shape_find(hx_group_shape *shape, const hx_mesh *mesh, int64_t elem, double margin);

/* Offset of d from the centroid, relative to the distance to the face in that direction. */
double hx_group_shape_offset(const hx_group_shape *shape, const double d[3]);

/* Upper bound of the distance from the centroid at which the offset is 1: length. */
double hx_group_shape_reach(const hx_group_shape *shape, const hx_mesh *mesh, int64_t elem);

#endif
