// Block smoother for splines, with blocks of control points (core/multigrid/multigrid.h), as in
// core/cpu/multigrid/multigrid_blocks_cpu.c: a thread block inverts the matrix of a block in double
// precision, in shared memory; in the product with the inverse, each thread multiplies a row.
#include "../device/sums_cuda.cuh"
#include "../matrix/product_cuda.cuh"
#include "multigrid_cuda.cuh"

namespace
{

constexpr int WARP = 32, THREADS = 256;
constexpr int MOST_POINTS = 27, MOST = 3 * MOST_POINTS; // maximum number of unknowns of a block

// If a pivot of the block, scaled to a unit diagonal, is below this, it is rounding error; only the
// block's diagonal is used then.
constexpr double LEAST_PIVOT = 1e-10;

struct block_data {
    double a[MOST * MOST]; // [n][n]
    double scale[MOST];    // 1 / sqrt(diagonal); 0 for unknowns that are left out
    double column[MOST];   // column of the pivot
    int32_t point[MOST_POINTS];
    int n_point, is_broken;
};

// Index of a point in the block, or -1.
__device__ __forceinline__ int find_point(const block_data &s, int32_t point)
{
    int low = 0, high = s.n_point;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (s.point[middle] < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s.n_point && s.point[low] == point ? low : -1;
}

// Loads block (r, q), q <= r, of entry k of a row with n_entry entries, and its mirror image,
// without fixed unknowns. Only the lower half of a diagonal block is read, because csr, ell and coo
// may store no other half.
__device__ void load_entry(const hx_matrix &matrix, const float *__restrict__ m, int r, int q,
                           int n_entry, int k, block_data &s)
{
    const int c = matrix.spec.components, n = c * s.n_point;
    const int64_t row = s.point[r], col = s.point[q];
    for (int i = 0; i < c; i++)
        for (int j = 0; j < (q == r ? i + 1 : c); j++) {
            const bool is_free = m[c * row + i] > 0.0f && m[c * col + j] > 0.0f;
            const double value =
                is_free ? hx_number(matrix, hx_matrix_place(&matrix, row, n_entry, k, i, j)) : 0.0;
            s.a[(c * r + i) * n + c * q + j] = value;
            s.a[(c * q + j) * n + c * r + i] = value;
        }
}

// a := the entries between the block's unknowns: one warp per row of the matrix.
__device__ void load_block(const hx_matrix &matrix, const float *__restrict__ m, block_data &s)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int n = matrix.spec.components * s.n_point;
    for (int i = static_cast<int>(threadIdx.x); i < n * n; i += THREADS) s.a[i] = 0.0;
    __syncthreads();
    for (int r = static_cast<int>(threadIdx.x) / WARP; r < s.n_point; r += THREADS / WARP) {
        const int64_t row = s.point[r], begin = matrix.pattern.d_row_ptr[row];
        const int n_entry = static_cast<int>(matrix.pattern.d_row_ptr[row + 1] - begin);
        for (int k = lane; k < n_entry; k += WARP) {
            const int32_t col = matrix.pattern.d_col[begin + k];
            if (col > row) break;
            const int q = find_point(s, col);
            if (q >= 0) load_entry(matrix, m, r, q, n_entry, k, s);
        }
    }
    __syncthreads();
}

// a := -a^-1 for the block scaled to a unit diagonal, pivot by pivot
// (the symmetric sweep operator). Unknowns that are left out are rows of the identity. Its pivots
// are the squares of Cholesky's.
__device__ void sweep(int n, block_data &s)
{
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < n; i += THREADS) {
        const double d = s.a[i * n + i];
        s.scale[i] = d > 0.0 ? 1.0 / sqrt(d) : 0.0;
    }
    __syncthreads();
    for (int i = thread; i < n * n; i += THREADS) {
        const int row = i / n, col = i % n;
        const double scaled = s.a[i] * s.scale[row] * s.scale[col];
        s.a[i] = s.scale[row] > 0.0 && s.scale[col] > 0.0 ? scaled : row == col ? 1.0 : 0.0;
    }
    __syncthreads();
    for (int k = 0; k < n; k++) {
        const double pivot = s.a[k * n + k];
        for (int i = thread; i < n; i += THREADS) s.column[i] = s.a[i * n + k];
        if (thread == 0 && !(pivot > LEAST_PIVOT)) s.is_broken = 1;
        __syncthreads();
        if (s.is_broken) return;
        const double over = 1.0 / pivot;
        for (int i = thread; i < n * n; i += THREADS) {
            const int row = i / n, col = i % n;
            const double both = s.column[row] * s.column[col];
            if (row == k || col == k)
                s.a[i] = row == col ? -over : s.column[row == k ? col : row] * over;
            else
                s.a[i] -= both * over;
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(THREADS)
    invert_kernel(const __grid_constant__ hx_matrix matrix, hx_mg_blocks blocks,
                  const float *__restrict__ m)
{
    extern __shared__ __align__(16) char memory[];
    block_data &s = *reinterpret_cast<block_data *>(memory);
    const int64_t first = blocks.d_first[blockIdx.x];
    const int c = matrix.spec.components;
    float *const inverse = blocks.d_inverse + blocks.d_at[blockIdx.x];
    if (threadIdx.x == 0) {
        s.n_point = static_cast<int>(blocks.d_first[blockIdx.x + 1] - first);
        s.is_broken = 0;
    }
    __syncthreads();
    const int n = c * s.n_point;
    if (static_cast<int>(threadIdx.x) < s.n_point)
        s.point[threadIdx.x] = blocks.d_point[first + threadIdx.x];
    __syncthreads();
    load_block(matrix, m, s);
    sweep(n, s);
    for (int i = static_cast<int>(threadIdx.x); i < n * n; i += THREADS) {
        const int row = i / n, col = i % n;
        const float alone =
            row == col ? m[c * static_cast<int64_t>(s.point[row / c]) + row % c] : 0.0f;
        const double whole = -s.a[i] * s.scale[row] * s.scale[col];
        inverse[i] = s.is_broken ? alone : static_cast<float>(whole);
    }
}

// A group of LANES threads per block of points, one thread per unknown; LANES is at least the
// number of unknowns.
template <int LANES>
__global__ void __launch_bounds__(LANES)
    solve_kernel(hx_mg_blocks blocks, int c, const double *__restrict__ r, float *t)
{
    __shared__ float value[LANES];
    const int i = static_cast<int>(threadIdx.x);
    const int32_t first = blocks.d_first[blockIdx.x];
    const int n = c * (blocks.d_first[blockIdx.x + 1] - first);
    const float *const row = blocks.d_inverse + blocks.d_at[blockIdx.x] + i;
    const bool has = i < n;
    const int64_t k =
        has ? c * static_cast<int64_t>(blocks.d_point[first + i / c]) + i % c : int64_t{0};
    if (has) value[i] = r ? t[k] - static_cast<float>(r[k]) : t[k];
    __syncthreads();
    if (!has) return;
    float sum = 0.0f;
#pragma unroll 9
    for (int j = 0; j < n; j++) sum = fmaf(__ldg(row + j * n), value[j], sum);
    t[k] = sum;
}

// The scalar product t's.
__global__ void __launch_bounds__(HX_BLOCK, HX_SUM_PER_SM)
    power_sum_kernel(int64_t n, const float *__restrict__ t, const float *__restrict__ s,
                     hx_mg_smoother *smoother, double *result, double *partial, unsigned *ticket)
{
    double sum[1] = {0.0};
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto tk = hx_load<N>(t + k), sk = hx_load<N>(s + k);
        for (int i = 0; i < N; i++)
            sum[0] += static_cast<double>(tk.v[i]) * static_cast<double>(sk.v[i]);
    });
    if (hx_finish_sums(sum, partial, ticket))
        *result = static_cast<double>(hx_mg_power_result(smoother, 1.0, sum[0]));
}

__global__ void power_scale_kernel(int64_t n, const float *__restrict__ s,
                                   const double *__restrict__ scale, float *__restrict__ v)
{
    const float by = static_cast<float>(*scale);
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto sk = hx_load<N>(s + k);
        hx_pack<float, N> vk;
        for (int i = 0; i < N; i++) vk.v[i] = by * sk.v[i];
        hx_store(v + k, vk);
    });
}

} // namespace

