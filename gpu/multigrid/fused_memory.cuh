// Shared memory of the fused coarse cycle (multigrid_fused_cuda.cu): what a block keeps there,
// and how it is loaded.
#ifndef HX_FUSED_MEMORY_CUH
#define HX_FUSED_MEMORY_CUH

#include <cuda_pipeline.h>

#include <cstddef>

#include "fused_words.cuh"

namespace hx_fused
{

// Data of a step that all threads of a block need, in shared memory; offsets are in bytes.
struct alignas(16) order {
    const float4 *from; // words to read
    float4 *to;         // words to write
    unsigned by;        // step of this launch that wrote the words to read
    float a, b;         // coefficients of the smoother
    int what;           // hx_fused_kind + 256 * level
    int list, n_word;   // list of nodes whose words the block gathers, and number of these words
    int near, matrix;   // values of near nodes; matrices of a level below the first
};

struct alignas(16) cycle {
    hx_mg_level level[HX_FUSED_LEVELS + 1];
    hx_mg_fused r;
    const float *inverse;
    int pitch;
    // Offsets in shared memory: right-hand side of the coarsest grid, orders, values of parents,
    // states; for each level, two arrays of near values, and lists; matrices of all levels but the
    // first; `stage_most` nodes of the first level while their matrix is being loaded to registers,
    // and afterwards, in the same place, the rows of the inverse that the block multiplies, if
    // there is room.
    int value_at, order_at, above_at, state_at, n_byte, stage_at, stage_most, has_inverse;
    int count_at; // the step in which launches are counted; most warps are idle in it
    struct {
        int near_at, near_bytes, node_at, above_at, parent_at, child_at, matrix_at;
    } part[HX_FUSED_LEVELS];
};

__device__ __forceinline__ int nodes_of(const cycle &c, int l)
{
    return static_cast<int>(c.level[l].n_node);
}

// The first node of a block.
__device__ __forceinline__ int begin_of(const cycle &c, int l, unsigned block)
{
    return static_cast<int>(static_cast<unsigned>(nodes_of(c, l)) * block / gridDim.x);
}

// Position of lane `lane` among the 32 pairs of numbers of two rows of a node's matrix in shared
// memory, rotated by node and rows, so that loading it causes no bank conflicts.
__device__ __forceinline__ int slot_of(int lane, int w, int h)
{
    return (lane + 3 * w + h) & 31;
}

// Reads the step as one word.
__device__ __forceinline__ hx_fused_step step_of(const cycle &c, int s)
{
    static_assert(sizeof(hx_fused_step) == sizeof(uint2) &&
                  offsetof(cycle, r) % sizeof(uint2) == 0 &&
                  offsetof(hx_mg_fused, step) % sizeof(uint2) == 0);
    const uint2 word = reinterpret_cast<const uint2 *>(c.r.step)[s];
    const auto byte = [](unsigned w, int k) { return static_cast<uint8_t>(w >> 8 * k & 0xffu); };
    return {byte(word.x, 0), byte(word.x, 1), byte(word.x, 2), byte(word.x, 3),
            byte(word.y, 0), byte(word.y, 1), byte(word.y, 2), 0};
}

__device__ __forceinline__ float4 *iterate_of(const cycle &c, int l, int copy)
{
    return static_cast<float4 *>(c.r.part[l].d_x) + copy * 2 * nodes_of(c, l);
}

// The nodes of a block, by warp.
struct owners {
    int n[HX_FUSED_LEVELS + 1], node[HX_FUSED_LEVELS + 1][WARPS];
};

// Shared memory. The address of each part is recomputed at each use, because the registers are
// needed for the matrix.
struct layout {
    const cycle &c;
    char *memory;

