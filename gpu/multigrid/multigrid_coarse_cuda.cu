// Multigrid on a coarse grid.
//
// Its matrix is stored by columns of blocks: entry (row r of node a, column c of its neighbour at
// offset o) is at ((6 o + c) n_node + a) 6 + r, so that a warp, with one thread per row, reads
// whole cache lines.
#include <cstdlib>

#include "core/base/memory.h"
#include "multigrid_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8;

enum mode { MULTIPLY, POWER, RESIDUAL, SMOOTH };

// Uses the product of a row.
template <mode MODE>
__device__ __forceinline__ void finish_row(const hx_mg_level &level, int step, int64_t row,
                                           float sum, const float *x, float *y)
{
    if (MODE == MULTIPLY) {
        y[row] = sum;
    } else if (MODE == POWER) {
        y[row] = level.d_m[row] * sum;
    } else if (MODE == RESIDUAL) {
        y[row] = level.d_b[row] - sum;
    } else {
        float d = level.d_smoother->b[step] * level.d_m[row] * (level.d_b[row] - sum);
        if (step > 0) d += level.d_smoother->a[step] * level.d_d[row];
        level.d_d[row] = d;
        y[row] = (x ? x[row] : 0.0f) + d;
    }
}

constexpr int ROWS = 96;  // per block
constexpr int SLICES = 3; // threads per row of a small grid, each for 9 neighbours

// The matrix is symmetric. A node's blocks with preceding neighbours are therefore read from the
// rows of those neighbours, which have been read shortly before and are in the L2 cache, so only
// half of the bytes come from memory. Thread (a, s) then reads row s of the neighbour, whose six
// numbers are columns of node a; the contributions of six threads to a node's sums are transposed
// in shared memory. All loads are of whole cache lines. Each row has four threads: two for the
// neighbours from the central one on, two for the preceding ones. On a distributed level only the
// rows of own nodes are complete, and only they are multiplied; if a preceding neighbour is a ghost
// node, its block is read from the own row.
constexpr int QUARTERS = 4, HALF_BLOCKS = 3; // HALF_BLOCKS: blocks per multiprocessor

// Row `row` times 7 neighbours from `first` on.
__device__ __forceinline__ float multiply_upper(const hx_mg_level &level, const float *x,
                                                int64_t row, int first)
{
    constexpr int N = 7;
    const int64_t n_row = DOF * level.n_node, a = row / DOF;
    const float *__restrict__ entry = level.d_matrix + DOF * first * n_row + row;
    const float2 *from[N];
    float sum = 0.0f;
#pragma unroll
    for (int o = 0; o < N; o++)
        from[o] = reinterpret_cast<const float2 *>(
            x + DOF * static_cast<int64_t>(level.d_neighbour[(first + o) * level.n_node + a]));
#pragma unroll
    for (int o = 0; o < N; o++) {
        float2 v[DOF / 2];
        float m[DOF];
#pragma unroll
        for (int c = 0; c < DOF / 2; c++) v[c] = from[o][c];
#pragma unroll
        for (int c = 0; c < DOF; c++) m[c] = __ldg(entry + (DOF * o + c) * n_row);
#pragma unroll
        for (int c = 0; c < DOF / 2; c++) {
            sum = fmaf(m[2 * c], v[c].x, sum);
            sum = fmaf(m[2 * c + 1], v[c].y, sum);
        }
    }
    return sum;
}

// sum[c] := contributions of N preceding neighbours, from `first` on, to component c of the node of
// `row`, from their rows of the same component as `row`. Their values are not needed afterwards.
template <int N>
__device__ __forceinline__ void multiply_lower(const hx_mg_level &level, const float *x,
                                               int64_t row, int first, float sum[DOF])
{
    const int64_t n_row = DOF * level.n_node, a = row / DOF, s = row % DOF;
    int64_t b[N];
#pragma unroll
    for (int o = 0; o < N; o++) b[o] = level.d_neighbour[(first + o) * level.n_node + a];
#pragma unroll
    for (int c = 0; c < DOF; c++) sum[c] = 0.0f;
#pragma unroll
    for (int o = 0; o < N; o++) {
        const bool is_own = b[o] < level.n_own;
        const int64_t stride = is_own ? n_row : 1;
        const float *__restrict__ entry =
            level.d_matrix +
            (is_own ? DOF * (HX_COARSE_OFFSETS - 1 - first - o) * n_row + DOF * b[o] + s
                    : (DOF * (first + o) + s) * n_row + DOF * a);
        // the neighbour is the node itself: there is none
        const float v = b[o] == a ? 0.0f : x[DOF * b[o] + s];
        float m[DOF];
#pragma unroll
        for (int c = 0; c < DOF; c++) m[c] = __ldcs(entry + c * stride);
#pragma unroll
        for (int c = 0; c < DOF; c++) sum[c] = fmaf(m[c], v, sum[c]);
    }
}

