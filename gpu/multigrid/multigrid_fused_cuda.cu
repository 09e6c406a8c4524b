// The fused coarse cycle (core/multigrid/fused_cycle.h): a multigrid cycle over the small coarse
// grids in one launch of a persistent kernel. A warp processes one node of each grid. The matrix of
// the first of these grids, 27 blocks per row of a node, is in registers, one block per lane; the
// matrices of the grids below it are in shared memory. All blocks run at the same time, which a
// cooperative launch guarantees.
//
// A step needs only the values of a node's neighbours. A block polls the values that its nodes
// need, each once, until they carry the number of the step that writes them (the idea of NCCL's
// protocol LL: data and flag are one word, without a fence and without a barrier between blocks). A
// word is read before it is overwritten because a value is written only after the values that it
// depends on have arrived, and because of the barrier within the block.
#include "fused_memory.cuh"

namespace
{

using namespace hx_fused;

// Row row_of(lane) of A x.
__device__ __forceinline__ float multiply_first(const float (&m)[BLOCK_NUMBERS], const float2 *x)
{
    float s[DOF];
    const float2 near[DOF / 2] = {x[0], x[1], x[2]};
#pragma unroll
    for (int c = 0; c < DOF; c++) {
        const float v = c % 2 ? near[c / 2].y : near[c / 2].x;
#pragma unroll
        for (int r = 0; r < DOF; r++) s[r] = c == 0 ? m[r] * v : fmaf(m[DOF * c + r], v, s[r]);
    }
    return sum_rows(s);
}

// multiply_first for the w-th matrix in shared memory. The last lanes, which multiply by zeros, use
// the values of another lane.
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

// Restricts the residuals of a node's children to its b: displacements, forces and moments as in
// restrict_kernel (multigrid_coarse_cuda.cu).
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

// Adds to the near nodes the values interpolated from their parents, with eight lanes per node, as
// in prolong_kernel.
__device__ __forceinline__ void add_parents(const cycle &c, int l, const uint16_t *parent,
                                            const float *above, float *near)
{
    constexpr int CORNERS = 8, TOP = CORNERS / 2;
    constexpr unsigned low[3] = {0x55, 0x33, 0x0f};
    const int lane = static_cast<int>(threadIdx.x) & 31, n = CORNERS * c.r.part[l].most_near;
    for (int t = static_cast<int>(threadIdx.x); t - lane < n; t += THREADS) {
        const int place = t < n ? parent[t] : HX_FUSED_NO_PARENT;
        const bool is_one = place != HX_FUSED_NO_PARENT;
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

// The coarsest grid: one warp per row of the inverse (as in inverse_multiply_kernel). The inverse
// is kept in shared memory if there is room, because a launch may solve several times.
__device__ __forceinline__ void solve_last(const cycle &c, const float4 *from, unsigned by,
                                           unsigned tag, double2 *value, const float *rows)
{
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int n = DOF * nodes_of(c, c.r.n_level), pitch = c.pitch;
    const hx_fours b = {value, pitch / 4};
    for (int j = static_cast<int>(threadIdx.x); j < n / 3; j += THREADS) {
        const float3 v = poll(from + j, by);
        b.put(3 * j, v.x);
        b.put(3 * j + 1, v.y);
        b.put(3 * j + 2, v.z);
    }
    for (int k = n + static_cast<int>(threadIdx.x); k < pitch; k += THREADS) b.put(k, 0.0f);
    __pipeline_wait_prior(0);
    __syncthreads();
    const int first = static_cast<int>(threadIdx.x / 32);
    for (int row = first * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x), i = first;
         row < n; row += WARPS * static_cast<int>(gridDim.x), i += WARPS) {
        double sum[2] = {};
        if (c.has_inverse) {
            const float4 *const mine = reinterpret_cast<const float4 *>(rows + i * pitch);
#pragma unroll 2
            for (int k = lane; k < b.n; k += 32) b.add(k, mine[k], sum);
        } else {
            const float4 *const mine = reinterpret_cast<const float4 *>(c.inverse + row * pitch);
#pragma unroll 2 // more unrolling would spill registers
            for (int k = lane; k < b.n; k += 32) b.add(k, __ldg(mine + k), sum);
        }
        sum[0] += sum[1];
        for (int k = 16; k > 0; k /= 2) sum[0] += __shfl_xor_sync(LANES, sum[0], k);
        if (lane == 0) publish_row(c.r.d_y + row, static_cast<float>(sum[0]), tag);
    }
}

// Called by one thread of each block, after all threads of the block have read the number of steps
// of the preceding launches. The last block sets it for the next launch.
__device__ __forceinline__ void count_steps(const cycle &c, unsigned first_tag)
{
    __threadfence();
    if (atomicAdd(c.r.d_count + 1, 1u) + 1 < gridDim.x) return;
    c.r.d_count[1] = 0;
    const unsigned next = first_tag + static_cast<unsigned>(c.r.n_step);
    c.r.d_count[0] = next > 0xffff0000u ? 1 : next;
}

// Writes the result of a step for a node, from the lanes of its rows.
__device__ __forceinline__ void leave_node(float4 *to, int a, float v, unsigned tag)
{
    const unsigned at = HX_FUSED_NODE_BYTES * static_cast<unsigned>(a) + (threadIdx.x & 16u);
    const float3 three = of_three(v);
    if (threadIdx.x % 16 > 0) return;
    publish(reinterpret_cast<float4 *>(reinterpret_cast<char *>(to) + at), three, tag);
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
    // data that the kernel just before this one does not write
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
        if (!__syncthreads_and(first_tag != 0)) __trap(); // all threads have read it
        if (warp >= w0 && warp < min(own.n[0], w0 + c.stage_most))
            take_first(at.get<float2>(c.stage_at), warp - w0, m);
    }
    if (c.has_inverse && c.r.n_step > 0) {
        __syncthreads();
        bring_inverse(c, at.get<float>(c.stage_at));
        __pipeline_commit();
    }
    for (int s = 1; s < c.r.n_step; s++) {
        const order o = at.get<order>(c.order_at)[s];
        const int kind = o.what & 0xff, l = o.what >> 8;
        const unsigned tag = first_tag + static_cast<unsigned>(s), by = first_tag + o.by;
        if (kind == HX_FUSED_DIRECT) {
            if (s == c.count_at && threadIdx.x == THREADS - 1) count_steps(c, first_tag);
            solve_last(c, o.from, by, tag, at.get<double2>(c.value_at), at.get<float>(c.stage_at));
            continue;
        }
        if (kind == HX_FUSED_RESTRICT) {
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
        if (kind == HX_FUSED_START) {
            if (is_own) start_node(o, a, state, has, tag);
            continue;
        }
        float *const near = at.get<float>(o.near);
        const int *const list = at.get<int>(o.list);
        if (kind == HX_FUSED_RETURN) {
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
        const float4 old = has ? *state : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float leave = old.x - product;
        if (kind != HX_FUSED_RESIDUAL) {
            float before = old.z;
            if (kind == HX_FUSED_RETURN) {
                const int centre = __shfl_sync(LANES, place, OFFSETS / 2);
                if (has) before = near[centre + row];
            }
            const float d = fmaf(o.b * old.y, leave, o.a * old.w);
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

} // namespace

void hx_cuda_mg_fused_room(hx_device *dev, int *n_block, int *n_node)
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

// Tests it by a launch without steps: a GPU that is shared may have fewer multiprocessors
// available.
int hx_cuda_mg_fused_fits(hx_device *dev, const hx_mg_fused *r, const hx_mg_level *level)
{
    cycle c = cycle_of(dev, r, level, nullptr);
    c.r.n_step = 0;
    if (c.n_byte + sizeof(owners) > static_cast<size_t>(hx_cuda_of(dev)->most_shared)) return 0;
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

int hx_cuda_mg_fused_cycle(hx_device *dev, const hx_mg_fused *r, const hx_mg_level *level,
                           const float *d_inverse)
{
    return HX_CUDA(launch(dev, cycle_of(dev, r, level, d_inverse)));
}
