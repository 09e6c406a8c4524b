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

struct alignas(16) cycle {
    hx_mg_level level[HX_RESIDENT_LEVELS + 1];
    hx_mg_resident r;
    const float *inverse;
    int pitch;
    // Shared memory: right-hand side of the last lattice, two copies of near values, states,
    // smoothers' numbers, matrices.
    int near_at, node_at, state_at, number_at, matrix_at, n_byte, near_most, node_most;
    int lower_at[HX_RESIDENT_LEVELS]; // first matrix of each level but the first
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
__device__ __forceinline__ void poll_rows(const uint64_t *from, unsigned tag, float (&v)[DOF])
{
    uint64_t w[DOF];
    bool is_there;
    unsigned n = 0;
    do {
        is_there = true;
#pragma unroll
        for (int i = 0; i < DOF; i += 2)
            asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                         : "=l"(w[i]), "=l"(w[i + 1])
                         : "l"(from + i)
                         : "memory");
#pragma unroll
        for (int i = 0; i < DOF; i++)
            is_there = is_there && static_cast<unsigned>(w[i] >> 32) == tag;
        if (n++ == MOST_POLLS) __trap();
    } while (!is_there);
#pragma unroll
    for (int i = 0; i < DOF; i++) v[i] = __uint_as_float(static_cast<unsigned>(w[i]));
}

// Sums over a warp: row r's ends up in the four lanes of row_of.
__device__ __forceinline__ int row_of(int lane)
{
    return 3 * (lane >> 4 & 1) + 2 * (lane >> 3 & 1) + (lane >> 2 & 1);
}
__device__ __forceinline__ bool has_row(int lane)
{
    return (lane & 15) < 12 && (lane & 3) == 0;
}
__device__ __forceinline__ float sum_rows(const float (&s)[DOF])
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const bool upper = lane & 16, third = lane & 8, second = lane & 4;
    float t[3], u[2];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const float give = upper ? s[i] : s[i + 3], keep = upper ? s[i + 3] : s[i];
        t[i] = keep + __shfl_xor_sync(LANES, give, 16);
    }
    const float from_first = __shfl_xor_sync(LANES, third ? t[0] : t[2], 8),
                from_second = __shfl_xor_sync(LANES, t[1], 8);
    u[0] = (third ? t[2] : t[0]) + from_first;
    u[1] = t[1] + from_second; // of the third row: not one
    float v = (second ? u[1] : u[0]) + __shfl_xor_sync(LANES, second ? u[0] : u[1], 4);
    v += __shfl_xor_sync(LANES, v, 2);
    return v + __shfl_xor_sync(LANES, v, 1);
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