template <mode MODE>
__global__ void __launch_bounds__(ROWS *QUARTERS, HALF_BLOCKS)
    half_row_kernel(hx_mg_level level, int step, const float *__restrict__ x, float *__restrict__ y)
{
    constexpr int HALF = QUARTERS / 2, EACH = (HX_COARSE_CENTRE + 1) / HALF;
    static_assert(EACH == 7, "each thread has 7 of 14 or 13 neighbours, the last one 6");
    __shared__ float upper[HALF][ROWS], lower[HALF][ROWS][DOF + 1];
    const int64_t row = blockIdx.x * static_cast<int64_t>(ROWS) + threadIdx.x;
    const int quarter = static_cast<int>(threadIdx.y), t = static_cast<int>(threadIdx.x);
    const bool inside = row < DOF * level.n_own;
    if (inside && x) {
        if (quarter < HALF) {
            upper[quarter][t] = multiply_upper(level, x, row, HX_COARSE_CENTRE + EACH * quarter);
        } else {
            float sum[DOF];
            if (quarter == HALF)
                multiply_lower<EACH>(level, x, row, 0, sum);
            else
                multiply_lower<EACH - 1>(level, x, row, EACH, sum);
#pragma unroll
            for (int c = 0; c < DOF; c++) lower[quarter - HALF][t][c] = sum[c];
        }
    }
    __syncthreads();
    if (quarter > 0 || !inside) return;
    const int first = t / DOF * DOF, r = t % DOF;
    float sum = 0.0f;
    for (int k = 0; k < HALF && x; k++) {
        for (int s = 0; s < DOF; s++) sum += lower[k][first + s][r];
        sum += upper[k][t];
    }
    finish_row<MODE>(level, step, row, sum, x, y);
}

// Whole rows of a small grid, for which a kernel would end before its loads arrive: the matrix is
// in registers when the vector is ready.
constexpr int SMALL_ROWS = 64;
// about the number that a GPU's multiprocessors process at the same time
constexpr int64_t SMALL_NODES = 5000;

template <mode MODE>
__global__ void __launch_bounds__(SMALL_ROWS *SLICES)
    small_row_kernel(hx_mg_level level, int step, const float *x, float *y)
{
    __shared__ float part[SLICES - 1][SMALL_ROWS];
    const int64_t n_row = DOF * level.n_node;
    const int64_t row = blockIdx.x * static_cast<int64_t>(SMALL_ROWS) + threadIdx.x;
    const int slice = static_cast<int>(threadIdx.y);
    const bool inside = row < n_row && x;
    float sum = 0.0f, m[9 * DOF];
    int32_t node[9];
    hx_let_next_begin();
    if (inside) {
        const int64_t a = row / DOF;
        const int32_t *__restrict__ neighbour = level.d_neighbour + 9 * slice * level.n_node + a;
        const float *__restrict__ entry = level.d_matrix + 9 * DOF * slice * n_row + row;
#pragma unroll
        for (int o = 0; o < 9; o++) node[o] = __ldg(neighbour + o * level.n_node);
#pragma unroll
        for (int c = 0; c < 9 * DOF; c++) m[c] = __ldg(entry + c * n_row);
    }
    hx_wait_for_last();
    if (inside) {
        float2 v[9 * DOF / 2];
#pragma unroll
        for (int c = 0; c < 9 * DOF / 2; c++)
            v[c] = reinterpret_cast<const float2 *>(x +
                                                    DOF * static_cast<int64_t>(node[c / 3]))[c % 3];
#pragma unroll
        for (int c = 0; c < 9 * DOF / 2; c++) {
            sum = fmaf(m[2 * c], v[c].x, sum);
            sum = fmaf(m[2 * c + 1], v[c].y, sum);
        }
    }
    if (slice > 0) part[slice - 1][threadIdx.x] = sum;
    __syncthreads();
    if (slice > 0 || row >= n_row) return;
    sum = (sum + part[0][threadIdx.x]) + part[1][threadIdx.x];
    finish_row<MODE>(level, step, row, sum, x, y);
}

template <mode MODE>
int run_rows(hx_device *dev, const hx_mg_level *level, int step, const float *d_x, float *d_y)
{
    if (level->n_node <= SMALL_NODES)
        return hx_launch_early(dev, "multigrid rows", small_row_kernel<MODE>,
                               hx_blocks(DOF * level->n_node, SMALL_ROWS), dim3(SMALL_ROWS, SLICES),
                               0, *level, step, d_x, d_y);
    if (level->n_own == 0) return HX_OK;
    half_row_kernel<MODE>
        <<<hx_blocks(DOF * level->n_own, ROWS), dim3(ROWS, QUARTERS), 0, hx_stream_of(dev)>>>(
            *level, step, d_x, d_y);
    return HX_LAUNCHED("multigrid rows");
}

