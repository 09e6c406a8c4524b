// The cone filter's sums by tiles: a warp processes two cells, at most 16 targets at a time. It
// lists the places in the rows of cells that intersect the targets' surroundings, in chunks of
// eight, and tests four chunks per step. A source is a candidate if its distance from a line
// between the targets is at most the radius plus the largest distance of a target from that line.
// Candidates are collected in a queue in shared memory, and targets are multiplied with sources, 16
// by 8, on the tensor cores:
//
//     |s - t|^2 = (-2 t, 1) . (s, |s|^2) + |t|^2
//
// Products that are added are written as one operation, so that sums are bitwise equal for one
// field and for two, however the compiler translates each kernel.
#ifndef HX_CONE_TILES_CUH
#define HX_CONE_TILES_CUH

#include <cuda_runtime.h>

#include <climits>
#include <cstddef>
#include <cstdint>

#include "core/design/bins.h"

constexpr unsigned CONE_LANES = 0xffffffffu;
constexpr int CONE_CELLS = 2; // along x, per warp
constexpr int64_t CONE_MOST_ELEMS = int64_t{1} << 29;
constexpr unsigned CONE_QUEUE = 64, CONE_BATCH = 32;
constexpr int CONE_ROWS = 64, CONE_CHUNKS = 320;

constexpr int CONE_FIELDS = 2; // maximum number of fields summed at a time

struct cone_grid {
    const int32_t *start;
    const uint2 *row;                 // [row] hx_bin_row of each row; may be nullptr
    const double *value[CONE_FIELDS]; // by place
    double *sum[CONE_FIELDS];
    int n_cell[3];
    float reach;      // radius in units of a cell's edge
    unsigned nothing; // a chunk after the last place, where all values are 0
    double scale;     // factor on the sums
};

template <int M> struct cone_queue {
    double2 xy[CONE_QUEUE], zs[CONE_QUEUE];
    double value[M][CONE_QUEUE];
    // A chunk has at most 8 consecutive places, one per lane: 8 times the first place, plus the
    // number of places after it. Empty chunks follow the last one.
    unsigned chunk[CONE_CHUNKS + 8];
};

// Shared memory is addressed by an address that a lane keeps in a register; from a pointer to a
// warp's queue the compiler would recompute the address at each access.
__device__ __forceinline__ double cone_get(unsigned at)
{
    double a;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(a) : "r"(at) : "memory");
    return a;
}

__device__ __forceinline__ double2 cone_get_pair(unsigned at)
{
    double2 a;
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(a.x), "=d"(a.y) : "r"(at) : "memory");
    return a;
}

__device__ __forceinline__ unsigned cone_get_chunk(unsigned at)
{
    unsigned a;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at) : "memory");
    return a;
}

__device__ __forceinline__ void cone_put(unsigned at, double a)
{
    asm volatile("st.shared.f64 [%0], %1;" : : "r"(at), "d"(a) : "memory");
}

__device__ __forceinline__ void cone_put_pair(unsigned at, double a, double b)
{
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" : : "r"(at), "d"(a), "d"(b) : "memory");
}

// Writes an entry of a queue; `at` advances by 16 bytes per entry.
template <int M>
__device__ __forceinline__ void cone_push(unsigned queue, unsigned at, const double (&x)[3],
                                          double s2, const double (&value)[M])
{
    cone_put_pair(queue + at, x[0], x[1]);
    cone_put_pair(queue + offsetof(cone_queue<M>, zs) + at, x[2], s2);
#pragma unroll
    for (int f = 0; f < M; f++)
        cone_put(queue + offsetof(cone_queue<M>, value) + 8 * CONE_QUEUE * f + at / 2, value[f]);
}

__device__ __forceinline__ int cone_highest(int a)
{
    return __reduce_max_sync(CONE_LANES, a);
}

// Square root with a relative error of 2^-23 (PTX), for bounds with a margin and for weights in
// single precision.
__device__ __forceinline__ float cone_root(float a)
{
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(a));
    return root;
}

