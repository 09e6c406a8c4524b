// The cone filter's sums by tiles: a warp takes two cells, up to 16 targets at a time. It collects
// the sources within the radius and the furthest target's distance of a line between the targets,
// in a queue of shared memory, and multiplies targets by sources, 8 by 8, on the tensor cores:
//
//     |s - t|^2 = (-2 t, 1) . (s, |s|^2) + |t|^2
#ifndef HX_CONE_TILES_CUH
#define HX_CONE_TILES_CUH

#include <cuda_runtime.h>

#include <climits>
#include <cstdint>

constexpr unsigned CONE_LANES = 0xffffffffu;
constexpr int CONE_CELLS = 2; // along x, of a warp
constexpr int64_t CONE_MOST_ELEMS = int64_t{1} << 29;
constexpr int CONE_QUEUE = 64, CONE_BATCH = 32, CONE_ROWS = 64;

constexpr int CONE_FIELDS = 2; // summed at a time, at most

struct cone_grid {
    const int32_t *start;
    const double *value[CONE_FIELDS]; // by place
    double *sum[CONE_FIELDS];
    int n_cell[3];
    float reach;  // the radius in edges of a cell
    double scale; // of the sums
};

template <int M> struct cone_queue {
    double2 xy[CONE_QUEUE], zs[CONE_QUEUE];
    double value[M][CONE_QUEUE];
    int2 row[CONE_ROWS + 4]; // and what each group finds after its last: nothing
};

__device__ __forceinline__ int cone_highest(int a)
{
    return __reduce_max_sync(CONE_LANES, a);
}

// D = A B + C of doubles, 8 by 4 by 8.
__device__ __forceinline__ void cone_multiply(double &d0, double &d1, double a, double b, double c)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=d"(d0), "=d"(d1)
        : "d"(a), "d"(b), "d"(c));
}

// The leading 24 bits of a 2^-128 for a = 0 or 2 <= a < 2^256.
__device__ __forceinline__ float cone_short(double a)
{
    const unsigned low = static_cast<unsigned>(__double2loint(a)),
                   high = static_cast<unsigned>(__double2hiint(a));
    return __uint_as_float(__funnelshift_l(low, high, 3));
}

// The double at a place, by a 32-bit offset of bytes from where the array begins (CONE_MOST_ELEMS).
__device__ __forceinline__ double cone_load(const double *from, unsigned place)
{
    return __ldg(
        reinterpret_cast<const double *>(reinterpret_cast<const char *>(from) + 8u * place));
}

// The square of a point's distance from the line along x between -edge and edge.
__device__ __forceinline__ double cone_beside(const double (&x)[3], double edge)
{
    const double d = fabs(x[0]) - edge,
                 beyond = __hiloint2double(max(__double2hiint(d), 0), __double2loint(d));
    return fma(beyond, beyond, fma(x[1], x[1], x[2] * x[2]));
}

// Centroids in double, in units of the radius times 2^64.
struct cone_double {
    const double *x, *y, *z;
    const int32_t *member;
    double corner[3], size, factor; // factor: 2^64 / radius

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
            const double begin = corner[i] + cell[i] * size;
            float low = 4.0f, high = -4.0f;
#pragma unroll
            for (int b = 0; b < N; b++) {
                const float u = static_cast<float>((t[b].x[i] - begin) / size);
                low = fminf(low, u);
                high = fmaxf(high, u);
            }
            for (int lane = 16; lane > 0; lane /= 2) {
                low = fminf(low, __shfl_xor_sync(CONE_LANES, low, lane));
                high = fmaxf(high, __shfl_xor_sync(CONE_LANES, high, lane));
            }
            within[i] = 0.5f * (low + high);
            half[i] = 0.5f * (high - low);
            o->x[i] = -(begin + static_cast<double>(within[i]) * size) * factor;
#pragma unroll
            for (int b = 0; b < N; b++) at[b][i] = fma(t[b].x[i], factor, o->x[i]);
        }
    }
    __device__ __forceinline__ float edges(float square) const
    {
        return sqrtf(square) * static_cast<float>(0x1p64 / (factor * size));
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
    // 2^65 (1 - root), not below 0, the root by one step from a guess in single precision: its
    // relative error is 1.5 times the square of the guess's, 2e-13. Squares that rounding leaves of
    // 0 end below 2e-12.
    __device__ __forceinline__ double weight(double square) const
    {
        float y;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(cone_short(square)));
        const unsigned bits = __float_as_uint(fminf(y, 1e3f));
        const double guess = __hiloint2double(static_cast<int>((bits >> 3) + ((896 - 64) << 20)),
                                              static_cast<int>(bits << 29)); // y 2^-64
        const double s = square * guess;
        const double w = fma(s, fma(s, guess, -3.0), 0x1p65);
        return __hiloint2double(max(__double2hiint(w), 0), __double2loint(w));
    }
};

// N blocks of 8 targets; lane = 4 target + column.
template <class Law, int N, int M> struct cone_tile {
    double a[N], square[N], sum[M][N];

    __device__ __forceinline__ void consume(const cone_queue<M> &q, const Law &law, int at)
    {
        const int lane = threadIdx.x & 31, row = lane >> 2, column = lane & 3;
        const double *from = reinterpret_cast<const double *>(column < 2 ? q.xy : q.zs);
        const double b = from[2 * (at + row) + (column & 1)];
        double2 v[M];
#pragma unroll
        for (int f = 0; f < M; f++)
            v[f] = *reinterpret_cast<const double2 *>(q.value[f] + at + 2 * column);
#pragma unroll
        for (int k = 0; k < N; k++) {
            double d0, d1;
            cone_multiply(d0, d1, a[k], b, square[k]);
            d0 = law.weight(d0);
            d1 = law.weight(d1);
#pragma unroll
            for (int f = 0; f < M; f++) sum[f][k] = fma(d1, v[f].y, fma(d0, v[f].x, sum[f][k]));
        }
    }
};