    template <class T> __device__ __forceinline__ T *get(int at) const
    {
        return reinterpret_cast<T *>(memory + at);
    }
    // b, m, x, d of a row; always accessed by the same thread.
    __device__ __forceinline__ float4 &state(int l, int warp, int row) const
    {
        return get<float4>(c.state_at)[(l * WARPS + warp) * STATE_ROWS + row];
    }
    // Child of a node on the level below.
    __device__ __forceinline__ int &child(int l, int warp, int lane) const
    {
        return get<int>(c.part[l].child_at)[32 * warp + lane];
    }
};

__device__ __forceinline__ void find_owners(const cycle &c, owners *own)
{
    const int thread = static_cast<int>(threadIdx.x);
    for (int l = 0; l <= c.r.n_level; l++) {
        const int first = begin_of(c, l, blockIdx.x), n = begin_of(c, l, blockIdx.x + 1) - first;
        if (thread < n)
            own->node[l][thread] = l < c.r.n_level ? __ldg(c.r.part[l].d_own + first + thread)
                                                   : first + thread; // any order is possible here
        if (thread == 0) own->n[l] = n;
    }
    __syncthreads();
}

// Where a lane finds the values of its neighbours among the near values of the block: ten bits per
// level.
constexpr int PLACE_BITS = 10;
static_assert(WARPS * OFFSETS < 1 << PLACE_BITS && HX_FUSED_LEVELS * PLACE_BITS <= 32);
__device__ __forceinline__ unsigned places_of(const cycle &c, const owners &own)
{
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    unsigned places = 0;
    for (int l = 0; l < c.r.n_level; l++) {
        int place = c.r.part[l].most_near; // index of the zeros
        if (warp < own.n[l] && lane < OFFSETS)
            place = __ldg(c.r.part[l].d_place + 32 * own.node[l][warp] + lane);
        places |= static_cast<unsigned>(place) << PLACE_BITS * l;
    }
    return places;
}

// A step as the block executes it.
__device__ __forceinline__ order order_of(const cycle &c, const hx_fused_step &step)
{
    const int l = step.level, n_last = nodes_of(c, c.r.n_level);
    float4 *const last = static_cast<float4 *>(c.r.d_b);
    order o = {};
    o.what = step.kind | l << 8;
    o.by = step.by;
    if (step.kind == HX_FUSED_DIRECT) { // the last level has no part
        o.from = last + step.from * 2 * n_last;
        return o;
    }
    const hx_fused_part &part = c.r.part[l];
    const bool is_above_last = l + 1 == c.r.n_level;
    float4 *const residual = static_cast<float4 *>(part.d_r);
    o.list = c.part[l].node_at;
    o.n_word = 2 * part.most_near;
    o.near = c.part[l].near_at + step.half * c.part[l].near_bytes;
    o.matrix = c.part[l].matrix_at;
    switch (step.kind) {
    case HX_FUSED_RESTRICT:
        o.from = residual;
        o.to = last + step.to * 2 * n_last;
        return o;
    case HX_FUSED_RETURN:
        o.list = c.part[l].above_at;
        o.n_word = (is_above_last ? 3 : 2) * part.most_above;
        o.from = is_above_last ? reinterpret_cast<const float4 *>(c.r.d_y)
                               : iterate_of(c, l + 1, step.from);
        break;
    default:
        o.from = iterate_of(c, l, step.from);
    }
    o.to = step.kind == HX_FUSED_RESIDUAL ? residual : iterate_of(c, l, step.to);
    o.b = c.level[l].d_smoother->b[step.i];
    if (step.i > 0) o.a = c.level[l].d_smoother->a[step.i];
    return o;
}

// Starts loading the matrices of n nodes of a block from the w0-th on: neighbouring lanes load
// neighbouring numbers, three lanes per column of a block.
__device__ __forceinline__ void bring_matrices(const cycle &c, int l, const owners &own, int w0,
                                               int n, float2 *to)
{
    constexpr int ROWS = DOF / 2, HALF = 16;
    const int thread = static_cast<int>(threadIdx.x);
    const int width = (ROWS * n + HALF - 1) / HALF * HALF; // number of threads per column
    const int j = thread % width, w = j / ROWS, h = j % ROWS, n_at_once = THREADS / width;
    if (w >= n || thread / width >= n_at_once) return;
    const float *const from = c.level[l].d_matrix + own.node[l][w0 + w] * DOF + 2 * h;
    for (int k = thread / width; k < OFFSETS * DOF; k += n_at_once) {
        const int offset = k / DOF, column = k - DOF * offset;
        __pipeline_memcpy_async(to + LANE_NUMBERS * w + 32 * (ROWS * column + h) +
                                    slot_of(offset, w, h),
                                from + k * nodes_of(c, l) * DOF, sizeof(float2));
    }
}

// Loads lists, states and orders, and sets the zeros that lanes without a neighbour multiply.
__device__ __forceinline__ void load_lists(const cycle &c, const layout &at, const owners &own)
{
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    for (int l = 0; l < c.r.n_level; l++) {
        const hx_fused_part &part = c.r.part[l];
        const int n_near = part.most_near, block = static_cast<int>(blockIdx.x);
        for (int j = thread; j < n_near; j += THREADS) {
            __pipeline_memcpy_async(at.get<int>(c.part[l].node_at) + j,
                                    part.d_near + block * n_near + j, sizeof(int));
            __pipeline_memcpy_async(at.get<float4>(c.part[l].parent_at) + j,
                                    reinterpret_cast<const float4 *>(part.d_parent) +
                                        block * n_near + j,
                                    sizeof(float4));
        }
        for (int j = thread; j < part.most_above; j += THREADS)
            __pipeline_memcpy_async(at.get<int>(c.part[l].above_at) + j,
                                    part.d_above + block * part.most_above + j, sizeof(int));
        if (thread < 2 * DOF) {
            float *const near =
                at.get<float>(c.part[l].near_at + thread / DOF * c.part[l].near_bytes);
            near[DOF * n_near + thread % DOF] = 0.0f;
        }
        if (warp < own.n[l] && has_row(lane)) {
            float4 &state = at.state(l, warp, row_of(lane));
            state.x = state.z = state.w = 0.0f;
            __pipeline_memcpy_async(
                &state.y, c.level[l].d_m + DOF * own.node[l][warp] + row_of(lane), sizeof state.y);
        }
        if (warp < own.n[l + 1]) {
            int *const child = &at.child(l, warp, lane);
            if (lane < OFFSETS)
                __pipeline_memcpy_async(child,
                                        c.level[l + 1].d_child + lane * nodes_of(c, l + 1) +
                                            own.node[l + 1][warp],
                                        sizeof *child);
            else
                *child = -1;
        }
    }
    for (int s = thread; s < c.r.n_step; s += THREADS)
        at.get<order>(c.order_at)[s] = order_of(c, step_of(c, s));
}

// Moves the blocks of the first level to registers.
__device__ __forceinline__ void take_first(const float2 *stage, int w, float (&m)[BLOCK_NUMBERS])
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane >= OFFSETS) return;
#pragma unroll
    for (int k = 0; k < BLOCK_NUMBERS / 2; k++) {
        const float2 two = stage[LANE_NUMBERS * w + 32 * k + slot_of(lane, w, k % (DOF / 2))];
        m[2 * k] = two.x;
        m[2 * k + 1] = two.y;
    }
}

