/* Pressure of a pin on a bore: p = p0 cos(angle) on the half that the force presses against and 0
 * on the other half, with the angle measured from the force component perpendicular to the axis
 * (Shigley, Mechanical Engineering Design: the cosine distribution of bearings). On a cylinder of
 * length L, p0 = 2 F / (pi r L). */
#ifndef HX_BEARING_H
#define HX_BEARING_H

#include "../mesh/mesh.h"

HX_C_BEGIN

/* A bore and its load: the pressure max(0, peak . rho) along the radial unit vector rho, and the
 * traction `uniform` for the force component along the axis. Their integral with 2x2 Gauss points
 * is exactly the force, without a moment about the axis; on an irregular mesh the peak is therefore
 * slightly rotated. */
typedef struct hx_bearing {
    double axis[3];    /* unit vector perpendicular to the normals of all faces */
    double centre[3];  /* a point on the axis, where the normals meet */
    double radius;     /* mean radius: length */
    double area;       /* length^2 */
    double covered;    /* fraction of the cosine's integral that the arc of the faces covers */
    double peak[3];    /* perpendicular to the axis; its length is p0: force/length^2 */
    double uniform[3]; /* force/length^2 */
} hx_bearing;

/* Fits a bore to the faces of a set and the pressure to a force on the part. HX_EINPUT, with
 * `origin` as prefix and the values found: the set does not exist or has no faces, normals do not
 * lie around an axis or point away from it (a shaft), radii differ by a fifth or more, the
 * faces take less than 95 % of the pressure, or they lack more of the loaded half than one face
 * spans and than 10 degrees. O(faces); O(n_elem) for a set of nodes. */
int hx_bearing_fit(const hx_mesh *mesh, const char *set, const char *origin, const double force[3],
                   hx_bearing *bearing);

HX_C_END

#endif
