/* Boundary faces that a set names or spans, and their Gauss points, for surface loads. */
#ifndef HX_LOAD_FACES_H
#define HX_LOAD_FACES_H

#include "../base/c_linkage.h"
#include "mesh.h"

HX_C_BEGIN

/* A 2x2 Gauss point of a bilinear face. A triangle is a face with the same node at two corners; the
 * points still integrate products of its shape functions exactly. */
typedef struct hx_face_point {
    double shape[4];  /* shape functions of the corners */
    double normal[3]; /* outward; its length is the area associated with the point */
    double x[3];      /* position */
} hx_face_point;

/* Finds the faces of a set on which loads act (element * 6 + local face): its own faces on the
 * boundary, or, if it has none, the boundary faces all of whose corners it contains; for a combined
 * set, those that follow from its parts (mesh.h). *n_face = 0 if there are none; the caller frees
 * *face. HX_EINPUT: it has faces of its own, and all of them lie between two elements. O(n_elem)
 * without faces of its own. */
int hx_load_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face);

/* Combines the faces of the parts of a set, ascending: faces in all parts, in any part, or boundary
 * faces in no part. The caller frees *face. O(n_elem) per part. */
int hx_combine_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face);

/* Number of the set's own faces that lie between two elements, which hx_load_faces leaves out. */
int64_t hx_set_inner_faces(const hx_mesh *mesh, const hx_set *set);

/* Corners, counter-clockwise seen from outside, and Gauss points of a face. A triangle names one
 * node at two consecutive corners, which both contribute to it: contributions must be added. */
void hx_face_points(const hx_mesh *mesh, int64_t face, int32_t node[4], hx_face_point point[4]);

/* Total area of the faces. */
double hx_faces_area(const hx_mesh *mesh, int64_t n_face, const int64_t *face);

HX_C_END

#endif
