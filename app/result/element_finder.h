/* Finds the element of a mesh that contains a point. */
#ifndef HX_ELEMENT_FINDER_H
#define HX_ELEMENT_FINDER_H

#include "core/mesh/mesh.h"
#include "core/mesh/point_grid.h"

typedef struct hx_element_finder {
    const hx_mesh *mesh; /* (borrowed) */
    double *centre;      /* [n_elem][3] (owned) */
    double radius;       /* largest distance of a node from the centre of its element */
    hx_point_grid grid;  /* of the centres */
} hx_element_finder;

/* mesh: finished. O(n_elem); 24 bytes per element and the grid. */
int hx_element_finder_create(hx_element_finder *f, const hx_mesh *mesh);

/* Returns the element that contains x, otherwise the nearest; -1: none is near. Threads may share
 * the finder. */
int64_t hx_element_find(const hx_element_finder *f, const double x[3]);

/* Distance of x beyond the faces of an element, of which it is the largest; negative inside. */
double hx_element_beyond(const hx_element_finder *f, int64_t e, const double x[3]);

/* Accepts a zeroed struct. */
void hx_element_finder_free(hx_element_finder *f);

#endif
