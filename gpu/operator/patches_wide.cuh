// Wide patches, for GPUs of compute capability 9.0 (patches_cuda.cuh has the others). A
// multiprocessor runs one block: HX_WIDE_PATCH threads only compute, one element each; one warp
// loads the data of the next patch; three warps sum the rows of the preceding one. They synchronize
// at barriers in shared memory (mbarrier), never all at the same time, and have different numbers
// of registers (setmaxnreg, which requires code for sm_90a). A wide patch shares fewer nodes with
// other patches than a small one, so the second kernel has less work.
#ifndef HX_PATCHES_WIDE_CUH
#define HX_PATCHES_WIDE_CUH

#include "../device/barriers_cuda.cuh"
#include "otf_cuda.cuh"
#include "patches_cuda.cuh"

// number of threads that load and sum, which come first in a block
constexpr int HX_WIDE_HELPERS = 128;
constexpr int HX_WIDE_ADDERS = HX_WIDE_HELPERS - 32;
constexpr int HX_WIDE_THREADS = HX_WIDE_HELPERS + HX_WIDE_PATCH;
// per thread; 128 at the start
constexpr int HX_WIDE_REGISTERS = 160, HX_WIDE_HELPER_REGISTERS = 32;
// Number of patches of a block whose data is in shared memory at the same time: forces, slots,
// nodes and positions, spans. Lists of nodes are loaded EARLY patches ahead; the first AHEAD
// patches of a block are known in advance.
constexpr int HX_WIDE_FORCES = 2, HX_WIDE_SLOTS = 2, HX_WIDE_LISTS = 4, HX_WIDE_SPANS = 8,
              HX_WIDE_AHEAD = 6;
// The loader reuses the memory of patch k - LATE, except that of spans and forces.
constexpr int HX_WIDE_LATE = HX_WIDE_SLOTS, HX_WIDE_EARLY = HX_WIDE_LISTS - HX_WIDE_LATE;
static_assert(HX_WIDE_SPANS >= HX_WIDE_AHEAD - 2 + HX_WIDE_LATE + 2);
static_assert((HX_WIDE_THREADS - HX_WIDE_HELPERS) * HX_WIDE_REGISTERS +
                  HX_WIDE_HELPERS * HX_WIDE_HELPER_REGISTERS <=
              65536);

// Shared memory of a block. The offsets are constants, so that they need no registers.
template <class T> struct hx_wide_memory {
    static constexpr int n_value = 24 * (HX_WIDE_PATCH + 1); // number of forces of a patch
    static constexpr int field = 3 * HX_WIDE_ROWS;
    static constexpr int nodal = (HX_WIDE_FORCES * n_value * sizeof(T) + 15) / 16 * 16;
    static constexpr int corner = nodal + 2 * field * sizeof(T);
    static constexpr int modulus = corner + sizeof(hx_eight) * HX_WIDE_PATCH;
    static constexpr int elem = modulus + sizeof(double) * HX_WIDE_PATCH;
    static constexpr int slot = elem + sizeof(int32_t) * HX_WIDE_PATCH;
    static constexpr int node = slot + HX_WIDE_SLOTS * sizeof(hx_eight) * HX_WIDE_ROWS;
    static constexpr int position = node + HX_WIDE_LISTS * sizeof(int32_t) * HX_WIDE_ROWS;
    static constexpr int span = position + HX_WIDE_LISTS * sizeof(uint16_t) * HX_WIDE_ROWS;
    static constexpr int patch = span + HX_WIDE_SPANS * sizeof(hx_span);
    static constexpr int count = patch + HX_WIDE_SPANS * sizeof(int32_t);
    static constexpr int turn = count + 4 * sizeof(int32_t);
    static constexpr int barrier = turn + HX_WIDE_PATCH / 32 * sizeof(int32_t);
    static constexpr int bytes =
        barrier + (2 + 2 * HX_WIDE_FORCES + HX_WIDE_SLOTS + 2 * HX_WIDE_LISTS) * sizeof(uint64_t);
    static_assert(bytes <= 227 * 1024 && corner % 16 == 0 && slot % 16 == 0 && node % 16 == 0 &&
                  position % 16 == 0 && barrier % 8 == 0);
};

// Actions between the steps of an element (otf_body.cuh).
struct hx_wide_steps {
    uint64_t *gathered, *free;
    int n_free; // phase of `free`

