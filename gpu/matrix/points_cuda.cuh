// Quadratic cells on the GPU: their rules, and the operations of element_ops.h for a model with
// points, including splines.
#ifndef HX_POINTS_CUDA_CUH
#define HX_POINTS_CUDA_CUH

#include "../device/cuda_device.cuh"
#include "core/matrix/pattern.h"
#include "core/operator/device_mesh.h"
#include "core/operator/element_ops.h"
#include "core/operator/mass_ops.h"
#include "core/problem/problem.h"

// A rule (core/space/cell_rule.h) for a warp whose lanes are the Gauss points: the values of all
// lanes are contiguous. 0 beyond the last point.
constexpr int HX_RULE_LANES = 32;
struct hx_point_rule {
    double weight[HX_RULE_LANES];
    double gradient[3][HX_RULE_POINTS][HX_RULE_LANES];
    double shape[HX_RULE_POINTS][HX_RULE_LANES];
};

// [HX_N_CELL_RULE] in device memory, 83 kB, created by the first call, which waits. The device owns
// it.
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

// The mass matrix (mass_ops.h) of quadratic cells, for n_vector of these vectors
// (points_mass_cuda.cu).
constexpr int HX_MASS_AT_ONCE = 4;
struct hx_mass_vectors {
    const double *x[HX_MASS_AT_ONCE];
    double *y[HX_MASS_AT_ONCE];
};
int hx_cuda_points_mass(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                        int n_vector, const hx_mass_vectors &v);
int hx_cuda_points_mass_work(hx_device *dev, const hx_device_model *model,
                             const hx_device_mass *mass, double factor, const double *d_v,
                             double *d_dg);

int hx_cuda_points_expansion_force(hx_device *dev, const hx_device_model *model,
                                   const hx_device_expansion *expansion, const double *d_static,
                                   double *d_f);
int hx_cuda_points_expansion_work(hx_device *dev, const hx_device_model *model,
                                  const hx_device_expansion *expansion, double factor, double least,
                                  double penalty, const double *d_rho, const double *d_u,
                                  double *d_dc);

// Operations for a spline's cells (spline_points_cuda.cu). The functions above call them.
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

// spline_points_cuda.cu, heat conduction (conduction_ops.h)
int hx_cuda_spline_conduction_diagonal(hx_device *dev, const hx_device_model *model,
                                       double *d_diag);
int hx_cuda_spline_conduction_energy(hx_device *dev, const hx_device_model *model,
                                     const double *d_t, double *d_energy);

#endif