// Keeps a value in a register, by a shuffle that does not change it; otherwise the compiler would
// recompute it in each step.
template <class T> __device__ __forceinline__ T cone_keep(T a)
{
    return __shfl_sync(CONE_LANES, a, threadIdx.x & 31);
}

// D = A B + C in double precision, 8 N by 4 by 8. For N = 2 it is one operation from compute
// capability 9.0 on.
__device__ __forceinline__ void cone_multiply(double (&d)[2], const double (&a)[1], double b,
                                              const double (&c)[1], const double (&twin)[1])
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=d"(d[0]), "=d"(d[1])
        : "d"(a[0]), "d"(b), "d"(c[0]), "d"(twin[0]));
}

__device__ __forceinline__ void cone_multiply(double (&d)[4], const double (&a)[2], double b,
                                              const double (&c)[2], const double (&twin)[2])
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%7, %8, %9, %10};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(b), "d"(c[0]), "d"(twin[0]), "d"(c[1]), "d"(twin[1]));
#else
#pragma unroll
    for (int k = 0; k < 2; k++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
            : "=d"(d[2 * k]), "=d"(d[2 * k + 1])
            : "d"(a[k]), "d"(b), "d"(c[k]), "d"(twin[k]));
#endif
}

// The leading 24 bits of a 2^-128, for a = 0 or 2 <= a < 2^256.
__device__ __forceinline__ float cone_short(double a)
{
    const unsigned low = static_cast<unsigned>(__double2loint(a)),
                   high = static_cast<unsigned>(__double2hiint(a));
    return __uint_as_float(__funnelshift_l(low, high, 3));
}

// The double at an offset in bytes, which fits into 32 bits (CONE_MOST_ELEMS).
__device__ __forceinline__ double cone_load(const double *from, unsigned at)
{
    return __ldg(reinterpret_cast<const double *>(reinterpret_cast<const char *>(from) + at));
}

// The squared distance of a point from the segment along x from -edge to edge.
__device__ __forceinline__ double cone_beside(const double (&x)[3], double edge)
{
    // __dsub_rn, because `edge` is a product, which must not be fused
    const double d = __dsub_rn(fabs(x[0]), edge),
                 beyond = __hiloint2double(max(__double2hiint(d), 0), __double2loint(d));
    return fma(beyond, beyond, fma(x[1], x[1], x[2] * x[2]));
}

// Centroids in double precision, scaled so that the radius is RADIUS.
struct cone_double {
    static constexpr double RADIUS = 0x1p64;
    const double *x, *y, *z;
    const int32_t *member;
    double corner[3], size, inverse, factor; // inverse: 1 / size; factor: RADIUS / radius

