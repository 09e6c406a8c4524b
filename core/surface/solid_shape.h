/* Topology of a 0/1 design, for comparison with that of its surface. */
#ifndef HX_SOLID_SHAPE_H
#define HX_SOLID_SHAPE_H

#include "../mesh/mesh.h"

HX_C_BEGIN

typedef struct hx_solid_shape {
    int64_t n_piece;  /* pieces; elements of one share a node */
    int64_t n_hole;   /* holes through them: the first Betti number */
    int64_t n_cavity; /* groups of void elements, connected by faces, that are enclosed */
} hx_solid_shape;

/* Counts the shape of the elements with solid[n_elem] != 0 of a finished mesh: pieces - holes +
 * cavities = nodes - edges + faces - elements. O(n), 5 bytes per element and per node. */
int hx_solid_shape_count(const hx_mesh *mesh, const uint8_t *solid, hx_solid_shape *shape);

HX_C_END

#endif