// Starts loading the rows of the inverse that the block multiplies, one after the other, if there
// is room.
__device__ __forceinline__ void bring_inverse(const cycle &c, float *to)
{
    const int n = DOF * nodes_of(c, c.r.n_level), n_four = c.pitch / 4;
    const int n_row = (n - static_cast<int>(blockIdx.x) + static_cast<int>(gridDim.x) - 1) /
                      static_cast<int>(gridDim.x);
    float4 *const four = reinterpret_cast<float4 *>(to);
    for (int j = static_cast<int>(threadIdx.x); j < n_row * n_four; j += THREADS) {
        const int i = j / n_four, k = j - n_four * i;
        const int row = i * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        __pipeline_memcpy_async(four + j,
                                reinterpret_cast<const float4 *>(c.inverse + row * c.pitch) + k,
                                sizeof *four);
    }
}

inline int align(int *at, int bytes)
{
    const int begin = *at;
    *at += (bytes + 15) / 16 * 16;
    return begin;
}

inline cycle cycle_of(const hx_device *dev, const hx_mg_fused *r, const hx_mg_level *level,
                      const float *d_inverse)
{
    constexpr int MATRIX_BYTES = LANE_NUMBERS * static_cast<int>(sizeof(float2)),
                  NODE_BYTES = DOF * static_cast<int>(sizeof(float)),
                  INT_BYTES = static_cast<int>(sizeof(int));
    const int most_shared = static_cast<int>(hx_cuda_of(dev)->most_shared - sizeof(owners));
    cycle c = {};
    int at = 0, most_above = 0;
    for (int l = 0; l <= r->n_level; l++) c.level[l] = level[l];
    c.r = *r;
    c.inverse = d_inverse;
    c.pitch = static_cast<int>(hx_mg_pitch(DOF * level[r->n_level].n_node));
    c.value_at = align(&at, c.pitch * static_cast<int>(sizeof(double)));
    c.order_at = align(&at, r->n_step * static_cast<int>(sizeof(order)));
    c.state_at = align(&at, r->n_level * WARPS * STATE_ROWS * static_cast<int>(sizeof(float4)));
    for (int l = 0; l < r->n_level; l++) {
        const hx_fused_part &part = r->part[l];
        const int n_next = static_cast<int>((level[l + 1].n_node + r->n_block - 1) / r->n_block);
        if (part.most_above > most_above) most_above = part.most_above;
        c.part[l].near_bytes = (part.most_near + 1) * NODE_BYTES;
        c.part[l].near_at = align(&at, 2 * c.part[l].near_bytes);
        c.part[l].node_at = align(&at, part.most_near * INT_BYTES);
        c.part[l].above_at = align(&at, part.most_above * INT_BYTES);
        c.part[l].parent_at = align(&at, part.most_near * static_cast<int>(sizeof(float4)));
        c.part[l].child_at = align(&at, n_next * 32 * INT_BYTES);
        if (l > 0) c.part[l].matrix_at = align(&at, part.most_node * MATRIX_BYTES);
    }
    c.above_at = align(&at, most_above * NODE_BYTES);
    c.stage_most = max(1, min(r->part[0].most_node, (most_shared - at) / MATRIX_BYTES));
    const int n_row =
                  static_cast<int>((DOF * level[r->n_level].n_node + r->n_block - 1) / r->n_block),
              row_bytes = n_row * c.pitch * static_cast<int>(sizeof(float));
    c.has_inverse = row_bytes <= most_shared - at;
    c.stage_at = align(&at, max(c.stage_most * MATRIX_BYTES, c.has_inverse ? row_bytes : 0));
    c.n_byte = at;
    while (c.count_at < r->n_step && r->step[c.count_at].kind != HX_FUSED_DIRECT) c.count_at++;
    return c;
}

} // namespace hx_fused

#endif
