/* The boundary faces that a set names or spans, and their Gauss points, for surface loads. */
#ifndef HX_LOAD_FACES_H
#define HX_LOAD_FACES_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A 2x2 Gauss point of a bilinear face. A triangle is one with two corners of one node, on which
 * the points integrate products of shape functions exactly as well. */
typedef struct hx_face_point {
    double shape[4];  /* shape functions of the corners */
    double normal[3]; /* outward; its length is the area that belongs to the point */
    double x[3];      /* where it lies */
} hx_face_point;

/* The faces of a set on which something acts (element * 6 + local face): of its own those on the
 * boundary, or without any the boundary faces all of whose corners it holds; of a combined set
 * those that its parts give (mesh.h). *n_face = 0 if there are none; *face is the caller's to free.
 * HX_EINPUT: it has faces of its own, and all of them lie between two elements. O(n_elem) without
 * faces of its own. */
int hx_load_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face);

/* The faces of a set that is still to be combined of others, ascending: in all of them, in any, or
 * the boundary faces that are in none. *face is the caller's to free. O(n_elem) per part. */
int hx_combine_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face);

/* How many of its own faces lie between two elements, and are left out above. */
int64_t hx_set_inner_faces(const hx_mesh *mesh, const hx_set *set);

/* Corners, counter-clockwise seen from outside, and Gauss points of a face. A triangle names one
 * node at two corners that follow each other, whose shares belong to it both: add to what a node
 * has. */
void hx_face_points(const hx_mesh *mesh, int64_t face, int32_t node[4], hx_face_point point[4]);

/* Their area. */
double hx_faces_area(const hx_mesh *mesh, int64_t n_face, const int64_t *face);

#ifdef __cplusplus
}
#endif

#endif
