// The diagonal of K, its diagonal 3x3 blocks and the element energies, computed from coordinates.
// Not performance-critical: they run once per design iteration.
#include "../device/vector_cuda.cuh"
#include "../matrix/points_cuda.cuh"
#include "core/linalg/block3.h"
#include "core/operator/element_ops.h"
#include "hex8_cuda.cuh"
#include "hex8_otf.cuh"

// tile := the 3x3 block of an element's stiffness that belongs to a node. If a collapsed element
// has the node at several corners, the first of them gets the sum over all pairs of these corners,
// and the others return false.
__device__ __forceinline__ bool point_tile(const hx_device_model &model, uint32_t incidence,
                                           const double x[24], double tile[3][3])
{
    const int64_t e = incidence >> 3;
    const int a = static_cast<int>(incidence & 7u);
    const unsigned corners = hx_cell_corners_at(model.d_conn + 8 * e, a);
    if (!hx_cell_is_first(corners, a)) return false;
    hx_hex8_point_tile(x, corners, model.lambda, model.mu, tile);
    return true;
}

// One thread per node adds its elements in ascending order, so the result is deterministic.
// COLLAPSED: elements may have a node at several corners.
template <bool COLLAPSED>
__global__ void diagonal_kernel(hx_device_model model, double *__restrict__ diag)
{
    const int64_t node = hx_grid_thread();
    double sum[3] = {0.0, 0.0, 0.0};
    if (node >= model.n_node) return;
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        double x[24], d[3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        if constexpr (COLLAPSED) {
            double tile[3][3];
            if (!point_tile(model, model.d_node_elem[k], x, tile)) continue;
            for (int i = 0; i < 3; i++) d[i] = tile[i][i];
        } else {
            hx_hex8_diagonal(x, static_cast<int>(model.d_node_elem[k] & 7u), model.lambda, model.mu,
                             d);
        }
        for (int i = 0; i < 3; i++) sum[i] += model.d_modulus[e] * d[i];
    }
    for (int i = 0; i < 3; i++) diag[3 * node + i] = sum[i];
}

// diagonal_kernel for the 3x3 block of each node.
template <bool COLLAPSED>
__global__ void block_diagonal_kernel(hx_device_model model, double *__restrict__ block)
{
    const int64_t node = hx_grid_thread();
    double sum[6] = {};
    if (node >= model.n_node) return;
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        const int a = static_cast<int>(model.d_node_elem[k] & 7u);
        double x[24], tile[3][3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        if constexpr (COLLAPSED) {
            if (!point_tile(model, model.d_node_elem[k], x, tile)) continue;
        } else {
            hx_hex8_tile(x, a, a, model.lambda, model.mu, tile);
        }
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
    const int64_t e = hx_grid_thread();
    double x[24], ue[24];
    if (e >= model.n_elem) return;
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_gather(model.d_conn + 8 * e, u, ue);
    energy[e] = hx_hex8_energy(x, ue, model.lambda, model.mu);
}

// The field of component i of a nodal vector on an element, and its modes.
__device__ __forceinline__ void gather_modes(const int32_t *__restrict__ conn,
                                             const double *__restrict__ nodal, int i,
                                             double m[HX_N_MODE])
{
    double v[8];
#pragma unroll
    for (int a = 0; a < 8; a++) v[a] = nodal[3 * static_cast<int64_t>(conn[a]) + i];
    hx_to_modes(v, m);
}

// u' Ke v: the forces of u in the modes (operator otf), times the modes of v.
__global__ void __launch_bounds__(128)
    mutual_kernel(hx_device_model model, const double *__restrict__ u, const double *__restrict__ v,
                  double *__restrict__ mutual)
{
    const int64_t e = hx_grid_thread();
    if (e >= model.n_elem) return;
    const int32_t *const conn = model.d_conn + 8 * e;
    const hx_stiffness<double> k = {model.lambda / model.mu, model.mu / 512.0};
    hx_field<double> x, field;
    hx_force<double> f;
    double m[HX_N_MODE], sum = 0.0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        gather_modes(conn, model.d_xyz, i, m);
        hx_field_set(m, i, x);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        gather_modes(conn, u, i, m);
        hx_field_set(m, i, field);
    }
    hx_points(x, field, k, 0, f);
    hx_points(x, field, k, 1, f);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        double by[HX_N_MODE];
        hx_force_modes(f, i, m);
        gather_modes(conn, v, i, by);
        sum += m[HX_R] * by[HX_R] + m[HX_S] * by[HX_S] + m[HX_T] * by[HX_T] +
               HX_GAUSS * (m[HX_RS] * by[HX_RS] + m[HX_RT] * by[HX_RT] + m[HX_ST] * by[HX_ST] +
                           HX_GAUSS * m[HX_RST] * by[HX_RST]);
    }
    mutual[e] = sum;
}

