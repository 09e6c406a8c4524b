// Multigrid with one unknown per node (heat conduction). Operations that do not depend on the
// number of unknowns are in multigrid_cuda.cu.
//
// A coarse matrix is stored by neighbours: entry (row a, its neighbour at offset o) is at o
// n_node + a, so that a warp, with one thread per row, reads whole cache lines.
#include <cstdlib>

#include "../matrix/product_cuda.cuh"
#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "multigrid_cuda.cuh"

extern const hx_multigrid_ops hx_cuda_multigrid_scalar_ops;

namespace
{

constexpr int CORNERS = 8, ROW = HX_COARSE_OFFSETS;

// Weight of corner c of a cell at node a.
__device__ __forceinline__ float weight_at(const hx_mg_cells &cells, int64_t cell, int c, int64_t a)
{
    float w = 1.0f;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const float s = cells.position[3 * a + i] - static_cast<float>(cells.cell[3 * cell + i]);
        w *= c >> i & 1 ? s : 1.0f - s;
    }
    return w;
}

// --- between the mesh and the first coarse grid: eight threads per cell ---

__global__ void mesh_restrict_kernel(hx_mg_cells cells, const double *__restrict__ r,
                                     const float *__restrict__ t, float *__restrict__ partial)
{
    const int64_t thread = hx_grid_thread(), cell = thread / CORNERS;
    const int c = static_cast<int>(thread % CORNERS);
    float sum = 0.0f;
    if (cell >= cells.n_cell) return;
    for (int k = cells.node_at[cell]; k < cells.node_at[cell + 1]; k++) {
        const int64_t a = cells.node[k];
        if (a >= cells.n_own) continue;
        sum = fmaf(weight_at(cells, cell, c, a), static_cast<float>(r[a]) - t[a], sum);
    }
    partial[thread] = sum;
}

__global__ void gather_kernel(int64_t n, const int32_t *__restrict__ node_cell,
                              const float *__restrict__ partial, float *__restrict__ b)
{
    const int64_t a = hx_grid_thread();
    float sum = 0.0f;
    if (a >= n) return;
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        const int64_t cell = node_cell[c * n + a];
        if (cell >= 0) sum += partial[CORNERS * cell + c];
    }
    b[a] = sum;
}

int mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r, const float *d_t,
                  const hx_mg_level *level)
{
    HX_TRY(hx_launch(dev, "scalar mesh restrict", CORNERS * mesh->n_cell, mesh_restrict_kernel,
                     hx_mg_cells_of(mesh), d_r, d_t, mesh->d_partial));
    return hx_launch(dev, "scalar gather", level->n_node, gather_kernel, level->n_node,
                     mesh->d_node_cell, mesh->d_partial, level->d_b);
}

__global__ void mesh_prolong_kernel(hx_mg_cells cells, const float *__restrict__ y,
                                    const float *__restrict__ m, float *__restrict__ x)
{
    const int64_t thread = hx_grid_thread(), cell = thread / CORNERS;
    float at[CORNERS];
    if (cell >= cells.n_cell) return;
#pragma unroll
    for (int c = 0; c < CORNERS; c++) at[c] = y[cells.corner[CORNERS * cell + c]];
    for (int k = cells.node_at[cell] + static_cast<int>(thread % CORNERS);
         k < cells.node_at[cell + 1]; k += CORNERS) {
        const int64_t a = cells.node[k];
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < CORNERS; c++) sum = fmaf(weight_at(cells, cell, c, a), at[c], sum);
        if (m[a] > 0.0f) x[a] += sum;
    }
}

int mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y, const float *d_m,
                 float *d_x)
{
    return hx_launch(dev, "scalar mesh prolong", CORNERS * mesh->n_cell, mesh_prolong_kernel,
                     hx_mg_cells_of(mesh), d_y, d_m, d_x);
}

// --- Galerkin product from the mesh: one warp per cell; cells of a colour share no corner ---
//
// Each lane first has a Gauss point and a pair of the cell's corners, and stores the gradients of
// their functions there; then it sums two entries of the cell's 8 x 8 matrix over the points.

constexpr int WARPS = 4;

struct galerkin_input {
    hx_mg_cells cells;
    const int32_t *coloured, *elem, *elem_at, *conn;
    const uint8_t *fixed;
    const double *modulus;
    int first, n; // range of cells of the colour
};

struct warp_data {
    float x[24];                   // corners of the element relative to the cell's origin
    float weight[8][CORNERS];      // [node][corner], 0 for prescribed temperatures
    float gradient[8][CORNERS][3]; // [point][corner of the cell], times sqrt(k det)
};

