/* Nodal forces of a unit pressure on a face that a file names by its corners, for readers whose
 * pressures become forces of nodes. */
#ifndef HX_FACE_PRESSURE_H
#define HX_FACE_PRESSURE_H

#include "../mesh/mesh.h"

/* The mid-side nodes of a mesh, indexed by the ends of their edges. */
typedef struct hx_middle_index {
    const hx_mesh *mesh; /* (borrowed) */
    /* [mesh->middles.n] indices of the middles, sorted by the ends of their edges (owned) */
    int64_t *at;
} hx_middle_index;

/* Call it before hx_mesh_finish. O(n log n) for n middles. HX_ENOMEM. */
int hx_middle_index_create(hx_middle_index *index, const hx_mesh *mesh);
void hx_middle_index_free(hx_middle_index *index);

/* Forces per unit pressure along the normal that the order of the corners defines (right-hand
 * rule). */
typedef struct hx_face_pressure {
    double corner[4][3]; /* linear elements: forces at the corners of the flat face */
    /* quadratic elements: forces at the middles of the edges from corner k to k + 1 */
    double middle[4][3];
    /* quadratic elements: the force at a corner is corner[] + more[] minus half of middle[] of its
     * two edges; 0 on a face without curved edges */
    double more[4][3];
    int is_curved;
} hx_face_pressure;

/* node[n]: corners, n = 3 or 4. The integrals are exact, also on curved faces: a shape function
 * times the normal has degree 5 in each direction for quad8, and degree 4 for tri6. O(log n). */
void hx_face_pressure_find(const hx_middle_index *index, int n, const int32_t *node,
                           hx_face_pressure *pressure);

#endif
