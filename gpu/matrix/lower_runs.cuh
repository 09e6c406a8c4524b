// Runs of rows of a lower matrix (product_cuda.cuh): the kernels of their product and of its plan.
// Each run is processed by one thread block: all of its values, and the x of the points that they
// multiply, are loaded to shared memory at once. Each thread multiplies blocks and stores what a
// block adds to its row, and what the transposed block adds to the row of its column. Then one
// thread per number sums the contributions to a row.
#ifndef HX_LOWER_RUNS_CUH
#define HX_LOWER_RUNS_CUH

#include <cuda_pipeline.h>

#include "product_cuda.cuh"

namespace hx_lower
{

constexpr int WARPS = 8, SIZE = 32 * WARPS;
constexpr unsigned ALL_LANES = 0xffffffffu;
// Possible numbers of rows of a run; the first that fits is used.
constexpr int N_SHAPE = 4, SHAPE[N_SHAPE] = {32, 24, 16, 8};
// Maximum shared memory of a block, such that three blocks fit into a multiprocessor; for
// hexahedra, four do.
constexpr size_t MOST_SHARED = 76000;
// A block is coded in 16 bits: its row in the run and, in this many lower bits, the point of its
// column.
constexpr int POINT_BITS = 11;
static_assert((SHAPE[0] - 1) >> (16 - POINT_BITS) == 0, "rows of a run in the upper bits");
static_assert(MOST_SHARED / (9 * sizeof(double)) + SHAPE[0] <= 1u << POINT_BITS,
              "points in POINT_BITS");

// Distance, in doubles, between the contributions of blocks: 3 numbers to the row and 3 to the row
// of the column. They overwrite the values of a block if those are doubles, and the blocks of a
// warp are in different banks.
template <class T> constexpr bool IN_PLACE = sizeof(T) == sizeof(double);
template <class T> constexpr int PART = IN_PLACE<T> ? 9 : 7;
// Number of blocks after which values are again at a multiple of 16 bytes.
template <class T> constexpr int ALIGNED = 16 / static_cast<int>(sizeof(T));

// Offsets of the arrays in a block's shared memory, in bytes.
struct layout {
    int part, x, code, list, end, row, bytes;
};

HX_HD int round_up(int n)
{
    return (n + 15) & ~15;
}

template <class T> HX_HD layout layout_of(int n_each, int most_block, int most_outer)
{
    const int n_value = 9 * static_cast<int>(sizeof(T)) * (most_block + ALIGNED<T> - 1);
    layout at;
    at.part = IN_PLACE<T> ? 0 : round_up(n_value);
    at.x = at.part + round_up(IN_PLACE<T> ? n_value : 8 * PART<T> * most_block); // [point][3]
    at.code = round_up(at.x + 24 * (n_each + most_outer));
    at.list = round_up(at.code + 2 * (most_block + 7));
    at.end = round_up(at.list + 2 * most_block);
    at.row = round_up(at.end + 2 * (most_outer + n_each));
    at.bytes = round_up(at.row + 4 * (n_each + 1));
    return at;
}

// Data of the matrix as seen by kernels.
struct view {
    int64_t n_row;
    int n_each, most_block, most_outer;
    const int64_t *row_ptr, *outer_begin;
    const int32_t *col, *outer_row;
    const uint16_t *code, *list, *end;
};

// A run while it is processed.
struct run {
    int64_t first, block; // its first row and first block
    int n, n_block;       // number of rows; number of blocks, n of them on the diagonal
};

__device__ __forceinline__ run run_of(const view &v, int64_t i)
{
    run r;
    r.first = i * v.n_each;
    r.n = static_cast<int>(v.n_row - r.first < v.n_each ? v.n_row - r.first : v.n_each);
    r.block = v.row_ptr[r.first];
    r.n_block = static_cast<int>(v.row_ptr[r.first + r.n] - r.block);
    return r;
}

// Copies n bytes to shared memory, 16 at a time; sizes and offsets of the arrays are rounded up.
__device__ __forceinline__ void load_bytes(void *to, const void *from, int n)
{
    for (int k = 16 * static_cast<int>(threadIdx.x); k < n; k += 16 * SIZE)
        __pipeline_memcpy_async(static_cast<char *>(to) + k, static_cast<const char *>(from) + k,
                                16);
}

// Loads x of a run's rows and, from row n_each on, of its outer rows.
__device__ __forceinline__ void load_points(const view &v, const run &r, int64_t outer, int n_outer,
                                            const double *__restrict__ x, double *to)
{
    for (int k = static_cast<int>(threadIdx.x); k < 3 * (r.n + n_outer); k += SIZE) {
        const int of = k / 3, i = k - 3 * of, of_outer = of - r.n;
        const bool is_own = of_outer < 0;
        const int64_t row = is_own ? r.first + of : v.outer_row[outer + of_outer];
        __pipeline_memcpy_async(to + 3 * (is_own ? of : v.n_each + of_outer) + i, x + 3 * row + i,
                                8);
    }
}

// Computes what block `a` adds to its row, and what its transpose adds to the row of its column.
template <class T>
__device__ __forceinline__ void multiply_block(const T *value, const double *own_x,
                                               const double *other_x, double *part)
{
    double a[9], sum[6];
#pragma unroll
    for (int t = 0; t < 9; t++) a[t] = value[t];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        sum[i] = a[3 * i] * other_x[0] + a[3 * i + 1] * other_x[1] + a[3 * i + 2] * other_x[2];
        sum[3 + i] = a[i] * own_x[0] + a[3 + i] * own_x[1] + a[6 + i] * own_x[2];
    }
#pragma unroll
    for (int t = 0; t < 6; t++) part[t] = sum[t];
}

