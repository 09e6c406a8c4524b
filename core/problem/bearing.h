/* The pressure of a pin on a bore: p = p0 cos(angle) on the half that the force pushes against, 0
 * on the other, angle from the force's component across the axis (Shigley, Mechanical Engineering
 * Design: the cosine distribution of bearings). On a cylinder of length L p0 = 2 F / (pi r L). */
#ifndef HX_BEARING_H
#define HX_BEARING_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bore and what acts on it: the pressure max(0, peak . rho) at the radial unit vector rho, along
 * rho, and the traction `uniform`, of the force along the axis. Their integral by 2x2 Gauss points
 * is exactly the force, without a moment about the axis: on an uneven mesh the peak turns a little.
 */
typedef struct hx_bearing {
    double axis[3];    /* unit vector, of the faces' normals: across all of them */
    double centre[3];  /* a point on the axis: where the normals meet */
    double radius;     /* mean: length */
    double area;       /* length^2 */
    double covered;    /* share of the cosine's integral that the faces' arc covers */
    double peak[3];    /* across the axis; its length is p0: force/length^2 */
    double uniform[3]; /* force/length^2 */
} hx_bearing;

/* Fits a bore to the faces of a set and the pressure to a force on the part. HX_EINPUT led by
 * origin, with what was found: no such set, no faces, normals that do not lie around an axis, that
 * look away from it (a shaft), radii that differ by a fifth or more, less than 95 % of the pressed
 * half. O(faces), O(n_elem) for a set of nodes. */
int hx_bearing_fit(const hx_mesh *mesh, const char *set, const char *origin, const double force[3],
                   hx_bearing *bearing);

#ifdef __cplusplus
}
#endif

#endif
