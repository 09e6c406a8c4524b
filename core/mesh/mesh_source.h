/* A raw mesh told item by item: by numbers of elements their nodes, by numbers of nodes where they
 * are. What makes one (a generator) need not hold it, and of several processes each asks for its
 * part alone. */
#ifndef HX_MESH_SOURCE_H
#define HX_MESH_SOURCE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_SOURCE_SETS = 64 };

typedef struct hx_source_set {
    const char *name; /* (borrowed) */
    int of_elements;  /* 0: of nodes */
    int of_both;      /* 1: of nodes and of elements */
} hx_source_set;

/* A set of faces, which all processes hold: they are few. */
typedef struct hx_source_faces {
    const char *name; /* (borrowed) */
    int64_t n;
    int64_t *elem;      /* [n] that has the face; -1: the first that has it (borrowed, like node) */
    int64_t (*node)[4]; /* [n] in any order around it, a triangle's last twice */
    int64_t n_missing;  /* := how many no element has (hx_window_create) */
} hx_source_faces;

typedef struct hx_mesh_source hx_mesh_source;
struct hx_mesh_source {
    const char *name; /* of the mesh (borrowed) */
    int64_t n_node, n_elem;
    int n_set;
    hx_source_set set[HX_SOURCE_SETS];
    /* conn[n][8] := nodes of the elements elem[n], VTK_HEXAHEDRON order; in_set[n] := bit i: it is
     * in set i; may be NULL. */
    int (*elements)(const hx_mesh_source *source, int64_t n, const int64_t *elem, int64_t *conn,
                    uint64_t *in_set);
    /* The same of nodes, xyz[n][3] length. */
    int (*nodes)(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                 uint64_t *in_set);
    /* 1: both may be called by any thread, as often as it likes. 0: all processes call them
     * together, each for what it wants. */
    int is_local;
    /* Cubes along x, y, z, where the elements are those of a grid of unit cubes from the origin on,
     * they and the nodes numbered along x, then y, then z, corners from the lowest on, and all sets
     * of nodes; {0}: they are not, or nobody says so. */
    int64_t cubes[3];
    int n_faces;
    hx_source_faces *faces; /* [n_faces]; corners of triangles that no element has go to the nodes
                               of their sets (borrowed) */
    size_t n_shared;
    const hx_shared_name *shared; /* [n_shared] names that a file gives to sets of several kinds,
                                     for the mesh (borrowed) */
    int sorts_sets;               /* 1: the mesh has its sets by name, 0: in this order */
    /* What a file calls node and element 0, the others follow; where it leaves nodes out, what it
     * calls each: number[n] of nodes node[n], by all together; else NULL. Without has_numbers
     * they count from 0. */
    int has_numbers;
    int64_t first_node, first_elem;
    int (*node_numbers)(const hx_mesh_source *source, int64_t n, const int64_t *node,
                        int64_t *number);
    void *shape; /* what they look at */
    void (*close)(hx_mesh_source *source);
};

/* Both, on all threads where that may be. O(n). */
int hx_source_elements(const hx_mesh_source *source, int64_t n, const int64_t *elem, int64_t *conn,
                       uint64_t *in_set);
int hx_source_nodes(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                    uint64_t *in_set);

/* 1 if it has sets of elements, or of nodes. */
int hx_source_has_sets(const hx_mesh_source *source, int of_elements);

/* All of it as a raw mesh with its sets (hx_mesh_finish is the caller's); of a local source.
 * HX_EINPUT: more than HX_MAX_ELEM elements. O(n). */
int hx_source_mesh(const hx_mesh_source *source, hx_mesh *mesh);

/* The same; of cubes as hx_mesh_reorder would leave it, to the bit, in a third of the time that
 * both take, and then elem_orig is not NULL. 5 bytes an element and 12 a node besides the mesh at
 * most. */
int hx_source_mesh_in_order(const hx_mesh_source *source, hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_source_close(hx_mesh_source *source);

#ifdef __cplusplus
}
#endif

#endif
