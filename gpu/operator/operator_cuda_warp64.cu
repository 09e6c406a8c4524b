// warp64: 64 threads per element, one 3x3 tile of Ke each, as in ebe64. The 8 threads of a row
// block are lanes of one warp and sum by shuffles, followed by one atomic addition per row: 24 per
// element.
#include <type_traits>

#include "operator_stored.cuh"

namespace
{

constexpr int BLOCK = 256;
constexpr int ELEMS = BLOCK / 64;
constexpr unsigned ALL_LANES = 0xffffffffu;

// 32 tiles = half an element interleaved: entry (i, j) of a warp's tiles is contiguous.
struct by_warp {
    __device__ static size_t at(int64_t e, int i, int j)
    {
        const int tile = 8 * (i / 3) + j / 3;
        return 576 * static_cast<size_t>(e) + (tile >> 5) * 288 + (3 * (i % 3) + j % 3) * 32 +
               (tile & 31);
    }
    static size_t entries(int64_t n_elem)
    {
        return 576 * static_cast<size_t>(n_elem);
    }
};

// Each entry is used once, so interleaved loads bypass the cache; but a row-major cache line serves
// several loads.
template <class Layout> __device__ __forceinline__ double load(const double *from)
{
    if constexpr (std::is_same_v<Layout, by_warp>) {
        double value;
        asm("ld.global.cs.nc.f64 %0, [%1];" : "=d"(value) : "l"(from));
        return value;
    } else {
        return *from;
    }
}

__device__ __forceinline__ double exchange(double value, int lane_bit)
{
    return __shfl_xor_sync(ALL_LANES, value, lane_bit);
}

// The sum over 8 lanes of one row of the row block: row 0 in lanes 0 and 1, row 1 in lanes 2 and 3,
// row 2 in lanes 4 to 7. In each step a lane passes on the rows whose sum it will not hold.
__device__ __forceinline__ double sum_rows(const double (&row)[3], int lane)
{
    const bool upper = lane & 4, second = lane & 2;
    const double got = exchange(upper ? row[0] : row[2], 4);
    const double got1 = exchange(row[1], 4);
    // row 0 in lower lanes, row 2 in upper ones
    const double first = (upper ? row[2] : row[0]) + got;
    const double other = upper ? first : row[1] + got1; // row 1 in lower lanes, row 2 in upper ones
    double sum = (second ? other : first) + exchange(second ? first : other, 2);
    return sum + exchange(sum, 1);
}

template <class Layout>
__global__ void __launch_bounds__(BLOCK)
    kernel(const int32_t *__restrict__ block, int64_t n_elem, const int32_t *__restrict__ conn,
           const double *__restrict__ modulus, const double *__restrict__ ke,
           const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t e = hx_block_at(block) * ELEMS + threadIdx.x / 64;
    const int a = threadIdx.x / 8 % 8, b = threadIdx.x % 8;
    if (e >= n_elem) return; // whole warps
    double tile[3][3];
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            tile[i][j] = load<Layout>(ke + Layout::at(e, 3 * a + i, 3 * b + j));
    const int32_t column_node = conn[8 * e + b];
    const int32_t row_node = __shfl_sync(ALL_LANES, column_node, a); // in lane a, b = a
    const double *xb = x + 3 * static_cast<int64_t>(column_node);
    const double scale = modulus[e];
    double row[3] = {0.0, 0.0, 0.0};
#pragma unroll
    for (int j = 0; j < 3; j++) {
        const double xj = xb[j];
#pragma unroll
        for (int i = 0; i < 3; i++) row[i] += tile[i][j] * xj;
    }
    const double sum = sum_rows(row, b);
    if (b < 6 && b % 2 == 0) atomicAdd(&y[3 * static_cast<int64_t>(row_node) + b / 2], scale * sum);
}

using kind = hx_stored_kind<by_warp, ELEMS, BLOCK, kernel<hx_row_major>, kernel<by_warp>>;

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_warp64 = kind::table(
    "warp64", "ebe64 with rows summed by warp shuffles; interleaved: half an element side by side");
