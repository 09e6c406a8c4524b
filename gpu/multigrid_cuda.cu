// Multigrid on the GPU (core/multigrid.h): smoothing, transfers, products on the lattices.
//
// A lattice's matrix stands by columns of blocks: entry (row r of node a, column c of its neighbour
// at offset o) at ((6 o + c) n_node + a) 6 + r, so that a warp, a thread a row, reads whole lines.
#include <cstdlib>

#include "core/base/memory.h"
#include "galerkin_cuda.cuh"
#include "vector_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8, CELL = CORNERS * DOF;
constexpr int PER_SM = HX_SUM_PER_SM;

cudaStream_t stream_of(hx_device *dev)
{
    return hx_cuda_of(dev)->stream;
}

// ---- vectors of the mesh ----

__global__ void invert_kernel(int64_t n, const double *__restrict__ diag, float *__restrict__ m)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (k < n) m[k] = diag[k] > 0.0 ? static_cast<float>(1.0 / diag[k]) : 0.0f;
}

int invert(hx_device *dev, int64_t n, const double *d_diag, float *d_m)
{
    invert_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(n, d_diag, d_m);
    HX_TRY_LAUNCH("multigrid invert");
    return HX_OK;
}

__global__ void power_start_kernel(int64_t n, const float *__restrict__ m, float *__restrict__ v)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (k < n) v[k] = m[k] > 0.0f ? hx_mg_start_value(k) : 0.0f;
}

int power_start(hx_device *dev, int64_t n, const float *d_m, float *d_v)
{
    power_start_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(n, d_m, d_v);
    HX_TRY_LAUNCH("multigrid power start");
    return HX_OK;
}

__global__ void __launch_bounds__(HX_BLOCK, PER_SM)
    power_sum_kernel(int64_t n, const float *__restrict__ m, const float *__restrict__ t,
                     const float *__restrict__ v, hx_mg_smoother *smoother, double *result,
                     double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto mk = hx_load<N>(m + k), tk = hx_load<N>(t + k), vk = hx_load<N>(v + k);
        for (int i = 0; i < N; i++) {
            if (!(mk.v[i] > 0.0f)) continue;
            sum[0] += static_cast<double>(vk.v[i] * vk.v[i] / mk.v[i]);
            sum[1] += static_cast<double>(tk.v[i]) * static_cast<double>(tk.v[i] * mk.v[i]);
        }
    });
    if (hx_finish_sums(sum, partial, ticket))
        *result = static_cast<double>(hx_mg_power_result(smoother, sum[0], sum[1]));
}

__global__ void power_scale_kernel(int64_t n, const float *__restrict__ m,
                                   const float *__restrict__ t, const double *__restrict__ scale,
                                   float *__restrict__ v)
{
    const float s = static_cast<float>(*scale);
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto mk = hx_load<N>(m + k), tk = hx_load<N>(t + k);
        hx_pack<float, N> vk;
        for (int i = 0; i < N; i++) vk.v[i] = s * mk.v[i] * tk.v[i];
        hx_store(v + k, vk);
    });
}

int power_step(hx_device *dev, int64_t n, const float *d_m, const float *d_t, float *d_v,
               hx_mg_smoother *d_smoother)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    power_sum_kernel<<<hx_sum_blocks<float>(impl, n, PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_t, d_v, d_smoother, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("multigrid power sum");
    power_scale_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_t, impl->d_result, d_v);
    HX_TRY_LAUNCH("multigrid power scale");
    return HX_OK;
}

__global__ void mesh_start_kernel(int64_t n, const hx_mg_smoother *__restrict__ smoother,
                                  const double *__restrict__ r, const float *__restrict__ m,
                                  float *__restrict__ d, float *__restrict__ x)
{
    const float b = smoother->b[0];
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k);
        const auto mk = hx_load<N>(m + k);
        hx_pack<float, N> xk;
        for (int i = 0; i < N; i++) xk.v[i] = b * mk.v[i] * static_cast<float>(rk.v[i]);
        hx_store(x + k, xk);
        if (d) hx_store(d + k, xk);
    });
}

int mesh_start(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, const double *d_r,
               const float *d_m, float *d_d, float *d_x)
{
    mesh_start_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, stream_of(dev)>>>(n, d_smoother, d_r,
                                                                                 d_m, d_d, d_x);
    HX_TRY_LAUNCH("multigrid start");
    return HX_OK;
}

