// Streams consecutive rows of 3 x 3 blocks (bsr) through shared memory, one warp per group of rows.
// The blocks of all rows are contiguous, so they are copied in steps of equal length, 16 bytes per
// lane and several steps ahead of their use, independently of the lengths of the rows. The sum of a
// row depends only on that row.
#ifndef HX_BLOCK_STREAM_CUH
#define HX_BLOCK_STREAM_CUH

#include <cuda_pipeline.h>

#include "matrix_cuda.cuh"

constexpr unsigned HX_ALL_LANES = 0xffffffffu;

// Number of blocks that a warp multiplies at a time. Lane 9 j + e has column j of blocks e, 9 + e
// and 18 + e, so that the warp accesses each bank of shared memory once. Lanes 27 to 31 are idle.
constexpr int HX_CHUNK = 27;

// A ring buffer of N_STEP steps with STEP blocks each.
template <class T, int STEP, int N_STEP> struct hx_block_stream {
    static constexpr int ROOM = STEP * N_STEP;
    // A chunk extends over at most SPAN steps; the other steps are being copied.
    static constexpr int SPAN = (HX_CHUNK + STEP - 2) / STEP + 1, AHEAD = N_STEP - SPAN;
    static_assert((ROOM & (ROOM - 1)) == 0, "places are found by a mask");
    static_assert(STEP % 4 == 0, "steps begin at multiples of 16 bytes");
    static_assert(STEP <= 32, "one lane per column");
    static_assert(AHEAD >= 1, "the ring is too short");

    struct alignas(16) ring {
        T value[9 * ROOM];
        int32_t col[ROOM];
    };

    ring &memory;
    const T *const value;
    const int32_t *const col;
    const int lane, n_row;
    // a block at or shortly before the first one, aligned to 16 bytes; the members below count from
    // it
    int64_t base;
    int at;     // the next block
    int end;    // end of row `lane`
    int total;  // end of the last row
    int n_step; // number of steps that have been started

    // Rows first .. first + n_row - 1, at most 32; n_row may be 0.
    __device__ __forceinline__ hx_block_stream(ring &to, const int64_t *__restrict__ row_ptr,
                                               const int32_t *__restrict__ columns,
                                               const T *__restrict__ values, int64_t first, int n)
        : memory(to), value(values), col(columns), lane(static_cast<int>(threadIdx.x) % 32),
          n_row(n), base(0), at(0), end(0), total(0), n_step(0)
    {
        if (n == 0) return;
        const int64_t begin = row_ptr[first];
        base = begin & ~static_cast<int64_t>(3);
        at = static_cast<int>(begin - base);
        if (lane < n) end = static_cast<int>(row_ptr[first + lane + 1] - base);
        total = __shfl_sync(HX_ALL_LANES, end, n - 1);
    }

    __device__ __forceinline__ int row_end(int row) const
    {
        return __shfl_sync(HX_ALL_LANES, end, row);
    }

    // Starts copying the next step; after the last block it is empty.
    __device__ __forceinline__ void load()
    {
        constexpr int most = STEP * 9 * static_cast<int>(sizeof(T));
        const int first = n_step * STEP, place = first & (ROOM - 1);
        const int n = total - first < STEP ? total - first : STEP;
        const int n_byte = n * 9 * static_cast<int>(sizeof(T));
        const char *const from = reinterpret_cast<const char *>(value + 9 * (base + first));
        char *const to = reinterpret_cast<char *>(memory.value + 9 * place);
#pragma unroll
        for (int k = 0; k < most; k += 32 * 16)
            if (k + 16 * lane < n_byte)
                __pipeline_memcpy_async(to + k + 16 * lane, from + k + 16 * lane, 16);
        if (lane < n)
            __pipeline_memcpy_async(memory.col + place + lane, col + base + first + lane, 4);
        __pipeline_commit();
        n_step++;
    }

    // Waits for the next blocks of a row that ends at `stop`, and returns their number.
    __device__ __forceinline__ int next(int stop)
    {
        const int n = stop - at < HX_CHUNK ? stop - at : HX_CHUNK, last = (at + n - 1) / STEP;
        __syncwarp(); // all lanes have read what is overwritten now
        while (n_step <= last + AHEAD) load();
        __pipeline_wait_prior(AHEAD);
        __syncwarp();
        return n;
    }

    // Values of the e-th of these blocks.
    __device__ __forceinline__ const T *block(int e) const
    {
        return memory.value + 9 * ((at + e) & (ROOM - 1));
    }

    __device__ __forceinline__ int32_t column(int e) const
    {
        return memory.col[(at + e) & (ROOM - 1)];
    }
};

// Sums over the lanes; the sum of sum[j] is in lane 9 j for j = 0 .. 2.
__device__ __forceinline__ double hx_sum_lanes(const double sum[3], int lane)
{
    const int e = lane % 9, j = lane / 9;
    const auto pick = [&](int i) { return i == 0 ? sum[0] : i == 1 ? sum[1] : sum[2]; };
    const auto from = [&](double a, int of) { return __shfl_sync(HX_ALL_LANES, a, e + 9 * of); };
    // Each lane provides the value that the reading lane needs.
    const double one = from(pick((j + 2) % 3), (j + 1) % 3);
    const double two = from(pick((j + 1) % 3), (j + 2) % 3);
    const double own = pick(j) + one + two;
    const double three =
        own + __shfl_down_sync(HX_ALL_LANES, own, 1) + __shfl_down_sync(HX_ALL_LANES, own, 2);
    return three + __shfl_down_sync(HX_ALL_LANES, three, 3) +
           __shfl_down_sync(HX_ALL_LANES, three, 6);
}

#endif
