/* Nodal forces of a unit pressure on a face that a file names by its corners, for readers whose
 * pressures become forces of nodes. */
#ifndef HX_FACE_PRESSURE_H
#define HX_FACE_PRESSURE_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The mid-side nodes of a mesh by the ends of their edges. */
typedef struct hx_middle_index {
    const hx_mesh *mesh; /* (borrowed) */
    int64_t *at;         /* [mesh->middles.n] numbers of the middles, by the ends (owned) */
} hx_middle_index;

/* Before hx_mesh_finish. O(n log n) for n middles. HX_ENOMEM. */
int hx_middle_index_create(hx_middle_index *index, const hx_mesh *mesh);
void hx_middle_index_free(hx_middle_index *index);

/* Forces along the normal that the order of the corners defines (right-hand rule), per pressure. */
typedef struct hx_face_pressure {
    double corner[4][3]; /* linear elements: on the flat face of the corners */
    double middle[4][3]; /* quadratic elements: at the middle of the edge from corner k to k + 1 */
    /* quadratic elements: at the corners, minus those of linear ones that half of the adjacent
     * middles' forces are taken from; 0 on a face without curved edges */
    double more[4][3];
    int is_curved;
} hx_face_pressure;

/* node[n], n = 3 or 4: corners. The integrals are exact, on curved faces, too: a shape function of
 * quad8 times the normal has degree 5 in each direction, of tri6 degree 4. O(log n). */
void hx_face_pressure_find(const hx_middle_index *index, int n, const int32_t *node,
                           hx_face_pressure *pressure);

#ifdef __cplusplus
}
#endif

#endif