int hx_cuda_mg_blocks_invert(hx_device *dev, const hx_mg_splitting *splitting)
{
    const hx_mg_blocks *const blocks = splitting->blocks;
    constexpr auto bytes = static_cast<int>(sizeof(block_data));
    HX_TRY_CUDA(
        cudaFuncSetAttribute(invert_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    invert_kernel<<<static_cast<unsigned>(blocks->n), THREADS, bytes, hx_stream_of(dev)>>>(
        *splitting->matrix, *blocks, splitting->d_m);
    HX_TRY_LAUNCH("multigrid blocks");
    return hx_cuda_mg_unit(dev, splitting->n, splitting->d_m);
}

int hx_cuda_mg_blocks_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                            float *d_t)
{
    const hx_mg_blocks *const blocks = splitting->blocks;
    const int c = splitting->components;
    const auto grid = static_cast<unsigned>(blocks->n);
    if (c * blocks->most_points <= WARP)
        solve_kernel<WARP><<<grid, WARP, 0, hx_stream_of(dev)>>>(*blocks, c, d_r, d_t);
    else
        solve_kernel<3 * WARP><<<grid, 3 * WARP, 0, hx_stream_of(dev)>>>(*blocks, c, d_r, d_t);
    return HX_LAUNCHED("multigrid blocks");
}

int hx_cuda_mg_blocks_power(hx_device *dev, int64_t n, const float *, const float *d_t,
                            const float *d_s, float *d_v, hx_mg_smoother *d_smoother)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    power_sum_kernel<<<hx_sum_blocks<float>(impl, n, HX_SUM_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_t, d_s, d_smoother, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("multigrid power sum");
    power_scale_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, impl->stream>>>(
        n, d_s, impl->d_result, d_v);
    return HX_LAUNCHED("multigrid power scale");
}
