// The fill `stored`: the tiles for unit modulus are kept (stored_plan_cuda.cuh), and a run is one
// pass over them. Each tile is read once and multiplied by the modulus of its cell; the sum of an
// entry is written to its place and to that of its mirror image. It is bound by memory traffic: for
// hexahedra, 2.2 kB per element are read, and the matrix is written.
//
// A block processes record after record. The next records are being copied to shared memory while
// it sums one, with one thread per entry and cells in ascending order. The sums also pass through
// shared memory, so that data that is contiguous in the matrix is written together: first the
// entries, which are rows or parts of rows, then their mirror images in the order of their places.
#include <climits>
#include <cmath>

#include "fill_tiles_cuda.cuh"
#include "stored_plan_cuda.cuh"

namespace
{

using namespace hx_stored;

constexpr int SM_BLOCKS = 3; // blocks per multiprocessor, limited by registers

struct stored : hx_cuda_filling {
    plan p;            // (owned)
    uint32_t *d_drawn; // number of records that blocks have drawn (owned)
    int n_stage;
    unsigned n_block;
    size_t shared; // bytes of shared memory per block
};

// Arguments of the kernels.
struct arguments {
    const double *modulus;
    double scale; // factor of the stored tiles
    hx_matrix m;
    plan p;
    int n_stage;
    bool has_images;
    uint32_t *drawn; // counter of drawn records, including those that blocks begin with
};

// The record that a block fetches next, and its total number of records, once that is known.
struct alignas(16) coming {
    uint32_t list, word; // where it begins in d_list and d_word, in units of 16 bytes
    uint32_t n_list, n_word;
    int n_record;
};

// The shared memory of a block.
struct buffers {
    coming *next;      // [2] records to fetch, used alternately
    uint64_t *arrived; // [n_stage] a barrier each
    char *word;        // [n_stage][most_word]
    // [n_stage + 1][most_list] one more than stages, because a list is read until the sums are
    // written
    char *list;
    double *modulus; // [2][most_cell]
    double *sum;     // [2][most_entry][C * C]
    // [2][most_entry] places of entries and of their images, for formats other than bsr
    hx_spot *spot;
};

constexpr uint32_t BARRIERS = 128; // bytes of `next` and `arrived`

// Size of the sums of a record: an even number, with room for one more than the largest number.
__host__ __device__ __forceinline__ int sum_numbers(int c, const plan &p)
{
    return (c * c * p.most_entry + 2) / 2 * 2;
}

// Offsets of the arrays in bytes.
struct shared_layout {
    uint32_t word, list, modulus, sum, spot, bytes;

    template <int C>
    static __host__ __device__ __forceinline__ shared_layout of(const plan &p, int n_stage,
                                                                bool is_bsr)
    {
        shared_layout l;
        const auto stages = static_cast<uint32_t>(n_stage);
        l.word = BARRIERS;
        l.list = l.word + stages * static_cast<uint32_t>(p.most_word);
        l.modulus = l.list + (stages + 1) * static_cast<uint32_t>(p.most_list);
        l.sum = l.modulus + 16 * static_cast<uint32_t>(p.most_cell);
        l.spot = l.sum + 16 * static_cast<uint32_t>(sum_numbers(C, p));
        l.bytes = l.spot + (is_bsr ? 0 : 2 * static_cast<uint32_t>(sizeof(hx_spot) * p.most_entry));
        return l;
    }
};

// The arrays are kept as offsets from one pointer; otherwise the compiler does not recognize them
// as shared memory.
template <int C, bool IS_BSR>
__device__ __forceinline__ buffers cut_shared(char *shared, const arguments &g)
{
    const shared_layout l = shared_layout::of<C>(g.p, g.n_stage, IS_BSR);
    return {reinterpret_cast<coming *>(shared),
            reinterpret_cast<uint64_t *>(shared + 2 * sizeof(coming)),
            shared + l.word,
            shared + l.list,
            reinterpret_cast<double *>(shared + l.modulus),
            reinterpret_cast<double *>(shared + l.sum),
            reinterpret_cast<hx_spot *>(shared + l.spot)};
}

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

#if __CUDA_ARCH__ >= 900
// number of arrivals that complete a stage: only the thread that issues the copy
constexpr unsigned ARRIVALS = 1;

__device__ __forceinline__ void copy_ahead(uint32_t to, const void *from, uint32_t bytes,
                                           uint32_t arrived)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(arrived)
                 : "memory");
}
#else
constexpr unsigned ARRIVALS = THREADS;

