// Loads proportional to mass, computed from coordinates once per design and load case.
#include "../matrix/points_cuda.cuh"
#include "core/operator/element_ops.h"
#include "core/problem/body_force.h"
#include "hex8_cuda.cuh"

// One thread per node, elements in ascending order, so that each sum has a fixed order.
__global__ void body_force_kernel(hx_device_model model, hx_body_field field,
                                  const double *__restrict__ rho, const double *fixed_part,
                                  double *f)
{
    const int64_t node = hx_grid_thread();
    double sum[3] = {0.0, 0.0, 0.0};
    if (node >= model.n_node) return;
    if (fixed_part)
        for (int i = 0; i < 3; i++) sum[i] = fixed_part[3 * node + i];
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        const double mass = hx_mass_factor(&model.materials, e) * hx_mass_of(rho[e]);
        double x[24], part[3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        hx_hex8_body_force(x, static_cast<int>(model.d_node_elem[k] & 7u), &field, part);
        for (int i = 0; i < 3; i++) sum[i] += mass * part[i];
    }
    for (int i = 0; i < 3; i++) f[3 * node + i] = sum[i];
}

__global__ void body_work_kernel(hx_device_model model, hx_body_field field, double factor,
                                 const double *__restrict__ rho, const double *__restrict__ u,
                                 double *__restrict__ dc)
{
    const int64_t e = hx_grid_thread();
    double x[24], ue[24];
    if (e >= model.n_elem) return;
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_gather(model.d_conn + 8 * e, u, ue);
    const double slope = hx_mass_factor(&model.materials, e) * hx_mass_slope(rho[e]);
    dc[e] += factor * slope * hx_hex8_body_work(x, ue, &field);
}

static int force(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                 const double *d_rho, const double *d_static, double *d_f)
{
    if (model->points) return hx_cuda_points_body_force(dev, model, field, d_rho, d_static, d_f);
    return hx_launch<128>(dev, "body_force", model->n_node, body_force_kernel, *model, *field,
                          d_rho, d_static, d_f);
}

static int work(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                double factor, const double *d_rho, const double *d_u, double *d_dc)
{
    if (model->points) return hx_cuda_points_body_work(dev, model, field, factor, d_rho, d_u, d_dc);
    return hx_launch<128>(dev, "body_work", model->n_elem, body_work_kernel, *model, *field, factor,
                          d_rho, d_u, d_dc);
}

const hx_body_ops hx_cuda_body_ops = {
    .force = force,
    .work = work,
};