__global__ void mesh_step_kernel(int64_t n, const hx_mg_smoother *__restrict__ smoother, int step,
                                 const double *__restrict__ r, const float *__restrict__ t,
                                 const float *__restrict__ m, float *__restrict__ d,
                                 float *__restrict__ x, double *__restrict__ z)
{
    const float a = smoother->a[step], b = smoother->b[step];
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k);
        const auto tk = hx_load<N>(t + k), mk = hx_load<N>(m + k);
        auto xk = hx_load<N>(x + k);
        hx_pack<float, N> dk = {};
        if (step > 0) dk = hx_load<N>(d + k);
        for (int i = 0; i < N; i++) {
            dk.v[i] = a * dk.v[i] + b * mk.v[i] * (static_cast<float>(rk.v[i]) - tk.v[i]);
            xk.v[i] += dk.v[i];
        }
        if (z) {
            hx_pack<double, N> zk;
            for (int i = 0; i < N; i++) zk.v[i] = static_cast<double>(xk.v[i]);
            hx_store(z + k, zk);
            return;
        }
        hx_store(x + k, xk);
        if (d) hx_store(d + k, dk);
    });
}

int mesh_step(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, int i, const double *d_r,
              const float *d_t, const float *d_m, float *d_d, float *d_x, double *d_z)
{
    mesh_step_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, stream_of(dev)>>>(
        n, d_smoother, i, d_r, d_t, d_m, d_d, d_x, d_z);
    HX_TRY_LAUNCH("multigrid step");
    return HX_OK;
}

// ---- between mesh and lattice: a warp a cell ----

constexpr int WARPS = 4; // of a block

struct alignas(16) corner_values {
    float v[CORNERS][8]; // 6 are used
};

// Lanes share the nodes; lane 8 p + c sums corner c over the nodes p, p + 4, ...
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
            for (int i = 0; i < 3; i++) f[i] = static_cast<float>(r[3 * a + i]) - t[3 * a + i];
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
    float at[3]; // of the corner
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
    const int64_t thread = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
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

int mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r, const float *d_t,
                  const hx_mg_level *level)
{
    const hx_mg_cells cells = hx_mg_cells_of(mesh);
    mesh_restrict_kernel<<<hx_blocks(mesh->n_cell, WARPS), 32 * WARPS, 0, stream_of(dev)>>>(
        cells, d_r, d_t, mesh->d_partial);
    HX_TRY_LAUNCH("multigrid restrict");
    gather_kernel<<<hx_blocks(DOF * level->n_node, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(
        level->n_node, mesh->d_node_cell, mesh->d_partial, level->d_b);
    HX_TRY_LAUNCH("multigrid gather");
    return HX_OK;
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
    if (lane < CORNERS) { // displacement of the cell's first corner by each corner's motion
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

int mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y, const float *d_m,
                 float *d_x)
{
    mesh_prolong_kernel<<<hx_blocks(mesh->n_cell, WARPS), 32 * WARPS, 0, stream_of(dev)>>>(
        hx_mg_cells_of(mesh), d_y, d_m, d_x);
    HX_TRY_LAUNCH("multigrid prolong");
    return HX_OK;
}

// ---- on a lattice ----

enum mode { MULTIPLY, RESIDUAL, SMOOTH };

constexpr int ROWS = 96, SLICES = 3; // rows of a block; threads a row, each for 9 neighbours

template <mode MODE>
__global__ void __launch_bounds__(ROWS *SLICES)
    row_kernel(hx_mg_level level, int step, const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float part[SLICES - 1][ROWS];
    const int64_t n_row = DOF * level.n_node;
    const int64_t row = blockIdx.x * static_cast<int64_t>(ROWS) + threadIdx.x;
    const int slice = static_cast<int>(threadIdx.y);
    float sum = 0.0f;
    if (row < n_row && x) {
        const int64_t a = row / DOF;
        const int32_t *__restrict__ neighbour = level.d_neighbour + 9 * slice * level.n_node + a;
        const float *__restrict__ entry = level.d_matrix + 9 * DOF * slice * n_row + row;
        const float2 *from[9];
#pragma unroll
        for (int o = 0; o < 9; o++)
            from[o] = reinterpret_cast<const float2 *>(
                x + DOF * static_cast<int64_t>(neighbour[o * level.n_node]));
#pragma unroll 3
        for (int o = 0; o < 9; o += 3) { // 27 loads at once: small lattices wait for them
            float2 v[9];
            float m[18];
#pragma unroll
            for (int c = 0; c < 9; c++) v[c] = from[o + c / 3][c % 3];
#pragma unroll
            for (int c = 0; c < 18; c++) m[c] = __ldcs(entry + c * n_row);
            entry += 18 * n_row;
#pragma unroll
            for (int c = 0; c < 9; c++) {
                sum = fmaf(m[2 * c], v[c].x, sum);
                sum = fmaf(m[2 * c + 1], v[c].y, sum);
            }
        }
    }
    if (slice > 0) part[slice - 1][threadIdx.x] = sum;
    __syncthreads();
    if (slice > 0 || row >= n_row) return;
    sum = (sum + part[0][threadIdx.x]) + part[1][threadIdx.x];
    if (MODE == MULTIPLY) {
        y[row] = sum;
    } else if (MODE == RESIDUAL) {
        y[row] = level.d_b[row] - sum;
    } else {
        float d = level.d_smoother->b[step] * level.d_m[row] * (level.d_b[row] - sum);
        if (step > 0) d += level.d_smoother->a[step] * level.d_d[row];
        level.d_d[row] = d;
        y[row] = (x ? x[row] : 0.0f) + d;
    }
}

template <mode MODE>
int run_rows(hx_device *dev, const hx_mg_level *level, int step, const float *d_x, float *d_y)
{
    row_kernel<MODE>
        <<<hx_blocks(DOF * level->n_node, ROWS), dim3(ROWS, SLICES), 0, stream_of(dev)>>>(
            *level, step, d_x, d_y);
    HX_TRY_LAUNCH("multigrid rows");
    return HX_OK;
}

int multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return run_rows<MULTIPLY>(dev, level, 0, d_x, d_y);
}

int residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return run_rows<RESIDUAL>(dev, level, 0, d_x, d_y);
}

int smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    return run_rows<SMOOTH>(dev, level, i, d_x, d_y);
}

// Eight lanes share the children of a node.
__global__ void restrict_kernel(hx_mg_level fine, const float *__restrict__ r, hx_mg_level coarse)
{
    const int64_t thread = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int64_t a = thread / 8;
    const int lane = static_cast<int>(thread % 8);
    float sum[DOF] = {};
    if (a < coarse.n_node)
        for (int o = lane; o < 27; o += 8) {
            const int64_t child = coarse.d_child[o * coarse.n_node + a];
            float d[3];
            if (child < 0) continue;
            const float w = hx_mg_child(&fine, &coarse, o, d), *from = r + DOF * child;
            float v[DOF];
            for (int i = 0; i < DOF; i++) v[i] = from[i];
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, m = (i + 2) % 3;
                sum[i] += w * v[i];
                sum[3 + i] += w * (v[3 + i] + d[j] * v[m] - d[m] * v[j]);
            }
        }
    for (int i = 0; i < DOF; i++)
        for (int k = 4; k > 0; k /= 2) sum[i] += __shfl_down_sync(0xffffffffu, sum[i], k, 8);
    if (lane > 0 || a >= coarse.n_node) return;
    for (int i = 0; i < DOF; i++) coarse.d_b[DOF * a + i] = sum[i];
}

int restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                const hx_mg_level *coarse)
{
    restrict_kernel<<<hx_blocks(8 * coarse->n_node, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(
        *fine, d_r, *coarse);
    HX_TRY_LAUNCH("multigrid restrict");
    return HX_OK;
}

__global__ void prolong_kernel(hx_mg_level coarse, const float *__restrict__ y, hx_mg_level fine,
                               float *__restrict__ x)
{
    const int64_t a = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    int64_t parent[CORNERS];
    int first[3] = {}, second[3] = {}, wide[3];
    float sum[DOF] = {}, near[3];
    if (a >= fine.n_node) return;
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        parent[c] = fine.d_parent[c * fine.n_node + a];
        for (int i = 0; i < 3; i++)
            (c >> i & 1 ? second[i] : first[i]) |= static_cast<int>(parent[c] >= 0);
    }
    const float w = hx_mg_parents(&fine, &coarse, first, second, near, wide);
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        float d[3], v[DOF];
        if (parent[c] < 0) continue;
        for (int i = 0; i < 3; i++) d[i] = wide[i] && (c >> i & 1) ? -near[i] : near[i];
        for (int i = 0; i < DOF; i++) v[i] = y[DOF * parent[c] + i];
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            sum[i] += w * (v[i] + v[3 + j] * d[m] - v[3 + m] * d[j]);
            sum[3 + i] += w * v[3 + i];
        }
    }
    for (int i = 0; i < DOF; i++) x[DOF * a + i] += sum[i];
}

