/* From the coordinates of the elements on the CPU (element_ops.h): node by node in a fixed order.
 */
#include <string.h>

#include "../mesh/cell.h"
#include "../mesh/hex8.h"
#include "../solver/block3.h"
#include "cpu_ops.h"
#include "points_cpu.h"

static void gather_coordinates(const hx_device_model *model, int64_t elem, double x[24])
{
    const int32_t *conn = model->d_conn + 8 * elem;
    for (int a = 0; a < 8; a++)
        memcpy(x + 3 * a, model->d_xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
}

static int cpu_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    (void)dev;
    if (model->points) {
        hx_cpu_points_diagonal(model, d_diag);
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            const int a = (int)(model->d_node_elem[k] & 7u);
            const unsigned corners = hx_cell_corners_at(model->d_conn + 8 * elem, a);
            double x[24], d[3], tile[3][3];
            if (!hx_cell_is_first(corners, a)) continue;
            gather_coordinates(model, elem, x);
            if (corners == 1u << a) {
                hx_hex8_diagonal(x, a, model->lambda, model->mu, d);
            } else {
                hx_hex8_point_tile(x, corners, model->lambda, model->mu, tile);
                for (int i = 0; i < 3; i++) d[i] = tile[i][i];
            }
            for (int i = 0; i < 3; i++) sum[i] += model->d_modulus[elem] * d[i];
        }
        memcpy(d_diag + 3 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    (void)dev;
    if (model->points) {
        hx_cpu_points_block_diagonal(model, d_block);
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[6] = {0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            const int a = (int)(model->d_node_elem[k] & 7u);
            const unsigned corners = hx_cell_corners_at(model->d_conn + 8 * elem, a);
            double x[24], tile[3][3];
            if (!hx_cell_is_first(corners, a)) continue;
            gather_coordinates(model, elem, x);
            if (corners == 1u << a)
                hx_hex8_tile(x, a, a, model->lambda, model->mu, tile);
            else
                hx_hex8_point_tile(x, corners, model->lambda, model->mu, tile);
            for (int i = 0; i < 3; i++)
                for (int j = i; j < 3; j++)
                    sum[hx_block3_at(i, j)] += model->d_modulus[elem] * tile[i][j];
        }
        memcpy(d_block + 6 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                      double *d_energy)
{
    (void)dev;
    if (model->points) {
        hx_cpu_points_energy(model, d_u, d_energy);
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int64_t elem = 0; elem < model->n_elem; elem++) {
        const int32_t *conn = model->d_conn + 8 * elem;
        double x[24], u[24];
        gather_coordinates(model, elem, x);
        for (int a = 0; a < 8; a++) memcpy(u + 3 * a, d_u + 3 * (int64_t)conn[a], 3 * sizeof *u);
        d_energy[elem] = hx_hex8_energy(x, u, model->lambda, model->mu);
    }
    return HX_OK;
}

static int cpu_block_fix(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_block)
{
    (void)dev;
    for (int64_t i = 0; i < n; i++)
        hx_block3_fix(d_block + 6 * (d_dof[i] / 3), (int)(d_dof[i] % 3));
    return HX_OK;
}

static int cpu_block_add(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                         double *d_block)
{
    (void)dev;
    for (int64_t i = 0; i < n; i++) {
        const int c = (int)(d_dof[i] % 3);
        d_block[6 * (d_dof[i] / 3) + hx_block3_at(c, c)] += d_k[i];
    }
    return HX_OK;
}

static int cpu_block_invert(hx_device *dev, int64_t n_node, double *d_block)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < n_node; node++) hx_block3_invert(d_block + 6 * node);
    return HX_OK;
}

static int cpu_block_apply(hx_device *dev, int64_t n_node, const double *d_block, const double *d_r,
                           double *d_z)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < n_node; node++)
        hx_block3_apply(d_block + 6 * node, d_r + 3 * node, d_z + 3 * node);
    return HX_OK;
}

const hx_element_ops hx_cpu_element_ops = {
    .diagonal = cpu_diagonal,
    .energy = cpu_energy,
    .block_diagonal = cpu_block_diagonal,
    .block_fix = cpu_block_fix,
    .block_add = cpu_block_add,
    .block_invert = cpu_block_invert,
    .block_apply = cpu_block_apply,
};
