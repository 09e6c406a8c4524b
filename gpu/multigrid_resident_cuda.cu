// A multigrid cycle of small lattices in one launch (core/solver/resident.h). A warp takes a node
// of each lattice. The first lattice's matrix, 27 blocks of a row of nodes, is in registers, a
// block a lane; those below in shared memory. All blocks run at a time, as a cooperative launch
// says.
//
// A step needs no more than the values of a node's neighbours: a block polls those that its nodes
// need, each once, until they bear the number of the step that leaves them (the idea of NCCL's
// protocol LL: data and flag are one word, no fence and no barrier between blocks). That a word is
// read before another takes its place follows from what the values are made of and from the barrier
// within the block: a value is left when what it is made of has come.
#include <cuda_pipeline.h>

#include <cstddef>

#include "core/solver/resident.h"
#include "multigrid_cuda.cuh"

namespace
{

constexpr int WARPS = 28, THREADS = 32 * WARPS; // 28: of 72 registers a thread
constexpr int DOF = HX_MG_DOF, OFFSETS = HX_LATTICE_OFFSETS, BLOCK_NUMBERS = DOF * DOF;
constexpr int LANE_NUMBERS = BLOCK_NUMBERS / 2 * 32; // of a node in shared memory, two each
constexpr int STATE_ROWS = 8;                        // places of a node's 6 rows
constexpr unsigned LANES = 0xffffffffu;
constexpr unsigned MOST_POLLS = 1u << 27; // a minute or so: rather an error than no end

// What all threads of a block need to know of a step, in its shared memory; offsets there in bytes.
struct alignas(16) order {
    const float4 *from; // words that are read
    float4 *to;         // and left
    unsigned by;        // the step, of this launch, that leaves what is read
    float a, b;         // the smoother's numbers
    int what;           // hx_resident_kind, and the level from bit 8 on
    int list, n_word;   // nodes whose words the block gathers, and how many words
    int near, matrix;   // values of near nodes, matrices of a lattice below the first
};

struct alignas(16) cycle {
    hx_mg_level level[HX_RESIDENT_LEVELS + 1];
    hx_mg_resident r;
    const float *inverse;
    int pitch;
    // Shared memory: right-hand side of the last lattice, orders, values of parents, states; of
    // each level near values, twice, and lists; matrices of all but the first; nodes of the first
    // whose matrix is on its way to registers, so many at a time.
    int value_at, order_at, above_at, state_at, n_byte, stage_at, stage_most;
    int count_at; // the step in which launches are counted: most warps have nothing to do
    struct {
        int near_at, near_bytes, node_at, above_at, parent_at, child_at, matrix_at;
    } part[HX_RESIDENT_LEVELS];
};

// Three numbers of a node, and the step that leaves them.
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

// All six of a node.
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

// Of the last lattice, whose rows come one by one: a number and its step.
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

// Six sums over 2 TOP lanes, of a row each: row r's ends up where row_of is r, of 32 lanes in four.
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
    u[1] = t[1] + from_second; // of the third row: not one
    float v = (second ? u[1] : u[0]) + __shfl_xor_sync(LANES, second ? u[0] : u[1], TOP / 4);
    for (int step = TOP / 8; step > 0; step /= 2) v += __shfl_xor_sync(LANES, v, step);
    return v;
}

__device__ __forceinline__ int nodes_of(const cycle &c, int l)
{
    return static_cast<int>(c.level[l].n_node);
}

// The first node of a block.
__device__ __forceinline__ int begin_of(const cycle &c, int l, unsigned block)
{
    return static_cast<int>(static_cast<unsigned>(nodes_of(c, l)) * block / gridDim.x);
}

// Words of a step at nodes that the block needs, to shared memory.
__device__ __forceinline__ void gather(const float4 *x, const int *node, int n_word, unsigned tag,
                                       float *to)
{
    for (int j = static_cast<int>(threadIdx.x); j < n_word; j += THREADS) {
        if (node[j / 2] < 0) break;
        const float3 v = poll(x + 2 * node[j / 2] + j % 2, tag);
        to[3 * j] = v.x;
        to[3 * j + 1] = v.y;
        to[3 * j + 2] = v.z;
    }
    __syncthreads();
}