int prolong_from(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                 const hx_mg_level *fine, float *d_x)
{
    prolong_kernel<<<hx_blocks(fine->n_node, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(*coarse, d_y,
                                                                                       *fine, d_x);
    HX_TRY_LAUNCH("multigrid prolong");
    return HX_OK;
}

__global__ void diagonal_kernel(hx_mg_level level)
{
    const int64_t n_row = DOF * level.n_node;
    const int64_t row = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (row >= n_row) return;
    const float d = level.d_matrix[(DOF * HX_LATTICE_CENTRE + row % DOF) * n_row + row];
    level.d_m[row] = d > 0.0f ? 1.0f / d : 0.0f;
}

int diagonal(hx_device *dev, const hx_mg_level *level)
{
    diagonal_kernel<<<hx_blocks(DOF * level->n_node, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(
        *level);
    HX_TRY_LAUNCH("multigrid diagonal");
    return HX_OK;
}

void fill_dense(int64_t n_node, const int32_t *neighbour, const float *matrix, double *dense)
{
    const int64_t n = DOF * n_node;
    for (int64_t k = 0; k < n * n; k++) dense[k] = 0.0;
    for (int64_t a = 0; a < n_node; a++)
        for (int o = 0; o < HX_LATTICE_OFFSETS; o++) {
            const int64_t b = neighbour[o * n_node + a];
            if (b == a && o != HX_LATTICE_CENTRE) continue;
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++)
                    dense[(DOF * a + r) * n + DOF * b + c] =
                        static_cast<double>(matrix[((DOF * o + c) * n_node + a) * DOF + r]);
        }
}

int dense(hx_device *dev, const hx_mg_level *level, double *matrix)
{
    const size_t n = static_cast<size_t>(level->n_node);
    const size_t n_byte = n * 27 * 36 * sizeof(float), n_list = n * 27 * sizeof(int32_t);
    int32_t *neighbour = nullptr;
    float *entry = nullptr;
    int rc = hx_alloc_raw(&neighbour, n_list, 1, "coarsest level");
    if (rc == HX_OK) rc = hx_alloc_raw(&entry, n_byte, 1, "coarsest level");
    if (rc == HX_OK) rc = dev->ops->download(dev, neighbour, level->d_neighbour, n_list);
    if (rc == HX_OK) rc = dev->ops->download(dev, entry, level->d_matrix, n_byte);
    if (rc == HX_OK) fill_dense(level->n_node, neighbour, entry, matrix);
    free(neighbour);
    free(entry);
    return rc;
}

// A warp a row.
__global__ void dense_multiply_kernel(int n, const float *__restrict__ inverse,
                                      const float *__restrict__ b, float *__restrict__ y)
{
    const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int row = thread / 32, lane = thread % 32;
    double sum = 0.0; // large terms cancel
    if (row >= n) return;
    for (int k = lane; k < n; k += 32)
        sum = fma(static_cast<double>(inverse[row * n + k]), static_cast<double>(b[k]), sum);
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0) y[row] = static_cast<float>(sum);
}

int dense_multiply(hx_device *dev, int64_t n, const float *d_inverse, const float *d_b, float *d_y)
{
    dense_multiply_kernel<<<hx_blocks(32 * n, 128), 128, 0, stream_of(dev)>>>(static_cast<int>(n),
                                                                              d_inverse, d_b, d_y);
    HX_TRY_LAUNCH("multigrid coarsest");
    return HX_OK;
}

// A thread an entry.
__global__ void add_blocks_kernel(int64_t n, const int64_t *__restrict__ at,
                                  const float *__restrict__ block, hx_mg_level level)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x, i = k / 36;
    if (i >= n) return;
    const int64_t node = at[i] / HX_LATTICE_OFFSETS, o = at[i] % HX_LATTICE_OFFSETS;
    const int r = static_cast<int>(k % 36) / DOF, c = static_cast<int>(k % 36) % DOF;
    level.d_matrix[((DOF * o + c) * level.n_node + node) * DOF + r] += block[k];
}

int add_blocks(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
               const float *d_block)
{
    if (n == 0) return HX_OK;
    add_blocks_kernel<<<hx_blocks(36 * n, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(
        n, d_at, d_block, *level);
    HX_TRY_LAUNCH("multigrid add_blocks");
    return HX_OK;
}

// ---- rigid sets ----

__global__ void match_entries_kernel(int64_t n, const int64_t *__restrict__ dof,
                                     const double *__restrict__ r, float *__restrict__ t)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) t[dof[i]] = static_cast<float>(r[dof[i]]);
}

