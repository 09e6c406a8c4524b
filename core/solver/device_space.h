/* A space's points in device memory: what one that is not linear has beyond the mesh
 * (device_mesh.h). */
#ifndef HX_DEVICE_SPACE_H
#define HX_DEVICE_SPACE_H

#include "../matrix/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero for a linear space, whose arrays are the mesh's. */
typedef struct hx_device_space {
    double *d_xyz;       /* [n_point][3] (owned, like what `points` names) */
    hx_incidence points; /* in the device's memory */
    hx_spline_rule rule; /* of a spline, its arrays on the device: points.spline, so that a space
                            does not move */
} hx_device_space;

/* Device bytes that it will hold. */
size_t hx_device_space_bytes(const hx_space *space);

/* Uploads a quadratic space or one of a spline; does nothing with a linear one. Cold. */
int hx_device_space_create(hx_device_space *d_space, hx_device *dev, const hx_space *space);
/* Accepts a zeroed struct. */
void hx_device_space_free(hx_device_space *d_space, hx_device *dev);

#ifdef __cplusplus
}
#endif

#endif
