// Patches (core/operator/patches.h) on the GPU: their lists, the pipeline that loads one patch
// while another is computed, and the sums in a fixed order. Shared by otf and dedup, for double and
// float.
//
// A persistent block processes every gridDim.x-th patch. With a second field this applies only to
// its first HX_PATCH_AHEAD patches; then it takes the next patch that no other block has taken,
// because some blocks are faster than others. A patch's nodal values are loaded once into shared
// memory (cp.async, one patch ahead). Each thread gathers the corners of an element there,
// computes, and stores its forces in shared memory, 24 of them or a tetrahedron's 12. Then each
// thread sums the forces of a row's node in a fixed order and writes them to y or, for nodes that
// patches share, to a partial sum, and a second kernel adds the partial sums. No sum is atomic, so
// results are bitwise reproducible.
#ifndef HX_PATCHES_CUDA_CUH
#define HX_PATCHES_CUDA_CUH

#include <cuda_pipeline.h>

#include "../device/barriers_cuda.cuh"
#include "../device/cuda_device.cuh"
#include "../matrix/product_parts.cuh"
#include "core/operator/device_mesh.h"
#include "core/operator/patches.h"

// The lists in device memory.
struct hx_cuda_patches {
    hx_device *dev;
    int n_group;
    hx_patch_group group[2]; // with .elem = nullptr
    int64_t n_row, n_shared, n_partial;
    // number of shared nodes that are also interface nodes, which come first
    int64_t n_shared_boundary;
    hx_span *d_span;
    hx_eight *d_corner, *d_row_slot;
    int32_t *d_row_node, *d_shared_node, *d_shared_ptr, *d_shared_sum;
    uint16_t *d_row_position;
    double *d_partial; // [n_partial][3], floats in single precision
    // [2], 0 between launches: number of patches taken, and of blocks that are done
    unsigned *d_taken;
};

// Uploads the lists in the order of hx_patches_split_create, with its runs and n_boundary; `to`
// must be zeroed. The caller frees them, also after a failure.
int hx_cuda_patches_put_split(hx_cuda_patches *to, const hx_device_model &model, hx_device *dev,
                              const hx_patches *from, int n_run, const int64_t *first,
                              int64_t *n_boundary);
void hx_cuda_patches_free(hx_cuda_patches *p);

// Second kernel: y of shared nodes, one thread per node, from the last node to the first, because
// the partial sums written last are still in the cache. A node has at least two rows, which are
// added one by one.
template <class T>
__global__ void hx_shared_nodes_kernel(int64_t n, const int32_t *__restrict__ node,
                                       const int32_t *__restrict__ ptr,
                                       const int32_t *__restrict__ row,
                                       const T *__restrict__ partial, T *__restrict__ y)
{
    const int64_t k = n - 1 - hx_grid_thread();
    if (k < 0) return;
    const int32_t begin = ptr[k], end = ptr[k + 1];
    const auto part = [&](int32_t r) { return partial + 3 * static_cast<int64_t>(row[r]); };
    const T *const first = part(begin), *const second = part(begin + 1);
    T sum[3];
#pragma unroll
    for (int i = 0; i < 3; i++) sum[i] = first[i] + second[i];
    for (int32_t r = begin + 2; r < end; r++) {
        const T *const next = part(r);
#pragma unroll
        for (int i = 0; i < 3; i++) sum[i] += next[i];
    }
    T *const to = y + 3 * static_cast<int64_t>(node[k]);
#pragma unroll
    for (int i = 0; i < 3; i++) to[i] = sum[i];
}

// Sums of the shared nodes that a part of a product completes.
template <class T> int hx_cuda_add_shared(const hx_cuda_patches &p, hx_product_part part, T *d_y)
{
    const hx_slice nodes = hx_sums_of(part, p.n_shared_boundary, p.n_shared);
    return hx_launch(p.dev, "shared nodes", nodes.n, hx_shared_nodes_kernel<T>, nodes.n,
                     p.d_shared_node + nodes.first, p.d_shared_ptr + nodes.first, p.d_shared_sum,
                     reinterpret_cast<const T *>(p.d_partial), d_y);
}

