/* Heat conduction on the CPU (conduction_ops.h), node by node and row by row in a fixed order. */
#include <string.h>

#include "../../mesh/hex8_conduction.h"
#include "../device/cpu_ops.h"
#include "../matrix/points_cpu.h"

static int cpu_conduction_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    (void)dev;
    if (model->points) return hx_cpu_points_conduction_diagonal(model, d_diag);
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum = 0.0, x[24];
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
            sum += model->d_modulus[elem] *
                   hx_hex8_conduction_diagonal(x, model->d_conn + 8 * elem,
                                               (int)(model->d_node_elem[k] & 7u));
        }
        d_diag[node] = sum;
    }
    return HX_OK;
}

static int cpu_energy(hx_device *dev, const hx_device_model *model, const double *d_t,
                      double *d_energy)
{
    (void)dev;
    if (model->points) return hx_cpu_points_conduction_energy(model, d_t, d_energy);
#pragma omp parallel for schedule(static)
    for (int64_t elem = 0; elem < model->n_elem; elem++) {
        const int32_t *conn = model->d_conn + 8 * elem;
        double x[24], t[8];
        hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
        for (int a = 0; a < 8; a++) t[a] = d_t[conn[a]];
        d_energy[elem] = hx_hex8_conduction_energy(x, t);
    }
    return HX_OK;
}

static int cpu_mutual(hx_device *dev, const hx_device_model *model, const double *d_s,
                      const double *d_t, double *d_mutual)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t elem = 0; elem < model->n_elem; elem++) {
        const int32_t *conn = model->d_conn + 8 * elem;
        double x[24], s[8], t[8];
        hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
        for (int a = 0; a < 8; a++) {
            s[a] = d_s[conn[a]];
            t[a] = d_t[conn[a]];
        }
        d_mutual[elem] = hx_hex8_conduction_mutual(x, s, t);
    }
    return HX_OK;
}

static int cpu_film_add(hx_device *dev, const hx_device_films *films, const double *d_x,
                        double *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < films->n; k++) {
        const int32_t row = films->d_node[k];
        double sum = 0.0;
        for (int64_t j = films->d_ptr[k]; j < films->d_ptr[k + 1]; j++)
            if (d_x)
                sum += films->d_value[j] * d_x[films->d_col[j]];
            else if (films->d_col[j] == row)
                sum += films->d_value[j];
        d_y[row] += sum;
    }
    return HX_OK;
}

static int cpu_film_add_single(hx_device *dev, const hx_device_films *films, const float *d_x,
                               float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < films->n; k++) {
        float sum = 0.0f;
        for (int64_t j = films->d_ptr[k]; j < films->d_ptr[k + 1]; j++)
            sum += (float)films->d_value[j] * d_x[films->d_col[j]];
        d_y[films->d_node[k]] += sum;
    }
    return HX_OK;
}

const hx_conduction_ops hx_cpu_conduction_ops = {
    .diagonal = cpu_conduction_diagonal,
    .energy = cpu_energy,
    .mutual = cpu_mutual,
    .film_add = cpu_film_add,
    .film_add_single = cpu_film_add_single,
    .multigrid = &hx_cpu_multigrid_scalar_ops,
    .quadratic = 1,
    .splines = 1,
};
