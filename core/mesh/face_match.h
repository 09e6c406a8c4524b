/* Finds the faces of elements that are given by their nodes, by a hash table of quadrangles and
 * triangles. Not installed. */
#ifndef HX_FACE_MATCH_H
#define HX_FACE_MATCH_H

#include "mesh.h"

typedef struct hx_face_match {
    int64_t n;
    int32_t (*node)[4]; /* [n] ascending; for a triangle the first is -1 */
    int64_t *face;      /* [n] element * 6 + local face, or -1 */
    uint8_t *shared;    /* [n] 1: at least two elements have it */
    int32_t *slot;      /* [mask + 1] index of a face or -1 */
    uint64_t mask;
    uint8_t *marked; /* [n_node] 1: a node of some face */
} hx_face_match;

/* Makes room for n faces of a mesh with n_node nodes. */
int hx_face_match_create(hx_face_match *q, int64_t n, int64_t n_node);

/* Adds a face with nodes of the mesh (a triangle repeats its last); equal faces are stored once.
 * Returns its index; -1: it is an edge or a point. */
int64_t hx_face_match_add(hx_face_match *q, const int32_t node[4]);

/* Finds the face of an element for each; if two elements share it, that with the lower original
 * number. O(n_elem). */
void hx_face_match_find(hx_face_match *q, const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_face_match_free(hx_face_match *q);

#endif