    struct source {
        double x, y, z;
    };
    struct target {
        double x[3];
        int element;
    };
    struct origin {
        double x[3];
    };
    __device__ __forceinline__ target load_target(int p, const int (&)[3]) const
    {
        return {{x[p], y[p], z[p]}, member[p]};
    }
    __device__ __forceinline__ source load_source(unsigned at) const
    {
        return {cone_load(x, at), cone_load(y, at), cone_load(z, at)};
    }
    __device__ __forceinline__ void place(const source &s, const origin &o, double (&at)[3]) const
    {
        at[0] = fma(s.x, factor, o.x[0]);
        at[1] = fma(s.y, factor, o.x[1]);
        at[2] = fma(s.z, factor, o.x[2]);
    }
    template <int N>
    __device__ __forceinline__ void centre(const target (&t)[N], const int (&cell)[3], origin *o,
                                           double (&at)[N][3], float (&within)[3],
                                           float (&half)[3]) const
    {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const double begin = fma(static_cast<double>(cell[i]), size, corner[i]);
            float low = 4.0f, high = -4.0f;
#pragma unroll
            for (int b = 0; b < N; b++) {
                const float u = static_cast<float>((t[b].x[i] - begin) * inverse);
                low = fminf(low, u);
                high = fmaxf(high, u);
            }
            // Reduced as integers, which is valid because all values are positive: u is between 0
            // and 2, up to rounding.
            low = 4.0f - __int_as_float(cone_highest(__float_as_int(4.0f - low)));
            high = __int_as_float(cone_highest(__float_as_int(4.0f + high))) - 4.0f;
            within[i] = 0.5f * (low + high);
            half[i] = 0.5f * (high - low);
            o->x[i] = -fma(static_cast<double>(within[i]), size, begin) * factor;
#pragma unroll
            for (int b = 0; b < N; b++) at[b][i] = fma(t[b].x[i], factor, o->x[i]);
        }
    }
    __device__ __forceinline__ double length_of(float edges) const
    {
        return static_cast<double>(edges) * size * factor;
    }
    __device__ __forceinline__ double square_of(float edges) const
    {
        const double a = length_of(edges);
        return a * a;
    }
    __device__ __forceinline__ static double lift(double square)
    {
        return square;
    }
    // UNIT (1 - root), at least 0. The approximation `guess` has 20 correct bits, from the leading
    // bits of the square, so that u = square guess^2 differs from 1 by at most 2e-6. The root is
    // square guess times an approximation of 1 / sqrt(u), ((u - 1 - A)^2 + 4 A - A^2) / (4 A), with
    // an error of 1e-15, because A = 341 / 512 is not exactly 2 / 3; with this value the constants
    // are doubles with one nonzero word. If rounding leaves a square of 0 or below, the root is
    // below 2e-12 because the guess is at most 768; the limit is applied to the bits of the guess,
    // which also limits infinities and NaNs of either sign.
    static constexpr double A = 341.0 / 512.0, UNIT = 4.0 * A * 0x1p64;
    __device__ __forceinline__ double weight(double square) const
    {
        double y;
        asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
        const unsigned high = min(static_cast<unsigned>(__double2hiint(y)), 0x3c880000u);
        const double guess = __hiloint2double(static_cast<int>(high), 0);
        const double s = square * guess, v = fma(s, guess, -1.0 - A);
        const double w = fma(-s, fma(v, v, 4.0 * A - A * A), UNIT);
        return __hiloint2double(max(__double2hiint(w), 0), __double2loint(w));
    }
};

// Weights in single precision of the same squares: from the leading 24 bits of a square, a root
// accurate to 2^-23, subtracted from ONE and clamped to [0, 1], accurate to 2^-22. Its double,
// times 2^128, is assembled from its bits.
struct cone_single : cone_double {
    // The weight of an element for itself is exactly 1 from any centre, however far its square is
    // from 0, because ONE exceeds 1 by the largest possible root of that square; other weights are
    // scaled accordingly.
    static constexpr float ONE = 1.0f + 0x1p-23f;
    // Enlarged to compensate, on average, for the truncation of squares. Squares that are simple
    // fractions of the squared radius, as on regular meshes, then have the same leading bits from
    // any centre.
    static constexpr double RADIUS = 0x1.0000008p64 * ONE, UNIT = 0x1p128 * ONE;
    // Raises |t|^2 so that squares are positive despite rounding, because the sign of a square is
    // not tested and exponents of squares below 2 do not fit. |t| is at most 1.63 radii
    // (CONE_CELLS, takes_tiles).
    __device__ __forceinline__ static double lift(double square)
    {
        return fma(square, 0x1p-48, square + 0x1p28);
    }
    __device__ __forceinline__ double weight(double square) const
    {
        const unsigned w = __float_as_uint(__saturatef(ONE - cone_root(cone_short(square))));
        return __hiloint2double(static_cast<int>(__funnelshift_r(w, 2u, 3)),
                                static_cast<int>(w << 29));
    }
};

