// Cells of the mesh and children of coarse nodes, as used in kernels; the Galerkin products.
#ifndef HX_GALERKIN_CUDA_CUH
#define HX_GALERKIN_CUDA_CUH

#include "../device/cuda_device.cuh"
#include "core/multigrid/multigrid.h"

// The cells of level 0, as seen by a kernel.
struct hx_mg_cells {
    int64_t n_cell, n_own; // n_own: number of nodes that restrictions read, which come first
    const int32_t *cell, *corner, *node, *node_at;
    const float *position;
    const double *xyz;
    double origin[3], size[3], per_unit;
    float edge[3]; // edges of a cell divided by the unit
};

inline hx_mg_cells hx_mg_cells_of(const hx_mg_mesh *mesh)
{
    hx_mg_cells c = {};
    c.n_cell = mesh->n_cell;
    c.n_own = mesh->model->n_point - mesh->n_other;
    c.cell = mesh->d_cell;
    c.corner = mesh->d_cell_corner;
    c.node = mesh->d_cell_node;
    c.node_at = mesh->d_cell_node_at;
    c.position = mesh->d_position;
    c.xyz = mesh->model->d_xyz;
    c.per_unit = 1.0 / mesh->unit;
    for (int i = 0; i < 3; i++) {
        c.origin[i] = mesh->origin[i];
        c.size[i] = mesh->size[i];
        c.edge[i] = static_cast<float>(mesh->size[i] / mesh->unit);
    }
    return c;
}

// Weights of the corners at node a, and its distance from the cell's first corner divided by the
// unit.
__device__ __forceinline__ void hx_mg_locate(const hx_mg_cells &cells, int64_t cell, int64_t a,
                                             float w[8], float distance[3])
{
    float s[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int at = cells.cell[3 * cell + i];
        s[i] = cells.position[3 * a + i] - static_cast<float>(at);
        distance[i] = static_cast<float>(
            (cells.xyz[3 * a + i] - cells.origin[i] - at * cells.size[i]) * cells.per_unit);
    }
    const float x[2] = {1.0f - s[0], s[0]};
    const float yz[4] = {(1.0f - s[1]) * (1.0f - s[2]), s[1] * (1.0f - s[2]), (1.0f - s[1]) * s[2],
                         s[1] * s[2]};
#pragma unroll
    for (int c = 0; c < 8; c++) w[c] = x[c & 1] * yz[c >> 1];
}

int hx_cuda_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level);
int hx_cuda_mesh_update(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                        hx_mg_update holds);
// galerkin_rows_cuda.cu
int hx_cuda_rows_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                          const hx_mg_level *level);
int hx_cuda_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse);

#endif
