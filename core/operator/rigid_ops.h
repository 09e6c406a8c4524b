/* Rigid sets (rigid_set.h) on a device (hx_device_ops.rigid). The nodes of a set start at
 * d_node[first]; vectors have the shape [n_node][3]. All entries are required. */
#ifndef HX_RIGID_OPS_H
#define HX_RIGID_OPS_H

#include "../device/device.h"

HX_C_BEGIN

typedef struct hx_rigid_set hx_rigid_set; /* problem.h */

typedef struct hx_rigid_ops {
    /* Resultant force of y and its moment about the centre of the set, summed in a fixed order. */
    int (*sum)(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node, const double *d_xyz,
               const double *d_y, double d_sum[6]);
    /* y := the rigid-body motion, at the nodes of the set. */
    int (*spread)(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                  const double *d_xyz, const double d_motion[6], double *d_y);
    /* y := P y at the nodes of the set; d_motion[6] is scratch. */
    int (*project)(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                   const double *d_xyz, double *d_motion, double *d_y);
} hx_rigid_ops;

HX_C_END

#endif
