// Rows of the fill `gather`: the shared memory of a block, and how its warps sum and store rows.
#ifndef HX_GATHER_ROWS_CUH
#define HX_GATHER_ROWS_CUH

#include "gather_products.cuh"
#include "hex8_tiles.cuh"

namespace hx_gather
{

// Size of a row before it is stored: its tiles, padded to avoid bank conflicts, and aligned.
constexpr int STAGE = 304;
constexpr int NO_PLACE = 255; // an octant without a place
static_assert(STAGE >= 9 * static_cast<int>(MOST_ENTRIES) + static_cast<int>(ROWS), "a row fits");
static_assert(static_cast<int>(MOST_PLACES) <= NO_PLACE, "a place fits into 8 bits");

// Where the values of a row are.
enum arrangement {
    BLOCKS,  // bsr
    NUMBERS, // csr, coo
    SLICED,  // bsrs
    COLUMNS  // ell
};

struct shared_memory {
    union {
        gradients h[MOST_CELLS];
        double x[WARPS][WARP_CELLS][X_LINE]; // before the gradients are computed
        double values[ROWS][STAGE];          // after the gradients have been used
    };
    uint16_t slot[MOST_PLACES][8]; // indexed by the bits of corner b
    int64_t begin[ROWS + 1];       // row_ptr
    int place[ROWS + 1];           // first place of each row
    uint8_t at[ROWS][8];           // place of the cell in which the row's point has these bits
    uint8_t bits[MOST_PLACES];     // bits of a place's own corner
    uint8_t cell[MOST_PLACES];     // cell of a place
};

// Converts the sums of an entry's products, which include the modulus, to its block.
template <int C>
__device__ __forceinline__ void finish_tile(double lambda, double mu, double (&v)[C * C])
{
    if constexpr (C == 3) {
        const double m[3][3] = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}};
        double k[3][3];
        hx_form_elasticity(1.0, lambda, mu, m, k);
#pragma unroll
        for (int t = 0; t < 9; t++) v[t] = k[t / 3][t % 3];
    }
}

// Selects the sum of an entry that a product of a pair is added to. Each of its two sums adds
// products in the order of the places; the two are added at the end. For four cells around an edge,
// as in a grid, each sum has two products, whose order does not matter, so an entry and its mirror
// image are bitwise equal.
__device__ __forceinline__ int sum_of(int a, int b)
{
    return __popc(a & b) & 1;
}

// The corners of 8 whose slot is e, as bits.
__device__ __forceinline__ unsigned find_corners(const uint16_t *slot, int e)
{
    const uint4 four = *reinterpret_cast<const uint4 *>(slot);
    const unsigned word[4] = {four.x, four.y, four.z, four.w};
    unsigned found = 0;
#pragma unroll
    for (int b = 0; b < 8; b++)
        found |= static_cast<unsigned>((word[b / 2] >> (16 * (b % 2)) & 0xffffu) ==
                                       static_cast<unsigned>(e))
                 << b;
    return found;
}

template <int C>
__device__ __forceinline__ void add_product(const double (&m)[C * C], int which,
                                            double (&sum)[2][C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) {
        sum[0][t] += which ? 0.0 : m[t];
        sum[1][t] += which ? m[t] : 0.0;
    }
}

template <int C>
__device__ __forceinline__ void store_entry(const arguments &g, int64_t row, int n, int e,
                                            double (&sum)[2][C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) sum[0][t] += sum[1][t];
    finish_tile<C>(g.lambda, g.mu, sum[0]);
#pragma unroll
    for (int t = 0; t < C * C; t++) {
        const int64_t at = hx_matrix_place(&g.m, row, n, e, t / C, t % C);
        if (at >= 0) hx_matrix_store(g.m, at, sum[0][t]);
    }
}

