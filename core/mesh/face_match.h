/* Finds the faces of elements that are given by their nodes: a hash of quadrangles and triangles.
 * Not installed. */
#ifndef HX_FACE_MATCH_H
#define HX_FACE_MATCH_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_face_match {
    int64_t n;
    int32_t (*node)[4]; /* [n] ascending, of a triangle the first -1 */
    int64_t *face;      /* [n] element * 6 + local face, or -1 */
    uint8_t *shared;    /* [n] 1: two elements or more have it */
    int32_t *slot;      /* [mask + 1] a quad or -1 */
    uint64_t mask;
    uint8_t *marked; /* [n_node] a node of some quad */
} hx_face_match;

/* Room for n faces of a mesh of n_node nodes. */
int hx_face_match_create(hx_face_match *q, int64_t n, int64_t n_node);

/* Takes a face whose nodes the mesh has, a triangle's last twice; repeated ones once. Returns which
 * one it is; -1: an edge or a point. */
int64_t hx_face_match_add(hx_face_match *q, const int32_t node[4]);

/* Gives each its face: of two elements that share it the one of the lower original number.
 * O(n_elem). */
void hx_face_match_find(hx_face_match *q, const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_face_match_free(hx_face_match *q);

#ifdef __cplusplus
}
#endif

#endif