// The same of the last lattice's solution, two rows at a time.
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

// From the lanes of rows 1, 2 and of 4, 5 to that of 0 and that of 3.
__device__ __forceinline__ float3 of_three(float v)
{
    const float y = __shfl_down_sync(LANES, v, 4), z = __shfl_down_sync(LANES, v, 8);
    return make_float3(v, y, z);
}

// Row row_of(lane) of A x.
__device__ __forceinline__ float multiply_first(const float (&m)[BLOCK_NUMBERS], const float2 *x)
{
    float s[DOF];
#pragma unroll
    for (int c = 0; c < DOF; c++) {
        const float v = c % 2 ? x[c / 2].y : x[c / 2].x;
#pragma unroll
        for (int r = 0; r < DOF; r++) s[r] = c == 0 ? m[r] * v : fmaf(m[DOF * c + r], v, s[r]);
    }
    return sum_rows(s);
}

// Where lane `lane` has its numbers of a node's matrix in shared memory among 32 of two rows each:
// turned by node and rows, so that those who bring them meet no bank twice.
__device__ __forceinline__ int slot_of(int lane, int w, int h)
{
    return (lane + 3 * w + h) & 31;
}

// The same of the w-th matrix in shared memory. The last lanes, which multiply zeros, take what
// another has.
__device__ __forceinline__ float multiply_lower(const float2 *m, int w, const float2 *x)
{
    const int lane = static_cast<int>(threadIdx.x) & 31, taken = lane < OFFSETS ? lane : 0;
    const float2 *const two_rows[DOF / 2] = {m + slot_of(taken, w, 0), m + slot_of(taken, w, 1),
                                             m + slot_of(taken, w, 2)};
    float s[DOF];
#pragma unroll
    for (int c = 0; c < DOF; c++) {
        const float v = c % 2 ? x[c / 2].y : x[c / 2].x;
#pragma unroll
        for (int r = 0; r < DOF / 2; r++) {
            const float2 two = two_rows[r][LANE_NUMBERS * w + 32 * (DOF / 2 * c + r)];
            s[2 * r] = c == 0 ? two.x * v : fmaf(two.x, v, s[2 * r]);
            s[2 * r + 1] = c == 0 ? two.y * v : fmaf(two.y, v, s[2 * r + 1]);
        }
    }
    return sum_rows(s);
}

// Residuals of a node's children, to its b: displacements and forces and moments as
// restrict_kernel has them (multigrid_lattice_cuda.cu).
__device__ __forceinline__ float restrict_node(const cycle &c, int l, int child,
                                               const float4 *residual, unsigned tag)
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    float s[DOF] = {};
    if (child >= 0) {
        float d[3], v[DOF];
        const float w = hx_mg_child(&c.level[l], &c.level[l + 1], lane, d);
        poll_node(residual + 2 * child, tag, v);
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            s[i] = w * v[i];
            s[3 + i] = w * (v[3 + i] + d[j] * v[m] - d[m] * v[j]);
        }
    }
    return sum_rows(s);
}

// What near nodes get from their parents, eight lanes each, as prolong_kernel has it.
__device__ __forceinline__ void add_parents(const cycle &c, int l, const uint16_t *parent,
                                            const float *above, float *near)
{
    constexpr int CORNERS = 8, TOP = CORNERS / 2;
    constexpr unsigned low[3] = {0x55, 0x33, 0x0f};
    const int lane = static_cast<int>(threadIdx.x) & 31, n = CORNERS * c.r.part[l].most_near;
    for (int t = static_cast<int>(threadIdx.x); t - lane < n; t += THREADS) {
        const int place = t < n ? parent[t] : HX_RESIDENT_NO_PARENT;
        const bool is_one = place != HX_RESIDENT_NO_PARENT;
        const unsigned have = __ballot_sync(LANES, is_one) >> (lane & ~(CORNERS - 1));
        int first[3], second[3], wide[3];
        float apart[3], s[DOF] = {};
#pragma unroll
        for (int i = 0; i < 3; i++) {
            first[i] = (have & low[i]) != 0;
            second[i] = (have & (0xff ^ low[i])) != 0;
        }
        const float w = hx_mg_parents(&c.level[l], &c.level[l + 1], first, second, apart, wide);
        if (is_one) {
            float d[3], v[DOF];
#pragma unroll
            for (int i = 0; i < DOF; i++) v[i] = above[DOF * place + i];
#pragma unroll
            for (int i = 0; i < 3; i++) d[i] = wide[i] && (lane >> i & 1) ? -apart[i] : apart[i];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, m = (i + 2) % 3;
                s[i] = w * (v[i] + v[3 + j] * d[m] - v[3 + m] * d[j]);
                s[3 + i] = w * v[3 + i];
            }
        }
        const float v = sum_rows<TOP>(s);
        if (t < n && has_row<TOP>(lane)) near[DOF * (t / CORNERS) + row_of<TOP>(lane)] += v;
    }
    __syncthreads();
}