    __device__ __forceinline__ void have_gathered() const
    {
        hx_barrier::arrive_warp(gathered);
    }
    __device__ __forceinline__ void wait_for_column() const
    {
        hx_barrier::wait(free, n_free);
    }
};

// LISTED: the elements of places are in a list.
template <class T, bool LISTED> struct hx_wide_block {
    using at = hx_wide_memory<T>;
    const hx_patch_view &g;
    char *memory;

    // Data of a block's patch k. There is room for the data of a few patches.
    template <class V, int N> __device__ __forceinline__ V *part(int from, int k, int n) const
    {
        static_assert((N & (N - 1)) == 0);
        return reinterpret_cast<V *>(memory + from) + (k & (N - 1)) * n;
    }
    __device__ __forceinline__ T *force(int k) const
    {
        return part<T, HX_WIDE_FORCES>(0, k, at::n_value);
    }
    __device__ __forceinline__ hx_eight *slot(int k) const
    {
        return part<hx_eight, HX_WIDE_SLOTS>(at::slot, k, HX_WIDE_ROWS);
    }
    __device__ __forceinline__ int32_t *node(int k) const
    {
        return part<int32_t, HX_WIDE_LISTS>(at::node, k, HX_WIDE_ROWS);
    }
    __device__ __forceinline__ uint16_t *position(int k) const
    {
        return part<uint16_t, HX_WIDE_LISTS>(at::position, k, HX_WIDE_ROWS);
    }
    __device__ __forceinline__ hx_span *span(int k) const
    {
        return part<hx_span, HX_WIDE_SPANS>(at::span, k, 1);
    }
    __device__ __forceinline__ int32_t *patch(int k) const
    {
        return part<int32_t, HX_WIDE_SPANS>(at::patch, k, 1);
    }
    // For the current patch: displacements, then coordinates.
    __device__ __forceinline__ T *nodal() const
    {
        return reinterpret_cast<T *>(memory + at::nodal);
    }
    __device__ __forceinline__ hx_eight *corner() const
    {
        return reinterpret_cast<hx_eight *>(memory + at::corner);
    }
    __device__ __forceinline__ double *modulus() const
    {
        return reinterpret_cast<double *>(memory + at::modulus);
    }
    __device__ __forceinline__ int32_t *next_elem() const // for the next patch
    {
        return reinterpret_cast<int32_t *>(memory + at::elem);
    }
    // Number of elements of the current patch; 0: there is none, and no other will follow.
    __device__ __forceinline__ volatile int32_t *count() const
    {
        return reinterpret_cast<int32_t *>(memory + at::count);
    }
    // Which patch of its block a warp computes; stored here while its elements need the registers.
    __device__ __forceinline__ volatile int32_t *turn(int warp) const
    {
        return reinterpret_cast<int32_t *>(memory + at::turn) + warp;
    }

    // Barriers. Each has one phase per patch that uses it.
    __device__ __forceinline__ uint64_t *barrier(int i) const
    {
        return reinterpret_cast<uint64_t *>(memory + at::barrier) + i;
    }
    // nodal values, corners and moduli are loaded
    __device__ __forceinline__ uint64_t *loaded() const
    {
        return barrier(0);
    }
    __device__ __forceinline__ uint64_t *gathered() const // all threads have used them
    {
        return barrier(1);
    }
    __device__ __forceinline__ uint64_t *computed(int k) const // forces are complete
    {
        return barrier(2 + (k & (HX_WIDE_FORCES - 1)));
    }
    __device__ __forceinline__ uint64_t *added(int k) const // all threads have used them
    {
        return barrier(2 + HX_WIDE_FORCES + (k & (HX_WIDE_FORCES - 1)));
    }
    __device__ __forceinline__ uint64_t *slotted(int k) const // slots are loaded
    {
        return barrier(2 + 2 * HX_WIDE_FORCES + (k & (HX_WIDE_SLOTS - 1)));
    }
    // nodes, positions and the span are loaded
    __device__ __forceinline__ uint64_t *listed(int k) const
    {
        return barrier(2 + 2 * HX_WIDE_FORCES + HX_WIDE_SLOTS + (k & (HX_WIDE_LISTS - 1)));
    }
    __device__ __forceinline__ uint64_t *done(int k) const // all threads have used lists and slots
    {
        return listed(k) + HX_WIDE_LISTS;
    }

    __device__ __forceinline__ void init_barriers() const
    {
        using hx_barrier::init;
        init(loaded(), 32 + 1); // the copies of a warp, and the bulk copies
        init(gathered(), HX_WIDE_PATCH / 32);
        for (int k = 0; k < HX_WIDE_FORCES; k++) {
            init(computed(k), HX_WIDE_PATCH / 32);
            init(added(k), HX_WIDE_ADDERS / 32);
        }
        for (int k = 0; k < HX_WIDE_SLOTS; k++) init(slotted(k), 1);
        for (int k = 0; k < HX_WIDE_LISTS; k++) {
            init(listed(k), 1);
            init(done(k), HX_WIDE_ADDERS / 32);
        }
        hx_barrier::publish();
    }

    template <class Body> __device__ __forceinline__ void compute(const Body &body) const
    {
        for (int k = 0;; k++) {
            hx_barrier::wait(loaded(), k);
            const int n_elem = *count();
            if (n_elem == 0) break;
            const int place = hx_thread() - HX_WIDE_HELPERS;
            const hx_wide_steps steps = {gathered(), added(k), k / HX_WIDE_FORCES - 1};
            volatile int32_t *const mine = turn(place / 32);
            *mine = k;
            if (place / 32 * 32 < n_elem) { // unused places compute values that no row sums
                const hx_eight my_corner = corner()[place];
                const T my_modulus = static_cast<T>(modulus()[place]);
                body.element(my_corner, nodal() + at::field, nodal(), my_modulus, force(k) + place,
                             steps);
            } else {
                steps.have_gathered();
                steps.wait_for_column();
            }
            k = *mine;
            hx_barrier::arrive_warp(computed(k));
        }
    }

    // Called by one thread.
    __device__ __forceinline__ void load_lists(int k) const
    {
        const hx_span s = *span(k);
        hx_barrier::arrive_expecting(listed(k), (sizeof(int32_t) + sizeof(uint16_t)) * s.n);
        if (s.n == 0) return;
        hx_barrier::copy(node(k), g.row_node + s.begin, sizeof(int32_t) * s.n, listed(k));
        hx_barrier::copy(position(k), g.row_position + s.begin, sizeof(uint16_t) * s.n, listed(k));
    }
    __device__ __forceinline__ void load_slots(int k) const
    {
        const hx_span s = *span(k);
        hx_barrier::arrive_expecting(slotted(k), sizeof(hx_eight) * s.n);
        hx_barrier::copy(slot(k), g.row_slot + s.begin, sizeof(hx_eight) * s.n, slotted(k));
    }
    __device__ __forceinline__ void load_in_bulk(int k, const T *row_xyz) const
    {
        constexpr int n_corner_byte = sizeof(hx_eight) * HX_WIDE_PATCH;
        const hx_span s = *span(k);
        const int n_field_byte = 3 * sizeof(T) * s.n;
        *count() = s.count;
        hx_barrier::arrive_expecting(loaded(), s.count > 0 ? n_corner_byte + n_field_byte : 0);
        if (s.count == 0) return;
        hx_barrier::copy(corner(), g.corner + static_cast<int64_t>(*patch(k)) * HX_WIDE_PATCH,
                         n_corner_byte, loaded());
        hx_barrier::copy(nodal() + at::field, row_xyz + 3 * (s.begin - g.first_row), n_field_byte,
                         loaded());
    }
    // Called by a warp.
    __device__ __forceinline__ void load_one_by_one(int k, const int32_t *elem,
                                                    const double *moduli, const T *x) const
    {
        const int lane = hx_thread();
        const hx_span s = *span(k);
        const int32_t *const node_of = node(k);
        const uint16_t *const position_of = position(k);
#pragma unroll 2
        for (int row = lane; row < s.n; row += 32) {
            const T *const from = x + 3 * static_cast<int64_t>(node_of[row] & INT32_MAX);
            T *const to = nodal() + 3 * position_of[row];
#pragma unroll
            for (int i = 0; i < 3; i++) __pipeline_memcpy_async(to + i, from + i, sizeof(T));
        }
        // this patch's elements, which were loaded long before
        if (LISTED) __pipeline_wait_prior(0);
#pragma unroll 2
        for (int i = lane; i < s.count; i += 32)
            __pipeline_memcpy_async(modulus() + i, moduli + (LISTED ? next_elem()[i] : s.first + i),
                                    sizeof(double));
        hx_barrier::arrive_after_copies(loaded());
        if (LISTED) load_elem(k + 1, elem);
    }
    // Called by each thread of a warp for itself.
    __device__ __forceinline__ void load_elem(int k, const int32_t *elem) const
    {
        const hx_span s = *span(k);
#pragma unroll 1
        for (int i = hx_thread(); i < s.count; i += 32)
            __pipeline_memcpy_async(next_elem() + i, elem + s.first + i, sizeof(int32_t));
        __pipeline_commit();
    }

    __device__ __forceinline__ hx_span read_span(int number) const
    {
        return number < g.n_patch ? g.span[number] : hx_span{0, 0, 0, 0, 0};
    }

    // Called by a warp. The indices of patches, and then their spans, are loaded early into
    // registers, where they stay until the next patch, so that nothing waits for them.
    __device__ __forceinline__ void load(const int32_t *elem, const double *moduli,
                                         const T *row_xyz, const T *x) const
    {
        constexpr int KNOWN = HX_WIDE_AHEAD - 2;
        const int lane = hx_thread(), grid = static_cast<int>(gridDim.x);
        const auto first = [&](int k) { return static_cast<int>(blockIdx.x) + k * grid; };
        int number = first(KNOWN), number_after = first(KNOWN + 1);
        hx_span next = {0, 0, 0, 0, 0};
        if (lane == 0) {
            for (int k = 0; k < KNOWN; k++) {
                *patch(k) = first(k);
                *span(k) = read_span(first(k));
            }
            next = read_span(number);
            for (int k = 0; k < HX_WIDE_EARLY; k++) load_lists(k);
        }
        __syncwarp();
        if (LISTED) load_elem(0, elem);
        for (int k = 0;; k++) {
            if (lane == 0) {
                *patch(k + KNOWN) = number;
                *span(k + KNOWN) = next;
                number = number_after;
                next = read_span(number);
                number_after = HX_WIDE_AHEAD * grid + static_cast<int>(atomicAdd(g.taken, 1u));
            }
            hx_barrier::wait(listed(k), k / HX_WIDE_LISTS);
            if (k > 0) hx_barrier::wait(gathered(), k - 1);
            if (lane == 0) load_in_bulk(k, row_xyz);
            load_one_by_one(k, elem, moduli, x);
            if (span(k)->count == 0) break;
            const int last = k - HX_WIDE_LATE;
            if (last >= 0) hx_barrier::wait(done(last), last / HX_WIDE_LISTS);
            if (lane == 0) {
                load_slots(k);
                load_lists(k + HX_WIDE_EARLY);
            }
            __syncwarp();
        }
        // orders the counter of patches taken before the counter of blocks that are done
        __threadfence();
        // The last block to end resets the counter.
        if (lane == 0 && atomicInc(g.taken + 1, gridDim.x - 1) == gridDim.x - 1) *g.taken = 0;
    }

    __device__ __forceinline__ void add(T *partial, T *y) const
    {
        for (int k = 0;; k++) {
            hx_barrier::wait(listed(k), k / HX_WIDE_LISTS);
            const hx_span s = *span(k);
            if (s.count == 0) break;
            hx_barrier::wait(slotted(k), k / HX_WIDE_SLOTS);
            hx_barrier::wait(computed(k), k / HX_WIDE_FORCES);
            hx_sum_rows<hx_forces<HX_WIDE_PATCH, 8>, HX_WIDE_ADDERS>(hx_thread() - 32, s, force(k),
                                                                     slot(k), node(k), partial, y);
            hx_barrier::arrive_warp(added(k));
            hx_barrier::arrive_warp(done(k));
        }
    }
};

// Kernel with HX_WIDE_THREADS threads per block and one call of
//
//     body.element(corner, coordinates, displacements, modulus, column, steps)
//
// per element; otherwise like hx_run_patches.
template <class T, bool LISTED, class Body>
__device__ __forceinline__ void
hx_run_wide(const hx_patch_view &g, const int32_t *__restrict__ elem,
            const double *__restrict__ modulus, const T *__restrict__ row_xyz,
            T *__restrict__ partial, const T *__restrict__ x, T *__restrict__ y, const Body &body)
{
    extern __shared__ __align__(16) char memory[];
    const hx_wide_block<T, LISTED> block = {g, memory};
    if (threadIdx.x == 0) block.init_barriers();
    __syncthreads();
    if (threadIdx.x >= HX_WIDE_HELPERS) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(HX_WIDE_REGISTERS));
        block.compute(body);
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(HX_WIDE_HELPER_REGISTERS));
        if (threadIdx.x < 32)
            block.load(elem, modulus, row_xyz, x);
        else
            block.add(partial, y);
    }
}

#endif
