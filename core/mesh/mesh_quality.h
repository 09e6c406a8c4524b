/* What `hextop check` says about a mesh. */
#ifndef HX_MESH_QUALITY_H
#define HX_MESH_QUALITY_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_mesh_quality {
    /* Worst corner of an element: 1 = right angles; of wedges, pyramids and tetrahedra 1 = equal
     * edges. */
    double min_scaled_jacobian, mean_scaled_jacobian;
    int64_t worst_elem;  /* original number of the worst element */
    int64_t n_poor;      /* elements below 0.2 */
    double max_aspect;   /* longest / shortest edge of an element */
    int64_t aspect_elem; /* original number */
    double min_volume, max_volume, mean_volume;
    int64_t n_body;       /* parts connected through shared nodes */
    int64_t largest_body; /* elements in the largest */
    int64_t loose_elem;   /* original number of an element of another */
    double loose_xyz[3];  /* a corner of it */
    int64_t n_hinge;      /* nodes whose elements are not connected through faces around them */
} hx_mesh_quality;

/* Of one element, what min_scaled_jacobian is the least of; negative where a corner is inside out.
 */
double hx_mesh_scaled_jacobian(const hx_mesh *mesh, int64_t e);

/* O(n_elem); temporary memory 8 bytes a node. */
int hx_mesh_measure(const hx_mesh *mesh, hx_mesh_quality *quality);

/* body[n_node] = number of the part (0-based) each node belongs to; *n_body parts. */
int hx_mesh_bodies(const hx_mesh *mesh, int32_t *body, int64_t *n_body);

#ifdef __cplusplus
}
#endif

#endif