// N blocks of 8 targets; lane = 4 target + column.
template <class Law, int N, int M> struct cone_tile {
    // twin: a second copy of `square`, in the next register
    double a[N], square[N], twin[N], sum[M][N];
    unsigned point, value; // addresses that the lane reads for the first eight sources of a queue

    // Processes eight sources of the queue from an offset on, in units of 16 bytes per entry.
    __device__ __forceinline__ void consume(const Law &law, unsigned points, unsigned values)
    {
        const double b = cone_get(points);
        double2 v[M];
#pragma unroll
        for (int f = 0; f < M; f++) v[f] = cone_get_pair(values + 8 * CONE_QUEUE * f);
        double d[2 * N];
        cone_multiply(d, a, b, square, twin);
#pragma unroll
        for (int k = 0; k < 2 * N; k++) d[k] = law.weight(d[k]);
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int f = 0; f < M; f++)
                sum[f][k] = fma(d[2 * k + 1], v[f].y, fma(d[2 * k], v[f].x, sum[f][k]));
    }
};

struct cone_box {
    int first[3], last[3]; // cells that the ball touches, by layer
};

// A bound of hx_bin_row, from the lowest byte of a word.
__device__ __forceinline__ float cone_part(unsigned a)
{
    return static_cast<float>(a & 255u) * (1.0f / HX_CELL_PARTS);
}

// Distance from 0, along an axis, of a row of cells that begins at d.
__device__ __forceinline__ float cone_apart(float d, unsigned lower, unsigned upper)
{
    return fmaxf(0.0f, fmaxf(d + cone_part(lower), -d - cone_part(upper)));
}

// The places of a row of cells that the ball touches, as a range that may be empty.
__device__ __forceinline__ int2 cone_row(const cone_grid &grid, const cone_box &box,
                                         const int (&cell)[3], const float (&within)[3],
                                         float reach, float along, int index)
{
    const int n_j = box.last[1] - box.first[1] + 1;
    const int layer = static_cast<int>(
        // exact, because the numbers are small
        __fdividef(static_cast<float>(index) + 0.5f, static_cast<float>(n_j)));
    const int k = box.first[2] + layer, j = box.first[1] + index - layer * n_j;
    const int row = k * grid.n_cell[1] + j;
    constexpr unsigned WHOLE = HX_CELL_PARTS; // bytes: lower x, y, z, upper x, y, z
    const uint2 bounds = grid.row ? __ldg(grid.row + row) : make_uint2(WHOLE << 24, WHOLE * 0x101u);
    const float dy = static_cast<float>(j - cell[1]) - within[1],
                dz = static_cast<float>(k - cell[2]) - within[2];
    const float ay = cone_apart(dy, bounds.x >> 8, bounds.y),
                az = cone_apart(dz, bounds.x >> 16, bounds.y >> 8);
    const float left = fmaf(-az, az, fmaf(-ay, ay, reach * reach));
    if (!(left > 0.0f)) return make_int2(0, 0);
    const float x = along + cone_root(left);
    const int i0 = max(0, cell[0] + __float2int_ru(within[0] - x - cone_part(bounds.x >> 24))),
              i1 = min(grid.n_cell[0] - 1,
                       cell[0] + __float2int_rd(within[0] + x - cone_part(bounds.x)));
    if (i0 > i1) return make_int2(0, 0);
    const int32_t *start = grid.start + row * grid.n_cell[0];
    return make_int2(start[i0], start[i1 + 1]);
}

// Lists chunks of the rows from `base` on, two rows per lane: the chunks from number `skipped` on,
// at most CONE_CHUNKS. Returns the number of all chunks of these rows.
template <int M>
__device__ __forceinline__ int cone_list_chunks(const cone_grid &grid, const cone_box &box,
                                                const int (&cell)[3], const float (&within)[3],
                                                float reach, float along, int base, int n_row,
                                                int skipped, cone_queue<M> *q)
{
    const int lane = threadIdx.x & 31;
    int2 row[2];
    int n = 0;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int index = base + 32 * h + lane;
        row[h] = index < n_row ? cone_row(grid, box, cell, within, reach, along, index)
                               : make_int2(0, 0);
        n += (row[h].y - row[h].x + 7) >> 3;
    }
    int at = n; // end of the lane's chunks
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(CONE_LANES, at, step);
        if (lane >= step) at += before;
    }
    const int all = __shfl_sync(CONE_LANES, at, 31);
    at -= n + skipped;
