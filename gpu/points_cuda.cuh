// Quadratic cells on the GPU: their rules, and what element_ops.h says of a model with points, also
// of splines.
#ifndef HX_POINTS_CUDA_CUH
#define HX_POINTS_CUDA_CUH

#include "core/matrix/pattern.h"
#include "core/problem/problem.h"
#include "core/solver/device_mesh.h"
#include "cuda_device.cuh"

// A rule (core/space/cell_rule.h) for a warp whose lanes are the Gauss points: a row of lanes lies
// together. 0 beyond the last point.
constexpr int HX_RULE_LANES = 32;
struct hx_point_rule {
    double weight[HX_RULE_LANES];
    double gradient[3][HX_RULE_POINTS][HX_RULE_LANES];
    double shape[HX_RULE_POINTS][HX_RULE_LANES];
};

// [HX_N_CELL_RULE] in the device's memory, made by the first who asks, 83 kB; the device's. Waits
// then.
int hx_cuda_point_rules(hx_device *dev, const hx_point_rule **d_rule);

int hx_cuda_points_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag);
int hx_cuda_points_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block);
int hx_cuda_points_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                          double *d_energy);
int hx_cuda_points_body_force(hx_device *dev, const hx_device_model *model,
                              const hx_body_field *field, const double *d_rho,
                              const double *d_static, double *d_f);
int hx_cuda_points_body_work(hx_device *dev, const hx_device_model *model,
                             const hx_body_field *field, double factor, const double *d_rho,
                             const double *d_u, double *d_dc);

// The same of a spline's cells (spline_points_cuda.cu), to which the above come.
int hx_cuda_spline_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag);
int hx_cuda_spline_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block);
int hx_cuda_spline_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                          double *d_energy);
int hx_cuda_spline_body_force(hx_device *dev, const hx_device_model *model,
                              const hx_body_field *field, const double *d_rho,
                              const double *d_static, double *d_f);
int hx_cuda_spline_body_work(hx_device *dev, const hx_device_model *model,
                             const hx_body_field *field, double factor, const double *d_rho,
                             const double *d_u, double *d_dc);

// spline_points_cuda.cu, of conduction (conduction_ops.h)
int hx_cuda_spline_conduction_diagonal(hx_device *dev, const hx_device_model *model,
                                       double *d_diag);
int hx_cuda_spline_conduction_energy(hx_device *dev, const hx_device_model *model,
                                     const double *d_t, double *d_energy);

#endif
