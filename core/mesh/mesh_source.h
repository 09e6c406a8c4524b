/* A raw mesh described item by item: it returns the nodes of given elements and the coordinates of
 * given nodes. Its implementation (a generator) need not store the mesh, and each of several ranks
 * requests only its part. */
#ifndef HX_MESH_SOURCE_H
#define HX_MESH_SOURCE_H

#include "../base/c_linkage.h"
#include "mesh.h"

HX_C_BEGIN

enum { HX_SOURCE_SETS = 64 };

typedef struct hx_source_set {
    const char *name; /* (borrowed) */
    int of_elements;  /* 0: a set of nodes */
    int of_both;      /* 1: a set of both nodes and elements */
} hx_source_set;

/* A set of faces, which is small enough for all ranks to hold. */
typedef struct hx_source_faces {
    const char *name; /* (borrowed) */
    int64_t n;
    /* [n] element that has the face; -1: the first one that has it (borrowed, like node) */
    int64_t *elem;
    /* [n] corners in any order around the face; a triangle repeats its last one */
    int64_t (*node)[4];
    int64_t n_missing; /* number of faces that no element has, set by hx_dist_mesh_create */
} hx_source_faces;

typedef struct hx_mesh_source hx_mesh_source;
struct hx_mesh_source {
    const char *name; /* of the mesh (borrowed) */
    int64_t n_node, n_elem;
    int n_set;
    hx_source_set set[HX_SOURCE_SETS];
    /* conn[n][8] := nodes of the elements elem[n], in VTK_HEXAHEDRON order. Bit i of in_set[n] := 1
     * if the element is in set i; in_set may be NULL. */
    int (*elements)(const hx_mesh_source *source, int64_t n, const int64_t *elem, int64_t *conn,
                    uint64_t *in_set);
    /* xyz[n][3] := coordinates (length) of the nodes node[n]; in_set as above. */
    int (*nodes)(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                 uint64_t *in_set);
    /* 1: both may be called from any thread at any time. 0: both are collective, each rank with its
     * own request. */
    int is_local;
    /* Numbers of cubes along x, y and z for a grid of unit cubes that starts at the origin; {0} if
     * the mesh is not such a grid, or this is not known. In the grid, elements and nodes are
     * numbered along x, then y, then z, corners start from the lowest, and all sets are node
     * sets. */
    int64_t cubes[3];
    int n_faces;
    hx_source_faces *faces; /* [n_faces]; corners of triangles that no element has go to the nodes
                               of their sets (borrowed) */
    size_t n_shared;
    const hx_shared_name *shared; /* [n_shared] names that a file gives to sets of several kinds,
                                     for the mesh (borrowed) */
    int sorts_sets;               /* 1: the mesh sorts its sets by name; 0: it keeps this order */
    /* The file's numbers of node 0 and element 0; the others follow consecutively. If the file
     * skips node numbers, node_numbers (collective, else NULL) returns the file's numbers of nodes
     * node[n]. Without has_numbers, numbers start from 0. */
    int has_numbers;
    int64_t first_node, first_elem;
    int (*node_numbers)(const hx_mesh_source *source, int64_t n, const int64_t *node,
                        int64_t *number);
    void *shape; /* data of the callbacks */
    void (*close)(hx_mesh_source *source);
};

/* Call `elements` and `nodes`, with all threads if the source allows it. O(n). */
int hx_source_elements(const hx_mesh_source *source, int64_t n, const int64_t *elem, int64_t *conn,
                       uint64_t *in_set);
int hx_source_nodes(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                    uint64_t *in_set);

/* Returns 1 if the source has sets of elements, or of nodes. */
int hx_source_has_sets(const hx_mesh_source *source, int of_elements);

/* Makes the whole raw mesh with its sets (the caller calls hx_mesh_finish); requires a local
 * source. HX_EINPUT: more than HX_MAX_ELEM elements. O(n). */
int hx_source_mesh(const hx_mesh_source *source, hx_mesh *mesh);

/* Like hx_source_mesh, but cubes get the order of hx_mesh_reorder, and elem_orig is then not NULL.
 * The result is bitwise equal to that of both calls and takes a third of their time. At most 5
 * bytes per element and 12 per node in addition to the mesh. */
int hx_source_mesh_in_order(const hx_mesh_source *source, hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_source_close(hx_mesh_source *source);

HX_C_END

#endif
