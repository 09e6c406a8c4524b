// Loads by thermal expansion, computed from coordinates once per design and load case.
#include "../matrix/points_cuda.cuh"
#include "core/operator/element_ops.h"
#include "core/problem/expansion.h"
#include "core/problem/simp.h"
#include "hex8_cuda.cuh"

// One thread per node, elements in ascending order, so that each sum has a fixed order. stiffness:
// 3 lambda + 2 mu.
__global__ void expansion_force_kernel(hx_device_model model, hx_device_expansion expansion,
                                       double stiffness, const double *fixed_part, double *f)
{
    const int64_t node = hx_grid_thread();
    double sum[3] = {0.0, 0.0, 0.0};
    if (node >= model.n_node) return;
    if (fixed_part)
        for (int i = 0; i < 3; i++) sum[i] = fixed_part[3 * node + i];
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        const double p = model.d_modulus[e] * stiffness * hx_device_strain(&expansion, e);
        double x[24], g[3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        hx_hex8_gradient_integral(x, static_cast<int>(model.d_node_elem[k] & 7u), g);
        for (int i = 0; i < 3; i++) sum[i] += p * g[i];
    }
    for (int i = 0; i < 3; i++) f[3 * node + i] = sum[i];
}

// factor includes 3 lambda + 2 mu.
__global__ void expansion_work_kernel(hx_device_model model, hx_device_expansion expansion,
                                      double factor, double least, double penalty,
                                      const double *__restrict__ rho, const double *__restrict__ u,
                                      double *__restrict__ dc)
{
    const int64_t e = hx_grid_thread();
    double x[24], ue[24];
    if (e >= model.n_elem) return;
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_gather(model.d_conn + 8 * e, u, ue);
    dc[e] += factor * hx_simp_slope(least, penalty, model.d_modulus[e], rho[e]) *
             hx_device_strain(&expansion, e) * hx_hex8_divergence_integral(x, ue);
}

static int force(hx_device *dev, const hx_device_model *model, const hx_device_expansion *expansion,
                 const double *d_static, double *d_f)
{
    if (model->points) return hx_cuda_points_expansion_force(dev, model, expansion, d_static, d_f);
    return hx_launch<128>(dev, "expansion", model->n_node, expansion_force_kernel, *model,
                          *expansion, hx_expansion_stiffness(model->lambda, model->mu), d_static,
                          d_f);
}

static int work(hx_device *dev, const hx_device_model *model, const hx_device_expansion *expansion,
                double factor, double least, double penalty, const double *d_rho, const double *d_u,
                double *d_dc)
{
    if (model->points)
        return hx_cuda_points_expansion_work(dev, model, expansion, factor, least, penalty, d_rho,
                                             d_u, d_dc);
    return hx_launch<128>(dev, "expansion work", model->n_elem, expansion_work_kernel, *model,
                          *expansion, factor * hx_expansion_stiffness(model->lambda, model->mu),
                          least, penalty, d_rho, d_u, d_dc);
}

const hx_expansion_ops hx_cuda_expansion_ops = {
    .force = force,
    .work = work,
};
