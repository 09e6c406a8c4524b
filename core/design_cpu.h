/* The design's steps on the CPU: entries of hx_device_ops_cpu, see device.h; not installed. */
#ifndef HX_DESIGN_CPU_H
#define HX_DESIGN_CPU_H

#include "device.h"

int hx_cpu_multiply(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c);
int hx_cpu_divide(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c);
int hx_cpu_axpy(hx_device *dev, int64_t n, double a, const double *d_x, double *d_y);
int hx_cpu_sum(hx_device *dev, int64_t n, const double *d_a, double *result);
int hx_cpu_modulus(hx_device *dev, int64_t n, double young, double penalty, const double *d_rho,
                   double *d_modulus);
int hx_cpu_sensitivity(hx_device *dev, int64_t n, double penalty, const double *d_modulus,
                       const double *d_rho, const double *d_energy, double *d_dc);
int hx_cpu_measure(hx_device *dev, int64_t n, const double *d_rho, const double *d_volume,
                   const double *d_passive, double *mass, double *grey);
int hx_cpu_mean_positive(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                         const double *d_passive, double *mean);
int hx_cpu_project(hx_device *dev, int64_t n, const hx_projection *law, const double *d_passive,
                   const double *d_filtered, double *d_physical);
int hx_cpu_project_backward(hx_device *dev, int64_t n, const hx_projection *law,
                            const double *d_passive, const double *d_filtered, double *d_a);
int hx_cpu_zero_passive(hx_device *dev, int64_t n, const double *d_passive, double *d_a);
int hx_cpu_oc_begin(hx_device *dev, const hx_device_oc *oc);
int hx_cpu_oc_pass(hx_device *dev, const hx_device_oc *oc);
int hx_cpu_oc_end(hx_device *dev, const hx_device_oc *oc);
int hx_cpu_tie(hx_device *dev, const hx_device_ties *ties, const double *d_dv, double *d_dc);
int hx_cpu_copy_largest(hx_device *dev, const hx_device_ties *ties, double *d_x);
int hx_cpu_cone_sum(hx_device *dev, const hx_device_cells *cells, double radius,
                    const double *d_value, double *d_sum);

#endif
