// Rows of the fill `gather`: what a block has in shared memory, summed and stored by its warps.
#ifndef HX_GATHER_ROWS_CUH
#define HX_GATHER_ROWS_CUH

#include "gather_products.cuh"
#include "hex8_tiles.cuh"

namespace hx_gather
{

enum { LANE_ENTRIES = 32 }; // of a row that is not as in a grid, summed in one pass

// Where the values of a row lie.
enum arrangement {
    BLOCKS,  // bsr
    NUMBERS, // csr, coo
    SLICED,  // bsrs
    COLUMNS  // ell
};

template <int C> struct shared_memory {
    union {
        double product[MOST_PLACES][line<C>::size];
        double x[WARPS][WARP_CELLS][X_LINE]; // before there are products
    };
    uint4 slot[MOST_PLACES];       // 8 of 16 bits, by class
    uint16_t owner[MOST_CELLS][8]; // of a corner: its line, and << 8 bits of the corners b it needs
    int64_t begin[ROWS + 1];       // row_ptr
    int place[ROWS + 1];           // first line of each row
    uint8_t bits[MOST_PLACES];     // of a line's own corner
};

// The block of an entry from the sums of its products; the modulus is in them.
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

// The class of the pair that adds to entry e, of 8 slots, from class `from` on; 8: none.
__device__ __forceinline__ int find_class(const uint4 &slot, int e, int from)
{
    const unsigned word[4] = {slot.x, slot.y, slot.z, slot.w};
    int found = 8;
#pragma unroll
    for (int c = 7; c >= 0; c--)
        if (c >= from && (word[c / 2] >> (16 * (c % 2)) & 0xffffu) == static_cast<unsigned>(e))
            found = c;
    return found;
}

// Entry e of row r, summed place by place.
template <int C>
__device__ __forceinline__ void sum_entry(const shared_memory<C> *s, int r, int e,
                                          double (&sum)[C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) sum[t] = 0.0;
    for (int k = s->place[r]; k < s->place[r + 1]; k++) {
        const uint4 slot = s->slot[k];
        for (int c = find_class(slot, e, 0); c < 8; c = find_class(slot, e, c + 1)) {
            double v[C * C];
            load_tile<C>(s->product[k] + line_offset<C>(s->bits[k], c), v);
#pragma unroll
            for (int t = 0; t < C * C; t++) sum[t] += v[t];
        }
    }
}

// A row of many entries: each value straight to its place.
template <int C>
__device__ void finish_wide_row(const arguments &g, const shared_memory<C> *s, int r, int64_t row)
{
    const int n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
    for (int e = threadIdx.x % 32; e < n; e += 32) {
        double sum[C * C];
        sum_entry<C>(s, r, e, sum);
        finish_tile<C>(g.lambda, g.mu, sum);
        for (int t = 0; t < C * C; t++) {
            const int64_t at = hx_matrix_place(&g.m, row, n, e, t / C, t % C);
            if (at >= 0) hx_matrix_store(g.m, at, sum[t]);
        }
    }
}

// n numbers from shared memory, aligned as their place is within 16 bytes, by the whole warp. What
// lies under `from` is free again after finish_stores.
template <class Real> __device__ __forceinline__ void store_row(Real *to, const Real *from, int n)
{
    const int lane = threadIdx.x % 32;
#if __CUDA_ARCH__ >= 900
    constexpr int pack = 16 / sizeof(Real);
    const int ahead =
        static_cast<int>((16 - (reinterpret_cast<uintptr_t>(to) & 15)) & 15) / sizeof(Real);
    const int head = ahead < n ? ahead : n, packs = (n - head) / pack, tail = head + packs * pack;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
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
    __syncwarp();
    for (int k = lane; k < n; k += 32) to[k] = from[k];
#endif
}

__device__ __forceinline__ void finish_stores()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

// Where the values of a row are left: in its own lines, which hold more, and rows in banks of their
// own where there is room for that.
template <int C, class Shared> __device__ __forceinline__ auto *row_values(Shared *s, int r)
{
    const int n_line = s->place[r + 1] - s->place[r];
    return s->product[s->place[r]] + (C == 3 && n_line >= 3 ? r : 0);
}

template <int C> __device__ __forceinline__ bool is_wide(const shared_memory<C> *s, int r)
{
    return s->begin[r + 1] - s->begin[r] > LANE_ENTRIES;
}

// A row's values on their way out, in its own lines: as they lie together, or a tile after the
// other.
template <int C, class Real, arrangement A> struct outgoing {
    static constexpr bool is_together = A == BLOCKS || A == NUMBERS;
    Real *to, *from;
    double *values;
    int n, lower;

    __device__ __forceinline__ outgoing(const arguments &g, shared_memory<C> *s, int r, int64_t row)
    {
        n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
        lower = A == NUMBERS && g.m.spec.part == HX_PART_LOWER;
        values = row_values<C>(s, r);
        if constexpr (is_together) {
            to = static_cast<Real *>(g.m.d_value) + C * C * s->begin[r] -
                 (lower ? row * (C * (C - 1) / 2) : 0);
            from = reinterpret_cast<Real *>(s->product[s->place[r]]) +
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
        if constexpr (is_together)
            store_row<Real>(to, from, C * C * n - (lower ? C * (C - 1) / 2 : 0));
    }
};

// A row that is not as in a grid, a lane an entry.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void finish_row(const arguments &g, shared_memory<C> *s, int r,
                                           int64_t row)
{
    const int lane = threadIdx.x % 32;
    outgoing<C, Real, A> out(g, s, r, row);
    double sum[C * C];
    if (lane < out.n) sum_entry<C>(s, r, lane, sum);
    __syncwarp();
    if (lane < out.n) out.put(g, lane, sum);
    out.send();
}

// Rows first and first + 1 of the block where `mine` says so, 16 lanes a row: a lane sums the half
// of a class' entries in which the highest bit of bits(a) & class is its own - at most 4 places. Of
// class 0, the row's own point, it sums half of the places.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void finish_two_rows(const arguments &g, shared_memory<C> *s, int first,
                                                int64_t row, unsigned rows)
{
    const int lane = threadIdx.x % 32, half = lane / 8 % 2, c = lane % 8;
    const int r = first + lane / 16, high = c ? 31 - __clz(c) : 0;
    const bool is_mine = rows >> (lane / 16) & 1;
    const int others = c & ((1 << high) - 1);
    unsigned todo = 0; // bit 8 (bits(a) & others) + place of the row
    int line0 = 0;
    if (is_mine) {
        line0 = s->place[r];
        const int n_line = s->place[r + 1] - line0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (k >= n_line ||
                reinterpret_cast<const uint16_t *>(s->slot + line0 + k)[c] == HX_NO_SLOT_16)
                continue;
            const int bits = s->bits[line0 + k];
            if ((c ? bits >> high & 1 : k / 4) == half) todo |= 1u << (8 * (bits & others) + k);
        }
    }
    double sum[4][C * C], keep = 0.0;
    int entry[4];
