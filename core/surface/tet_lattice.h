/* Tetrahedra made by splitting cells of a mesh, their refinement and their edges; not installed. */
#ifndef HX_TET_LATTICE_H
#define HX_TET_LATTICE_H

#include "../mesh/mesh.h"

typedef struct hx_tet_lattice {
    int64_t n_node, n_tet;
    double *xyz;        /* [n_node][3] length (owned) */
    int32_t *tet;       /* [n_tet][4] right-handed (owned) */
    int64_t n_edge;     /* set by hx_tet_lattice_join */
    int32_t *end;       /* [n_edge][2] lower node first, ascending (owned) */
    int32_t *tet_edge;  /* [n_tet][6] edges in the order of hx_tet_edge (owned) */
    uint8_t *is_border; /* [n_node] 1: on a face of only one tetrahedron (owned) */
    int64_t n_face;     /* number of such faces */
    int32_t *face;      /* [n_face][3] their nodes, oriented outwards (owned) */
    size_t node_room, tet_room;
} hx_tet_lattice;

extern const int hx_tet_edge[6][2]; /* local nodes of an edge */
extern const int hx_tet_face[4][3]; /* local nodes of the face opposite node i, oriented outwards */

/* Six times the volume. */
double hx_tet_volume6(const double *a, const double *b, const double *c, const double *d);

/* 1 for a regular tetrahedron, 0 for a flat one, negative if inverted: 6 sqrt(2) volume divided by
 * the cube of the root mean square edge length. */
double hx_tet_quality(const double *a, const double *b, const double *c, const double *d);

int hx_tet_lattice_add_node(hx_tet_lattice *lattice, const double x[3], int32_t *node);
/* Reorients an inverted tetrahedron; omits one without volume. */
int hx_tet_lattice_add_tet(hx_tet_lattice *lattice, const int32_t node[4]);

/* Splits a convex solid into tetrahedra without new nodes. Each face is split from its own lowest
 * node, so that neighbours of any kind agree. The tetrahedra connect the solid's lowest node to the
 * triangles of the faces that do not contain it. n_corner[n_face] are 3 to 8. */
int hx_tet_lattice_add_solid(hx_tet_lattice *lattice, int n_face, const int *n_corner,
                             int32_t (*face)[8]);

/* Splits the cells of the mesh with is_kept[n_elem] != 0. A distorted cell is split from a node at
 * its centre if the normal split gives bad tetrahedra. Nodes are in the mesh's order. */
int hx_tet_lattice_split(hx_tet_lattice *lattice, const hx_mesh *mesh, const uint8_t *is_kept);

/* Splits each tetrahedron into eight. Call hx_tet_lattice_join before, and again afterwards. */
int hx_tet_lattice_refine(hx_tet_lattice *lattice);

/* Finds edges and boundary. O(n), by sorting. */
int hx_tet_lattice_join(hx_tet_lattice *lattice);

/* Accepts a zeroed struct. */
void hx_tet_lattice_free(hx_tet_lattice *lattice);

#endif