#pragma unroll
    for (int h = 0; h < 2; h++)
        for (int p = row[h].x; p < row[h].y; p += 8, at++)
            if (static_cast<unsigned>(at) < CONE_CHUNKS)
                q->chunk[at] =
                    8u * static_cast<unsigned>(p) + static_cast<unsigned>(min(7, row[h].y - 1 - p));
    if (lane < 8) q->chunk[min(all - skipped, CONE_CHUNKS) + lane] = grid.nothing;
    __syncwarp();
    return all;
}

template <class Law, int N, int M>
__device__ __forceinline__ void cone_sum_tile(const cone_grid &grid, const Law &law,
                                              const int (&cell)[3], int begin, int end,
                                              cone_queue<M> *q)
{
    const int lane = threadIdx.x & 31, row = lane >> 2, column = lane & 3;
    cone_tile<Law, N, M> tile;
    typename Law::origin origin;
    float within[3], reach, along = 0.0f;
    double edge = 0.0; // half the length of the segment that sources must be close to
    int element[N], most;
    {
        typename Law::target target[N];
        double x[N][3];
        float half[3];
#pragma unroll
        for (int b = 0; b < N; b++) {
            target[b] = law.load_target(min(begin + 8 * b + row, end - 1), cell);
            element[b] = target[b].element;
        }
        law.template centre<N>(target, cell, &origin, x, within, half);
        along = fmaxf(0.0f, half[0] - fmaxf(half[1], half[2]));
        edge = law.length_of(along);
        asm volatile("" : "+d"(edge)); // otherwise the compiler recomputes it for each source
        int furthest = 0;
#pragma unroll
        for (int b = 0; b < N; b++) {
            const double t2 = fma(x[b][0], x[b][0], fma(x[b][1], x[b][1], x[b][2] * x[b][2]));
            furthest = max(furthest, __double2hiint(cone_beside(x[b], edge)));
            const double mine = column == 0 ? x[b][0] : column == 1 ? x[b][1] : x[b][2];
            tile.a[b] = column == 3 ? 1.0 : -2.0 * mine;
            tile.square[b] = Law::lift(t2);
            tile.twin[b] = cone_keep(tile.square[b]);
#pragma unroll
            for (int f = 0; f < M; f++) tile.sum[f][b] = 0.0;
        }
        furthest = cone_highest(furthest) + 1;
        reach = fmaf(cone_root(cone_short(__hiloint2double(furthest, 0))), grid.reach, grid.reach);
        reach = fmaf(reach, 1e-5f, reach + 1e-5f);
        most = __double2hiint(law.square_of(reach)) + 1;
    }
    cone_box box;
#pragma unroll
    for (int i = 1; i < 3; i++) {
        box.first[i] = max(0, cell[i] + __float2int_rd(within[i] - reach));
        box.last[i] = min(grid.n_cell[i] - 1, cell[i] + __float2int_rd(within[i] + reach));
    }
    const int n_row = (box.last[1] - box.first[1] + 1) * (box.last[2] - box.first[2] + 1);
    const unsigned group = lane >> 3, stream = cone_keep(lane & 7u),
                   below = cone_keep((1u << lane) - 1u);
    const unsigned queue = cone_keep(static_cast<unsigned>(__cvta_generic_to_shared(q)));
    tile.point = cone_keep(queue + (column < 2 ? 0 : offsetof(cone_queue<M>, zs)) + 16u * row +
                           8u * (column & 1));
    tile.value = cone_keep(queue + offsetof(cone_queue<M>, value) + 16u * column);
    unsigned tail = 0; // of the queue, as an offset of 16 bytes per entry
    for (int base = 0, skipped = 0; base < n_row;) {
        const int all =
            cone_list_chunks(grid, box, cell, within, reach, along, base, n_row, skipped, q);
        unsigned chunk = queue + offsetof(cone_queue<M>, chunk) + 4u * group;
        typename Law::source next;
        double next_value[M];
        bool next_in;
        unsigned c = cone_get_chunk(chunk); // chunks are read two steps ahead, and sources one step
        // lanes after the last place read what follows it; the arrays are padded
        const auto fetch = [&]() {
            const unsigned last = c & 7u, from = (c & ~7u) + 8u * stream;
            next_in = stream <= last;
            next = law.load_source(from);
#pragma unroll
            for (int f = 0; f < M; f++) next_value[f] = cone_load(grid.value[f], from);
            chunk += 16;
            c = cone_get_chunk(chunk);
        };
        fetch();
        for (int step = (min(all - skipped, CONE_CHUNKS) + 3) / 4; step > 0; step--) {
            double x[3];
            law.place(next, origin, x);
            const double yz = fma(x[1], x[1], x[2] * x[2]), s2 = fma(x[0], x[0], yz);
            const bool near = next_in && __double2hiint(cone_beside(x, edge)) <= most;
            const unsigned some = __ballot_sync(CONE_LANES, near);
            if (near) {
                const unsigned at = (tail + 16u * __popc(some & below)) & (16u * CONE_QUEUE - 1u);
                cone_push<M>(queue, at, x, s2, next_value);
            }
            fetch();
            const unsigned before = tail;
            tail += 16u * __popc(some);
            __syncwarp();
            if ((before ^ tail) & (16u * CONE_BATCH)) {
                const unsigned from = before & (16u * CONE_BATCH), points = tile.point + from,
                               values = tile.value + from / 2;
#pragma unroll
                for (unsigned g = 0; g < CONE_BATCH; g += 8)
                    tile.consume(law, points + 16u * g, values + 8u * g);
                __syncwarp();
            }
        }
        __syncwarp();
        skipped += CONE_CHUNKS;
        if (skipped >= all) {
            skipped = 0;
            base += CONE_ROWS;
        }
    }
    if (lane < 8) { // fill the last group of eight with sources that are out of reach
        const unsigned at = (tail + 16u * lane) & (16u * CONE_QUEUE - 1u);
        const double nowhere[3] = {}, nothing[M] = {};
        cone_push<M>(queue, at, nowhere, 0x1p150, nothing);
    }
    __syncwarp();
    for (unsigned at = tail & (16u * CONE_BATCH), left = tail & (16u * CONE_BATCH - 1u); left > 0;
         at += 128, left -= min(left, 128u))
        tile.consume(law, tile.point + at, tile.value + at / 2);
    __syncwarp();
#pragma unroll
    for (int b = 0; b < N; b++)
#pragma unroll
        for (int f = 0; f < M; f++) {
            double sum = tile.sum[f][b];
            sum += __shfl_xor_sync(CONE_LANES, sum, 1);
            sum += __shfl_xor_sync(CONE_LANES, sum, 2);
            if (column == 0 && begin + 8 * b + row < end)
                grid.sum[f][element[b]] = sum * grid.scale;
        }
}