int match_entries(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_r, float *d_t)
{
    if (n == 0) return HX_OK;
    match_entries_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(n, d_dof, d_r,
                                                                                  d_t);
    HX_TRY_LAUNCH("multigrid match_entries");
    return HX_OK;
}

// Six columns, those of a set.
__global__ void __launch_bounds__(HX_BLOCK)
    column_dots_kernel(int64_t n, const float *__restrict__ y, const float *__restrict__ b,
                       double *sum, double *partial, unsigned *ticket)
{
    double dot[DOF] = {};
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n;
         i += stride)
        for (int k = 0; k < DOF; k++)
            dot[k] += static_cast<double>(y[n * k + i]) * static_cast<double>(b[i]);
    if (!hx_finish_sums(dot, partial, ticket)) return;
    for (int k = 0; k < DOF; k++) sum[k] -= dot[k];
}

int column_dots(hx_device *dev, int64_t n, int n_column, const float *d_y, const float *d_b,
                double *d_sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const unsigned n_block = hx_sum_blocks<float>(impl, n, PER_SM);
    for (int k = 0; k < n_column; k += DOF) {
        column_dots_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(n, d_y + k * n, d_b, d_sum + k,
                                                                   impl->d_partial, impl->d_ticket);
        HX_TRY_LAUNCH("multigrid column_dots");
    }
    return HX_OK;
}

__global__ void column_combine_kernel(int64_t n, int n_column, const float *__restrict__ y,
                                      const double *__restrict__ c, float *__restrict__ x)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    double sum = 0.0;
    if (i >= n) return;
    for (int k = 0; k < n_column; k++) sum -= c[k] * static_cast<double>(y[n * k + i]);
    x[i] = static_cast<float>(sum);
}

int column_combine(hx_device *dev, int64_t n, int n_column, const float *d_y, const double *d_c,
                   float *d_x)
{
    column_combine_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(n, n_column, d_y,
                                                                                   d_c, d_x);
    HX_TRY_LAUNCH("multigrid column_combine");
    return HX_OK;
}

__global__ void add_kernel(int64_t n, const float *__restrict__ x, float *__restrict__ y)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] += x[i];
}

int add(hx_device *dev, int64_t n, const float *d_x, float *d_y)
{
    add_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(n, d_x, d_y);
    HX_TRY_LAUNCH("multigrid add");
    return HX_OK;
}

__global__ void small_multiply_kernel(int n, const double *__restrict__ inverse,
                                      const double *__restrict__ sum, double *__restrict__ c)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    double total = 0.0;
    if (i >= n) return;
    for (int k = 0; k < n; k++) total += inverse[static_cast<int64_t>(n) * i + k] * sum[k];
    c[i] = total;
}

int small_multiply(hx_device *dev, int n_column, const double *d_inverse, const double *d_sum,
                   double *d_c)
{
    small_multiply_kernel<<<hx_blocks(n_column, HX_BLOCK), HX_BLOCK, 0, stream_of(dev)>>>(
        n_column, d_inverse, d_sum, d_c);
    HX_TRY_LAUNCH("multigrid small_multiply");
    return HX_OK;
}

hx_multigrid_ops make_ops()
{
    hx_multigrid_ops ops = {};
    ops.invert = invert;
    ops.power_start = power_start;
    ops.power_step = power_step;
    ops.mesh_start = mesh_start;
    ops.mesh_step = mesh_step;
    ops.mesh_restrict = mesh_restrict;
    ops.mesh_prolong = mesh_prolong;
    ops.mesh_galerkin = hx_cuda_mesh_galerkin;
    ops.add_blocks = add_blocks;
    ops.match_entries = match_entries;
    ops.column_dots = column_dots;
    ops.column_combine = column_combine;
    ops.add = add;
    ops.small_multiply = small_multiply;
    ops.multiply = multiply;
    ops.residual = residual;
    ops.smooth = smooth;
    ops.restrict_to = restrict_to;
    ops.prolong_from = prolong_from;
    ops.galerkin = hx_cuda_galerkin;
    ops.diagonal = diagonal;
    ops.dense = dense;
    ops.dense_multiply = dense_multiply;
    return ops;
}

} // namespace

const hx_multigrid_ops hx_cuda_multigrid_ops = make_ops();
