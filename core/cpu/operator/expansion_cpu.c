/* Loads by thermal expansion on the CPU, summed node by node in a fixed order. */
#include "../../problem/expansion.h"

#include <string.h>

#include "../../problem/simp.h"
#include "../device/cpu_ops.h"
#include "../matrix/points_cpu.h"

static int cpu_force(hx_device *dev, const hx_device_model *model,
                     const hx_device_expansion *expansion, const double *d_static, double *d_f)
{
    const double stiffness = hx_expansion_stiffness(model->lambda, model->mu);
    (void)dev;
    if (model->points) return hx_cpu_points_expansion_force(model, expansion, d_static, d_f);
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[3] = {0.0, 0.0, 0.0};
        if (d_static) memcpy(sum, d_static + 3 * node, sizeof sum);
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t e = model->d_node_elem[k] >> 3;
            const double p = model->d_modulus[e] * stiffness * hx_device_strain(expansion, e);
            double x[24], g[3];
            hx_hex8_gather(model->d_conn + 8 * e, model->d_xyz, x);
            hx_hex8_gradient_integral(x, (int)(model->d_node_elem[k] & 7u), g);
            for (int i = 0; i < 3; i++) sum[i] += p * g[i];
        }
        memcpy(d_f + 3 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_work(hx_device *dev, const hx_device_model *model,
                    const hx_device_expansion *expansion, double factor, double least,
                    double penalty, const double *d_rho, const double *d_u, double *d_dc)
{
    const double stiffness = hx_expansion_stiffness(model->lambda, model->mu);
    (void)dev;
    if (model->points)
        return hx_cpu_points_expansion_work(model, expansion, factor, least, penalty, d_rho, d_u,
                                            d_dc);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e++) {
        const double p = stiffness * hx_device_strain(expansion, e);
        double x[24], u[24];
        hx_hex8_gather(model->d_conn + 8 * e, model->d_xyz, x);
        hx_hex8_gather(model->d_conn + 8 * e, d_u, u);
        d_dc[e] += factor * hx_simp_slope(least, penalty, model->d_modulus[e], d_rho[e]) * p *
                   hx_hex8_divergence_integral(x, u);
    }
    return HX_OK;
}

const hx_expansion_ops hx_cpu_expansion_ops = {
    .force = cpu_force,
    .work = cpu_work,
};
