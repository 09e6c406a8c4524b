// The first lattice of multigrid from the mesh's elements, on tensor cores.
//
// At a point of an element the strains of the cell's 48 motions are six rows of 48 numbers B, and
// the cell's share is the sum of B'B over all points of its elements: rows weighed by the root of
// modulus, det J and the material's matrix. As a product of a matrix by itself it stays positive
// semidefinite and leaves rigid motions alone (to the square of the rounding of B to half
// precision), where rounding P'(K P) would not.
//
// In a product of 16 x 8 x 16 a thread's numbers are of one corner of the cell (lane / 4) and one
// point of four (lane % 4): a thread finds its corner's motions at its point, and no number moves
// between threads. Cells of a colour share no corner, so what they add needs no atomics and has one
// order.
#include <cmath>

#include "galerkin_cuda.cuh"
#include "galerkin_strain.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8, WARPS = 4, THREADS = 32 * WARPS;
constexpr int POINTS = 8, QUAD = 4; // of an element; of them at once
constexpr int BATCH = 32 / POINTS;  // elements that a warp has at once
constexpr int N_TILE = 12;          // 16 x 8, two components by one, on and above the diagonal
constexpr int N_SUM = 4 * N_TILE;
constexpr int STRIDE = 12; // of a corner's weights: apart in the banks

struct alignas(16) element_data {
    float weight[CORNERS][STRIDE]; // [corner][node], 8 are used
    float x[3][8];                 // from the cell's first corner over the unit
};

struct alignas(16) quad_data {
    float gradient[QUAD][3][8]; // of the nodes' shape functions, times the root of the weight
};

struct warp_data {
    element_data element[BATCH];
    quad_data quad[POINTS / QUAD * BATCH];
    unsigned fixed[BATCH][8];
};

union shared_data {
    warp_data warp[WARPS];
    float sum[WARPS / 2][N_SUM][32];
};

struct mesh_input {
    hx_mg_cells cells;
    const int32_t *elem, *elem_at, *conn;
    const uint8_t *fixed;
    const double *modulus;
    float mu;          // times the unit
    float alpha, beta; // normal strains e to rows: alpha e + beta tr(e), over the root of mu
};

// What a warp has summed, times scale^2.
struct warp_sum {
    float tile[N_TILE][4];
    float scale;
};

// The nodes of up to BATCH elements, a thread one of them; the last once more where there are
// fewer. Returns whether any is fixed.
__device__ __forceinline__ bool load_nodes(const mesh_input &in, int64_t cell, int first, int n,
                                           int lane, warp_data &mine)
{
    unsigned any_fixed = 0;
#pragma unroll
    for (int k = lane; k < 8 * BATCH; k += 32) {
        const int e = k / 8 < n ? k / 8 : n - 1, a = k % 8;
        const int64_t node = in.conn[8 * static_cast<int64_t>(in.elem[first + e]) + a];
        float w[8], x[3];
        hx_mg_locate(in.cells, cell, node, w, x);
#pragma unroll
        for (int c = 0; c < 8; c++) mine.element[k / 8].weight[c][a] = w[c];
#pragma unroll
        for (int i = 0; i < 3; i++) mine.element[k / 8].x[i][a] = x[i];
        const unsigned fixed = in.fixed[node];
        mine.fixed[k / 8][a] = fixed;
        any_fixed |= fixed;
    }
    return __any_sync(0xffffffffu, any_fixed != 0) != 0;
}

// Halves reach from 6e-8 to 65504, with all digits from 6e-5: the largest gradient of a warp lies
// between 4 and 8 at first and below 8 later, rows are some times larger. When a stiffer element
// comes the sums are scaled anew.
__device__ __forceinline__ void find_scale(float most, warp_sum &sum)
{
    const unsigned bits = __reduce_max_sync(0xffffffffu, __float_as_uint(most));
    const float all = __uint_as_float(bits);
    if (all > 0.0f && (sum.scale == 0.0f || all * sum.scale > 8.0f)) {
        // 2^(2 - exponent)
        const float next = __uint_as_float((254u + 2u - (bits >> 23)) << 23);
        const float ratio = sum.scale > 0.0f ? (next / sum.scale) * (next / sum.scale) : 1.0f;
#pragma unroll
        for (int k = 0; k < N_TILE; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) sum.tile[k][i] *= ratio;
        sum.scale = next;
    }
}

// A thread a point of an element.
__device__ __forceinline__ void fill_gradients(const mesh_input &in, int first, int n, int lane,
                                               warp_data &mine, warp_sum &sum)
{
    constexpr float G = 0.57735026918962576f;
    const int e = lane / POINTS, q = lane % POINTS, e1 = e < n ? e : n - 1;
    const float modulus = static_cast<float>(in.modulus[in.elem[first + e1]]) * in.mu;
    const int x = q & 1, y = q >> 1 & 1, z = q >> 2;
    const float at[3] = {x ? G : -G, y ? G : -G, z ? G : -G};
    float g[3][8];
    __syncwarp();
    find_scale(hx_scaled_gradients(at, e < n ? modulus : 0.0f, mine.element[e].x, g), sum);
    float(*const to)[8] = mine.quad[2 * e + q / QUAD].gradient[q % QUAD];
    const float factor = sum.scale;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int a = 0; a < 8; a += 4)
            *reinterpret_cast<float4 *>(&to[i][a]) = make_float4(
                factor * g[i][a], factor * g[i][a + 1], factor * g[i][a + 2], factor * g[i][a + 3]);
    __syncwarp();
}