__device__ __forceinline__ void copy_ahead(uint32_t to, const char *from, uint32_t bytes, uint32_t)
{
    for (uint32_t i = 16 * threadIdx.x; i < bytes; i += 16 * THREADS)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i), "l"(from + i)
                     : "memory");
}
#endif

// Starts copying the next record to a stage, whose barrier the copy completes. All threads call it.
__device__ __forceinline__ void fetch_record(const arguments &g, const buffers &b,
                                             const coming &next, int stage, int list_stage)
{
    const uint32_t arrived = shared_address(b.arrived + stage);
    const uint32_t list =
        shared_address(b.list) + static_cast<uint32_t>(list_stage * g.p.most_list);
    const uint32_t word = shared_address(b.word) + static_cast<uint32_t>(stage * g.p.most_word);
    const uint32_t n_list = 16 * next.n_list, n_word = 16 * next.n_word;
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x) return;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrived),
                 "r"(n_list + n_word)
                 : "memory");
#endif
    copy_ahead(list, g.p.d_list + 16 * static_cast<int64_t>(next.list), n_list, arrived);
    copy_ahead(word,
               reinterpret_cast<const char *>(g.p.d_word + 4 * static_cast<int64_t>(next.word)),
               n_word, arrived);
#if __CUDA_ARCH__ < 900
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(arrived) : "memory");
#endif
}

// Waits until the stage has been filled for the turn-th time, counted from 0.
__device__ __forceinline__ void await(const buffers &b, int stage, unsigned turn)
{
#if __CUDA_ARCH__ >= 900
#define HX_TEST_BARRIER "mbarrier.try_wait.parity.shared::cta.b64"
#else
#define HX_TEST_BARRIER "mbarrier.test_wait.parity.shared.b64"
#endif
    const uint32_t arrived = shared_address(b.arrived + stage);
    uint32_t done;
    do {
        asm volatile("{\n.reg .pred p;\n" HX_TEST_BARRIER " p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(arrived), "r"(turn & 1)
                     : "memory");
    } while (!done);
}

__device__ __forceinline__ void start_barriers(const buffers &b, int n_stage)
{
    if (threadIdx.x == 0)
        for (int s = 0; s < n_stage; s++)
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b.arrived + s)),
                         "r"(ARRIVALS)
                         : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    __syncthreads();
}

// The double with the leading bits `head`, a float, continued by the 24 bits in `tail` from bit 5
// on.
__device__ __forceinline__ double join_number(uint32_t head, uint32_t tail)
{
    const double v = static_cast<double>(__uint_as_float(head));
    const auto low = static_cast<uint32_t>(__double2loint(v));
    return __hiloint2double(__double2hiint(v), static_cast<int>(low | (tail & 0x1fffffe0)));
}

// The bits from bit `shift` on, moved to bit 5.
__device__ __forceinline__ uint32_t tail_of(uint32_t low, uint32_t high, int shift)
{
    return shift == 0 ? low << 5 : __funnelshift_r(low, high, shift - 5);
}

// sum += factor times the tile whose words are at `at`, `stride` apart.
__device__ __forceinline__ void add_tile(const uint32_t *at, int stride, double factor, double *sum)
{
    constexpr int n = 9, n_low = 7;
    uint32_t head[n], low[n_low + 1];
#pragma unroll
    for (int t = 0; t < n; t++) head[t] = at[t * stride];
#pragma unroll
    for (int w = 0; w < n_low; w++) low[w] = at[(n + w) * stride];
    low[n_low] = 0;
#pragma unroll
    for (int t = 0; t < n; t++)
        sum[t] =
            fma(factor,
                join_number(head[t], tail_of(low[3 * t / 4], low[3 * t / 4 + 1], 8 * (3 * t % 4))),
                sum[t]);
}

// add_tile for one half of a tile on the diagonal.
__device__ __forceinline__ void add_half(const uint32_t *at, int stride, int half, double factor,
                                         double *sum)
{
    uint32_t head[3];
#pragma unroll
    for (int t = 0; t < 3; t++) head[t] = at[(3 * half + t) * stride];
    const uint32_t low = at[(6 + 2 * half) * stride], high = at[(7 + 2 * half) * stride];
    const uint32_t last = at[10 * stride] >> 8 * half & 0xff;
    sum[0] = fma(factor, join_number(head[0], tail_of(low, high, 0)), sum[0]);
    sum[1] = fma(factor, join_number(head[1], tail_of(low, high, 24)), sum[1]);
    sum[2] = fma(factor, join_number(head[2], high >> 11 | last << 21), sum[2]);
}