__device__ __forceinline__ void load_element(const galerkin_input &in, int64_t cell, int64_t e,
                                             int lane, warp_data &data)
{
    if (lane < 8) {
        const int64_t node = in.conn[8 * e + lane];
        float w[CORNERS], unused[3];
        hx_mg_locate(in.cells, cell, node, w, unused);
        for (int c = 0; c < CORNERS; c++) data.weight[lane][c] = in.fixed[node] ? 0.0f : w[c];
    } else {
        const int a = (lane - 8) / 3, i = (lane - 8) % 3;
        const int64_t node = in.conn[8 * e + a], first = in.conn[8 * e];
        data.x[3 * a + i] =
            static_cast<float>(in.cells.xyz[3 * node + i] - in.cells.xyz[3 * first + i]);
    }
}

// Transposed inverse Jacobian at a point, times det; returns det.
__device__ __forceinline__ float adjugate(const float *x, const float point[3], float adj[3][3])
{
    float j[3][3] = {};
#pragma unroll
    for (int a = 0; a < 8; a++) {
        const float s[3] = {static_cast<float>(hx_hex8_sign(a, 0)),
                            static_cast<float>(hx_hex8_sign(a, 1)),
                            static_cast<float>(hx_hex8_sign(a, 2))};
        const float n[3] = {1.0f + s[0] * point[0], 1.0f + s[1] * point[1], 1.0f + s[2] * point[2]};
        const float d[3] = {0.125f * s[0] * n[1] * n[2], 0.125f * s[1] * n[0] * n[2],
                            0.125f * s[2] * n[0] * n[1]};
#pragma unroll
        for (int k = 0; k < 3; k++)
#pragma unroll
            for (int i = 0; i < 3; i++) j[k][i] = fmaf(d[k], x[3 * a + i], j[k][i]);
    }
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[a][i] = j[b][i1] * j[c][i2] - j[b][i2] * j[c][i1];
        }
    }
    return j[0][0] * adj[0][0] + j[0][1] * adj[0][1] + j[0][2] * adj[0][2];
}

__device__ __forceinline__ void set_gradients(float modulus, int lane, warp_data &data)
{
    const int q = lane / 4, pair = lane % 4;
    float adj[3][3], sum[2][3] = {}, point[3];
    for (int i = 0; i < 3; i++) point[i] = static_cast<float>(hx_hex8_gauss(q, i));
    const float det = adjugate(data.x, point, adj);
    const float factor = sqrtf(modulus * det) / det; /* k det g g', where g = adj' d / det */
#pragma unroll
    for (int a = 0; a < 8; a++) {
        const float s[3] = {static_cast<float>(hx_hex8_sign(a, 0)),
                            static_cast<float>(hx_hex8_sign(a, 1)),
                            static_cast<float>(hx_hex8_sign(a, 2))};
        const float n[3] = {1.0f + s[0] * point[0], 1.0f + s[1] * point[1], 1.0f + s[2] * point[2]};
        const float d[3] = {0.125f * s[0] * n[1] * n[2], 0.125f * s[1] * n[0] * n[2],
                            0.125f * s[2] * n[0] * n[1]};
        for (int c = 0; c < 2; c++)
            for (int k = 0; k < 3; k++)
                sum[c][k] = fmaf(data.weight[a][2 * pair + c], d[k], sum[c][k]);
    }
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 3; i++)
            data.gradient[q][2 * pair + c][i] =
                factor * (adj[0][i] * sum[c][0] + adj[1][i] * sum[c][1] + adj[2][i] * sum[c][2]);
}

__global__ void __launch_bounds__(32 * WARPS)
    mesh_galerkin_kernel(galerkin_input in, int64_t n_node, float *__restrict__ matrix)
{
    __shared__ warp_data shared[WARPS];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int k = static_cast<int>(blockIdx.x) * WARPS + warp;
    if (k >= in.n) return;
    const int64_t cell = in.coloured[in.first + k];
    warp_data &data = shared[warp];
    const int row = lane / 4, column = 2 * (lane % 4); // entries (row, column), (row, column + 1)
    float entry[2] = {};
    for (int l = in.elem_at[cell]; l < in.elem_at[cell + 1]; l++) {
        const int64_t e = in.elem[l];
        load_element(in, cell, e, lane, data);
        __syncwarp();
        set_gradients(static_cast<float>(in.modulus[e]), lane, data);
        __syncwarp();
        for (int q = 0; q < 8; q++)
            for (int c = 0; c < 2; c++)
                for (int i = 0; i < 3; i++)
                    entry[c] =
                        fmaf(data.gradient[q][row][i], data.gradient[q][column + c][i], entry[c]);
        __syncwarp();
    }
    const int32_t *const corner = in.cells.corner + CORNERS * cell;
    for (int c = 0; c < 2; c++) {
        const int b = column + c;
        const int offset = HX_COARSE_CENTRE + ((b & 1) - (row & 1)) +
                           3 * ((b >> 1 & 1) - (row >> 1 & 1)) + 9 * ((b >> 2) - (row >> 2));
        matrix[offset * n_node + corner[row]] += entry[c];
    }
}

int mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    galerkin_input in = {};
    in.cells = hx_mg_cells_of(mesh);
    in.coloured = mesh->d_coloured;
    in.elem = mesh->d_cell_elem;
    in.elem_at = mesh->d_cell_elem_at;
    in.conn = mesh->model->d_conn;
    in.fixed = mesh->d_fixed;
    in.modulus = mesh->model->d_modulus;
    HX_TRY(dev->ops->zero(dev, level->d_matrix,
                          ROW * static_cast<size_t>(level->n_node) * sizeof(float)));
    for (int colour = 0; colour < 8; colour++) {
        in.first = mesh->colour_at[colour];
        in.n = mesh->colour_at[colour + 1] - in.first;
        if (in.n == 0) continue;
        HX_TRY(hx_launch<32 * WARPS>(dev, "scalar mesh galerkin", int64_t{32} * in.n,
                                     mesh_galerkin_kernel, in, level->n_node, level->d_matrix));
    }
    return HX_OK;
}

__global__ void add_blocks_kernel(int64_t n, const int64_t *__restrict__ at,
                                  const float *__restrict__ block, hx_mg_level level)
{
    const int64_t i = hx_grid_thread();
    if (i < n) level.d_matrix[at[i] % ROW * level.n_node + at[i] / ROW] += block[i];
}

int add_blocks(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
               const float *d_block)
{
    return hx_launch(dev, "scalar add_blocks", n, add_blocks_kernel, n, d_at, d_block, *level);
}

// --- on a coarse grid: one thread per row ---

// If there is no neighbour, the list contains the node itself, and the entry is 0.
__device__ __forceinline__ float row_product(const hx_mg_level &level, int64_t a,
                                             const float *__restrict__ x)
{
    float sum = 0.0f;
#pragma unroll 9
    for (int o = 0; o < ROW; o++)
        sum = fmaf(__ldcs(level.d_matrix + o * level.n_node + a),
                   x[level.d_neighbour[o * level.n_node + a]], sum);
    return sum;
}

__global__ void multiply_kernel(hx_mg_level level, const float *__restrict__ x,
                                float *__restrict__ y)
{
    const int64_t a = hx_grid_thread();
    if (a < level.n_node) y[a] = row_product(level, a, x);
}

__global__ void residual_kernel(hx_mg_level level, const float *__restrict__ x,
                                float *__restrict__ y)
{
    const int64_t a = hx_grid_thread();
    if (a < level.n_node) y[a] = level.d_b[a] - row_product(level, a, x);
}

__global__ void smooth_kernel(hx_mg_level level, int step, const float *__restrict__ x,
                              float *__restrict__ y)
{
    const int64_t a = hx_grid_thread();
    if (a >= level.n_node) return;
    const float product = x ? row_product(level, a, x) : 0.0f;
    float d = level.d_smoother->b[step] * level.d_m[a] * (level.d_b[a] - product);
    if (step > 0) d += level.d_smoother->a[step] * level.d_d[a];
    level.d_d[a] = d;
    y[a] = (x ? x[a] : 0.0f) + d;
}

int multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return hx_launch(dev, "scalar multiply", level->n_node, multiply_kernel, *level, d_x, d_y);
}

int residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return hx_launch(dev, "scalar residual", level->n_node, residual_kernel, *level, d_x, d_y);
}

int smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    return hx_launch(dev, "scalar smooth", level->n_node, smooth_kernel, *level, i, d_x, d_y);
}

__global__ void restrict_kernel(hx_mg_level fine, const float *__restrict__ r, hx_mg_level coarse)
{
    const int64_t a = hx_grid_thread();
    float sum = 0.0f, d[3];
    if (a >= coarse.n_node) return;
    for (int o = 0; o < ROW; o++) {
        const int64_t child = coarse.d_child[o * coarse.n_node + a];
        if (child >= 0) sum = fmaf(hx_mg_child(&fine, &coarse, o, d), r[child], sum);
    }
    coarse.d_b[a] = sum;
}

int restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                const hx_mg_level *coarse)
{
    return hx_launch(dev, "scalar restrict", coarse->n_node, restrict_kernel, *fine, d_r, *coarse);
}

__global__ void prolong_kernel(hx_mg_level coarse, const float *__restrict__ y, hx_mg_level fine,
                               float *__restrict__ x)
{
    const int64_t a = hx_grid_thread();
    int first[3] = {}, second[3] = {}, wide[3];
    float sum = 0.0f, d[3];
    if (a >= fine.n_node) return;
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        const int64_t parent = fine.d_parent[c * fine.n_node + a];
        for (int i = 0; i < 3; i++)
            (c >> i & 1 ? second[i] : first[i]) |= static_cast<int>(parent >= 0);
        if (parent >= 0) sum += y[parent];
    }
    x[a] += hx_mg_parents(&fine, &coarse, first, second, d, wide) * sum;
}

int prolong_from(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                 const hx_mg_level *fine, float *d_x)
{
    return hx_launch(dev, "scalar prolong", fine->n_node, prolong_kernel, *coarse, d_y, *fine, d_x);
}

// --- Galerkin product from a coarse grid to the next: one thread per entry ---

// Offset of the fine node at `to`, as a child of the coarse node at `at`, or -1; both are relative
// to the same coarse node.
__device__ __forceinline__ int child_offset(const hx_mg_level &coarse, const int to[3],
                                            const int at[3])
{
    int offset = 0;
    const int stride[3] = {1, 3, 9};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int e = to[i] - hx_coarse_stride(coarse.mode[i]) * at[i];
        if (e < hx_coarse_low(coarse.mode[i]) || e > hx_coarse_high(coarse.mode[i])) return -1;
        offset += (e + 1) * stride[i];
    }
    return offset;
}

// Entry (a, p): sums over the children i of a and those of their neighbours k that are children of
// a + p.
__global__ void galerkin_kernel(hx_mg_level fine, hx_mg_level coarse)
{
    const int64_t thread = hx_grid_thread(), a = thread % coarse.n_node;
    const int p = static_cast<int>(thread / coarse.n_node);
    if (p >= ROW) return;
    const int parent[3] = {p % 3 - 1, p / 3 % 3 - 1, p / 9 - 1};
    const int is_there = p == HX_COARSE_CENTRE || coarse.d_neighbour[p * coarse.n_node + a] != a;
    float sum = 0.0f, d[3];
    for (int o = 0; is_there && o < ROW; o++) {
        const int64_t i = coarse.d_child[o * coarse.n_node + a];
        if (i < 0) continue;
        const float wi = hx_mg_child(&fine, &coarse, o, d);
        for (int n = 0; n < ROW; n++) {
            const int to[3] = {o % 3 + n % 3 - 2, o / 3 % 3 + n / 3 % 3 - 2, o / 9 + n / 9 - 2};
            const int e = child_offset(coarse, to, parent);
            if (e < 0) continue;
            sum = fmaf(wi * hx_mg_child(&fine, &coarse, e, d), fine.d_matrix[n * fine.n_node + i],
                       sum);
        }
    }
    coarse.d_matrix[p * coarse.n_node + a] = coarse.scale * sum;
}

int galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    return hx_launch(dev, "scalar galerkin", ROW * coarse->n_node, galerkin_kernel, *fine, *coarse);
}

__global__ void diagonal_kernel(hx_mg_level level)
{
    const int64_t a = hx_grid_thread();
    if (a >= level.n_node) return;
    const float d = level.d_matrix[HX_COARSE_CENTRE * level.n_node + a];
    level.d_m[a] = d > 0.0f ? 1.0f / d : 0.0f;
}

int level_diagonal(hx_device *dev, const hx_mg_level *level)
{
    return hx_launch(dev, "scalar diagonal", level->n_node, diagonal_kernel, *level);
}

