// Multigrid between the mesh and the first coarse grid: one warp per cell.
#include "multigrid_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8, CELL = CORNERS * DOF;

constexpr int WARPS = 4; // per block

struct alignas(16) corner_values {
    float v[CORNERS][8]; // 6 of 8 are used
};

// The lanes share the nodes; lane 8 p + c sums corner c over the nodes p, p + 4, ...
__global__ void __launch_bounds__(32 * WARPS)
    mesh_restrict_kernel(hx_mg_cells cells, const double *__restrict__ r,
                         const float *__restrict__ t, float *__restrict__ partial)
{
    __shared__ float weight[WARPS][32][CORNERS + 1];
    __shared__ float2 value[WARPS][32][3];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = blockIdx.x * static_cast<int64_t>(WARPS) + warp;
    const int corner = lane % 8, part = lane / 8;
    float sum[DOF] = {};
    if (cell >= cells.n_cell) return;
    const int begin = cells.node_at[cell], end = cells.node_at[cell + 1];
    for (int first = begin; first < end; first += 32) {
        const int k = first + lane;
        if (k < end) {
            const int64_t a = cells.node[k];
            float w[CORNERS], x[3], f[3];
            hx_mg_locate(cells, cell, a, w, x);
            for (int i = 0; i < 3; i++)
                f[i] = a < cells.n_own ? static_cast<float>(r[3 * a + i]) - t[3 * a + i] : 0.0f;
#pragma unroll
            for (int c = 0; c < CORNERS; c++) weight[warp][lane][c] = w[c];
            value[warp][lane][0] = make_float2(f[0], f[1]);
            value[warp][lane][1] = make_float2(f[2], x[1] * f[2] - x[2] * f[1]);
            value[warp][lane][2] =
                make_float2(x[2] * f[0] - x[0] * f[2], x[0] * f[1] - x[1] * f[0]);
        }
        __syncwarp();
        const int n = end - first < 32 ? end - first : 32;
        for (int l = part; l < n; l += 4) {
            const float w = weight[warp][l][corner];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                const float2 v = value[warp][l][i];
                sum[2 * i] = fmaf(w, v.x, sum[2 * i]);
                sum[2 * i + 1] = fmaf(w, v.y, sum[2 * i + 1]);
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int i = 0; i < DOF; i++) {
        sum[i] += __shfl_down_sync(0xffffffffu, sum[i], 16);
        sum[i] += __shfl_down_sync(0xffffffffu, sum[i], 8);
    }
    if (part > 0) return;
    float at[3]; // position of the corner
    for (int i = 0; i < 3; i++) at[i] = corner >> i & 1 ? cells.edge[i] : 0.0f;
    float *to = partial + CELL * cell + DOF * corner;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, m = (i + 2) % 3;
        to[i] = sum[i];
        to[3 + i] = sum[3 + i] - (at[j] * sum[m] - at[m] * sum[j]);
    }
}

__global__ void gather_kernel(int64_t n, const int32_t *__restrict__ node_cell,
                              const float *__restrict__ partial, float *__restrict__ b)
{
    const int64_t thread = hx_grid_thread();
    const int64_t a = thread / DOF;
    const int row = static_cast<int>(thread - DOF * a);
    float sum = 0.0f;
    if (a >= n) return;
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        const int64_t cell = node_cell[c * n + a];
        if (cell >= 0) sum += partial[CELL * cell + DOF * c + row];
    }
    b[thread] = sum;
}

__global__ void __launch_bounds__(32 * WARPS, 8)
    mesh_prolong_kernel(hx_mg_cells cells, const float *__restrict__ y, const float *__restrict__ m,
                        float *__restrict__ x)
{
    __shared__ corner_values shared[WARPS];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = blockIdx.x * static_cast<int64_t>(WARPS) + warp;
    if (cell >= cells.n_cell) return;
    corner_values &at = shared[warp];
    for (int k = lane; k < CELL; k += 32)
        at.v[k / DOF][k % DOF] =
            y[DOF * static_cast<int64_t>(cells.corner[8 * cell + k / DOF]) + k % DOF];
    __syncwarp();
    // displacement of the cell's first corner due to the motion of each corner
    if (lane < CORNERS) {
        float *v = at.v[lane], d[3];
        for (int i = 0; i < 3; i++) d[i] = lane >> i & 1 ? cells.edge[i] : 0.0f;
        v[0] -= v[4] * d[2] - v[5] * d[1];
        v[1] -= v[5] * d[0] - v[3] * d[2];
        v[2] -= v[3] * d[1] - v[4] * d[0];
    }
    __syncwarp();
    const int end = cells.node_at[cell + 1];
    for (int k = cells.node_at[cell] + lane; k < end; k += 32) {
        const int64_t a = cells.node[k];
        float w[CORNERS], d[3], u[DOF] = {};
        hx_mg_locate(cells, cell, a, w, d);
#pragma unroll
        for (int c = 0; c < CORNERS; c++) {
            const float4 p = *reinterpret_cast<const float4 *>(at.v[c]);
            const float2 q = *reinterpret_cast<const float2 *>(at.v[c] + 4);
            u[0] = fmaf(w[c], p.x, u[0]);
            u[1] = fmaf(w[c], p.y, u[1]);
            u[2] = fmaf(w[c], p.z, u[2]);
            u[3] = fmaf(w[c], p.w, u[3]);
            u[4] = fmaf(w[c], q.x, u[4]);
            u[5] = fmaf(w[c], q.y, u[5]);
        }
        const float step[3] = {u[0] + u[4] * d[2] - u[5] * d[1], u[1] + u[5] * d[0] - u[3] * d[2],
                               u[2] + u[3] * d[1] - u[4] * d[0]};
        for (int i = 0; i < 3; i++)
            if (m[3 * a + i] > 0.0f) x[3 * a + i] += step[i];
    }
}

} // namespace

int hx_cuda_mg_mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                             const float *d_t, const hx_mg_level *level)
{
    const hx_mg_cells cells = hx_mg_cells_of(mesh);
    HX_TRY(hx_launch<32 * WARPS>(dev, "multigrid restrict", 32 * mesh->n_cell, mesh_restrict_kernel,
                                 cells, d_r, d_t, mesh->d_partial));
    return hx_launch(dev, "multigrid gather", DOF * level->n_node, gather_kernel, level->n_node,
                     mesh->d_node_cell, mesh->d_partial, level->d_b);
}

int hx_cuda_mg_mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y,
                            const float *d_m, float *d_x)
{
    return hx_launch<32 * WARPS>(dev, "multigrid prolong", 32 * mesh->n_cell, mesh_prolong_kernel,
                                 hx_mg_cells_of(mesh), d_y, d_m, d_x);
}