// Sums an entry of a part, with index `own` in its order, and stores it at its place in the record.
// On the diagonal, computes one of its halves.
template <int C, int PART, class Local>
__device__ __forceinline__ void sum_entry(const char *list, const record_lists<Local> &at,
                                          const record_head &h, const uint32_t *word,
                                          const double *modulus, int own, int half, double *out)
{
    constexpr int n = C == 1 ? 1 : PART == OFF ? 9 : 3;
    const auto *level =
        reinterpret_cast<const uint16_t *>(list + at.level) + (PART == OFF ? 0 : h.n_level[OFF]);
    const auto *local =
        reinterpret_cast<const Local *>(list + at.local) + (PART == OFF ? 0 : h.n_term[OFF]) + own;
    word += (PART == OFF ? 0 : tile_words<C>(OFF) * h.n_term[OFF]) + (C == 1 ? 2 : 1) * own;
    double sum[n] = {};
    int l = 0, stride = level[0];
    double factor = modulus[*local];
    for (;;) {
        // Load the modulus of the next cell, which takes two dependent loads, before the numbers of
        // this one.
        const int next = ++l < h.n_level[PART] ? level[l] : 0;
        const bool more = own < next;
        double next_factor = 0.0;
        local += stride;
        if (more) next_factor = modulus[*local];
        if constexpr (C == 1)
            sum[0] = fma(factor, *reinterpret_cast<const double *>(word), sum[0]);
        else if constexpr (PART == OFF)
            add_tile(word, stride, factor, sum);
        else
            add_half(word, stride, half, factor, sum);
        if (!more) break;
        word += tile_words<C>(PART) * stride;
        stride = next;
        factor = next_factor;
    }
    if constexpr (C == 1 || PART == OFF)
#pragma unroll
        for (int t = 0; t < n; t++) out[C * row_of(t) + column_of(t)] = sum[t];
    else
#pragma unroll
        for (int t = 0; t < n; t++) {
            // xx yy zz, or xy xz yz and their mirror images
            out[half ? C * row_of(3 + t) + column_of(3 + t) : (C + 1) * t] = sum[t];
            if (half) out[C * column_of(3 + t) + row_of(3 + t)] = sum[t];
        }
}

// First the entries off the diagonal, then, starting at a new warp, the halves of those on it.
template <int C, class Local>
__device__ __forceinline__ void sum_record(const char *list, const record_lists<Local> &at,
                                           const record_head &h, const uint32_t *word,
                                           const double *modulus, double *sum)
{
    constexpr int halves = C == 1 ? 1 : 2;
    const int n_off = h.n_entry - h.n_diagonal, begin = (n_off + 31) / 32 * 32;
    const auto *place = reinterpret_cast<const uint8_t *>(list + at.place);
    for (int k = static_cast<int>(threadIdx.x); k < begin + halves * h.n_diagonal; k += THREADS)
        if (k < n_off)
            sum_entry<C, OFF>(list, at, h, word, modulus, k, 0, sum + C * C * place[k]);
        else if (k >= begin)
            sum_entry<C, DIAGONAL>(list, at, h, word, modulus, (k - begin) / halves,
                                   (k - begin) % halves,
                                   sum + C * C * place[n_off + (k - begin) / halves]);
}

// Stores entries and their mirror images, block by block; a thread has the same component in each
// of its blocks.
template <int C, class Real, class Local>
__device__ __forceinline__ void store_blocks(const arguments &g, const char *list,
                                             const record_lists<Local> &at, const record_head &h,
                                             const double *sum)
{
    constexpr int size = C * C, step = THREADS / size;
    const int thread = static_cast<int>(threadIdx.x), first = thread / size, t = thread % size;
    const int image = t % C * C + t / C;
    auto *const value = static_cast<Real *>(g.m.d_value) + t;
    const auto *base = reinterpret_cast<const uint32_t *>(list + at.base);
    const auto *run = reinterpret_cast<const uint8_t *>(list + at.run);
    if (first >= step) return;
#pragma unroll 4
    for (int q = first; q < h.n_entry; q += step) {
        const int64_t entry = base[run[q]] + static_cast<uint32_t>(q);
        value[size * entry] = static_cast<Real>(sum[size * q + t]);
    }
    base = reinterpret_cast<const uint32_t *>(list + at.mirror_base);
    run = reinterpret_cast<const uint8_t *>(list + at.mirror_run);
    const auto *source = reinterpret_cast<const uint8_t *>(list + at.source);
#pragma unroll 4
    for (int q = first; q < h.n_mirror; q += step) {
        const int64_t entry = base[run[q]] + static_cast<uint32_t>(q);
        value[size * entry] = static_cast<Real>(sum[size * source[q] + image]);
    }
}

