/* Fits the kind of surface on which the faces of a set lie to their nodes, which a mesher places on
 * the model's surface. */
#ifndef HX_FACE_FIT_H
#define HX_FACE_FIT_H

#include <stdint.h>

#include "../base/error.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

typedef enum {
    HX_FACE_PLANE,
    HX_FACE_CYLINDER,
    HX_FACE_CONE,
    HX_FACE_SPHERE,
    HX_FACE_OTHER,
    HX_N_FACE_KIND
} hx_face_kind;

typedef struct hx_face_shape {
    hx_face_kind kind;
    int is_hollow; /* for cylinder, cone, sphere: the material is outside, as around a bore */
    int is_inner;  /* 1: some of its faces lie between two elements */
    double area;   /* area of the mesh's faces */
    /* centroid; for a cylinder the nearest point of the axis, for a sphere its centre */
    double center[3];
    /* unit vector: outward normal of a plane, axis of cylinder and cone; otherwise 0 */
    double axis[3];
    double radius; /* radius of cylinder and sphere; for a cone at `center`; 0: none */
} hx_face_shape;

/* Fits the faces of a set of a finished mesh. Nodes may deviate by at most 1e-3 of the set's size,
 * and the faces must have the surface's normals, within the accuracy of a coarse mesh: no edge may
 * turn by more than 52 degrees about the axis or centre. The surface of a cube and the sides of a
 * hexagonal bar are therefore HX_FACE_OTHER, whereas a circle of seven edges counts as round.
 * HX_ENOMEM. O(faces). */
int hx_face_fit(const hx_mesh *mesh, const hx_set *set, hx_face_shape *shape);

/* Fits one face of a CAD model in the same way. Such a face is smooth, so its edges may turn by
 * more, like those of a small fillet in a coarse mesh. */
int hx_face_fit_smooth(const hx_mesh *mesh, const hx_set *set, hx_face_shape *shape);

/* "plane", "cylinder", "hollow cylinder", ... */
const char *hx_face_kind_name(const hx_face_shape *shape);

HX_C_END

#endif