// Gradients of the functions w and w (x - at) that take these values at the nodes, w the weight of
// a corner: g[k] and h[k][j], of direction k. FIXED: w is 0 where that component is fixed.
template <bool FIXED>
__device__ __forceinline__ void sum_nodes(const element_data &e, const unsigned *fixed,
                                          int component, const float gradient[3][8], int corner,
                                          const float at[3], float g[3], float h[3][3])
{
#pragma unroll
    for (int k = 0; k < 3; k++) {
        g[k] = 0.0f;
#pragma unroll
        for (int j = 0; j < 3; j++) h[k][j] = 0.0f;
    }
#pragma unroll
    for (int half = 0; half < 8; half += 4) {
        const float4 w4 = *reinterpret_cast<const float4 *>(&e.weight[corner][half]);
        float w[4] = {w4.x, w4.y, w4.z, w4.w}, x[3][4];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const float4 v = *reinterpret_cast<const float4 *>(&e.x[i][half]);
            x[i][0] = v.x, x[i][1] = v.y, x[i][2] = v.z, x[i][3] = v.w;
        }
        if (FIXED)
#pragma unroll
            for (int a = 0; a < 4; a++)
                if (fixed[half + a] >> component & 1u) w[a] = 0.0f;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const float4 v = *reinterpret_cast<const float4 *>(&gradient[k][half]);
            const float wg[4] = {w[0] * v.x, w[1] * v.y, w[2] * v.z, w[3] * v.w};
#pragma unroll
            for (int a = 0; a < 4; a++) {
                g[k] += wg[a];
#pragma unroll
                for (int j = 0; j < 3; j++) h[k][j] = fmaf(wg[a], x[j][a], h[k][j]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int j = 0; j < 3; j++) h[k][j] = fmaf(-g[k], at[j], h[k][j]);
}

__device__ __forceinline__ void find_rows(const mesh_input &in, const warp_data &mine, int e,
                                          int half, bool any_fixed, int point, int corner,
                                          const float at[3], float row[HX_STRAINS][DOF])
{
    float g[3], h[3][3];
    if (!any_fixed) {
        sum_nodes<false>(mine.element[e], nullptr, 0, mine.quad[2 * e + half].gradient[point],
                         corner, at, g, h);
        hx_strain_rows(g, h, in.alpha, in.beta, row);
    } else {
#pragma unroll
        for (int k = 0; k < HX_STRAINS; k++)
#pragma unroll
            for (int c = 0; c < DOF; c++) row[k][c] = 0.0f;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            sum_nodes<true>(mine.element[e], mine.fixed[e], i,
                            mine.quad[2 * e + half].gradient[point], corner, at, g, h);
            hx_add_strain_rows(i, g, h, in.alpha, in.beta, row);
        }
    }
}

__host__ __device__ constexpr int first_tile(int i)
{
    return i == 0 ? 0 : i == 1 ? 4 : 6; // tile (i, j), components 2 i, 2 i + 1 by j >= 2 i
}

// Adds the squares of four rows, by twos, of all corners and points of the warp.
__device__ __forceinline__ void add_squares(const unsigned p[DOF], const unsigned q[DOF],
                                            warp_sum &sum)
{
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 2 * i; j < DOF; j++)
            hx_multiply_halves(sum.tile[first_tile(i) + j], p[2 * i], p[2 * i + 1], q[2 * i],
                               q[2 * i + 1], p[j], q[j]);
}

// An element by two times four points: six rows each are three times four.
__device__ __forceinline__ void add_element(const mesh_input &in, const warp_data &mine, int e,
                                            bool any_fixed, int point, int corner,
                                            const float at[3], warp_sum &sum)
{
    unsigned rest[DOF]; // the first four points' last pair of rows
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float row[HX_STRAINS][DOF];
        unsigned one[3][DOF];
        find_rows(in, mine, e, half, any_fixed, point, corner, at, row);
#pragma unroll
        for (int k = 0; k < 3; k++)
#pragma unroll
            for (int c = 0; c < DOF; c++)
                one[k][c] = hx_to_halves(row[2 * k][c], row[2 * k + 1][c]);
        add_squares(half == 0 ? one[0] : rest, half == 0 ? one[1] : one[0], sum);
        if (half == 1) add_squares(one[1], one[2], sum);
        if (half == 0)
#pragma unroll
            for (int c = 0; c < DOF; c++) rest[c] = one[2][c];
    }
}

__device__ __forceinline__ int offset_between(int from, int to)
{
    return HX_LATTICE_CENTRE + ((to & 1) - (from & 1)) + 3 * ((to >> 1 & 1) - (from >> 1 & 1)) +
           9 * ((to >> 2) - (from >> 2));
}