// If all entries of a record are contiguous in the matrix, they are written by one bulk copy. Both
// of its addresses must be multiples of 16 bytes, so the sums begin at an address with the same
// remainder as their address in the matrix.
#if __CUDA_ARCH__ >= 900
constexpr bool HAS_BULK = true;

__device__ __forceinline__ void await_bulk_read()
{
    // orders this thread's sums before the bulk copy
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__device__ __forceinline__ void store_bulk(double *to, const double *sum, int n)
{
    const int head = static_cast<int>(reinterpret_cast<uintptr_t>(to) / sizeof(double) & 1);
    const int bulk = (n - head) / 2 * 2;
    if (threadIdx.x) return;
    if (head) to[0] = sum[0];
    if (head + bulk < n) to[n - 1] = sum[n - 1];
    if (bulk)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + head),
                     "r"(shared_address(sum + head)), "r"(static_cast<uint32_t>(8 * bulk))
                     : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#else
constexpr bool HAS_BULK = false;
__device__ __forceinline__ void await_bulk_read() {}
__device__ __forceinline__ void store_bulk(double *, const double *, int) {}
#endif

__device__ __forceinline__ hx_spot find_spot(const hx_matrix &m, int64_t row, uint32_t entry)
{
    const int64_t *const ptr = m.pattern.d_row_ptr + row;
    return hx_entry_spot(m, row, static_cast<int>(ptr[1] - ptr[0]),
                         static_cast<int>(entry - ptr[0]));
}

// Finds the places of the entries and mirror images of a record, for formats other than bsr.
__device__ __forceinline__ void find_spots(const arguments &g, const record_head &h, hx_spot *spot)
{
    const hx_device_pattern &p = g.m.pattern;
    const int k = static_cast<int>(threadIdx.x);
    if (k >= h.n_entry) return;
    const int64_t kept = static_cast<int64_t>(h.first) + k;
    const uint32_t entry = g.p.d_entry[kept], mirror = g.p.d_mirror ? g.p.d_mirror[kept] : NONE;
    spot[k] = find_spot(g.m, g.p.d_row[kept], entry);
    spot[g.p.most_entry + k] =
        mirror == NONE ? hx_spot{-1, 0, 0} : find_spot(g.m, p.d_col[entry] - p.row_first, mirror);
}

// Stores the rows of numbers of neighbouring entries.
template <int C>
__device__ __forceinline__ void store_numbers(const arguments &g, const record_head &h,
                                              const hx_spot *spot, const double *sum)
{
    const int n = h.n_entry;
    for (int image = 0; image < (g.p.d_mirror ? 2 : 1); image++)
        for (int k = static_cast<int>(threadIdx.x); k < C * C * n; k += THREADS) {
            const int i = k / (C * n), place = k % (C * n) / C, j = k % C;
            const int64_t at = hx_spot_place(g.m, spot[image * g.p.most_entry + place], i, j);
            if (at >= 0)
                hx_matrix_store(g.m, at, sum[C * C * place + (image ? C * j + i : C * i + j)]);
        }
}

// Thread 0 draws the records of its block, in a common order over all blocks, one record ahead. No
// block gets far ahead of the others, so that data that is close together in the matrix is written
// at about the same time. (With a fixed set of records per block, full matrices take up to 1.4
// times as long.)
struct lottery {
    int64_t drawn;
    record_at begin, end;
    int n_record; // number of records of the block; INT_MAX until it is known

    __device__ __forceinline__ void draw(const arguments &g)
    {
        drawn = atomicAdd(g.drawn, 1u);
    }

    __device__ __forceinline__ void look_up(const plan &p)
    {
        begin = end = {0, 0};
        if (drawn >= p.n_record) return;
        begin = p.d_at[drawn];
        end = p.d_at[drawn + 1];
    }

    // Publishes the drawn record as the block's record number k.
    __device__ __forceinline__ void announce(const plan &p, int k, coming *next)
    {
        if (drawn >= p.n_record && n_record == INT_MAX) n_record = k;
        *next = {begin.list, begin.word, end.list - begin.list, end.word - begin.word, n_record};
    }
};

// The modulus of a cell of a record, loaded one record ahead, one cell per thread.
struct early_modulus {
    bool is;
    double value;

    template <class Local> __device__ __forceinline__ void ask(const arguments &g, const char *list)
    {
        const record_head &h = *reinterpret_cast<const record_head *>(list);
        is = threadIdx.x < h.n_cell;
        if (is) value = __ldg(g.modulus + cells_of<Local>(list, h)[threadIdx.x]);
    }

    template <class Local>
    static __device__ __forceinline__ const int32_t *cells_of(const char *list,
                                                              const record_head &h)
    {
        return reinterpret_cast<const int32_t *>(list + record_lists<Local>(h).cell);
    }
};

// Loads the moduli of a record from cell `first` on.
template <class Local>
__device__ __forceinline__ void load_moduli(const arguments &g, const char *list, int first,
                                            double *modulus)
{
    const record_head &h = *reinterpret_cast<const record_head *>(list);
    const int32_t *const cell = early_modulus::cells_of<Local>(list, h);
    if (h.n_cell <= first) return;
    for (int i = static_cast<int>(threadIdx.x) + first; i < h.n_cell; i += THREADS)
        modulus[i] = g.scale * __ldg(g.modulus + cell[i]);
    __syncthreads();
}

template <int C, class Real, class Local, bool IS_BSR>
__global__ void __launch_bounds__(THREADS, SM_BLOCKS)
    stored_kernel(const __grid_constant__ arguments g)
{
    extern __shared__ __align__(128) char shared[];
    const buffers b = cut_shared<C, IS_BSR>(shared, g);
    const bool flat = HAS_BULK && IS_BSR && sizeof(Real) == sizeof(double) && !g.has_images;
    lottery lot = {0, {}, {}, INT_MAX};
    int n_record = INT_MAX;
    start_barriers(b, g.n_stage);
    for (int s = 0; s < g.n_stage; s++) {
        if (threadIdx.x == 0) {
            lot.drawn = blockIdx.x + static_cast<int64_t>(s) * gridDim.x;
            lot.look_up(g.p);
            lot.announce(g.p, s, b.next);
        }
        __syncthreads();
        n_record = b.next->n_record;
        if (s < n_record) fetch_record(g, b, *b.next, s, s);
        __syncthreads();
    }
    if (threadIdx.x == 0) lot.draw(g);
    int stage = 0, list_stage = 0, parity = 0;
    unsigned turn = 0;
    for (int i = 0; i < n_record; i++, parity ^= 1) {
        const bool last = stage + 1 == g.n_stage, early_on = g.n_stage > 1 && i > 0;
        const int next_stage = last ? 0 : stage + 1;
        const int next_list = list_stage == g.n_stage ? 0 : list_stage + 1;
        const unsigned next_turn = turn + last;
        double *sum = b.sum + parity * sum_numbers(C, g.p);
        double *const modulus = b.modulus + parity * g.p.most_cell;
        const char *const list = b.list + list_stage * g.p.most_list;
        const auto *const word = reinterpret_cast<const uint32_t *>(b.word + stage * g.p.most_word);
        early_modulus next = {false, 0.0};
        if (threadIdx.x == 0) lot.look_up(g.p);
        await(b, stage, turn);
        load_moduli<Local>(g, list, early_on ? THREADS : 0, modulus);
        if (g.n_stage > 1 && i + 1 < n_record) {
            await(b, next_stage, next_turn);
            next.ask<Local>(g, b.list + next_list * g.p.most_list);
        }
        const record_head h = *reinterpret_cast<const record_head *>(list);
        const record_lists<Local> at(h);
        if (flat) sum += C * C * h.first & 1;
        sum_record<C>(list, at, h, word, modulus, sum);
        if (next.is) b.modulus[(parity ^ 1) * g.p.most_cell + threadIdx.x] = g.scale * next.value;
        if constexpr (!IS_BSR) find_spots(g, h, b.spot);
        if (flat) await_bulk_read();
        if (threadIdx.x == 0) lot.announce(g.p, i + g.n_stage, b.next + parity);
        __syncthreads(); // also: the sums of the preceding record have been written
        n_record = b.next[parity].n_record;
        if (i + g.n_stage < n_record)
            fetch_record(g, b, b.next[parity], stage, list_stage ? list_stage - 1 : g.n_stage);
        if (threadIdx.x == 0 && n_record == INT_MAX) lot.draw(g);
        if (flat) {
            store_bulk(static_cast<double *>(g.m.d_value) + static_cast<int64_t>(C * C) * h.first,
                       sum, C * C * h.n_entry);
        } else if constexpr (IS_BSR) {
            store_blocks<C, Real>(g, list, at, h, sum);
        } else {
            store_numbers<C>(g, h, b.spot, sum);
            __syncthreads(); // all threads have read the places
        }
        stage = next_stage;
        list_stage = next_list;
        turn = next_turn;
    }
    if (flat) await_bulk_read();
}

__global__ void first_draw_kernel(uint32_t *drawn, uint32_t first)
{
    *drawn = first;
}

using kernel = void (*)(arguments);

template <int C, class Local> kernel choose_kernel(const hx_matrix_spec *spec)
{
    if (spec->format != HX_FORMAT_BSR) return stored_kernel<C, double, Local, false>;
    return spec->single ? stored_kernel<C, float, Local, true>
                        : stored_kernel<C, double, Local, true>;
}

kernel kernel_of(const stored *f)
{
    const hx_matrix_spec *const spec = &f->m->spec;
    const bool wide = f->p.most_cell > 256;
    if (spec->components == 3)
        return wide ? choose_kernel<3, uint16_t>(spec) : choose_kernel<3, uint8_t>(spec);
    return wide ? choose_kernel<1, uint16_t>(spec) : choose_kernel<1, uint8_t>(spec);
}

// so that two blocks with three stages fit into a multiprocessor
constexpr int RECORD_BYTES = 28000;
constexpr int MOST_STAGES = 3;

// Uses as many stages as shared memory allows, and as many blocks as can run at the same time.
int choose_launch(stored *f)
{
    const hx_matrix_spec *const spec = &f->m->spec;
    const bool is_bsr = spec->format == HX_FORMAT_BSR;
    hx_cuda *const cuda = hx_cuda_of(f->dev);
    int most = 0, blocks = 0;
    HX_TRY_CUDA(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->place));
    for (f->n_stage = MOST_STAGES; f->n_stage > 0; f->n_stage--) {
        f->shared = spec->components == 3 ? shared_layout::of<3>(f->p, f->n_stage, is_bsr).bytes
                                          : shared_layout::of<1>(f->p, f->n_stage, is_bsr).bytes;
        if (f->shared <= static_cast<size_t>(most)) break;
    }
    if (f->n_stage == 0)
        return HX_RAISE(
            HX_EENV,
            "fill 'stored' does not support points with this many cells; use fill 'gather'");
    HX_TRY_CUDA(cudaFuncSetAttribute(kernel_of(f), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(f->shared)));
    HX_TRY_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(f), THREADS, f->shared));
    const int64_t at_a_time = static_cast<int64_t>(blocks) * cuda->n_sm;
    f->n_block = static_cast<unsigned>(at_a_time < f->p.n_record ? at_a_time : f->p.n_record);
    return HX_OK;
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<stored *>(filling);
    // Padding of a format is never written, so it is set to 0 here.
    HX_TRY(f->dev->ops->zero(f->dev, f->m->d_value, hx_value_bytes(*f->m)));
    HX_TRY(hx_stored::create(&f->p, f, RECORD_BYTES));
    HX_TRY(f->dev->ops->alloc(f->dev, sizeof *f->d_drawn, &f->d_drawn));
    return choose_launch(f);
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const stored *>(filling);
    const cudaStream_t stream = hx_cuda_of(f->dev)->stream;
    const bool has_images = f->p.n_kept < f->m->pattern.n_entry;
    const arguments a = {
        f->input.d_modulus, ldexp(1.0, f->p.power), *f->m, f->p, f->n_stage, has_images,
        f->d_drawn};
    if (f->p.n_record == 0) return HX_OK;
    first_draw_kernel<<<1, 1, 0, stream>>>(f->d_drawn,
                                           f->n_block * static_cast<unsigned>(f->n_stage));
    HX_TRY_LAUNCH("stored's first_draw_kernel");
    kernel_of(f)<<<f->n_block, THREADS, f->shared, stream>>>(a);
    return HX_LAUNCHED("stored_kernel");
}

void release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<stored *>(filling);
    hx_stored::release(&f->p, f->dev);
    f->dev->ops->release(f->dev, f->d_drawn);
}

size_t bytes(const hx_cuda_filling *filling)
{
    return static_cast<const stored *>(filling)->p.bytes;
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_stored = {sizeof(stored), prepare, run, release, bytes, 1};