// The last lattice: b in double in shared memory, a warp a row of the inverse (as
// inverse_multiply_kernel).
__device__ __forceinline__ void solve_last(const cycle &c, const float4 *b, unsigned by,
                                           unsigned tag, double *value)
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int n = DOF * nodes_of(c, c.r.n_level), pitch = c.pitch;
    for (int j = static_cast<int>(threadIdx.x); j < n / 3; j += THREADS) {
        const float3 v = poll(b + j, by);
        value[3 * j] = static_cast<double>(v.x);
        value[3 * j + 1] = static_cast<double>(v.y);
        value[3 * j + 2] = static_cast<double>(v.z);
    }
    for (int k = n + static_cast<int>(threadIdx.x); k < pitch; k += THREADS) value[k] = 0.0;
    __syncthreads();
    for (int row = static_cast<int>(threadIdx.x / 32 * gridDim.x + blockIdx.x); row < n;
         row += static_cast<int>(WARPS * gridDim.x)) {
        const float4 *const mine = reinterpret_cast<const float4 *>(c.inverse + row * pitch);
        double sum[2] = {};
#pragma unroll 4
        for (int k = lane; k < pitch / 4; k += 32) {
            const float4 v = __ldg(mine + k);
            sum[0] = fma(static_cast<double>(v.x), value[4 * k], sum[0]);
            sum[1] = fma(static_cast<double>(v.y), value[4 * k + 1], sum[1]);
            sum[0] = fma(static_cast<double>(v.z), value[4 * k + 2], sum[0]);
            sum[1] = fma(static_cast<double>(v.w), value[4 * k + 3], sum[1]);
        }
        sum[0] += sum[1];
        for (int k = 16; k > 0; k /= 2) sum[0] += __shfl_xor_sync(LANES, sum[0], k);
        if (lane == 0) publish_row(c.r.d_y + row, static_cast<float>(sum[0]), tag);
    }
}

// As one word.
__device__ __forceinline__ hx_resident_step step_of(const cycle &c, int s)
{
    static_assert(sizeof(hx_resident_step) == sizeof(uint2) &&
                  offsetof(cycle, r) % sizeof(uint2) == 0 &&
                  offsetof(hx_mg_resident, step) % sizeof(uint2) == 0);
    const uint2 word = reinterpret_cast<const uint2 *>(c.r.step)[s];
    const auto byte = [](unsigned w, int k) { return static_cast<uint8_t>(w >> 8 * k & 0xffu); };
    return {byte(word.x, 0), byte(word.x, 1), byte(word.x, 2), byte(word.x, 3),
            byte(word.y, 0), byte(word.y, 1), byte(word.y, 2), 0};
}

__device__ __forceinline__ float4 *iterate_of(const cycle &c, int l, int copy)
{
    return static_cast<float4 *>(c.r.part[l].d_x) + copy * 2 * nodes_of(c, l);
}

// Who has what: the nodes of a block, by warp.
struct owners {
    int n[HX_RESIDENT_LEVELS + 1], node[HX_RESIDENT_LEVELS + 1][WARPS];
};

// Shared memory, each part's place computed anew where it is used: registers are the matrix's.
struct layout {
    const cycle &c;
    char *memory;

