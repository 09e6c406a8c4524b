/* Tetrahedra of their own: cells of a mesh split, refined, and their edges; not installed. */
#ifndef HX_TET_LATTICE_H
#define HX_TET_LATTICE_H

#include "../mesh/mesh.h"

typedef struct hx_tet_lattice {
    int64_t n_node, n_tet;
    double *xyz;        /* [n_node][3] length (owned) */
    int32_t *tet;       /* [n_tet][4] turning right (owned) */
    int64_t n_edge;     /* after hx_tet_lattice_join */
    int32_t *end;       /* [n_edge][2] lower node first, ascending (owned) */
    int32_t *tet_edge;  /* [n_tet][6] edges in the order of hx_tet_edge (owned) */
    uint8_t *is_border; /* [n_node] on a face that one tetrahedron has (owned) */
    int64_t n_face;     /* such faces */
    int32_t *face;      /* [n_face][3] their nodes, outwards (owned) */
    size_t node_room, tet_room;
} hx_tet_lattice;

extern const int hx_tet_edge[6][2]; /* local nodes of an edge */
extern const int hx_tet_face[4][3]; /* local nodes of the face that lacks node i, outwards */

/* Six times the volume. */
double hx_tet_volume6(const double *a, const double *b, const double *c, const double *d);

/* 1 of a regular tetrahedron, 0 of a flat one, negative inside out: 6 sqrt(2) volume over the cube
 * of the root mean square of its edges. */
double hx_tet_quality(const double *a, const double *b, const double *c, const double *d);

int hx_tet_lattice_add_node(hx_tet_lattice *lattice, const double x[3], int32_t *node);
/* Turned round where it is inside out; of no volume it is left out. */
int hx_tet_lattice_add_tet(hx_tet_lattice *lattice, const int32_t node[4]);

/* The tetrahedra of a convex solid without new nodes: from its lowest node to the triangles of the
 * faces that lack it, each split from its own lowest node, so that neighbours agree whatever they
 * are. n_corner[n_face] are 3 to 8. */
int hx_tet_lattice_add_solid(hx_tet_lattice *lattice, int n_face, const int *n_corner,
                             int32_t (*face)[8]);

/* Cells of the mesh where is_kept[n_elem]; of distorted ones, where that gives bad tetrahedra, from
 * a node in the middle. Nodes in the mesh's order. */
int hx_tet_lattice_split(hx_tet_lattice *lattice, const hx_mesh *mesh, const uint8_t *is_kept);

/* Each into eight. Needs hx_tet_lattice_join, and again after it. */
int hx_tet_lattice_refine(hx_tet_lattice *lattice);

/* Edges and border. O(n), by sorting. */
int hx_tet_lattice_join(hx_tet_lattice *lattice);

/* Accepts a zeroed struct. */
void hx_tet_lattice_free(hx_tet_lattice *lattice);

#endif
