// Diagonal of K, its blocks and element energies from coordinates: cold, once a design iteration.
#include "core/block3.h"
#include "hex8_cuda.cuh"

// A thread a node, its elements in ascending order: the sum has one order.
__global__ void diagonal_kernel(hx_device_model model, double *__restrict__ diag)
{
    const int64_t node = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    double sum[3] = {0.0, 0.0, 0.0};
    if (node >= model.n_node) return;
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        double x[24], d[3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        hx_hex8_diagonal(x, static_cast<int>(model.d_node_elem[k] & 7u), model.lambda, model.mu, d);
        for (int i = 0; i < 3; i++) sum[i] += model.d_modulus[e] * d[i];
    }
    for (int i = 0; i < 3; i++) diag[3 * node + i] = sum[i];
}

// The same with the 3x3 block of each node.
__global__ void block_diagonal_kernel(hx_device_model model, double *__restrict__ block)
{
    const int64_t node = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    double sum[6] = {};
    if (node >= model.n_node) return;
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        const int a = static_cast<int>(model.d_node_elem[k] & 7u);
        double x[24], tile[3][3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        hx_hex8_tile(x, a, a, model.lambda, model.mu, tile);
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int j = i; j < 3; j++) sum[hx_block3_at(i, j)] += model.d_modulus[e] * tile[i][j];
    }
    for (int i = 0; i < 6; i++) block[6 * node + i] = sum[i];
}

__global__ void energy_kernel(hx_device_model model, const double *__restrict__ u,
                              double *__restrict__ energy)
{
    const int64_t e = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    double x[24], ue[24];
    if (e >= model.n_elem) return;
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_gather(model.d_conn + 8 * e, u, ue);
    energy[e] = hx_hex8_energy(x, ue, model.lambda, model.mu);
}

int hx_cuda_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    diagonal_kernel<<<hx_blocks(model->n_node, 128), 128, 0, hx_cuda_of(dev)->stream>>>(*model,
                                                                                        d_diag);
    HX_TRY_LAUNCH("diagonal");
    return HX_OK;
}

int hx_cuda_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    block_diagonal_kernel<<<hx_blocks(model->n_node, 128), 128, 0, hx_cuda_of(dev)->stream>>>(
        *model, d_block);
    HX_TRY_LAUNCH("block_diagonal");
    return HX_OK;
}

int hx_cuda_element_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                           double *d_energy)
{
    energy_kernel<<<hx_blocks(model->n_elem, 128), 128, 0, hx_cuda_of(dev)->stream>>>(*model, d_u,
                                                                                      d_energy);
    HX_TRY_LAUNCH("element_energy");
    return HX_OK;
}