    template <class T> __device__ __forceinline__ T *get(int at) const
    {
        return reinterpret_cast<T *>(memory + at);
    }
    // b, m, x, d of a row: always of the same thread.
    __device__ __forceinline__ float4 &state(int l, int warp, int row) const
    {
        return get<float4>(c.state_at)[(l * WARPS + warp) * STATE_ROWS + row];
    }
    // Of a node of the level below.
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
                                                   : first + thread; // in any order
        if (thread == 0) own->n[l] = n;
    }
    __syncthreads();
}

// A step as the block takes it.
__device__ __forceinline__ order order_of(const cycle &c, const hx_resident_step &step)
{
    const int l = step.level, n_last = nodes_of(c, c.r.n_level);
    const hx_resident_part &part = c.r.part[l];
    const bool is_above_last = l + 1 == c.r.n_level;
    float4 *const last = static_cast<float4 *>(c.r.d_b), *const residual =
                                                             static_cast<float4 *>(part.d_r);
    order o = {};
    o.what = step.kind | l << 8;
    o.by = step.by;
    o.list = c.part[l].node_at;
    o.n_word = 2 * part.most_near;
    o.near = c.part[l].near_at + step.half * c.part[l].near_bytes;
    o.matrix = c.part[l].matrix_at;
    switch (step.kind) {
    case HX_RESIDENT_DIRECT:
        o.from = last + step.from * 2 * n_last;
        return o;
    case HX_RESIDENT_RESTRICT:
        o.from = residual;
        o.to = last + step.to * 2 * n_last;
        return o;
    case HX_RESIDENT_RETURN:
        o.list = c.part[l].above_at;
        o.n_word = (is_above_last ? 3 : 2) * part.most_above;
        o.from = is_above_last ? reinterpret_cast<const float4 *>(c.r.d_y)
                               : iterate_of(c, l + 1, step.from);
        break;
    default:
        o.from = iterate_of(c, l, step.from);
    }
    o.to = step.kind == HX_RESIDENT_RESIDUAL ? residual : iterate_of(c, l, step.to);
    o.b = c.level[l].d_smoother->b[step.i];
    if (step.i > 0) o.a = c.level[l].d_smoother->a[step.i];
    return o;
}

// The matrices of n nodes of a block from the w0-th on: neighbouring lanes bring neighbouring
// numbers, three lanes a column of a block.
__device__ __forceinline__ void bring_matrices(const cycle &c, int l, const owners &own, int w0,
                                               int n, float2 *to)
{
    constexpr int ROWS = DOF / 2, HALF = 16;
    const int thread = static_cast<int>(threadIdx.x),
              width = (ROWS * n + HALF - 1) / HALF * HALF, // threads of a column
        j = thread % width, w = j / ROWS, h = j % ROWS, n_at_once = THREADS / width;
    if (w >= n || thread / width >= n_at_once) return;
    const float *const from = c.level[l].d_matrix + own.node[l][w0 + w] * DOF + 2 * h;
    for (int k = thread / width; k < OFFSETS * DOF; k += n_at_once) {
        const int offset = k / DOF, column = k - DOF * offset;
        __pipeline_memcpy_async(to + LANE_NUMBERS * w + 32 * (ROWS * column + h) +
                                    slot_of(offset, w, h),
                                from + k * nodes_of(c, l) * DOF, sizeof(float2));
    }
}