#pragma unroll
    for (int step = 0; step < 4; step++) {
        const bool has = todo != 0;
        const int at = has ? __ffs(static_cast<int>(todo)) - 1 : 0, k = line0 + at % 8;
        double v[C * C] = {};
        if (has) load_tile<C>(s->product[k] + line_offset<C>(s->bits[k], c), v);
#pragma unroll
        for (int t = 0; t < C * C; t++)
            sum[step][t] = step ? keep * sum[step ? step - 1 : 0][t] + v[t] : v[t];
        todo &= todo - 1;
        const int next = todo ? __ffs(static_cast<int>(todo)) - 1 : 32;
        const bool ends = c ? has && next / 8 != at / 8 : step == 3 && is_mine && half == 0;
        entry[step] = ends ? reinterpret_cast<const uint16_t *>(s->slot + (c ? k : line0))[c] : -1;
        keep = c && ends ? 0.0 : 1.0;
    }
#pragma unroll
    for (int t = 0; t < C * C; t++) {
        const double other = __shfl_xor_sync(0xffffffffu, sum[3][t], 8);
        if (c == 0) sum[3][t] += other;
    }
    __syncwarp(); // values are written over what all lanes have read
    if (is_mine) {
        outgoing<C, Real, A> out(g, s, r, row + lane / 16);
#pragma unroll
        for (int step = 0; step < 4; step++)
            if (entry[step] >= 0) out.put(g, entry[step], sum[step]);
    }
    for (int k = 0; k < 2; k++)
        if (rows >> k & 1) outgoing<C, Real, A>(g, s, first + k, row + k).send();
}

// Values of the block's rows from their lines, neighbouring rows side by side.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void store_rows(const arguments &g, const shared_memory<C> *s,
                                           const block_range &block)
{
    constexpr int inner = A == SLICED ? 1 : C, across = ROWS * inner; // numbers that lie together
    for (int k = threadIdx.x; k < across * LANE_ENTRIES * (C * C / inner); k += 32 * WARPS) {
        const int r = k % across / inner, rest = k / across;
        const int e = rest / (C * C / inner), in_tile = rest % (C * C / inner);
        const int t = A == SLICED ? in_tile : k % inner * C + in_tile;
        if (r >= block.n_row || is_wide(s, r)) continue;
        const int n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
        if (e >= n) continue;
        const int64_t at = hx_matrix_place(&g.m, block.row + r, n, e, t / C, t % C);
        if (at >= 0)
            static_cast<Real *>(g.m.d_value)[at] =
                static_cast<Real>(row_values<C>(s, r)[C * C * e + t]);
    }
}

} // namespace hx_gather

#endif