int dense(hx_device *dev, const hx_mg_level *level, double *matrix)
{
    const size_t n = static_cast<size_t>(level->n_node);
    const size_t n_byte = n * ROW * sizeof(float), n_list = n * ROW * sizeof(int32_t);
    int32_t *neighbour = nullptr;
    float *entry = nullptr;
    int rc = hx_alloc_raw(&neighbour, n_list, 1, "coarsest level");
    if (rc == HX_OK) rc = hx_alloc_raw(&entry, n_byte, 1, "coarsest level");
    if (rc == HX_OK) rc = dev->ops->download(dev, neighbour, level->d_neighbour, n_list);
    if (rc == HX_OK) rc = dev->ops->download(dev, entry, level->d_matrix, n_byte);
    if (rc == HX_OK) {
        for (int64_t k = 0; k < level->n_node * level->n_node; k++) matrix[k] = 0.0;
        for (int64_t a = 0; a < level->n_node; a++)
            for (int o = 0; o < ROW; o++) {
                const int64_t b = neighbour[o * level->n_node + a];
                if (b != a || o == HX_COARSE_CENTRE)
                    matrix[a * level->n_node + b] =
                        static_cast<double>(entry[o * level->n_node + a]);
            }
    }
    free(neighbour);
    free(entry);
    return rc;
}

// --- Galerkin product from the rows of K: one thread block per cell; cells of a colour share no
// corner ---
//
// As in galerkin_rows_cuda.cu, with one unknown: one warp per row sums w_jJ k_ij at the 64 coarse
// nodes around the cell, two per lane; then one warp per corner I adds w_iI times the sums of eight
// rows.

constexpr int SIDE = 4, NEAR = SIDE * SIDE * SIDE, ROW_WARPS = CORNERS;

struct row_entry {
    // value: k_ij, halved on the diagonal; part: position within the column's own cell
    double value, part[3];
    int base[3]; // first corner of that cell, relative to the coarse node before the cell
};

struct row_data {
    row_entry entry[32];
    double sum[NEAR], part[3]; // part: position of the row's point in the cell
};

struct rows_input {
    hx_mg_cells cells;
    hx_matrix matrix;
    const uint8_t *fixed;
    const int32_t *coloured;
};

__device__ __forceinline__ row_entry load_entry(const rows_input &in, int64_t cell, int64_t row,
                                                int n, int k, int64_t col)
{
    row_entry e;
    const bool is_held = in.fixed[row] || in.fixed[col];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const double x = static_cast<double>(in.cells.position[3 * col + i]), low = floor(x);
        e.base[i] = static_cast<int>(low) - in.cells.cell[3 * cell + i] + 1;
        e.part[i] = x - low;
    }
    const double value =
        is_held ? 0.0 : hx_number(in.matrix, hx_matrix_place(&in.matrix, row, n, k, 0, 0));
    e.value = row == col ? 0.5 * value : value;
    return e;
}

// Weight of an entry's column at a coarse node; 0 if the node is not in the column's cell.
__device__ __forceinline__ double weight_near(const row_entry &e, int node)
{
    const int at[3] = {node % SIDE, node / SIDE % SIDE, node / SIDE / SIDE};
    double w = 1.0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int from = at[i] - e.base[i];
        w *= from == 0 ? 1.0 - e.part[i] : from == 1 ? e.part[i] : 0.0;
    }
    return w;
}

__device__ void sum_row(const rows_input &in, int64_t cell, int64_t row, row_data &d)
{
    const hx_device_pattern &p = in.matrix.pattern;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t begin = p.d_row_ptr[row];
    const int n = static_cast<int>(p.d_row_ptr[row + 1] - begin);
    double sum[2] = {0.0, 0.0};
    if (lane < 3)
        d.part[lane] =
            static_cast<double>(in.cells.position[3 * row + lane]) - in.cells.cell[3 * cell + lane];
    for (int first = 0; first < n; first += 32) {
        const int k = first + lane;
        const int64_t col = k < n ? p.d_col[begin + k] : row + 1;
        const int n_here = __popc(__ballot_sync(0xffffffffu, col <= row)); // columns ascend
        if (col <= row) d.entry[lane] = load_entry(in, cell, row, n, k, col);
        __syncwarp();
        for (int e = 0; e < n_here; e++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                sum[i] += weight_near(d.entry[e], lane + 32 * i) * d.entry[e].value;
        __syncwarp();
        if (n_here < 32) break;
    }
    d.sum[lane] = sum[0];
    d.sum[lane + 32] = sum[1];
}

__global__ void __launch_bounds__(32 * ROW_WARPS)
    rows_galerkin_kernel(const __grid_constant__ rows_input in, hx_mg_level level)
{
    __shared__ row_data all[ROW_WARPS];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = in.coloured[blockIdx.x];
    const int begin = in.cells.node_at[cell], end = in.cells.node_at[cell + 1];
    const int corner[3] = {warp & 1, warp >> 1 & 1, warp >> 2};
    double value[2] = {0.0, 0.0};
    for (int first = begin; first < end; first += ROW_WARPS) {
        const int n_row = end - first < ROW_WARPS ? end - first : ROW_WARPS;
        if (warp < n_row) sum_row(in, cell, in.cells.node[first + warp], all[warp]);
        __syncthreads();
        for (int r = 0; r < n_row; r++) {
            double w = 1.0;
#pragma unroll
            for (int i = 0; i < 3; i++) w *= corner[i] ? all[r].part[i] : 1.0 - all[r].part[i];
            value[0] += w * all[r].sum[lane];
            value[1] += w * all[r].sum[lane + 32];
        }
        __syncthreads();
    }
    const int64_t here = in.cells.corner[CORNERS * cell + warp];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int b = lane + 32 * i, x = b % SIDE - 1 - corner[0],
                  y = b / SIDE % SIDE - 1 - corner[1], z = b / SIDE / SIDE - 1 - corner[2];
        if (x * x > 1 || y * y > 1 || z * z > 1) continue;
        level.d_matrix[(HX_COARSE_CENTRE + x + 3 * y + 9 * z) * level.n_node + here] +=
            static_cast<float>(value[i]);
    }
}