// Where the sum of (corner c, component r) by (corner d, component j) is.
__device__ __forceinline__ int place_of(int c, int r, int d, int j)
{
    const bool turn = r / 2 > j / 2 || (r / 2 == j / 2 && (c > d || (c == d && r > j)));
    const int c1 = turn ? d : c, r1 = turn ? j : r, d1 = turn ? c : d, j1 = turn ? r : j;
    const int k = 4 * (first_tile(r1 / 2) + j1) + 2 * (r1 & 1) + (d1 & 1);
    return 32 * k + 4 * c1 + d1 / 2;
}

// all[0] := the sums of the four warps, (0 + 2) + (1 + 3).
__device__ __forceinline__ void add_warps(int warp, int lane, warp_sum &sum,
                                          float all[WARPS / 2][N_SUM][32])
{
    const float back = sum.scale > 0.0f ? 1.0f / sum.scale / sum.scale : 1.0f;
#pragma unroll
    for (int k = 0; k < N_SUM; k++) sum.tile[k / 4][k % 4] *= back;
    for (int n = 2; n > 0; n /= 2) {
        __syncthreads();
        if (warp >= n && warp < 2 * n)
#pragma unroll
            for (int k = 0; k < N_SUM; k++) all[warp - n][k][lane] = sum.tile[k / 4][k % 4];
        __syncthreads();
        if (warp < n)
#pragma unroll
            for (int k = 0; k < N_SUM; k++) sum.tile[k / 4][k % 4] += all[warp][k][lane];
    }
    __syncthreads();
    if (warp == 0)
#pragma unroll
        for (int k = 0; k < N_SUM; k++) all[0][k][lane] = sum.tile[k / 4][k % 4];
    __syncthreads();
}

__device__ __forceinline__ void write_cell(const int32_t *node, const float *sum,
                                           const hx_mg_level &level)
{
#pragma unroll 6
    for (int k = static_cast<int>(threadIdx.x); k < 64 * 36; k += THREADS) {
        const int r = k % DOF, rest = k / DOF, c = rest % 8, d = rest / 8 % 8, j = rest / 64;
        float *const to =
            level.d_matrix + ((DOF * offset_between(c, d) + j) * level.n_node + node[c]) * DOF + r;
        *to += sum[place_of(c, r, d, j)];
    }
}

__global__ void __launch_bounds__(THREADS, 4)
    mesh_galerkin_kernel(mesh_input in, const int32_t *__restrict__ coloured, hx_mg_level level)
{
    __shared__ shared_data data;
    const int64_t cell = coloured[blockIdx.x];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int corner = lane / 4, point = lane % 4;
    const int begin = in.elem_at[cell], end = in.elem_at[cell + 1];
    const float at[3] = {corner & 1 ? in.cells.edge[0] : 0.0f, corner & 2 ? in.cells.edge[1] : 0.0f,
                         corner & 4 ? in.cells.edge[2] : 0.0f};
    warp_data &mine = data.warp[warp];
    warp_sum sum = {};
    for (int first = begin + BATCH * warp; first < end; first += BATCH * WARPS) {
        const int n = end - first < BATCH ? end - first : BATCH;
        const bool any_fixed = load_nodes(in, cell, first, n, lane, mine);
        fill_gradients(in, first, n, lane, mine, sum);
#pragma unroll 1
        for (int e = 0; e < n; e++) add_element(in, mine, e, any_fixed, point, corner, at, sum);
        __syncwarp();
    }
    add_warps(warp, lane, sum, data.sum);
    write_cell(in.cells.corner + 8 * cell, &data.sum[0][0][0], level);
}

} // namespace

int hx_cuda_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const double lambda = mesh->model->lambda, mu = mesh->model->mu;
    mesh_input in = {};
    in.cells = hx_mg_cells_of(mesh);
    in.elem = mesh->d_cell_elem;
    in.elem_at = mesh->d_cell_elem_at;
    in.conn = mesh->model->d_conn;
    in.fixed = mesh->d_fixed;
    in.modulus = mesh->model->d_modulus;
    in.mu = static_cast<float>(mu * mesh->unit);
    // (alpha e + beta tr(e))^2 = 2 e^2 + (lambda / mu) tr(e)^2, summed over the three directions
    in.alpha = static_cast<float>(sqrt(2.0));
    in.beta = static_cast<float>((sqrt(2.0 + 3.0 * lambda / mu) - sqrt(2.0)) / 3.0);
    HX_TRY_CUDA(cudaMemsetAsync(level->d_matrix, 0,
                                static_cast<size_t>(level->n_node) * HX_LATTICE_OFFSETS * DOF *
                                    DOF * sizeof(float),
                                stream));
    for (int colour = 0; colour < 8; colour++) {
        const int n = mesh->colour_at[colour + 1] - mesh->colour_at[colour];
        if (n == 0) continue;
        mesh_galerkin_kernel<<<n, THREADS, 0, stream>>>(
            in, mesh->d_coloured + mesh->colour_at[colour], *level);
        HX_TRY_LAUNCH("mesh Galerkin");
    }
    return HX_OK;
}