// Lists, states and orders; the zeros that lanes without a neighbour multiply.
__device__ __forceinline__ void load_lists(const cycle &c, const layout &at, const owners &own)
{
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    for (int l = 0; l < c.r.n_level; l++) {
        const hx_resident_part &part = c.r.part[l];
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

// Where a lane finds the values of its neighbours among those near to the block: ten bits a level.
constexpr int PLACE_BITS = 10;
static_assert(WARPS * OFFSETS < 1 << PLACE_BITS && HX_RESIDENT_LEVELS * PLACE_BITS <= 32);
__device__ __forceinline__ unsigned places_of(const cycle &c, const owners &own)
{
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    unsigned places = 0;
    for (int l = 0; l < c.r.n_level; l++) {
        int place = c.r.part[l].most_near; // zeros
        if (warp < own.n[l] && lane < OFFSETS)
            place = __ldg(c.r.part[l].d_place + 32 * own.node[l][warp] + lane);
        places |= static_cast<unsigned>(place) << PLACE_BITS * l;
    }
    return places;
}

// The first lattice's blocks, to registers.
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

// Of all launches, in the last block that has read what they are: every block has, before.
__device__ __forceinline__ void count_steps(const cycle &c, unsigned first_tag)
{
    __threadfence();
    if (atomicAdd(c.r.d_count + 1, 1u) + 1 < gridDim.x) return;
    c.r.d_count[1] = 0;
    const unsigned next = first_tag + static_cast<unsigned>(c.r.n_step);
    c.r.d_count[0] = next > 0xffff0000u ? 1 : next;
}

// What a step leaves of a node, from the lanes of its rows.
__device__ __forceinline__ void leave_node(float4 *to, int a, float v, unsigned tag)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const float3 three = of_three(v);
    if (lane % 16 == 0) publish(to + 2 * a + lane / 16, three, tag);
}

__device__ __forceinline__ void start_node(const order &o, int a, float4 *state, bool has,
                                           unsigned tag)
{
    const float x = has ? o.b * state->y * state->x : 0.0f;
    if (has) state->z = state->w = x;
    leave_node(o.to, a, x, tag);
}

__global__ void __launch_bounds__(THREADS, 1) cycle_kernel(const __grid_constant__ cycle c)
{
    extern __shared__ double2 shared[];
    __shared__ owners own;
    const layout at = {c, reinterpret_cast<char *>(shared)};
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32,
              row = row_of(lane), n_level = c.r.n_level;
    const bool has = has_row(lane);
    // All that no kernel just before this one writes.
    find_owners(c, &own);
    load_lists(c, at, own);
    __pipeline_commit();
    for (int l = 1; l < n_level; l++)
        bring_matrices(c, l, own, 0, own.n[l], at.get<float2>(c.part[l].matrix_at));
    bring_matrices(c, 0, own, 0, min(own.n[0], c.stage_most), at.get<float2>(c.stage_at));
    __pipeline_commit();
    const unsigned places = places_of(c, own);
    __pipeline_wait_prior(1);
    __syncthreads();
    hx_wait_for_last();
    const unsigned first_tag = *reinterpret_cast<volatile unsigned *>(c.r.d_count);
    if (warp < own.n[0] && c.r.n_step > 0) {
        float4 *const state = &at.state(0, warp, row);
        const int a = own.node[0][warp];
        if (has) state->x = reinterpret_cast<volatile float *>(c.level[0].d_b)[DOF * a + row];
        start_node(at.get<order>(c.order_at)[0], a, state, has, first_tag);
    }
    float m[BLOCK_NUMBERS] = {};
    for (int w0 = 0; w0 < own.n[0]; w0 += c.stage_most) {
        if (w0 > 0) {
            __syncthreads();
            bring_matrices(c, 0, own, w0, min(own.n[0] - w0, c.stage_most),
                           at.get<float2>(c.stage_at));
            __pipeline_commit();
        }
        __pipeline_wait_prior(0);
        if (!__syncthreads_and(first_tag != 0)) __trap(); // all threads have it now
        if (warp >= w0 && warp < min(own.n[0], w0 + c.stage_most))
            take_first(at.get<float2>(c.stage_at), warp - w0, m);
    }
    for (int s = 1; s < c.r.n_step; s++) {
        const order o = at.get<order>(c.order_at)[s];
        const int kind = o.what & 0xff, l = o.what >> 8;
        const unsigned tag = first_tag + static_cast<unsigned>(s), by = first_tag + o.by;
        if (kind == HX_RESIDENT_DIRECT) {
            if (s == c.count_at && threadIdx.x == THREADS - 1) count_steps(c, first_tag);
            solve_last(c, o.from, by, tag, at.get<double>(c.value_at));
            continue;
        }
        if (kind == HX_RESIDENT_RESTRICT) {
            if (warp >= own.n[l + 1]) continue;
            const float b = restrict_node(c, l, at.child(l, warp, lane), o.from, by);
            if (l + 1 == n_level)
                leave_node(o.to, own.node[l + 1][warp], b, tag);
            else if (has)
                at.state(l + 1, warp, row).x = b;
            continue;
        }
        const bool is_own = warp < own.n[l];
        const int a = is_own ? own.node[l][warp] : 0;
        float4 *const state = &at.state(l, warp, row);
        if (kind == HX_RESIDENT_START) {
            if (is_own) start_node(o, a, state, has, tag);
            continue;
        }
        float *const near = at.get<float>(o.near);
        const int *const list = at.get<int>(o.list);
        if (kind == HX_RESIDENT_RETURN) {
            float *const above = at.get<float>(c.above_at);
            if (l + 1 == n_level)
                gather_rows(c.r.d_y, list, o.n_word, by, above);
            else
                gather(o.from, list, o.n_word, by, above);
            add_parents(c, l, at.get<uint16_t>(c.part[l].parent_at), above, near);
        } else {
            gather(o.from, list, o.n_word, by, near);
        }
        if (!is_own) continue;
        const int place = DOF * static_cast<int>(places >> PLACE_BITS * l & (1 << PLACE_BITS) - 1);
        const float2 *const mine = reinterpret_cast<const float2 *>(near + place);
        const float product =
            l == 0 ? multiply_first(m, mine) : multiply_lower(at.get<float2>(o.matrix), warp, mine);
        const int centre = __shfl_sync(LANES, place, OFFSETS / 2);
        const float4 old = has ? *state : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float leave = old.x - product;
        if (kind != HX_RESIDENT_RESIDUAL) {
            const float before = kind == HX_RESIDENT_RETURN && has ? near[centre + row] : old.z,
                        d = fmaf(o.b * old.y, leave, o.a * old.w);
            leave = before + d;
            if (has) {
                state->z = leave;
                state->w = d;
            }
        }
        leave_node(o.to, a, leave, tag);
    }
    if (warp < own.n[0] && has)
        c.level[0].d_x[DOF * own.node[0][warp] + row] = at.state(0, warp, row).z;
}

int align(int *at, int bytes)
{
    const int begin = *at;
    *at += (bytes + 15) / 16 * 16;
    return begin;
}

cycle cycle_of(const hx_device *dev, const hx_mg_resident *r, const hx_mg_level *level,
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
        const hx_resident_part &part = r->part[l];
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
    c.stage_at = align(&at, c.stage_most * MATRIX_BYTES);
    c.n_byte = at;
    while (c.count_at < r->n_step && r->step[c.count_at].kind != HX_RESIDENT_DIRECT) c.count_at++;
    return c;
}

} // namespace

