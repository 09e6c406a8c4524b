// Matrix-free products of tetrahedra over a group of patches: edges from the first point instead of
// modes, one quadrature point instead of eight (core/mesh/cell.h: cells that name a point at
// several corners).
#ifndef HX_TETRA_CUDA_CUH
#define HX_TETRA_CUDA_CUH

#include "core/operator/device_mesh.h"
#include "hex8_otf.cuh"
#include "patches_cuda.cuh"

// Number of elements, and of threads of a block; a good numbering has 0.7 rows per element.
constexpr int HX_TETRA_PATCH = 128;
constexpr int HX_TETRA_ROWS = HX_TETRA_PATCH;
constexpr int HX_TETRA_CORNERS = 4;

// Forces of a tetrahedron at its points: column[(4 i + a) STRIDE] = force i at point a. k.scale = E
// mu / 6. Instructions: 33 for the edges, 90 for the quadrature point (hx_point), 6 for the first
// point.
template <int STRIDE, class T>
HX_HD void hx_tetra_forces(const hx_eight &corner, const T *coordinates, const T *displacements,
                           hx_stiffness<T> k, T *column)
{
    T x[3][3], u[3][3], p[3][3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const T x0 = coordinates[3 * corner.v[0] + i], u0 = displacements[3 * corner.v[0] + i];
#pragma unroll
        for (int a = 0; a < 3; a++) {
            x[a][i] = coordinates[3 * corner.v[a + 1] + i] - x0;
            u[a][i] = displacements[3 * corner.v[a + 1] + i] - u0;
        }
    }
    const T *const edges[3] = {x[0], x[1], x[2]}, *const moves[3] = {u[0], u[1], u[2]};
    hx_point(edges, moves, k, p);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        column[4 * i * STRIDE] = -(p[0][i] + p[1][i] + p[2][i]);
#pragma unroll
        for (int a = 0; a < 3; a++) column[(4 * i + a + 1) * STRIDE] = p[a][i];
    }
}

// The diagonal entries of its points, in the same layout.
template <int STRIDE>
HX_HD void hx_tetra_diagonal(const hx_eight &corner, const double *coordinates,
                             hx_stiffness<double> k, double *column)
{
    double x[3][3], adj[4][3], square[4] = {};
#pragma unroll
    for (int a = 0; a < 3; a++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            x[a][i] = coordinates[3 * corner.v[a + 1] + i] - coordinates[3 * corner.v[0] + i];
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[a + 1][i] = fma(x[b][i1], x[c][i2], -(x[b][i2] * x[c][i1]));
        }
    }
    const double factor = k.scale * hx_reciprocal(hx_dot3(x[0], adj[1]));
#pragma unroll
    for (int i = 0; i < 3; i++) adj[0][i] = -(adj[1][i] + adj[2][i] + adj[3][i]);
#pragma unroll
    for (int a = 0; a < 4; a++) square[a] = hx_dot3(adj[a], adj[a]);
#pragma unroll
    for (int a = 0; a < 4; a++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            column[(4 * i + a) * STRIDE] =
                factor * fma(k.ratio + 1.0, adj[a][i] * adj[a][i], square[a]);
}

// hx_otf_launch and hx_otf_blocks for a group of tetrahedra; coordinates are from
// hx_otf_coordinates.
template <class T>
int hx_tetra_launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
                    const hx_device_model &model, const int32_t *d_elem, const T *d_row_xyz,
                    int n_block, const T *d_x, T *d_y);

template <class T> int hx_tetra_blocks(const hx_cuda_patches &p, int group, int *n_block);

// hx_patches_diagonal for a group of tetrahedra.
int hx_tetra_diagonal_launch(const hx_cuda_patches &p, int group, const hx_device_model &model,
                             const int32_t *d_elem, double *d_diag);

#endif