template <class T>
__global__ void __launch_bounds__(SIZE, 4)
    runs_kernel(const int32_t *__restrict__ block, view v, const T *__restrict__ value,
                const double *__restrict__ x, double *__restrict__ aside, double *__restrict__ y)
{
    extern __shared__ __align__(16) char memory[];
    const layout at = layout_of<T>(v.n_each, v.most_block, v.most_outer);
    double *const part = reinterpret_cast<double *>(memory + at.part);
    double *const xs = reinterpret_cast<double *>(memory + at.x);
    uint16_t *const code = reinterpret_cast<uint16_t *>(memory + at.code);
    uint16_t *const list = reinterpret_cast<uint16_t *>(memory + at.list);
    uint16_t *const end = reinterpret_cast<uint16_t *>(memory + at.end);
    int *const row = reinterpret_cast<int *>(memory + at.row);
    const int thread = static_cast<int>(threadIdx.x);

    const int64_t which = hx_block_at(block);
    const run r = run_of(v, which);
    const int64_t outer = v.outer_begin[which];
    const int n_outer = static_cast<int>(v.outer_begin[which + 1] - outer);
    const int value_lead = static_cast<int>(r.block) & (ALIGNED<T> - 1);
    const int code_lead = static_cast<int>(r.block) & 7;
    load_bytes(memory, value + 9 * (r.block - value_lead),
               9 * static_cast<int>(sizeof(T)) * (r.n_block + value_lead));
    load_bytes(code, v.code + r.block - code_lead, 2 * (r.n_block + code_lead));
    load_bytes(list, v.list + hx_lower_place(r.block - r.first, which), 2 * (r.n_block - r.n));
    load_bytes(end, v.end + hx_lower_place(outer + r.first, which), 2 * (n_outer + r.n));
    load_points(v, r, outer, n_outer, x, xs);
    if (thread <= r.n) row[thread] = static_cast<int>(v.row_ptr[r.first + thread] - r.block);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();

    const T *const values = reinterpret_cast<const T *>(memory) + 9 * value_lead;
    double *const parts = IN_PLACE<T> ? part + 9 * value_lead : part;
    for (int k = thread; k < r.n_block; k += SIZE) {
        const int c = code[code_lead + k];
        multiply_block(values + 9 * k, xs + 3 * (c >> POINT_BITS),
                       xs + 3 * (c & ((1 << POINT_BITS) - 1)), parts + PART<T> * k);
    }
    __syncthreads();

    for (int k = thread; k < 3 * (r.n + n_outer); k += SIZE) {
        const int of = k / 3, i = k - 3 * of;
        // the lists of outer rows come first
        const int of_list = of < r.n ? n_outer + of : of - r.n;
        double sum = 0.0;
        if (of < r.n) {
            const int last = row[of + 1];
#pragma unroll 4
            for (int b = row[of]; b < last; b++) sum += parts[PART<T> * b + i];
        }
        const int last = end[of_list];
#pragma unroll 4
        for (int p = of_list > 0 ? end[of_list - 1] : 0; p < last; p++)
            sum += parts[PART<T> * list[p] + 3 + i];
        if (of < r.n)
            y[3 * r.first + k] = sum;
        else
            aside[3 * (outer - r.n) + k] = sum;
    }
}