static int stiffness_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    if (model->points) return hx_cuda_points_diagonal(dev, model, d_diag);
    const auto kernel = model->has_collapsed ? diagonal_kernel<true> : diagonal_kernel<false>;
    return hx_launch<128>(dev, "diagonal", model->n_node, kernel, *model, d_diag);
}

static int block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    if (model->points) return hx_cuda_points_block_diagonal(dev, model, d_block);
    const auto kernel =
        model->has_collapsed ? block_diagonal_kernel<true> : block_diagonal_kernel<false>;
    return hx_launch<128>(dev, "block_diagonal", model->n_node, kernel, *model, d_block);
}

static int energy(hx_device *dev, const hx_device_model *model, const double *d_u, double *d_energy)
{
    if (model->points) return hx_cuda_points_energy(dev, model, d_u, d_energy);
    return hx_launch<128>(dev, "element_energy", model->n_elem, energy_kernel, *model, d_u,
                          d_energy);
}

static int mutual(hx_device *dev, const hx_device_model *model, const double *d_u,
                  const double *d_v, double *d_mutual)
{
    return hx_launch<128>(dev, "element_mutual", model->n_elem, mutual_kernel, *model, d_u, d_v,
                          d_mutual);
}

__global__ void block_add_kernel(int64_t n, const int64_t *__restrict__ dof,
                                 const double *__restrict__ k, double *block)
{
    const int64_t i = hx_grid_thread();
    if (i >= n) return;
    const int c = static_cast<int>(dof[i] % 3);
    block[6 * (dof[i] / 3) + hx_block3_at(c, c)] += k[i];
}

// Degrees of freedom of one node write the same zeros, so the order of threads does not matter.
__global__ void block_fix_kernel(int64_t n, const int64_t *__restrict__ dof, double *block)
{
    const int64_t k = hx_grid_thread();
    if (k < n) hx_block3_fix(block + 6 * (dof[k] / 3), static_cast<int>(dof[k] % 3));
}

// A block is three packs of 16 bytes.
__device__ __forceinline__ void load_block(const double *block, double (&b)[6])
{
    for (int i = 0; i < 6; i += 2) {
        const auto two = hx_load<2>(block + i);
        b[i] = two.v[0];
        b[i + 1] = two.v[1];
    }
}

__global__ void block_invert_kernel(int64_t n_node, double *block)
{
    const int64_t node = hx_grid_thread();
    double b[6];
    if (node >= n_node) return;
    load_block(block + 6 * node, b);
    hx_block3_invert(b);
    for (int i = 0; i < 6; i++) block[6 * node + i] = b[i];
}

// One thread per node: 48 bytes of block, 24 of r, 24 of z.
__global__ void __launch_bounds__(HX_BLOCK)
    block_apply_kernel(int64_t n_node, const double *__restrict__ block,
                       const double *__restrict__ r, double *__restrict__ z)
{
    const int64_t node = hx_grid_thread();
    double b[6], zn[3];
    if (node >= n_node) return;
    load_block(block + 6 * node, b);
    hx_block3_apply(b, r + 3 * node, zn);
    for (int i = 0; i < 3; i++) z[3 * node + i] = zn[i];
}

static int block_fix(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_block)
{
    return hx_launch(dev, "block_fix", n, block_fix_kernel, n, d_dof, d_block);
}

static int block_add(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                     double *d_block)
{
    return hx_launch(dev, "block_add", n, block_add_kernel, n, d_dof, d_k, d_block);
}

static int block_invert(hx_device *dev, int64_t n_node, double *d_block)
{
    return hx_launch(dev, "block_invert", n_node, block_invert_kernel, n_node, d_block);
}

static int block_apply(hx_device *dev, int64_t n_node, const double *d_block, const double *d_r,
                       double *d_z)
{
    return hx_launch(dev, "block_apply", n_node, block_apply_kernel, n_node, d_block, d_r, d_z);
}

const hx_element_ops hx_cuda_element_ops = {
    .diagonal = stiffness_diagonal,
    .energy = energy,
    .mutual = mutual,
    .block_diagonal = block_diagonal,
    .block_fix = block_fix,
    .block_add = block_add,
    .block_invert = block_invert,
    .block_apply = block_apply,
};