// A group as seen by a kernel.
struct hx_patch_view {
    int n_patch;
    const hx_span *span;    // from the group's first patch on
    const hx_eight *corner; // from the group's first place on
    const int32_t *row_node;
    const uint16_t *row_position;
    const hx_eight *row_slot;
    int64_t first_row; // of the group
    unsigned *taken;   // [2]
};

// Number of patches that are assigned to a block in advance; lists are loaded this far ahead.
constexpr int HX_PATCH_AHEAD = 4;

// View of some patches of a group.
inline hx_patch_view hx_view(const hx_cuda_patches &p, int group, const hx_slice &patches)
{
    const hx_patch_group &g = p.group[group];
    return {static_cast<int>(patches.n),
            p.d_span + g.first_patch + patches.first,
            p.d_corner + g.first_place + patches.first * g.size,
            p.d_row_node,
            p.d_row_position,
            p.d_row_slot,
            g.first_row,
            p.d_taken};
}

// Where a place stores force i at corner a: at(i, a), plus its own index.
template <int SIZE, int N_CORNER> struct hx_forces {
    static constexpr int component = N_CORNER * (SIZE + 1), size = 3 * component;

    HX_HD static int at(int i, int a)
    {
        return i * component + hx_patch_slot(SIZE, a, 0);
    }
};

// hx_forces for patches that permute their elements.
template <int SIZE> struct hx_coloured_forces {
    static constexpr int component = 8 * SIZE + HX_PATCH_COLOURS, size = 3 * component;

    HX_HD static int at(int i, int a)
    {
        return i * component + hx_patch_coloured_slot(SIZE, a, 0);
    }
};

// Shared memory of a block, for patches of at most ROWS rows: Forces::size numbers, slots, corners,
// N_FIELD nodal fields of two patches, moduli, elements, nodes, positions and spans of four
// patches, the indices of eight patches, and a barrier. The offsets are constants, so that they
// need no registers.
template <class T, int SIZE, int N_FIELD, int ROWS, class Forces> struct hx_patch_memory {
    static constexpr int force = Forces::size * sizeof(T);
    static constexpr int slot = (force + 15) / 16 * 16;
    static constexpr int corner = slot + sizeof(hx_eight) * ROWS;
    static constexpr int field = 3 * sizeof(T) * ROWS;
    static constexpr int nodal = corner + sizeof(hx_eight) * SIZE;
    static constexpr int modulus = nodal + 2 * N_FIELD * field;
    static constexpr int elem = modulus + sizeof(double) * SIZE;
    static constexpr int node = elem + sizeof(int32_t) * SIZE;
    static constexpr int position = node + 4 * sizeof(int32_t) * ROWS;
    static constexpr int span = position + 4 * sizeof(uint16_t) * ROWS;
    static constexpr int patch = span + 4 * sizeof(hx_span);
    static constexpr int barrier = patch + 2 * HX_PATCH_AHEAD * sizeof(int32_t);
    static constexpr int bytes = barrier + sizeof(uint64_t);
};

// Adds the forces in the first N slots of a row.
template <int N, class Forces, class T>
__device__ __forceinline__ void hx_sum_slots(const hx_eight &slots, const T *force, T sum[3])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (slots.v[i] == HX_NO_SLOT) continue;
        const T *from = force + slots.v[i];
        sum[0] += from[0];
        sum[1] += from[Forces::component];
        sum[2] += from[2 * Forces::component];
    }
}

