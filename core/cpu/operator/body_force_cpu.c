/* Loads proportional to mass on the CPU, summed node by node in a fixed order. */
#include <string.h>

#include "../../problem/body_force.h"
#include "../device/cpu_ops.h"
#include "../matrix/points_cpu.h"

static int cpu_body_force(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                          const double *d_rho, const double *d_static, double *d_f)
{
    (void)dev;
    if (model->points) return hx_cpu_points_body_force(model, field, d_rho, d_static, d_f);
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[3] = {0.0, 0.0, 0.0};
        if (d_static) memcpy(sum, d_static + 3 * node, sizeof sum);
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            const double mass = hx_mass_factor(&model->materials, elem) * hx_mass_of(d_rho[elem]);
            double x[24], f[3];
            hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
            hx_hex8_body_force(x, (int)(model->d_node_elem[k] & 7u), field, f);
            for (int i = 0; i < 3; i++) sum[i] += mass * f[i];
        }
        memcpy(d_f + 3 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_body_work(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                         double factor, const double *d_rho, const double *d_u, double *d_dc)
{
    (void)dev;
    if (model->points) return hx_cpu_points_body_work(model, field, factor, d_rho, d_u, d_dc);
#pragma omp parallel for schedule(static)
    for (int64_t elem = 0; elem < model->n_elem; elem++) {
        const int32_t *conn = model->d_conn + 8 * elem;
        double x[24], u[24];
        hx_hex8_gather(conn, model->d_xyz, x);
        hx_hex8_gather(conn, d_u, u);
        const double slope = hx_mass_factor(&model->materials, elem) * hx_mass_slope(d_rho[elem]);
        d_dc[elem] += factor * slope * hx_hex8_body_work(x, u, field);
    }
    return HX_OK;
}

const hx_body_ops hx_cpu_body_ops = {
    .force = cpu_body_force,
    .work = cpu_body_work,
};
