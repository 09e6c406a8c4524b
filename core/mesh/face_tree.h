/* Distances from points to the faces of a mesh, by a tree of bounding boxes over quadrilaterals. */
#ifndef HX_FACE_TREE_H
#define HX_FACE_TREE_H

#include "mesh.h"

/* A balanced binary tree over the items in `corner`, which are sorted so that node k of level l
 * holds a contiguous range of them; the children of box k are 2 k + 1 and 2 k + 2. */
typedef struct hx_face_tree {
    const hx_mesh *mesh; /* (borrowed) */
    int64_t n_item;
    /* [n_item] nodes of a quadrilateral; one node four times: a point (owned) */
    int32_t (*corner)[4];
    int n_level;      /* the boxes of the last level are leaves */
    double (*box)[6]; /* [2^n_level - 1] lower and upper corner (owned) */
} hx_face_tree;

/* Builds the tree over faces (element * 6 + local face), or over nodes if n_face = 0. O(n log
 * n). */
int hx_face_tree_create(hx_face_tree *tree, const hx_mesh *mesh, int64_t n_face,
                        const int64_t *face, int64_t n_node, const int32_t *node);

/* Distance from x to the nearest item, where a face consists of the two triangles of its corners 0
 * 1 2 and 0 2 3; at_most if none is nearer (INFINITY: no limit). O(log n) if the distance is small
 * compared to the whole. */
double hx_face_tree_distance(const hx_face_tree *tree, const double x[3], double at_most);

/* Accepts a zeroed tree. */
void hx_face_tree_free(hx_face_tree *tree);

#endif
