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

/* Cells by the points that each connects: n_per_cell of every one, or from cell_ptr[cell] to
 * cell_ptr[cell + 1]. */
typedef struct hx_connections {
    int64_t n_point, n_cell;
    int n_per_cell; /* 0: cell_ptr is given */
    const int64_t *cell_ptr;
    const int32_t *point;
    const uint8_t *is_there; /* [n_cell] 0: the cell connects nothing; NULL: all are there */
} hx_connections;

/* body[n_point] = number of the part (0-based, by first points) each point belongs to, -1: of no
 * cell that is there; *n_body parts. O(n_cell); temporary memory 1 byte a point. */
int hx_find_bodies(const hx_connections *cells, int32_t *body, int64_t *n_body);

#ifdef __cplusplus
}
#endif

#endif