// Values of a step at the nodes that the block's nodes need, to shared memory.
__device__ __forceinline__ void gather(const float4 *x, const int *node, int most, unsigned tag,
                                       float *near)
{
    for (int j = static_cast<int>(threadIdx.x); j < 2 * most; j += THREADS) {
        if (node[j / 2] < 0) break;
        const float3 v = poll(x + 2 * node[j / 2] + j % 2, tag);
        near[3 * j] = v.x;
        near[3 * j + 1] = v.y;
        near[3 * j + 2] = v.z;
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

// The same of a matrix in shared memory, two rows after each other.
__device__ __forceinline__ float multiply_lower(const float2 *m, const float2 *x)
{
    float s[DOF];
#pragma unroll
    for (int c = 0; c < DOF; c++) {
        const float v = c % 2 ? x[c / 2].y : x[c / 2].x;
#pragma unroll
        for (int r = 0; r < DOF / 2; r++) {
            const float2 two = m[32 * (DOF / 2 * c + r)];
            s[2 * r] = c == 0 ? two.x * v : fmaf(two.x, v, s[2 * r]);
            s[2 * r + 1] = c == 0 ? two.y * v : fmaf(two.y, v, s[2 * r + 1]);
        }
    }
    return sum_rows(s);
}

// Rows 2 (k % 3), + 1 of column k / 3 of a node's block at an offset.
__device__ __forceinline__ const float2 *two_rows(const cycle &c, int l, int a, int offset, int k)
{
    const float *const column =
        c.level[l].d_matrix + ((DOF * offset + k / 3) * nodes_of(c, l) + a) * DOF;
    return reinterpret_cast<const float2 *>(column) + k % 3;
}

// Residuals of a node's children, to its b: displacements and forces and moments as
// restrict_kernel has them (multigrid_lattice_cuda.cu).
__device__ __forceinline__ float restrict_node(const cycle &c, int l, int a, const float4 *residual,
                                               unsigned tag)
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const hx_mg_level &coarse = c.level[l + 1];
    const int32_t child =
        lane < OFFSETS ? __ldg(coarse.d_child + lane * nodes_of(c, l + 1) + a) : -1;
    float s[DOF] = {};
    if (child >= 0) {
        float d[3], v[DOF];
        const float w = hx_mg_child(&c.level[l], &coarse, lane, d);
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

// What a node gets from its parents, a lane each, as prolong_kernel has it.
__device__ __forceinline__ float prolong_node(const cycle &c, int l, int a, const float4 *x,
                                              const uint64_t *y, unsigned tag)
{
    constexpr int CORNERS = 8;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const hx_mg_level &fine = c.level[l];
    const int32_t parent = lane < CORNERS ? __ldg(fine.d_parent + lane * nodes_of(c, l) + a) : -1;
    const unsigned have = __ballot_sync(LANES, parent >= 0);
    constexpr unsigned low[3] = {0x55, 0x33, 0x0f};
    int first[3], second[3], wide[3];
    float near[3], s[DOF] = {};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        first[i] = (have & low[i]) != 0;
        second[i] = (have & (0xff ^ low[i])) != 0;
    }
    const float w = hx_mg_parents(&fine, &c.level[l + 1], first, second, near, wide);
    if (parent >= 0) {
        float d[3], v[DOF];
        if (x)
            poll_node(x + 2 * parent, tag, v);
        else
            poll_rows(y + DOF * parent, tag, v);
#pragma unroll
        for (int i = 0; i < 3; i++) d[i] = wide[i] && (lane >> i & 1) ? -near[i] : near[i];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            s[i] = w * (v[i] + v[3 + j] * d[m] - v[3 + m] * d[j]);
            s[3 + i] = w * v[3 + i];
        }
    }
    return sum_rows(s);
}

// The last lattice: b in double in shared memory, a warp a row of the inverse (as
// inverse_multiply_kernel).
__device__ __forceinline__ void solve_last(const cycle &c, int from, unsigned by, unsigned tag,
                                           double *value)
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int n = DOF * nodes_of(c, c.r.n_level), pitch = c.pitch;
    const float4 *const b = static_cast<const float4 *>(c.r.d_b) + from * (n / 3);
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
    return {byte(word.x, 0),
            byte(word.x, 1),
            byte(word.x, 2),
            byte(word.x, 3),
            byte(word.y, 0),
            byte(word.y, 1),
            {}};
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

    __device__ __forceinline__ double *value() const
    {
        return reinterpret_cast<double *>(memory);
    }
    __device__ __forceinline__ float *near(int half) const
    {
        return reinterpret_cast<float *>(memory + c.near_at) + half * c.near_most;
    }
    __device__ __forceinline__ int *node(int l) const
    {
        return reinterpret_cast<int *>(memory + c.node_at) + c.node_most * l;
    }
    __device__ __forceinline__ float *numbers(int l) const
    {
        return reinterpret_cast<float *>(memory + c.number_at) + 2 * HX_MG_MAX_DEGREE * l;
    }
    __device__ __forceinline__ float2 *matrix(int l) const
    {
        return reinterpret_cast<float2 *>(memory + c.matrix_at) + c.lower_at[l];
    }
    // b, m, x, d of a row: always of the same thread.
    __device__ __forceinline__ float4 &state(int l, int warp, int row) const
    {
        return reinterpret_cast<float4 *>(memory +
                                          c.state_at)[(l * WARPS + warp) * STATE_ROWS + row];
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

// All that no kernel just before this one writes: the first lattice's blocks to registers, the rest
// to shared memory.
__device__ __forceinline__ void load(const cycle &c, const layout &at, const owners &own,
                                     float (&m)[BLOCK_NUMBERS])
{
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const bool has_first = warp < own.n[0] && lane < OFFSETS;
    const int first = has_first ? own.node[0][warp] : 0;
#pragma unroll
    for (int k = 0; k < BLOCK_NUMBERS / 2; k++) {
        const float2 two =
            has_first ? __ldg(two_rows(c, 0, first, lane, k)) : make_float2(0.0f, 0.0f);
        m[2 * k] = two.x;
        m[2 * k + 1] = two.y;
    }
    for (int l = 0; l < c.r.n_level; l++) {
        const hx_resident_part &part = c.r.part[l];
        const hx_mg_smoother *const smoother = c.level[l].d_smoother;
        for (int j = thread; j < part.most_near; j += THREADS)
            __pipeline_memcpy_async(at.node(l) + j, part.d_near + blockIdx.x * part.most_near + j,
                                    sizeof(int));
        if (thread < HX_MG_MAX_DEGREE) {
            float *const to = at.numbers(l) + thread;
            __pipeline_memcpy_async(to, smoother->a + thread, sizeof *to);
            __pipeline_memcpy_async(to + HX_MG_MAX_DEGREE, smoother->b + thread, sizeof *to);
        }
        if (warp < own.n[l] && has_row(lane)) {
            float4 &state = at.state(l, warp, row_of(lane));
            state.x = state.z = state.w = 0.0f;
            __pipeline_memcpy_async(
                &state.y, c.level[l].d_m + DOF * own.node[l][warp] + row_of(lane), sizeof state.y);
        }
        for (int j = thread; l > 0 && j < own.n[l] * LANE_NUMBERS; j += THREADS) {
            const int w = j / LANE_NUMBERS, k = j % LANE_NUMBERS / 32;
            if (lane < OFFSETS)
                __pipeline_memcpy_async(at.matrix(l) + j, two_rows(c, l, own.node[l][w], lane, k),
                                        sizeof(float2));
            else
                at.matrix(l)[j] = make_float2(0.0f, 0.0f);
        }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
}

// Of all launches, in the last block to end.
__device__ __forceinline__ void count_steps(const cycle &c, unsigned first_tag)
{
    __syncthreads();
    if (threadIdx.x > 0 || atomicAdd(c.r.d_count + 1, 1u) + 1 < gridDim.x) return;
    c.r.d_count[1] = 0;
    const unsigned next = first_tag + static_cast<unsigned>(c.r.n_step);
    c.r.d_count[0] = next > 0xffff0000u ? 1 : next;
}

__global__ void __launch_bounds__(THREADS, 1) cycle_kernel(const __grid_constant__ cycle c)
{
    extern __shared__ double2 shared[];
    __shared__ owners own;
    const layout at = {c, reinterpret_cast<char *>(shared)};
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32,
              row = row_of(lane), n_level = c.r.n_level;
    const bool has = has_row(lane);
    float m[BLOCK_NUMBERS];
    find_owners(c, &own);
    load(c, at, own, m);
    hx_wait_for_last();
    const unsigned first_tag = *reinterpret_cast<volatile unsigned *>(c.r.d_count);
    if (warp < own.n[0] && has)
        at.state(0, warp, row).x =
            reinterpret_cast<volatile float *>(c.level[0].d_b)[DOF * own.node[0][warp] + row];
    int half = 0;
    for (int s = 0; s < c.r.n_step; s++) {
        const hx_resident_step step = step_of(c, s);
        const int l = step.level, kind = step.kind;
        const unsigned tag = first_tag + static_cast<unsigned>(s), by = first_tag + step.by;
        if (kind == HX_RESIDENT_DIRECT) {
            solve_last(c, step.from, by, tag, at.value());
            continue;
        }
        if (kind == HX_RESIDENT_RESTRICT) {
            if (warp >= own.n[l + 1]) continue;
            const int a = own.node[l + 1][warp];
            const float b =
                restrict_node(c, l, a, static_cast<const float4 *>(c.r.part[l].d_r), by);
            const float3 three = of_three(b);
            if (l + 1 < n_level) {
                if (has) at.state(l + 1, warp, row).x = b;
            } else if (lane % 16 == 0) {
                publish(static_cast<float4 *>(c.r.d_b) + 2 * (step.to * nodes_of(c, n_level) + a) +
                            lane / 16,
                        three, tag);
            }
            continue;
        }
        const bool is_own = warp < own.n[l];
        const int a = is_own ? own.node[l][warp] : 0;
        float4 &state = at.state(l, warp, row);
        const float4 old = is_own && has ? state : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float leave = 0.0f;
        if (kind == HX_RESIDENT_PROLONG) {
            if (!is_own) continue;
            const float4 *const x = l + 1 < n_level ? iterate_of(c, l + 1, step.from) : nullptr;
            leave = old.z + prolong_node(c, l, a, x, c.r.d_y, by);
            if (has) state.z = leave;
        } else {
            const float *const numbers = at.numbers(l);
            const float factor = numbers[HX_MG_MAX_DEGREE + step.i] * old.y,
                        before = step.i > 0 ? numbers[step.i] * old.w : 0.0f;
            float product = 0.0f;
            if (kind != HX_RESIDENT_START) {
                float *const x = at.near(half);
                const int place = is_own ? c.r.part[l].d_place[32 * a + lane] : 0;
                half = !half;
                gather(iterate_of(c, l, step.from), at.node(l), c.r.part[l].most_near, by, x);
                const float2 *const mine = reinterpret_cast<const float2 *>(x + DOF * place);
                const float2 *const lower = at.matrix(l) + warp * LANE_NUMBERS + lane;
                if (is_own)
                    product = l == 0 ? multiply_first(m, mine) : multiply_lower(lower, mine);
            }
            if (!is_own) continue;
            leave = old.x - product;
            if (kind != HX_RESIDENT_RESIDUAL) {
                const float d = fmaf(factor, leave, before);
                leave = kind == HX_RESIDENT_START ? d : old.z + d;
                if (has) {
                    state.z = leave;
                    state.w = d;
                }
            }
        }
        const float3 three = of_three(leave);
        float4 *const to = kind == HX_RESIDENT_RESIDUAL ? static_cast<float4 *>(c.r.part[l].d_r)
                                                        : iterate_of(c, l, step.to);
        if (lane % 16 == 0) publish(to + 2 * a + lane / 16, three, tag);
    }
    if (warp < own.n[0] && has)
        c.level[0].d_x[DOF * own.node[0][warp] + row] = at.state(0, warp, row).z;
    count_steps(c, first_tag);
}

int align(int *at, int bytes)
{
    const int begin = *at;
    *at += (bytes + 15) / 16 * 16;
    return begin;
}

cycle cycle_of(const hx_mg_resident *r, const hx_mg_level *level, const float *d_inverse)
{
    cycle c = {};
    int at = 0, n_lower = 0;
    for (int l = 0; l <= r->n_level; l++) c.level[l] = level[l];
    c.r = *r;
    c.inverse = d_inverse;
    c.pitch = static_cast<int>(hx_mg_pitch(DOF * level[r->n_level].n_node));
    for (int l = 0; l < r->n_level; l++) {
        if (r->part[l].most_near > c.node_most) c.node_most = r->part[l].most_near;
        c.lower_at[l] = n_lower;
        if (l > 0) n_lower += r->part[l].most_node * LANE_NUMBERS;
    }
    c.near_most = DOF * c.node_most;
    align(&at, c.pitch * static_cast<int>(sizeof(double)));
    c.near_at = align(&at, 2 * c.near_most * static_cast<int>(sizeof(float)));
    c.node_at = align(&at, r->n_level * c.node_most * static_cast<int>(sizeof(int)));
    c.state_at = align(&at, r->n_level * WARPS * STATE_ROWS * static_cast<int>(sizeof(float4)));
    c.number_at = align(&at, r->n_level * 2 * HX_MG_MAX_DEGREE * static_cast<int>(sizeof(float)));
    c.matrix_at = align(&at, n_lower * static_cast<int>(sizeof(float2)));
    c.n_byte = at;
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
    cycle c = cycle_of(r, level, nullptr);
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
    HX_TRY_CUDA(launch(dev, cycle_of(r, level, d_inverse)));
    return HX_OK;
}