// Sums the forces of the rows of a patch, from `force` to y or to the partial sums. Rows are
// ordered by their number of slots, so most warps need few steps.
template <class Forces, int THREADS, class T>
__device__ __forceinline__ void hx_sum_rows(int first, const hx_span &span, const T *force,
                                            const hx_eight *slot, const int32_t *node,
                                            T *__restrict__ partial, T *__restrict__ y)
{
#pragma unroll 1
    for (int k = first; k < span.n; k += THREADS) {
        const hx_eight slots = slot[k];
        const int32_t tag = node[k];
        const unsigned here = __activemask();
        T sum[3] = {0, 0, 0};
        if (__any_sync(here, slots.v[4] != HX_NO_SLOT))
            hx_sum_slots<8, Forces>(slots, force, sum);
        else if (__any_sync(here, slots.v[2] != HX_NO_SLOT))
            hx_sum_slots<4, Forces>(slots, force, sum);
        else
            hx_sum_slots<2, Forces>(slots, force, sum);
        T *to = tag < 0 ? partial + 3 * static_cast<int64_t>(span.partial + k)
                        : y + 3 * static_cast<int64_t>(tag);
#pragma unroll
        for (int i = 0; i < 3; i++) to[i] = sum[i];
    }
}

// Corner values of one component.
template <class T>
__device__ __forceinline__ void hx_gather_corners(const T *nodal, const hx_eight &corner, int i,
                                                  T v[8])
{
#pragma unroll
    for (int c = 0; c < 8; c++) v[c] = nodal[3 * corner.v[c] + i];
}