// A row that is not as in a grid: one lane per entry, which receives the products of four places at
// a time from the lanes that computed them. Each value is written directly to its place.
template <int C>
__device__ void finish_row(const arguments &g, const shared_memory *s, int r, int64_t row)
{
    const int n = static_cast<int>(s->begin[r + 1] - s->begin[r]), end = s->place[r + 1];
    const int lane = threadIdx.x % 32, b = lane % 8;
    for (int e0 = 0; e0 < n; e0 += 32) {
        const int e = e0 + lane < n ? e0 + lane : -1;
        double sum[2][C * C] = {};
        for (int k0 = s->place[r]; k0 < end; k0 += 4) {
            const int mine = k0 + lane / 8;
            double m[C * C] = {};
            if (mine < end && s->slot[mine][b] != HX_NO_SLOT_16)
                multiply_corners<C>(s->h[s->cell[mine]], s->bits[mine], b, m);
            for (int k = k0; k < k0 + 4 && k < end; k++) {
                unsigned found = e >= 0 ? find_corners(s->slot[k], e) : 0;
                while (__any_sync(0xffffffffu, found)) {
                    const int of = found ? __ffs(static_cast<int>(found)) - 1 : 0;
                    double v[C * C];
#pragma unroll
                    for (int t = 0; t < C * C; t++)
                        v[t] = __shfl_sync(0xffffffffu, m[t], 8 * (k - k0) + of);
                    if (found) add_product<C>(v, sum_of(s->bits[k], of), sum);
                    found &= found - 1;
                }
            }
        }
        if (e >= 0) store_entry<C>(g, row, n, e, sum);
    }
}

// Half a warp copies n numbers from shared memory, which must have the same alignment modulo 16
// bytes as their destination. `from` may be overwritten after finish_stores.
template <class Real> __device__ __forceinline__ void store_row(Real *to, const Real *from, int n)
{
    const int lane = threadIdx.x % 16;
#if __CUDA_ARCH__ >= 900
    constexpr int pack = 16 / sizeof(Real);
    const int ahead =
        static_cast<int>((16 - (reinterpret_cast<uintptr_t>(to) & 15)) & 15) / sizeof(Real);
    const int head = ahead < n ? ahead : n, packs = (n - head) / pack, tail = head + packs * pack;
    if (lane < head) to[lane] = from[lane];
    if (lane < n - tail) to[tail + lane] = from[tail + lane];
    if (lane == 0 && packs > 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + head),
                     "r"(static_cast<unsigned>(__cvta_generic_to_shared(from + head))),
                     "r"(16 * packs)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
#else
    for (int k = lane; k < n; k += 16) to[k] = from[k];
#endif
}

// Makes what a warp has written to shared memory available to store_row.
__device__ __forceinline__ void before_stores()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncwarp();
}

__device__ __forceinline__ void finish_stores()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

// Where the tiles of a row are stored in shared memory; rows are in different banks.
template <class Shared> __device__ __forceinline__ auto *row_values(Shared *s, int r)
{
    return s->values[r] + r;
}

// A row's values before they are written: contiguous as in the matrix, or tile by tile.
template <int C, class Real, arrangement A> struct outgoing {
    static constexpr bool is_together = A == BLOCKS || A == NUMBERS;
    Real *to, *from;
    double *values;
    int n, lower;

    __device__ __forceinline__ outgoing(const arguments &g, shared_memory *s, int r, int64_t row)
    {
        n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
        lower = A == NUMBERS && g.m.spec.part == HX_PART_LOWER;
        values = row_values(s, r);
        if constexpr (is_together) {
            to = static_cast<Real *>(g.m.d_value) + C * C * s->begin[r] -
                 (lower ? row * (C * (C - 1) / 2) : 0);
            from = reinterpret_cast<Real *>(s->values[r]) +
                   (reinterpret_cast<uintptr_t>(to) & 15) / sizeof(Real);
        }
    }

    __device__ __forceinline__ void put(const arguments &g, int e, double (&sum)[C * C])
    {
        finish_tile<C>(g.lambda, g.mu, sum);
#pragma unroll
        for (int i = 0; i < C; i++) {
            const int row_of_numbers = lower ? i * (C * (n - 1)) + i * (i + 1) / 2 : i * C * n;
#pragma unroll
            for (int j = 0; j < C; j++)
                if constexpr (A == BLOCKS)
                    from[C * C * e + C * i + j] = static_cast<Real>(sum[C * i + j]);
                else if constexpr (!is_together)
                    values[C * C * e + C * i + j] = sum[C * i + j];
                else if (!(lower && e == n - 1 && j > i))
                    from[row_of_numbers + C * e + j] = static_cast<Real>(sum[C * i + j]);
        }
    }

    __device__ __forceinline__ void send()
    {
        store_row<Real>(to, from, C * C * n - (lower ? C * (C - 1) / 2 : 0));
    }
};

// A lane's part of a row: the tiles of at most 4 entries; -1: none.
template <int C> struct part {
    double sum[4][C * C];
    int entry[4];
};

