/* The points of a space in device memory: what a nonlinear space has in addition to the mesh
 * (device_mesh.h). */
#ifndef HX_DEVICE_SPACE_H
#define HX_DEVICE_SPACE_H

#include "../matrix/pattern.h"

HX_C_BEGIN

/* All zero for a linear space, which uses the arrays of the mesh. */
typedef struct hx_device_space {
    double *d_xyz;       /* [n_point][3] (owned, like the arrays of `points`) */
    hx_incidence points; /* with arrays in device memory */
    /* for splines, with arrays in device memory; points.spline points to it, so the struct must not
     * move */
    hx_spline_rule rule;
} hx_device_space;

/* Device bytes that hx_device_space_create will allocate. */
size_t hx_device_space_bytes(const hx_space *space);

/* Uploads a quadratic or spline space; does nothing for a linear one. Called at set-up. */
int hx_device_space_create(hx_device_space *d_space, hx_device *dev, const hx_space *space);
/* Accepts a zeroed struct. */
void hx_device_space_free(hx_device_space *d_space, hx_device *dev);

HX_C_END

#endif