// The rows of cells from `base` on that the ball touches, as ranges of places; their number.
struct cone_box {
    int first[3], last[3]; // cells that the ball touches, by layer
};

template <int M>
__device__ __forceinline__ int cone_list_rows(const cone_grid &grid, const cone_box &box,
                                              const int (&cell)[3], const float (&within)[3],
                                              float reach, float along, int base, int n_row,
                                              cone_queue<M> *q)
{
    const int lane = threadIdx.x & 31, n_j = box.last[1] - box.first[1] + 1;
    int n = 0;
#pragma unroll
    for (int h = 0; h < CONE_ROWS; h += 32) {
        const int index = base + h + lane;
        int begin = 0, end = 0;
        if (index < n_row) {
            const int k = box.first[2] + index / n_j, j = box.first[1] + index % n_j;
            const float dy = static_cast<float>(j - cell[1]) - within[1],
                        dz = static_cast<float>(k - cell[2]) - within[2];
            const float ay = fmaxf(0.0f, fmaxf(dy, -1.0f - dy)),
                        az = fmaxf(0.0f, fmaxf(dz, -1.0f - dz));
            const float left = reach * reach - ay * ay - az * az;
            if (left > 0.0f) {
                const float x = along + sqrtf(left);
                const int i0 = max(0, cell[0] + __float2int_rd(within[0] - x)),
                          i1 = min(grid.n_cell[0] - 1, cell[0] + __float2int_rd(within[0] + x));
                const int32_t *start = grid.start + (k * grid.n_cell[1] + j) * grid.n_cell[0];
                begin = start[i0];
                end = start[i1 + 1];
            }
        }
        const unsigned some = __ballot_sync(CONE_LANES, begin < end);
        if (begin < end) q->row[n + __popc(some & ((1u << lane) - 1))] = make_int2(begin, end);
        n += __popc(some);
    }
    if (lane < 4) q->row[n + lane] = make_int2(0, 0);
    __syncwarp();
    return n;
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
    double edge = 0.0; // half the length of the line that sources are near to
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
        asm volatile("" : "+d"(edge)); // or it is made anew for each source
        int furthest = 0;
#pragma unroll
        for (int b = 0; b < N; b++) {
            const double t2 = fma(x[b][0], x[b][0], fma(x[b][1], x[b][1], x[b][2] * x[b][2]));
            furthest = max(furthest, __double2hiint(cone_beside(x[b], edge)));
            const double mine = column == 0 ? x[b][0] : column == 1 ? x[b][1] : x[b][2];
            tile.a[b] = column == 3 ? 1.0 : -2.0 * mine;
            tile.square[b] = t2;
#pragma unroll
            for (int f = 0; f < M; f++) tile.sum[f][b] = 0.0;
        }
        furthest = cone_highest(furthest) + 1;
        reach = grid.reach + law.edges(cone_short(__hiloint2double(furthest, 0)));
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
    const int group = lane >> 3, stream = lane & 7;
    int head = 0, tail = 0;
    for (int base = 0; base < n_row; base += CONE_ROWS) {
        const int n = cone_list_rows(grid, box, cell, within, reach, along, base, n_row, q);
        int r = min(group, n), m = q->row[r].x + stream, last = q->row[r].y;
        typename Law::source next = {};
        double next_value[M] = {};
        bool next_in = false;
        const auto fetch = [&]() {
            next_in = m < last;
            if (next_in) {
                next = law.load_source(static_cast<unsigned>(m));
#pragma unroll
                for (int f = 0; f < M; f++)
                    next_value[f] = cone_load(grid.value[f], static_cast<unsigned>(m));
            }
            m += 8;
            const bool ends = m - stream >= last;
            r = ends ? min(r + 4, n) : r;
            const int2 row = q->row[r];
            m = ends ? row.x + stream : m;
            last = row.y;
        };
        fetch();
        while (__any_sync(CONE_LANES, next_in)) {
            double x[3], value[M];
#pragma unroll
            for (int f = 0; f < M; f++) value[f] = next_value[f];
            const bool in = next_in;
            law.place(next, origin, x);
            fetch();
            const double s2 = fma(x[0], x[0], fma(x[1], x[1], x[2] * x[2]));
            const bool near = in && __double2hiint(cone_beside(x, edge)) <= most;
            const unsigned some = __ballot_sync(CONE_LANES, near);
            if (near) {
                const int at = (tail + __popc(some & ((1u << lane) - 1))) & (CONE_QUEUE - 1);
                q->xy[at] = make_double2(x[0], x[1]);
                q->zs[at] = make_double2(x[2], s2);
#pragma unroll
                for (int f = 0; f < M; f++) q->value[f][at] = value[f];
            }
            tail += __popc(some);
            __syncwarp();
            if (tail - head >= CONE_BATCH) {
#pragma unroll
                for (int g = 0; g < CONE_BATCH; g += 8)
                    tile.consume(*q, law, (head & (CONE_QUEUE - 1)) + g);
                head += CONE_BATCH;
                __syncwarp();
            }
        }
        __syncwarp();
    }
    if (lane < 8) { // fill up the last eight with what is out of reach
        const int at = (tail + lane) & (CONE_QUEUE - 1);
        q->xy[at] = make_double2(0.0, 0.0);
        q->zs[at] = make_double2(0.0, 0x1p150);
#pragma unroll
        for (int f = 0; f < M; f++) q->value[f][at] = 0.0;
    }
    __syncwarp();
    for (; head < tail; head += 8) tile.consume(*q, law, head & (CONE_QUEUE - 1));
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
