// stored: the tiles of modulus 1 are kept (stored_plan_cuda.cuh), and a run is one pass over them:
// each is read once, times the modulus of its cell, and the sum of an entry is written to its place
// and to its mirror image's. A warp is a group of entries, a lane one, which adds its cells
// ascending. Bound by memory: of hexahedra 2.4 kB an element are read, and the matrix is written.
#include <type_traits>

#include "fill_tiles_cuda.cuh"
#include "stored_plan_cuda.cuh"

namespace
{

using namespace hx_stored;

constexpr int WARPS = 8;

struct stored : hx_cuda_filling {
    plan p; // (owned)
};

// What the kernels see.
struct arguments {
    const double *modulus;
    hx_matrix m;
    plan p;
};

constexpr int LEVELS = 8; // whose moduli are found at a time

// A group's moduli by level and entry, then its blocks, row-major, on their way out.
template <int C> struct outgoing {
    union {
        double modulus[LEVELS][GROUP];
        double block[GROUP][C * C];
    };
    uint32_t entry[GROUP], mirror[GROUP];
};

// The same in formats other than bsr.
template <int C> struct outgoing_numbers : outgoing<C> {
    hx_spot spot[2][GROUP]; // of the entry, of its mirror image
};

// n bytes from there on to L2, by the lanes of a warp: as many requests at a time as it takes.
__device__ __forceinline__ void fetch(const void *from, int64_t n)
{
    const auto begin = reinterpret_cast<uintptr_t>(from) & ~uintptr_t{127};
    const auto end = reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(n);
    for (uintptr_t at = begin + 128 * (threadIdx.x % GROUP); at < end; at += 128 * GROUP)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

// What a group needs before its numbers.
__device__ __forceinline__ void fetch_lists(const plan &p, const group &begin, const group &end)
{
    fetch(p.d_mask + begin.mask, (end.mask - begin.mask) * static_cast<int64_t>(sizeof *p.d_mask));
    fetch(p.d_cell + begin.term, (end.term - begin.term) * static_cast<int64_t>(sizeof *p.d_cell));
}

// The lane's sums. Cells and moduli of all levels are asked for before numbers, so that numbers do
// not wait for them level by level.
template <int C>
__device__ __forceinline__ void sum_terms(const arguments &g, const group &begin, const group &end,
                                          outgoing<C> &out, double *sum)
{
    constexpr int n_even = C == 3 ? EVEN : 1;
    const int lane = static_cast<int>(threadIdx.x % GROUP);
    const unsigned before = (1u << lane) - 1;
    const unsigned on_diagonal = __ldg(g.p.d_mask + begin.mask);
    const double *from = g.p.d_number + begin.number;
    const int32_t *cell = g.p.d_cell + begin.term;
#pragma unroll 1
    for (uint32_t first = begin.mask + 1; first < end.mask; first += LEVELS) {
        const uint32_t mine =
            lane < LEVELS && first + lane < end.mask ? __ldg(g.p.d_mask + first + lane) : 0;
        int32_t of[LEVELS];
#pragma unroll
        for (int l = 0; l < LEVELS; l++) {
            const unsigned mask = __shfl_sync(HX_ALL_LANES, mine, l);
            of[l] = mask >> lane & 1 ? __ldg(cell + __popc(mask & before)) : -1;
            cell += __popc(mask);
        }
#pragma unroll
        for (int l = 0; l < LEVELS; l++)
            if (of[l] >= 0) out.modulus[l][lane] = __ldg(g.modulus + of[l]);
#pragma unroll 1
        for (int l = 0; l < LEVELS; l++) {
            const unsigned mask = __shfl_sync(HX_ALL_LANES, mine, l), off = mask & ~on_diagonal;
            const int n = __popc(mask), n_off = __popc(off);
            const bool has = mask >> lane & 1, is_off = off >> lane & 1;
            const double *const own = from + __popc(mask & before);
            const double *const more = from + n_even * n + __popc(off & before);
            double v[C * C];
            if (!mask) break;
#pragma unroll
            for (int t = 0; t < n_even; t++) v[t] = has ? __ldg(own + t * n) : 0.0;
#pragma unroll
            for (int t = n_even; t < C * C; t++)
                v[t] = is_off ? __ldg(more + (t - n_even) * n_off) : 0.0;
            const double modulus = has ? out.modulus[l][lane] : 0.0;
#pragma unroll
            for (int t = 0; t < C * C; t++) sum[t] = fma(modulus, v[t], sum[t]);
            from += level_numbers<C>(n, n_off);
        }
    }
    if (on_diagonal >> lane & 1)
#pragma unroll
        for (int t = n_even; t < C * C; t++) sum[t] = sum[t - 3];
}

// Block after block, where they lie together.
template <int C, class Real>
__device__ __forceinline__ void store_blocks(const arguments &g, const outgoing<C> &out,
                                             int64_t first, int count)
{
    constexpr int size = C * C;
    auto *const value = static_cast<Real *>(g.m.d_value);
    const double *const block = out.block[0];
    const int lane = static_cast<int>(threadIdx.x % GROUP);
    if (!g.p.d_entry) { // all, side by side
#pragma unroll
        for (int k = lane; k < size * GROUP; k += GROUP)
            if (k < size * count) __stcs(value + size * first + k, static_cast<Real>(block[k]));
        return;
    }
#pragma unroll
    for (int k = lane; k < size * GROUP; k += GROUP)
        if (k < size * count)
            value[size * static_cast<int64_t>(out.entry[k / size]) + k % size] =
                static_cast<Real>(block[k]);
#pragma unroll
    for (int k = lane; k < size * GROUP; k += GROUP) {
        const int place = k / size, t = k % size;
        if (out.mirror[place] != NONE)
            value[size * static_cast<int64_t>(out.mirror[place]) + t] =
                static_cast<Real>(out.block[place][t % C * C + t / C]);
    }
}

__device__ __forceinline__ hx_spot find_spot(const hx_matrix &m, int64_t row, uint32_t entry)
{
    const int64_t *const ptr = m.pattern.d_row_ptr + row;
    return hx_entry_spot(m, row, static_cast<int>(ptr[1] - ptr[0]),
                         static_cast<int>(entry - ptr[0]));
}

// Rows of numbers of neighbouring entries, for formats that have them so.
template <int C>
__device__ __forceinline__ void store_numbers(const arguments &g, outgoing_numbers<C> &out,
                                              int64_t first)
{
    const hx_device_pattern &p = g.m.pattern;
    const int lane = static_cast<int>(threadIdx.x % GROUP);
    out.spot[0][lane] = out.spot[1][lane] = {-1, 0, 0};
    if (out.entry[lane] != NONE)
        out.spot[0][lane] = find_spot(g.m, g.p.d_row[first + lane], out.entry[lane]);
    if (out.mirror[lane] != NONE)
        out.spot[1][lane] =
            find_spot(g.m, p.d_col[out.entry[lane]] - p.row_first, out.mirror[lane]);
    __syncwarp();
    for (int image = 0; image < 2; image++)
#pragma unroll
        for (int k = lane; k < C * C * GROUP; k += GROUP) {
            const int i = k / (C * GROUP), place = k % (C * GROUP) / C, j = k % C;
            const int64_t at = hx_spot_place(g.m, out.spot[image][place], i, j);
            if (at >= 0) hx_matrix_store(g.m, at, out.block[place][image ? C * j + i : C * i + j]);
        }
}

constexpr int64_t AHEAD = 4096; // groups: about as many as are on their way
constexpr int SM_BLOCKS = 4;    // registers of as many on a multiprocessor

template <int C, class Real, bool IS_BSR>
__global__ void __launch_bounds__(GROUP *WARPS, SM_BLOCKS)
    stored_kernel(const __grid_constant__ arguments g)
{
    __shared__ std::conditional_t<IS_BSR, outgoing<C>, outgoing_numbers<C>> all[WARPS];
    const int lane = static_cast<int>(threadIdx.x % GROUP);
    auto &out = all[threadIdx.x / GROUP];
    const int64_t number = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / GROUP;
    if (number >= g.p.n_group) return; // the whole warp
    const int64_t first = number * GROUP, left = g.p.n_kept - first;
    const int count = left < GROUP ? static_cast<int>(left) : GROUP;
    const group begin = g.p.d_group[number], end = g.p.d_group[number + 1];
    group later = {}, after = {};
    if (!g.p.d_mirror) { // else what comes to L2 ahead drives out blocks that are half written
        fetch(g.p.d_number + begin.number,
              (end.number - begin.number) * static_cast<int64_t>(sizeof *g.p.d_number));
        if (number + AHEAD < g.p.n_group) {
            later = g.p.d_group[number + AHEAD];
            after = g.p.d_group[number + AHEAD + 1];
        }
    }
    uint32_t entry = NONE, mirror = NONE;
    if (lane < count) {
        entry = g.p.d_entry ? g.p.d_entry[first + lane] : static_cast<uint32_t>(first + lane);
        if (g.p.d_mirror) mirror = g.p.d_mirror[first + lane];
    }
    double sum[C * C] = {};
    sum_terms<C>(g, begin, end, out, sum);
    __syncwarp(); // moduli have been read
    fetch_lists(g.p, later, after);
    out.entry[lane] = entry;
    out.mirror[lane] = mirror;
#pragma unroll
    for (int t = 0; t < C * C; t++) out.block[lane][C * row_of(t) + column_of(t)] = sum[t];
    __syncwarp();
    if constexpr (IS_BSR)
        store_blocks<C, Real>(g, out, first, count);
    else
        store_numbers<C>(g, out, first);
}

using kernel = void (*)(arguments);

template <int C> kernel choose_kernel(const hx_matrix_spec *spec)
{
    if (spec->format != HX_FORMAT_BSR) return stored_kernel<C, double, false>;
    return spec->single ? stored_kernel<C, float, true> : stored_kernel<C, double, true>;
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<stored *>(filling);
    // Nothing writes where a format has padding.
    HX_TRY(f->dev->ops->zero(f->dev, f->m->d_value, hx_value_bytes(*f->m)));
    return hx_stored::create(&f->p, f);
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const stored *>(filling);
    const hx_matrix_spec *const spec = &f->m->spec;
    const arguments a = {f->input.d_modulus, *f->m, f->p};
    if (f->p.n_group == 0) return HX_OK;
    const kernel start = spec->components == 3 ? choose_kernel<3>(spec) : choose_kernel<1>(spec);
    start<<<hx_blocks(f->p.n_group, WARPS), GROUP * WARPS, 0, hx_cuda_of(f->dev)->stream>>>(a);
    HX_TRY_LAUNCH("stored_kernel");
    return HX_OK;
}

void release(hx_cuda_filling *filling)
{
    hx_stored::release(&static_cast<stored *>(filling)->p, filling->dev);
}

size_t bytes(const hx_cuda_filling *filling)
{
    return static_cast<const stored *>(filling)->p.bytes;
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_stored = {sizeof(stored), prepare, run, release, bytes, 1};