void hx_cuda_mg_resident_room(hx_device *dev, int *n_block, int *n_node)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    *n_block = impl->can_cooperate ? impl->n_sm : 0;
    *n_node = WARPS;
}

static cudaError_t launch(hx_device *dev, const cycle &c)
{
    cudaLaunchAttribute attribute[2] = {};
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = static_cast<unsigned>(c.r.n_block);
    config.blockDim = THREADS;
    config.dynamicSmemBytes = static_cast<size_t>(c.n_byte);
    config.stream = hx_stream_of(dev);
    config.attrs = attribute;
    config.numAttrs = hx_cuda_of(dev)->can_begin_early ? 2 : 1;
    const cudaError_t status =
        cudaFuncSetAttribute(cycle_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, c.n_byte);
    return status == cudaSuccess ? cudaLaunchKernelEx(&config, cycle_kernel, c) : status;
}

// By a launch without steps: a GPU that is shared out may have fewer multiprocessors for us.
int hx_cuda_mg_resident_fits(hx_device *dev, const hx_mg_resident *r, const hx_mg_level *level)
{
    cycle c = cycle_of(dev, r, level, nullptr);
    c.r.n_step = 0;
    if (c.n_byte > hx_cuda_of(dev)->most_shared) return 0;
    const cudaError_t status = launch(dev, c);
    if (status == cudaErrorCooperativeLaunchTooLarge || status == cudaErrorLaunchOutOfResources ||
        status == cudaErrorInvalidValue || status == cudaErrorNotSupported) {
        cudaGetLastError();
        return 0;
    }
    HX_TRY_CUDA(status);
    HX_TRY(dev->ops->sync(dev));
    return 1;
}

int hx_cuda_mg_resident_cycle(hx_device *dev, const hx_mg_resident *r, const hx_mg_level *level,
                              const float *d_inverse)
{
    HX_TRY_CUDA(launch(dev, cycle_of(dev, r, level, d_inverse)));
    return HX_OK;
}