// Sums the rows first and first + 1 of the block if their bits in `rows` are set; they must be as
// in a grid. Each row uses 16 lanes. A lane has a class and half of its 8 pairs, each from a cell
// in which the row's point has other bits, its octant. The order of the octants is chosen so that 8
// lanes process different corners b in each of 4 steps, which avoids bank conflicts; that pairs of
// one entry are adjacent, two by two; and that for a class with one bit, steps 0 and 1 belong to
// one sum of the entry, and steps 2 and 3 to the other. The other 8 lanes process the opposite
// octants.
template <int C>
__device__ __forceinline__ void sum_rows(shared_memory *s, int first, unsigned rows, part<C> &p)
{
    constexpr unsigned octants[4] = {033524102, 072710461, 017136020, 056302543}; // by class
    const int lane = threadIdx.x % 32, in_row = lane % 16, c = in_row % 8, r = first + lane / 16;
    const int opposite = in_row / 8 ? 7 : 0, n_bit = __popc(c);
    const bool is_mine = rows >> (lane / 16) & 1;
    const double joins = c == 7 ? 0.0 : 1.0, joins_all = n_bit < 2 ? 1.0 : 0.0;

    if (in_row < 8) s->at[r][in_row] = NO_PLACE;
    __syncwarp();
    if (is_mine && in_row < s->place[r + 1] - s->place[r]) {
        const int k = s->place[r] + in_row;
        s->at[r][s->bits[k]] = static_cast<uint8_t>(k);
    }
    __syncwarp();
#pragma unroll
    for (int step = 0; step < 4; step++) {
        const int a = (static_cast<int>(octants[step] >> (3 * c)) & 7) ^ opposite, b = a ^ c;
        const int k = s->at[r][a];
        const unsigned slot = k == NO_PLACE ? HX_NO_SLOT_16 : s->slot[k][b];
        double *const m = p.sum[step];
        p.entry[step] = slot == HX_NO_SLOT_16 ? -1 : static_cast<int>(slot);
#pragma unroll
        for (int t = 0; t < C * C; t++) m[t] = 0.0;
        if (p.entry[step] >= 0) multiply_corners<C>(s->h[s->cell[k]], a, b, p.sum[step]);
        if (step % 2 == 0) continue;
#pragma unroll
        for (int t = 0; t < C * C; t++) p.sum[step - 1][t] += joins * m[t];
        if (c == 7) continue;
        p.entry[step - 1] = max(p.entry[step - 1], p.entry[step]);
        p.entry[step] = -1;
    }
#pragma unroll
    for (int t = 0; t < C * C; t++) {
        p.sum[0][t] += joins_all * p.sum[2][t];
        const double other = __shfl_xor_sync(0xffffffffu, p.sum[0][t], 8);
        if (c == 0) p.sum[0][t] += other;
    }
    if (n_bit < 2) {
        p.entry[0] = max(p.entry[0], p.entry[2]);
        p.entry[2] = -1;
    }
    const int other = __shfl_xor_sync(0xffffffffu, p.entry[0], 8);
    if (c == 0) p.entry[0] = opposite ? -1 : max(p.entry[0], other);
}

// Writes the rows of sum_rows to the matrix if their values are contiguous there; otherwise leaves
// them in shared memory.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void put_rows(const arguments &g, shared_memory *s, int first,
                                         int64_t row, unsigned rows, part<C> &p)
{
    const int half = threadIdx.x % 32 / 16;
    outgoing<C, Real, A> out(g, s, first + half, row + half);
#pragma unroll
    for (int step = 0; step < 4; step++)
        if (p.entry[step] >= 0) out.put(g, p.entry[step], p.sum[step]);
    if constexpr (outgoing<C, Real, A>::is_together) {
        before_stores();
        if (rows >> half & 1) out.send();
    }
}

// Writes the values of the block's rows from their tiles, with neighbouring rows adjacent.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void store_rows(const arguments &g, const shared_memory *s,
                                           const block_range &block)
{
    constexpr int inner = A == SLICED ? 1 : C, across = ROWS * inner; // contiguous numbers
    for (int k = threadIdx.x; k < across * MOST_ENTRIES * (C * C / inner); k += 32 * WARPS) {
        const int r = k % across / inner, rest = k / across;
        const int e = rest / (C * C / inner), in_tile = rest % (C * C / inner);
        const int t = A == SLICED ? in_tile : k % inner * C + in_tile;
        if (r >= block.n_row || block.irregular >> r & 1) continue;
        const int n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
        if (e >= n) continue;
        const int64_t at = hx_matrix_place(&g.m, block.row + r, n, e, t / C, t % C);
        if (at >= 0)
            static_cast<Real *>(g.m.d_value)[at] =
                static_cast<Real>(row_values(s, r)[C * C * e + t]);
    }
}

} // namespace hx_gather

#endif
