/* Quality measures of a mesh, which `hextop check` prints. */
#ifndef HX_MESH_QUALITY_H
#define HX_MESH_QUALITY_H

#include "../base/c_linkage.h"
#include "mesh.h"

HX_C_BEGIN

typedef struct hx_mesh_quality {
    /* worst corner of an element: 1 = right angles; for wedges, pyramids and tetrahedra 1 = equal
     * edges */
    double min_scaled_jacobian, mean_scaled_jacobian;
    int64_t worst_elem;  /* original number of the worst element */
    int64_t n_poor;      /* elements below 0.2 */
    double max_aspect;   /* longest / shortest edge of an element */
    int64_t aspect_elem; /* original number */
    double min_volume, max_volume, mean_volume;
    int64_t n_body;           /* number of bodies connected through shared nodes */
    int64_t largest_body;     /* number of elements of the largest body */
    int64_t other_body_elem;  /* original number of an element of another body */
    double other_body_xyz[3]; /* a corner of it */
    /* number of nodes whose elements are not connected through faces around them */
    int64_t n_hinge;
} hx_mesh_quality;

/* Least scaled Jacobian of one element over its corners; negative if a corner is inverted. */
double hx_mesh_scaled_jacobian(const hx_mesh *mesh, int64_t e);

/* O(n_elem); 8 bytes per node of temporary memory. */
int hx_mesh_measure(const hx_mesh *mesh, hx_mesh_quality *quality);

/* body[n_node] := number of the body (0-based) of each node; *n_body: number of bodies. */
int hx_mesh_bodies(const hx_mesh *mesh, int32_t *body, int64_t *n_body);

/* Cells given by the points that they connect: n_per_cell points each, or from cell_ptr[cell] to
 * cell_ptr[cell + 1]. */
typedef struct hx_connections {
    int64_t n_point, n_cell;
    int n_per_cell; /* 0: cell_ptr is given */
    const int64_t *cell_ptr;
    const int32_t *point;
    /* [n_cell] 0: the cell is absent and connects nothing; NULL: all are present */
    const uint8_t *is_there;
} hx_connections;

/* body[n_point] := number of the body (0-based, by first points) of each point, -1: in no present
 * cell; *n_body: number of bodies. O(n_cell); 1 byte per point of temporary memory. */
int hx_find_bodies(const hx_connections *cells, int32_t *body, int64_t *n_body);

HX_C_END

#endif