// Computes the list of a run, sorted by column and then by row, and outer_count[run + 1]: one
// thread per block, which counts the blocks before it. Shared memory: columns.
static __global__ void __launch_bounds__(SIZE)
    list_kernel(view v, uint16_t *__restrict__ list, int64_t *__restrict__ outer_count)
{
    extern __shared__ __align__(16) int32_t col[];
    __shared__ int n_outer;
    const run r = run_of(v, blockIdx.x);
    uint16_t *const to = list + hx_lower_place(r.block - r.first, blockIdx.x);
    if (threadIdx.x == 0) n_outer = 0;
    for (int k = static_cast<int>(threadIdx.x); k < r.n_block; k += SIZE)
        col[k] = v.col[r.block + k];
    __syncthreads();
    // the diagonal is the last block of a row
    for (int k = static_cast<int>(threadIdx.x); k < r.n; k += SIZE)
        col[v.row_ptr[r.first + k + 1] - 1 - r.block] = INT32_MAX;
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < r.n_block; k += SIZE) {
        const int32_t mine = col[k];
        int rank = 0, n_same = 0;
        if (mine == INT32_MAX) continue;
        for (int i = 0; i < r.n_block; i++) {
            const int same = col[i] == mine && i < k;
            rank += col[i] < mine || same;
            n_same += same;
        }
        to[rank] = static_cast<uint16_t>(k);
        if (n_same == 0 && mine < r.first) atomicAdd(&n_outer, 1);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    outer_count[blockIdx.x + 1] = n_outer;
    if (blockIdx.x == 0) outer_count[0] = 0;
}

// Index of the first of n ascending numbers that is at least `wanted`.
__device__ __forceinline__ int find(const int32_t *number, int n, int64_t wanted)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (number[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Computes the ends of the lists of a run's outer rows and own rows, and the indices of the outer
// rows. Shared memory: columns in the order of the list.
static __global__ void __launch_bounds__(SIZE)
    ends_kernel(view v, uint16_t *__restrict__ ends, int32_t *__restrict__ outer_row,
                unsigned long long *most_outer)
{
    extern __shared__ __align__(16) int32_t col[];
    const run r = run_of(v, blockIdx.x);
    const int64_t outer = v.outer_begin[blockIdx.x];
    const int n_outer = static_cast<int>(v.outer_begin[blockIdx.x + 1] - outer);
    const int n_list = r.n_block - r.n, lane = static_cast<int>(threadIdx.x) % 32;
    const uint16_t *const list = v.list + hx_lower_place(r.block - r.first, blockIdx.x);
    uint16_t *const to = ends + hx_lower_place(outer + r.first, blockIdx.x);
    for (int k = static_cast<int>(threadIdx.x); k < n_list; k += SIZE)
        col[k] = v.col[r.block + list[k]];
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < r.n; k += SIZE)
        to[n_outer + k] = static_cast<uint16_t>(find(col, n_list, r.first + k + 1));
    if (threadIdx.x >= 32) return;
    int n_found = 0; // by one warp, 32 blocks at a time
    for (int begin = 0; begin < n_list; begin += 32) {
        const int k = begin + lane;
        const bool is_last =
            k < n_list && col[k] < r.first && (k + 1 == n_list || col[k + 1] != col[k]);
        const unsigned found = __ballot_sync(ALL_LANES, is_last);
        const int place = n_found + __popc(found & ((1u << lane) - 1));
        if (is_last) {
            to[place] = static_cast<uint16_t>(k + 1);
            outer_row[outer + place] = col[k];
        }
        n_found += __popc(found);
    }
    if (lane == 0) atomicMax(most_outer, static_cast<unsigned long long>(n_outer));
}

// Codes row and point of each block of a run: one warp per row.
static __global__ void __launch_bounds__(SIZE) codes_kernel(view v, uint16_t *__restrict__ code)
{
    const run r = run_of(v, blockIdx.x);
    const int64_t outer = v.outer_begin[blockIdx.x];
    const int n_outer = static_cast<int>(v.outer_begin[blockIdx.x + 1] - outer);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int row = static_cast<int>(threadIdx.x) / 32; row < r.n; row += WARPS) {
        const int64_t end = v.row_ptr[r.first + row + 1];
        for (int64_t k = v.row_ptr[r.first + row] + lane; k < end; k += 32) {
            const int32_t column = v.col[k];
            int point = static_cast<int>(column - r.first);
            if (column < r.first) point = v.n_each + find(v.outer_row + outer, n_outer, column);
            code[k] = static_cast<uint16_t>(row << POINT_BITS | point);
        }
    }
}

// Marks runs that write to interface rows, either their own or outer ones: one thread per run.
static __global__ void mark_kernel(view v, int64_t n_run, const uint8_t *__restrict__ is_interface,
                                   uint8_t *__restrict__ is_boundary)
{
    const int64_t i = hx_grid_thread();
    if (i >= n_run) return;
    const int64_t first = i * v.n_each;
    const int64_t last = first + v.n_each < v.n_row ? first + v.n_each : v.n_row;
    uint8_t found = 0;
    for (int64_t row = first; row < last; row++) found |= is_interface[row];
    for (int64_t k = v.outer_begin[i]; k < v.outer_begin[i + 1]; k++)
        found |= is_interface[v.outer_row[k]];
    is_boundary[i] = found;
}

} // namespace hx_lower

#endif
