/* Entries of the CPU's hx_device_ops that have files of their own: what they do stands there. */
#ifndef HX_CPU_OPS_H
#define HX_CPU_OPS_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* body_force_cpu.c */
int hx_cpu_body_force(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                      const double *d_rho, const double *d_static, double *d_f);
int hx_cpu_body_work(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                     double factor, const double *d_rho, const double *d_u, double *d_dc);

/* rigid_set_cpu.c */
int hx_cpu_rigid_sum(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                     const double *d_xyz, const double *d_y, double *d_sum);
int hx_cpu_rigid_spread(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                        const double *d_xyz, const double *d_motion, double *d_y);
int hx_cpu_rigid_project(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                         const double *d_xyz, double *d_motion, double *d_y);

#ifdef __cplusplus
}
#endif

#endif