// C := C + C'. x: nodes; y: offsets up to that of the diagonal.
__global__ void add_transposed_kernel(hx_mg_level level)
{
    const int64_t a = hx_grid_thread();
    const int offset = static_cast<int>(blockIdx.y);
    if (a >= level.n_node) return;
    const int64_t b = level.d_neighbour[offset * level.n_node + a];
    if (b == a && offset != HX_COARSE_CENTRE) return; // there is no neighbour
    float *const one = level.d_matrix + offset * level.n_node + a;
    float *const two = level.d_matrix + (ROW - 1 - offset) * level.n_node + b;
    const float sum = *one + *two;
    *one = sum;
    *two = sum;
}

int rows_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                  const hx_mg_level *level)
{
    const cudaStream_t stream = hx_stream_of(dev);
    rows_input in = {hx_mg_cells_of(mesh), *matrix, mesh->d_fixed, nullptr};
    HX_TRY(dev->ops->zero(dev, level->d_matrix,
                          ROW * static_cast<size_t>(level->n_node) * sizeof(float)));
    for (int colour = 0; colour < 8; colour++) {
        const int n = mesh->colour_at[colour + 1] - mesh->colour_at[colour];
        if (n == 0) continue;
        in.coloured = mesh->d_coloured + mesh->colour_at[colour];
        rows_galerkin_kernel<<<static_cast<unsigned>(n), 32 * ROW_WARPS, 0, stream>>>(in, *level);
        HX_TRY_LAUNCH("scalar Galerkin product from rows");
    }
    const dim3 grid(hx_blocks(level->n_node, HX_BLOCK), HX_COARSE_CENTRE + 1);
    add_transposed_kernel<<<grid, HX_BLOCK, 0, stream>>>(*level);
    return HX_LAUNCHED("scalar Galerkin product from rows");
}

const hx_mg_smoother_ops diagonal_ops = {
    .invert = hx_cuda_mg_diagonal_invert,
    .power = hx_cuda_mg_diagonal_power,
    .level_invert = level_diagonal,
    .level_power = hx_cuda_mg_diagonal_power,
};

const hx_mg_transfer_ops transfer_ops = {
    .mesh_restrict = mesh_restrict,
    .mesh_prolong = mesh_prolong,
    .restrict_to = restrict_to,
    .prolong_from = prolong_from,
    .mesh_galerkin = mesh_galerkin,
    .rows_galerkin = rows_galerkin,
    .galerkin = galerkin,
};

const hx_mg_level_ops level_ops = {
    .matrix_by_columns = 1,
    .multiply = multiply,
    .residual = residual,
    .smooth = smooth,
    .add_blocks = add_blocks,
    .dense = dense,
};

const hx_mg_direct_ops direct_ops = {hx_cuda_mg_inverse_scalar, hx_cuda_mg_inverse_fits,
                                     hx_cuda_mg_inverse_multiply};

} // namespace

const hx_multigrid_ops hx_cuda_multigrid_scalar_ops = {
    .vector = &hx_cuda_mg_vector_ops,
    .diagonal = &diagonal_ops,
    .blocks = &hx_cuda_mg_blocks_ops,
    .transfer = &transfer_ops,
    .level = &level_ops,
    .direct = &direct_ops,
};