// Eight lanes process the children of a node.
__global__ void restrict_kernel(hx_mg_level fine, const float *r, hx_mg_level coarse)
{
    const int64_t thread = hx_grid_thread();
    const int64_t a = thread / 8;
    const int lane = static_cast<int>(thread % 8);
    float sum[DOF] = {};
    int32_t node[4];
    hx_let_next_begin();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int o = lane + 8 * i;
        node[i] = a < coarse.n_node && o < 27 ? __ldg(coarse.d_child + o * coarse.n_node + a) : -1;
    }
    hx_wait_for_last();
    if (a < coarse.n_node)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int o = lane + 8 * i;
            const int64_t child = node[i];
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

__global__ void prolong_kernel(hx_mg_level coarse, const float *y, hx_mg_level fine, float *x)
{
    const int64_t a = hx_grid_thread();
    int64_t parent[CORNERS];
    int first[3] = {}, second[3] = {}, wide[3];
    float sum[DOF] = {}, near[3];
    hx_let_next_begin();
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        parent[c] = a < fine.n_node ? __ldg(fine.d_parent + c * fine.n_node + a) : -1;
        for (int i = 0; i < 3; i++)
            (c >> i & 1 ? second[i] : first[i]) |= static_cast<int>(parent[c] >= 0);
    }
    const float w = hx_mg_parents(&fine, &coarse, first, second, near, wide);
    hx_wait_for_last();
    if (a >= fine.n_node) return;
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

__global__ void diagonal_kernel(hx_mg_level level)
{
    const int64_t n_row = DOF * level.n_node;
    const int64_t row = hx_grid_thread();
    if (row >= n_row) return;
    const float d = level.d_matrix[(DOF * HX_COARSE_CENTRE + row % DOF) * n_row + row];
    level.d_m[row] = d > 0.0f ? 1.0f / d : 0.0f;
}

void fill_dense(int64_t n_node, const int32_t *neighbour, const float *matrix, double *dense)
{
    const int64_t n = DOF * n_node;
    for (int64_t k = 0; k < n * n; k++) dense[k] = 0.0;
    for (int64_t a = 0; a < n_node; a++)
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            const int64_t b = neighbour[o * n_node + a];
            if (b == a && o != HX_COARSE_CENTRE) continue;
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++)
                    dense[(DOF * a + r) * n + DOF * b + c] =
                        static_cast<double>(matrix[((DOF * o + c) * n_node + a) * DOF + r]);
        }
}

// One thread per entry.
__global__ void add_blocks_kernel(int64_t n, const int64_t *__restrict__ at,
                                  const float *__restrict__ block, hx_mg_level level)
{
    const int64_t k = hx_grid_thread(), i = k / 36;
    if (i >= n) return;
    const int64_t node = at[i] / HX_COARSE_OFFSETS, o = at[i] % HX_COARSE_OFFSETS;
    const int r = static_cast<int>(k % 36) / DOF, c = static_cast<int>(k % 36) % DOF;
    level.d_matrix[((DOF * o + c) * level.n_node + node) * DOF + r] += block[k];
}

} // namespace

int hx_cuda_mg_multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return run_rows<MULTIPLY>(dev, level, 0, d_x, d_y);
}

int hx_cuda_mg_power_next(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return run_rows<POWER>(dev, level, 0, d_x, d_y);
}

int hx_cuda_mg_residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    return run_rows<RESIDUAL>(dev, level, 0, d_x, d_y);
}

int hx_cuda_mg_smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    if (level->lines.next) {
        if (d_x) HX_TRY(hx_cuda_mg_residual(dev, level, d_x, d_y));
        return hx_cuda_mg_level_step(dev, level, i, d_x, d_y);
    }
    return run_rows<SMOOTH>(dev, level, i, d_x, d_y);
}

int hx_cuda_mg_restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                           const hx_mg_level *coarse)
{
    return hx_launch_early(dev, "multigrid restrict", restrict_kernel,
                           hx_blocks(8 * coarse->n_node, HX_BLOCK), HX_BLOCK, 0, *fine, d_r,
                           *coarse);
}

int hx_cuda_mg_prolong_from(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                            const hx_mg_level *fine, float *d_x)
{
    return hx_launch_early(dev, "multigrid prolong", prolong_kernel,
                           hx_blocks(fine->n_node, HX_BLOCK), HX_BLOCK, 0, *coarse, d_y, *fine,
                           d_x);
}

int hx_cuda_mg_level_diagonal(hx_device *dev, const hx_mg_level *level)
{
    return hx_launch(dev, "multigrid diagonal", DOF * level->n_node, diagonal_kernel, *level);
}

int hx_cuda_mg_dense(hx_device *dev, const hx_mg_level *level, double *matrix)
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

int hx_cuda_mg_add_blocks(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
                          const float *d_block)
{
    if (n == 0) return HX_OK;
    return hx_launch(dev, "multigrid add_blocks", 36 * n, add_blocks_kernel, n, d_at, d_block,
                     *level);
}