// Kernel with persistent blocks of SIZE threads and one call of
//
//     body.element(corner, coordinates, displacements, modulus, column)
//
// per element (coordinates: unused without a second field), which sets column[Forces::at(i, a)] to
// force i at corner a. row_xyz: coordinates of the group's rows in the order of their positions.
template <class T, int SIZE, int N_FIELD, int ROWS, class Forces, class Body>
__device__ __forceinline__ void
hx_run_patches(const hx_patch_view &g, const int32_t *__restrict__ elem,
               const double *__restrict__ modulus, const T *__restrict__ row_xyz,
               T *__restrict__ partial, const T *__restrict__ x, T *__restrict__ y,
               const Body &body)
{
    extern __shared__ __align__(16) char memory[];
    using at = hx_patch_memory<T, SIZE, N_FIELD, ROWS, Forces>;
    int thread = hx_thread();
    T *const force = reinterpret_cast<T *>(memory);
    hx_eight *const slot = reinterpret_cast<hx_eight *>(memory + at::slot);
    hx_eight *const corner = reinterpret_cast<hx_eight *>(memory + at::corner);
    double *const moduli = reinterpret_cast<double *>(memory + at::modulus);
    const auto node = [&](int k) {
        return reinterpret_cast<int32_t *>(memory + at::node + (k & 3) * (4 * ROWS));
    };
    const auto nodal = [&](int k, int field) {
        return reinterpret_cast<T *>(memory + at::nodal + ((k & 1) * N_FIELD + field) * at::field);
    };

    const auto position = [&](int k) {
        return reinterpret_cast<uint16_t *>(memory + at::position + (k & 3) * (2 * ROWS));
    };

    hx_span *const spans = reinterpret_cast<hx_span *>(memory + at::span);
    int32_t *const next_elem = reinterpret_cast<int32_t *>(memory + at::elem);
    int32_t *const patches = reinterpret_cast<int32_t *>(memory + at::patch);
    // Patches are taken dynamically (doc/notebook/2026-11-27-otf-on-a-gpu.md).
    constexpr bool TAKES = N_FIELD > 1;
    const auto patch_of = [&](int k) {
        if constexpr (TAKES) return patches[k & (2 * HX_PATCH_AHEAD - 1)];
        return static_cast<int>(blockIdx.x + k * gridDim.x);
    };
    // number of patches that are assigned to blocks at first
    const int ahead = HX_PATCH_AHEAD * static_cast<int>(gridDim.x);
    // whether patches remain that no block is assigned at first
    const bool are_left = TAKES && ahead < g.n_patch;

    // One load, if the element leaves registers for it
    // (doc/notebook/2026-11-27-multigrid-kernels-on-a-gpu.md).
    static_assert(sizeof(hx_span) == sizeof(int4) && at::span % sizeof(int4) == 0);
    const auto span_of = [&](int k) {
        if constexpr (N_FIELD > 1) return spans[k & 3];
        const int4 v = *reinterpret_cast<const int4 *>(spans + (k & 3));
        return hx_span{v.x, v.y, v.z, static_cast<int16_t>(v.w), static_cast<int16_t>(v.w >> 16)};
    };

    // Spans and elements are loaded one patch before they are used, so that no thread waits for
    // them. They stay in shared memory, because the element needs the registers.
    const auto load_span = [&](int k) {
        if (thread != 0) return;
        const int patch = patch_of(k);
        if (patch < g.n_patch)
            __pipeline_memcpy_async(spans + (k & 3), g.span + patch, sizeof(hx_span));
        else
            spans[k & 3] = {0, 0, 0, 0, 0};
    };
    const auto load_elem = [&](int k) {
        const hx_span s = span_of(k);
        if (elem && thread < s.count)
            __pipeline_memcpy_async(next_elem + thread, elem + s.first + thread, 4);
    };
    // Lists of large patches are loaded by bulk copies: nodes and positions two patches ahead,
    // coordinates one patch ahead, slots with the patch. Corners are not, because other threads may
    // still be reading theirs.
    constexpr bool IN_BULK = HX_HAS_BULK && SIZE > 64;
    uint64_t *const in_bulk = reinterpret_cast<uint64_t *>(memory + at::barrier);
    const auto load_bulk = [&](int k) {
        if (thread != 0) return;
        const hx_span now = span_of(k), next = span_of(k + 1), after = span_of(k + 2);
        const int n_slot_byte = sizeof(hx_eight) * now.n,
                  n_xyz_byte = N_FIELD == 2 ? 3 * sizeof(T) * next.n : 0,
                  n_node_byte = sizeof(int32_t) * after.n,
                  n_position_byte = sizeof(uint16_t) * after.n;
        hx_barrier::arrive_expecting(in_bulk,
                                     n_slot_byte + n_xyz_byte + n_node_byte + n_position_byte);
        hx_barrier::copy(slot, g.row_slot + now.begin, n_slot_byte, in_bulk);
        if (n_xyz_byte > 0)
            hx_barrier::copy(nodal(k + 1, N_FIELD - 1), row_xyz + 3 * (next.begin - g.first_row),
                             n_xyz_byte, in_bulk);
        if (after.n == 0) return;
        hx_barrier::copy(node(k + 2), g.row_node + after.begin, n_node_byte, in_bulk);
        hx_barrier::copy(position(k + 2), g.row_position + after.begin, n_position_byte, in_bulk);
    };
    const auto load_rows = [&](int k) {
        const hx_span s = span_of(k);
#pragma unroll 1
        for (int i = 4 * thread; i < s.n; i += 4 * SIZE)
            __pipeline_memcpy_async(node(k) + i, g.row_node + s.begin + i, 16);
#pragma unroll 1
        for (int i = 8 * thread; i < s.n; i += 8 * SIZE)
            __pipeline_memcpy_async(position(k) + i, g.row_position + s.begin + i, 16);
    };
    const auto load_coordinates = [&](int k) {
        const hx_span s = span_of(k);
        constexpr int n = 16 / sizeof(T);
        const T *const from = row_xyz + 3 * (s.begin - g.first_row);
#pragma unroll 1
        for (int i = n * thread; i < 3 * s.n; i += n * SIZE)
            __pipeline_memcpy_async(nodal(k, N_FIELD - 1) + i, from + i, 16);
    };
    const auto load_nodal = [&](int k) {
        const hx_span s = span_of(k);
        const int32_t *const node_of = node(k);
        const uint16_t *const position_of = position(k);
        T *const to = nodal(k, 0);
#pragma unroll 1
        for (int row = thread; row < s.n; row += SIZE) {
            const T *const from = x + 3 * static_cast<int64_t>(node_of[row] & INT32_MAX);
            T *const here = to + 3 * position_of[row];
#pragma unroll
            for (int i = 0; i < 3; i++) __pipeline_memcpy_async(here + i, from + i, sizeof(T));
        }
        __pipeline_memcpy_async(corner + thread,
                                g.corner + static_cast<int64_t>(patch_of(k)) * SIZE + thread,
                                sizeof(hx_eight));
        if (thread < s.count)
            __pipeline_memcpy_async(moduli + thread,
                                    modulus + (elem ? next_elem[thread] : s.first + thread), 8);
    };

    if (TAKES && thread == 0)
        for (int k = 0; k < HX_PATCH_AHEAD; k++)
            patches[k] = static_cast<int>(blockIdx.x + k * gridDim.x);
    if constexpr (IN_BULK)
        if (thread == 0) {
            hx_barrier::init(in_bulk, 1);
            hx_barrier::publish();
        }
    for (int k = 0; k < 3; k++) load_span(k);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    load_elem(0);
    load_rows(0);
    load_rows(1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    load_nodal(0);
    if (N_FIELD == 2) load_coordinates(0);
    load_elem(1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if constexpr (IN_BULK) hx_barrier::fence_bulk();

    for (int k = 0; patch_of(k) < g.n_patch; k++) {
        // nodal values have arrived; all threads have used the forces of the preceding patch
        __syncthreads();
        thread = hx_thread();
        const hx_eight my_corner = corner[thread];
        const double my_modulus = moduli[thread];
        const hx_span here = span_of(k);
        const bool is_next = patch_of(k + 1) < g.n_patch;
        if constexpr (IN_BULK) {
            load_bulk(k);
        } else {
#pragma unroll 1
            for (int row = thread; row < here.n; row += SIZE)
                __pipeline_memcpy_async(slot + row, g.row_slot + here.begin + row,
                                        sizeof(hx_eight));
            if (N_FIELD == 2 && is_next) load_coordinates(k + 1);
            load_rows(k + 2);
        }
        if (is_next) load_nodal(k + 1);
        load_span(k + 3);
        load_elem(k + 2);
        __pipeline_commit();

        // Unused places compute values that no row sums.
        body.element(my_corner, nodal(k, N_FIELD - 1), nodal(k, 0), static_cast<T>(my_modulus),
                     force + hx_thread());
        if constexpr (IN_BULK)
            hx_barrier::wait(in_bulk, k);
        else
            __pipeline_wait_prior(0);
        __syncthreads(); // forces are complete; all threads have used the nodal values

        int taken = 0; // arrives while rows are summed
        if (are_left && hx_thread() == 0) taken = static_cast<int>(atomicAdd(g.taken, 1u));
        if constexpr (N_FIELD > 1) // without a copy, because the element needs the registers
            hx_sum_rows<Forces, SIZE>(hx_thread(), spans[k & 3], force, slot, node(k), partial, y);
        else
            hx_sum_rows<Forces, SIZE>(hx_thread(), span_of(k), force, slot, node(k), partial, y);
        if constexpr (IN_BULK) __pipeline_wait_prior(0);
        if (TAKES && hx_thread() == 0)
            patches[(k + HX_PATCH_AHEAD) & (2 * HX_PATCH_AHEAD - 1)] =
                are_left ? ahead + taken : g.n_patch;
    }
    // The last block to end resets the counter.
    if (are_left && hx_thread() == 0 && atomicInc(g.taken + 1, gridDim.x - 1) == gridDim.x - 1)
        *g.taken = 0;
}

// Number of blocks of `kernel` that fit on the GPU at the same time; 0 after a failure.
template <class Kernel>
int hx_fused_blocks(hx_device *dev, Kernel kernel, int size, int n_bytes, int *n_block)
{
    int per_sm = 0;
    *n_block = 0;
    HX_TRY_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, n_bytes));
    HX_TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, size,
                                                              static_cast<size_t>(n_bytes)));
    if (per_sm == 0)
        return HX_RAISE(HX_EENV,
                        "the operator needs %d bytes of shared memory per block, more than this "
                        "GPU has; use another operator",
                        n_bytes);
    *n_block = per_sm * hx_cuda_of(dev)->n_sm;
    return HX_OK;
}

inline int hx_grid(int n_block, int64_t n_patch)
{
    return static_cast<int>(n_block < n_patch ? n_block : n_patch);
}

#endif