template <class Law, int M, int WARPS, int MIN>
__global__ void __launch_bounds__(32 * WARPS, MIN)
    cone_tile_kernel(cone_grid grid, Law law, unsigned n_tile)
{
    __shared__ cone_queue<M> queue[WARPS];
    const unsigned c = blockIdx.x * WARPS + threadIdx.x / 32;
    if (c >= n_tile) return;
    cone_queue<M> *q = queue + threadIdx.x / 32;
    const unsigned n_x = static_cast<unsigned>(grid.n_cell[0]),
                   along = (n_x + CONE_CELLS - 1) / CONE_CELLS, layer = c / along,
                   n_y = static_cast<unsigned>(grid.n_cell[1]);
    const int cell[3] = {static_cast<int>(CONE_CELLS * (c % along)), static_cast<int>(layer % n_y),
                         static_cast<int>(layer / n_y)};
    const int32_t *const start = grid.start + static_cast<size_t>(layer) * n_x + cell[0];
    const int end = start[min(CONE_CELLS, grid.n_cell[0] - cell[0])];
    int p = start[0];
    for (; p < end; p += 16) {
        if (end - p > 8)
            cone_sum_tile<Law, 2, M>(grid, law, cell, p, min(end, p + 16), q);
        else
            cone_sum_tile<Law, 1, M>(grid, law, cell, p, end, q);
    }
}

#endif
