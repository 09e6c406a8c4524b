// Words that the blocks of the fused coarse cycle exchange (multigrid_fused_cuda.cu), and sums
// of a node's rows over the lanes of a warp.
#ifndef HX_FUSED_WORDS_CUH
#define HX_FUSED_WORDS_CUH

#include "core/multigrid/fused_cycle.h"
#include "multigrid_cuda.cuh"

namespace hx_fused
{

constexpr int WARPS = 28, THREADS = 32 * WARPS; // 28 warps leave 72 registers per thread
constexpr int DOF = HX_MG_DOF, OFFSETS = HX_COARSE_OFFSETS, BLOCK_NUMBERS = DOF * DOF;
constexpr int LANE_NUMBERS = BLOCK_NUMBERS / 2 * 32; // numbers of a node in shared memory, in pairs
constexpr int STATE_ROWS = 8;                        // space for the 6 rows of a node
constexpr unsigned LANES = 0xffffffffu;
constexpr unsigned MOST_POLLS = 1u << 27; // about a minute; an error is better than an endless loop

// Writes three numbers of a node and the number of the step that computed them.
__device__ __forceinline__ void publish(float4 *to, float3 v, unsigned tag)
{
    asm volatile(
        "{\n\t.reg .b128 word;\n\t.reg .b64 low, high;\n\t"
        "mov.b64 low, {%1, %2};\n\tmov.b64 high, {%3, %4};\n\t"
        "mov.b128 word, {low, high};\n\tst.relaxed.gpu.global.b128 [%0], word;\n\t}" ::"l"(to),
        "f"(v.x), "f"(v.y), "f"(v.z), "r"(tag)
        : "memory");
}

struct word {
    float3 v;
    unsigned tag;
};
__device__ __forceinline__ word look(const float4 *from)
{
    word w;
    asm volatile("{\n\t.reg .b128 word;\n\t.reg .b64 low, high;\n\t"
                 "ld.relaxed.gpu.global.b128 word, [%4];\n\tmov.b128 {low, high}, word;\n\t"
                 "mov.b64 {%0, %1}, low;\n\tmov.b64 {%2, %3}, high;\n\t}"
                 : "=f"(w.v.x), "=f"(w.v.y), "=f"(w.v.z), "=r"(w.tag)
                 : "l"(from)
                 : "memory");
    return w;
}

__device__ __forceinline__ float3 poll(const float4 *from, unsigned tag)
{
    word w = look(from);
    for (unsigned n = 0; w.tag != tag; n++) {
        w = look(from);
        if (n == MOST_POLLS) __trap();
    }
    return w.v;
}

// Polls all six numbers of a node.
__device__ __forceinline__ void poll_node(const float4 *from, unsigned tag, float (&v)[DOF])
{
    word a, b;
    for (unsigned n = 0;; n++) {
        a = look(from);
        b = look(from + 1);
        if (a.tag == tag && b.tag == tag) break;
        if (n == MOST_POLLS) __trap();
    }
    v[0] = a.v.x;
    v[1] = a.v.y;
    v[2] = a.v.z;
    v[3] = b.v.x;
    v[4] = b.v.y;
    v[5] = b.v.z;
}

// For the coarsest grid, whose rows are finished one by one: a number and its step.
__device__ __forceinline__ void publish_row(uint64_t *to, float value, unsigned tag)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to),
                 "l"(static_cast<uint64_t>(tag) << 32 | __float_as_uint(value))
                 : "memory");
}
__device__ __forceinline__ float2 poll_rows(const uint64_t *from, unsigned tag)
{
    uint64_t a, b;
    for (unsigned n = 0;; n++) {
        asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(a), "=l"(b)
                     : "l"(from)
                     : "memory");
        if (static_cast<unsigned>(a >> 32) == tag && static_cast<unsigned>(b >> 32) == tag) break;
        if (n == MOST_POLLS) __trap();
    }
    return make_float2(__uint_as_float(static_cast<unsigned>(a)),
                       __uint_as_float(static_cast<unsigned>(b)));
}

// Six sums over 2 TOP lanes, one per row: the sum of row r ends in the lanes whose row_of is r,
// four of 32 lanes.
template <int TOP = 16> __device__ __forceinline__ int row_of(int lane)
{
    constexpr int THIRD = TOP / 2, SECOND = TOP / 4;
    return (lane & TOP ? 3 : 0) + (lane & THIRD ? 2 : 0) + (lane & SECOND ? 1 : 0);
}
template <int TOP = 16> __device__ __forceinline__ bool has_row(int lane)
{
    constexpr int NONE = TOP / 2 + TOP / 4;
    return (lane & NONE) != NONE && lane % (TOP / 4) == 0;
}
template <int TOP = 16> __device__ __forceinline__ float sum_rows(const float (&s)[DOF])
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const bool upper = lane & TOP, third = lane & TOP / 2, second = lane & TOP / 4;
    float t[3], u[2];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const float give = upper ? s[i] : s[i + 3], keep = upper ? s[i + 3] : s[i];
        t[i] = keep + __shfl_xor_sync(LANES, give, TOP);
    }
    const float from_first = __shfl_xor_sync(LANES, third ? t[0] : t[2], TOP / 2),
                from_second = __shfl_xor_sync(LANES, t[1], TOP / 2);
    u[0] = (third ? t[2] : t[0]) + from_first;
    u[1] = t[1] + from_second; // the third row has no partner here
    float v = (second ? u[1] : u[0]) + __shfl_xor_sync(LANES, second ? u[0] : u[1], TOP / 4);
    for (int step = TOP / 8; step > 0; step /= 2) v += __shfl_xor_sync(LANES, v, step);
    return v;
}

// Gathers the words of a step at the nodes that the block needs into shared memory.
__device__ __forceinline__ void gather(const float4 *x, const int *node, int n_word, unsigned tag,
                                       float *to)
{
    for (unsigned j = threadIdx.x; j < static_cast<unsigned>(n_word); j += THREADS) {
        const int a = node[j / 2];
        if (a < 0) break;
        const float3 v = poll(x + (2u * static_cast<unsigned>(a) + j % 2), tag);
        to[3 * j] = v.x;
        to[3 * j + 1] = v.y;
        to[3 * j + 2] = v.z;
    }
    __syncthreads();
}

// Gathers the solution of the coarsest grid, two rows at a time.
__device__ __forceinline__ void gather_rows(const uint64_t *y, const int *node, int n_word,
                                            unsigned tag, float *to)
{
    for (int j = static_cast<int>(threadIdx.x); j < n_word; j += THREADS) {
        if (node[j / 3] < 0) break;
        const float2 v = poll_rows(y + DOF * node[j / 3] + 2 * (j % 3), tag);
        to[2 * j] = v.x;
        to[2 * j + 1] = v.y;
    }
    __syncthreads();
}

// Moves values from the lanes of rows 1, 2 and of 4, 5 to that of 0 and that of 3.
__device__ __forceinline__ float3 of_three(float v)
{
    const float y = __shfl_down_sync(LANES, v, 4), z = __shfl_down_sync(LANES, v, 8);
    return make_float3(v, y, z);
}

} // namespace hx_fused

#endif
