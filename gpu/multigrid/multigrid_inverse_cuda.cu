// The inverse of the matrix of the coarsest grid, which multigrid solves directly.
//
// A, scaled to unit diagonal and with a small fraction of it added
// (core/linalg/skyline.h explains why), is swept block by block. With the pivots K of a block,
// G = A_KK^-1 and W = A_.K G,
//
//     A_ij -= W_i A_jK',  A_iK = W_i,  A_KK = -G    (i, j not in K)
//
// leaves -A^-1 when all blocks are done (Goodnight, Am. Stat. 33, 1979). Double precision, lower
// triangle in tiles, 1.5 n^3 multiplications on the tensor cores. An invalid pivot
// (below a third of the added fraction) is left out: its row and column become 0, and a flag is
// set. All sums have a fixed order, so the result is bitwise reproducible.
//
// One launch per block of pivots: a thread block processes up to two tiles of a row, computes their
// W for itself, and stores what will be A_.K of the next block separately. The first thread block
// processes the tile of the next pivots and inverts it while the others work.
#include <cuda_pipeline.h>

#include "core/device/timeline.h"
#include "multigrid_cuda.cuh"

namespace
{

constexpr int TILE = HX_MG_TILE, SIDE = 8, PARTS = TILE / SIDE; // parts: 8 x 8 sub-blocks of a tile
constexpr int WARPS_TILE = 4, ROW_PARTS = PARTS / WARPS_TILE;   // a warp has two rows of parts
constexpr int THREADS = 32 * WARPS_TILE, STRIP = 2;             // STRIP: tiles of a thread block
constexpr unsigned LANES = 0xffffffffu;
constexpr double LEAST_PIVOT = 1.0 / 3.0; // relative to the added fraction

// The arrays are in the caller's memory.
struct sweep {
    int64_t n, pitch; // pitch: n rounded up to whole tiles
    double *a;        // [pitch][pitch]
    double *column;   // [2][pitch][TILE] A_.K before the sweep, for this block and for the next
    double *g;        // [2][TILE][TILE] for this block and for the next
    double *scale;    // [pitch], 0 for an empty row
    int *refused;     // 1: a row that is not empty had an invalid pivot
    double added, least_pivot;
};

sweep sweep_of(int64_t n, double added, double *d_work)
{
    sweep s = {};
    s.n = n;
    s.pitch = hx_mg_pitch(n);
    s.a = d_work;
    s.column = s.a + s.pitch * s.pitch;
    s.g = s.column + 2 * s.pitch * TILE;
    s.scale = s.g + 2 * TILE * TILE;
    s.refused = reinterpret_cast<int *>(s.scale + s.pitch);
    s.added = added;
    s.least_pivot = LEAST_PIVOT * added;
    return s;
}

template <int DOF>
__device__ __forceinline__ double entry_of(const hx_mg_level &level, int64_t a, int o, int r, int c)
{
    return static_cast<double>(level.d_matrix[((DOF * o + c) * level.n_node + a) * DOF + r]);
}

template <int DOF> __global__ void scale_kernel(hx_mg_level level, sweep s)
{
    const int64_t i = hx_grid_thread();
    if (i >= s.pitch) return;
    double d = 0.0;
    if (i < s.n) {
        const int r = static_cast<int>(i % DOF);
        d = entry_of<DOF>(level, i / DOF, HX_COARSE_CENTRE, r, r);
    }
    s.scale[i] = d > 0.0 ? 1.0 / sqrt(d) : 0.0;
    if (i == 0) *s.refused = 0;
}

// One thread per entry of the matrix; s.a must be 0.
template <int DOF> __global__ void fill_kernel(hx_mg_level level, sweep s)
{
    constexpr int BLOCK = DOF * DOF;
    const int64_t k = hx_grid_thread();
    const int64_t row = k % s.n, a = row / DOF;
    if (k >= HX_COARSE_OFFSETS * BLOCK * level.n_node) return;
    const int column = static_cast<int>(k / s.n), o = column / DOF, c = column % DOF;
    const int64_t b = level.d_neighbour[o * level.n_node + a], j = DOF * b + c;
    if ((b == a && o != HX_COARSE_CENTRE) || j > row) return;
    const double value =
        entry_of<DOF>(level, a, o, static_cast<int>(row % DOF), c) * (s.scale[row] * s.scale[j]);
    s.a[row * s.pitch + j] = j == row ? value * (1.0 + s.added) : value;
}

// The 8 x 8 parts are distributed over a warp as in the results of the tensor cores: lane 4 i + j
// has the entries (i, 2 j) and (i, 2 j + 1). They can therefore be operands of another product, as
// they are from the left and transposed from the right. Which columns a step of the product uses is
// arbitrary; here they are the even and the odd ones.
struct rows {
    double2 v[PARTS][ROW_PARTS]; // 16 rows of a tile
};

// d += a b' for two parts a, one below the other.
__device__ __forceinline__ void multiply_part(double2 (&d)[ROW_PARTS],
                                              const double2 (&a)[ROW_PARTS], const double2 &b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0].x), "+d"(d[0].y), "+d"(d[1].x), "+d"(d[1].y)
        : "d"(a[0].x), "d"(a[1].x), "d"(a[0].y), "d"(a[1].y), "d"(b.x), "d"(b.y));
#else
    for (int h = 0; h < ROW_PARTS; h++) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(d[h].x), "+d"(d[h].y)
            : "d"(a[h].x), "d"(b.x));
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(d[h].x), "+d"(d[h].y)
            : "d"(a[h].y), "d"(b.y));
    }
#endif
}

// d += a b' for a column of parts a, with b in shared memory by parts:
// [row of parts][column of parts][lane], from the first row's parts on.
__device__ __forceinline__ void multiply_column(rows &d, const double2 (&a)[ROW_PARTS],
                                                const double2 *b)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < PARTS; j++) multiply_part(d.v[j], a, b[j * PARTS * 32 + lane]);
}

__device__ __forceinline__ int row_of(int h)
{
    return (static_cast<int>(threadIdx.x) / 32 * ROW_PARTS + h) * SIDE +
           static_cast<int>(threadIdx.x) % 32 / 4;
}

__device__ __forceinline__ int column_of(int j)
{
    return j * SIDE + static_cast<int>(threadIdx.x) % 4 * 2;
}

__device__ __forceinline__ void load_rows(rows &r, const double *from, int64_t pitch)
{
#pragma unroll
    for (int h = 0; h < ROW_PARTS; h++)
#pragma unroll
        for (int j = 0; j < PARTS; j++)
            r.v[j][h] = *reinterpret_cast<const double2 *>(from + row_of(h) * pitch + column_of(j));
}

__device__ __forceinline__ void store_rows(const rows &r, double *to, int64_t pitch)
{
#pragma unroll
    for (int h = 0; h < ROW_PARTS; h++)
#pragma unroll
        for (int j = 0; j < PARTS; j++)
            *reinterpret_cast<double2 *>(to + row_of(h) * pitch + column_of(j)) = r.v[j][h];
}

// Stores the transpose, to[column][row].
__device__ __forceinline__ void store_turned(const rows &r, double *to, int64_t pitch)
{
#pragma unroll
    for (int h = 0; h < ROW_PARTS; h++)
#pragma unroll
        for (int j = 0; j < PARTS; j++) {
            to[column_of(j) * pitch + row_of(h)] = r.v[j][h].x;
            to[(column_of(j) + 1) * pitch + row_of(h)] = r.v[j][h].y;
        }
}

// Starts copying a tile with contiguous rows to shared memory, in parts. All threads call it.
__device__ __forceinline__ void load_parts(double2 *to, const double *from)
{
#pragma unroll 4
    for (int k = 0; k < TILE * TILE / 2; k += THREADS) {
        const int i = k + static_cast<int>(threadIdx.x), part = i / 32, lane = i % 32;
        __pipeline_memcpy_async(to + i,
                                from + (part / PARTS * SIDE + lane / 4) * TILE +
                                    part % PARTS * SIDE + lane % 4 * 2,
                                sizeof(double2));
    }
    __pipeline_commit();
}

__device__ __forceinline__ void turn_sign(rows &r)
{
#pragma unroll
    for (int h = 0; h < ROW_PARTS; h++)
#pragma unroll
        for (int j = 0; j < PARTS; j++) r.v[j][h] = make_double2(-r.v[j][h].x, -r.v[j][h].y);
}

__device__ __forceinline__ double of_lane(double v, int lane)
{
    return __shfl_sync(LANES, v, lane);
}

// L^-1 of a part A = LL' of pivots, by elimination together with the identity. Rows and columns of
// invalid pivots are set to 0. Pivots of empty rows are exactly 0; other invalid pivots set
// `refused`.
__device__ __forceinline__ double2 invert_factor(double2 a, double least_pivot, bool &refused)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, i = lane / 4, j = lane % 4 * 2;
    double2 m = make_double2(i == j ? 1.0 : 0.0, i == j + 1 ? 1.0 : 0.0);
    double own = 0.0; // pivot of the lane's row
#pragma unroll
    for (int p = 0; p < SIDE; p++) {
        const double here = p % 2 ? a.y : a.x;
        const double pivot = of_lane(here, 4 * p + p / 2), r = of_lane(here, 4 * i + p / 2),
                     ax = of_lane(a.x, 4 * p + lane % 4), ay = of_lane(a.y, 4 * p + lane % 4),
                     mx = of_lane(m.x, 4 * p + lane % 4), my = of_lane(m.y, 4 * p + lane % 4);
        const bool is_one = pivot > least_pivot;
        refused = refused || (pivot <= least_pivot && pivot != 0.0); // false for NaN
        const double f = is_one && i > p ? -r * (1.0 / pivot) : 0.0;
        if (i == p && is_one) own = pivot;
        a.x = fma(f, ax, a.x);
        a.y = fma(f, ay, a.y);
        m.x = fma(f, mx, m.x);
        m.y = fma(f, my, m.y);
    }
    const double scale = own > 0.0 ? 1.0 / sqrt(own) : 0.0;
    return make_double2(scale * m.x, scale * m.y);
}

__device__ __forceinline__ double2 turn_part(double2 a)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, i = lane / 4,
              from = 8 * (lane % 4) + i / 2;
    const double x0 = of_lane(a.x, from), y0 = of_lane(a.y, from), x1 = of_lane(a.x, from + 4),
                 y1 = of_lane(a.y, from + 4);
    return i % 2 ? make_double2(y0, y1) : make_double2(x0, x1);
}

// Inverts a tile of pivots, of which only the lower triangle is used, by sweeping part by part with
// T = A_.K L^-T and A_ij -= T_i T_j', which is as accurate as sweeping pivot by pivot, however
// small some pivots are. shared: TILE * TILE doubles that no thread uses any more.
__device__ void invert_tile(rows &r, double2 *shared, const sweep &s, double *g)
{
    bool refused = false;
    double *const whole = reinterpret_cast<double *>(shared);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    store_rows(r, whole, TILE);
    __syncthreads();
#pragma unroll
    for (int h = 0; h < ROW_PARTS; h++)
#pragma unroll
        for (int j = 0; j < PARTS; j++) {
            const int row = row_of(h), column = column_of(j);
            if (column > row) r.v[j][h].x = whole[column * TILE + row];
            if (column + 1 > row) r.v[j][h].y = whole[(column + 1) * TILE + row];
        }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < PARTS; k++) {
        double2 *const panel = shared + k % 2 * PARTS * 32;
#pragma unroll
        for (int h = 0; h < ROW_PARTS; h++) panel[(warp * ROW_PARTS + h) * 32 + lane] = r.v[k][h];
        __syncthreads();
        const double2 factor = invert_factor(panel[k * 32 + lane], s.least_pivot, refused),
                      turned = turn_part(factor);
        double2 left[ROW_PARTS] = {}, w[ROW_PARTS] = {};
        multiply_part(left, r.v[k], factor);
        multiply_part(w, left, turned);
        const double2 both[ROW_PARTS] = {turned, turned};
        double2 inverse[ROW_PARTS] = {};
        multiply_part(inverse, both, turned);
#pragma unroll
        for (int h = 0; h < ROW_PARTS; h++) {
            left[h] = make_double2(-left[h].x, -left[h].y);
            if (warp * ROW_PARTS + h != k) continue;
            left[h] = turned; // the rows of the pivots themselves: L^-T T_j'
            w[h] = make_double2(-inverse[h].x, -inverse[h].y);
#pragma unroll
            for (int j = 0; j < PARTS; j++) r.v[j][h] = make_double2(0.0, 0.0);
        }
#pragma unroll
        for (int j = 0; j < PARTS; j += ROW_PARTS) {
            const double2 below[ROW_PARTS] = {panel[j * 32 + lane], panel[(j + 1) * 32 + lane]};
            double2 right[ROW_PARTS] = {};
            multiply_part(right, below, factor);
#pragma unroll
            for (int h = 0; h < ROW_PARTS; h++)
                if (j + h != k) multiply_part(r.v[j + h], left, right[h]);
        }
#pragma unroll
        for (int h = 0; h < ROW_PARTS; h++) r.v[k][h] = w[h];
    }
    if (refused && threadIdx.x == 0) *s.refused = 1;
    turn_sign(r);
    store_rows(r, g, TILE);
}

// Inverts the first tile and stores A_.K of its pivots: one block per tile of rows.
__global__ void __launch_bounds__(THREADS) first_kernel(sweep s)
{
    __shared__ double2 shared[TILE * TILE / 2];
    const int64_t tile = static_cast<int64_t>(blockIdx.x);
    rows r;
    load_rows(r, s.a + tile * TILE * s.pitch, s.pitch);
    if (tile > 0)
        store_rows(r, s.column + tile * TILE * TILE, TILE);
    else
        invert_tile(r, shared, s, s.g);
}

// w = -A_iK G, with G in shared memory.
__device__ __forceinline__ void find_factor(rows &w, const double *left, const double2 *g)
{
#pragma unroll 2
    for (int m = 0; m < PARTS; m++) {
        double2 a[ROW_PARTS];
#pragma unroll
        for (int h = 0; h < ROW_PARTS; h++)
            a[h] = *reinterpret_cast<const double2 *>(left + row_of(h) * TILE + column_of(m));
        multiply_column(w, a, g + m * 32);
    }
    turn_sign(w);
}

// r += w A_jK', where A_jK is being copied to shared memory.
__device__ __forceinline__ void add_product(rows &r, const rows &w, const double2 *right)
{
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int m = 0; m < PARTS; m++) multiply_column(r, w.v[m], right + m * 32);
    __syncthreads();
}

// Sweeps the pivots of tile k. Block (0, 0) processes the tile of the next pivots and its inverse;
// block (x, y + 1) processes the tiles from x STRIP on in row y.
__global__ void __launch_bounds__(THREADS, 2) update_kernel(sweep s, int k, int n_tile)
{
    extern __shared__ double2 shared[]; // [2][TILE * TILE / 2]: G, and A_jK of a tile j
    double2 *const right = shared + TILE * TILE / 2;
    const bool is_next = blockIdx.y == 0;
    const int row = is_next ? k + 1 : static_cast<int>(blockIdx.y) - 1,
              begin = is_next ? row : static_cast<int>(blockIdx.x) * STRIP;
    const double *const g = s.g + k % 2 * TILE * TILE;
    const double *const column = s.column + k % 2 * s.pitch * TILE;
    double *const next = s.column + (k + 1) % 2 * s.pitch * TILE;
    rows w = {}, r;
    hx_let_next_begin();
    if (row >= n_tile || begin > row || (is_next && blockIdx.x > 0)) return;
    hx_wait_for_last();
    if (row == k) {
        load_rows(w, g, TILE);
    } else {
        load_parts(shared, g);
        if (begin != k) load_parts(right, column + static_cast<int64_t>(begin) * TILE * TILE);
        __pipeline_wait_prior(begin != k ? 1 : 0);
        __syncthreads();
        find_factor(w, column + static_cast<int64_t>(row) * TILE * TILE, shared);
    }
    if (is_next) {
        load_rows(r, s.a + row * TILE * (s.pitch + 1), s.pitch);
        add_product(r, w, right);
        store_rows(r, s.a + row * TILE * (s.pitch + 1), s.pitch);
        invert_tile(r, shared, s, s.g + (k + 1) % 2 * TILE * TILE);
        return;
    }
    for (int j = begin; j < begin + STRIP && j <= row; j++) {
        double *const to = s.a + (row * s.pitch + j) * TILE;
        if (row == k + 1 && j == row) continue; // processed by the first block
        if (j != k && (row == k || j > begin))
            load_parts(right, column + static_cast<int64_t>(j) * TILE * TILE);
        if (j == k) { // W, or -G
            r = w;
            turn_sign(r);
        } else {
            r = {};
            if (row != k) load_rows(r, to, s.pitch);
            add_product(r, w, right);
        }
        store_rows(r, to, s.pitch);
        if (j == k + 1)
            store_rows(r, next + static_cast<int64_t>(row) * TILE * TILE, TILE);
        else if (row == k + 1)
            store_turned(r, next + static_cast<int64_t>(j) * TILE * TILE, TILE);
    }
}

// One thread per entry of the inverse.
__global__ void finish_kernel(sweep s, float *__restrict__ inverse)
{
    const int64_t k = hx_grid_thread();
    const int64_t i = k / s.pitch, j = k % s.pitch;
    if (i >= s.pitch) return;
    const double v = i >= j ? s.a[i * s.pitch + j] : s.a[j * s.pitch + i];
    inverse[i * s.pitch + j] = static_cast<float>(-v * (s.scale[i] * s.scale[j]));
}

// Makes the concurrent stream continue from the current end of the queue. It has a lower priority,
// because the queue waits first for what it does in the meantime.
int fork_inverse(hx_cuda *impl)
{
    if (!impl->concurrent)
        HX_TRY_CUDA(cudaStreamCreateWithFlags(&impl->concurrent, cudaStreamNonBlocking));
    for (cudaEvent_t &mark : impl->fork_mark)
        if (!mark) HX_TRY_CUDA(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
    HX_TRY_CUDA(cudaEventRecord(impl->fork_mark[0], impl->stream));
    return HX_CUDA(cudaStreamWaitEvent(impl->concurrent, impl->fork_mark[0], 0));
}

int mark_concurrent(const hx_device *dev, int is_end)
{
    return dev->timeline
               ? hx_timeline_mark(dev->timeline, HX_QUEUE_CONCURRENT, HX_SPAN_FACTORS, -1, is_end)
               : HX_OK;
}

template <int DOF>
int invert(hx_device *dev, const hx_mg_level *level, double added, hx_mg_direct *direct)
{
    const int64_t n = DOF * level->n_node;
    const sweep s = sweep_of(n, added, direct->d_work);
    const int n_tile = static_cast<int>(s.pitch / TILE);
    const dim3 grid(static_cast<unsigned>((n_tile + STRIP - 1) / STRIP),
                    static_cast<unsigned>(n_tile + 1));
    constexpr size_t n_shared = 2 * TILE * TILE * sizeof(double);
    hx_cuda *impl = hx_cuda_of(dev);
    HX_TRY_CUDA(cudaFuncSetAttribute(update_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(n_shared)));
    HX_TRY(fork_inverse(impl));
    HX_TRY(mark_concurrent(dev, 0));
    cudaStream_t stream = impl->concurrent;
    HX_TRY_CUDA(
        cudaMemsetAsync(s.a, 0, static_cast<size_t>(s.pitch * s.pitch) * sizeof(double), stream));
    scale_kernel<DOF><<<hx_blocks(s.pitch, HX_BLOCK), HX_BLOCK, 0, stream>>>(*level, s);
    HX_TRY_LAUNCH("multigrid scale");
    fill_kernel<DOF>
        <<<hx_blocks(HX_COARSE_OFFSETS * DOF * n, HX_BLOCK), HX_BLOCK, 0, stream>>>(*level, s);
    HX_TRY_LAUNCH("multigrid fill");
    first_kernel<<<static_cast<unsigned>(n_tile), THREADS, 0, stream>>>(s);
    HX_TRY_LAUNCH("multigrid first pivots");
    for (int k = 0; k < n_tile; k++)
        HX_TRY(hx_launch_early_in(stream, dev, "multigrid update", update_kernel, grid, THREADS,
                                  n_shared, s, k, n_tile));
    finish_kernel<<<hx_blocks(s.pitch * s.pitch, HX_BLOCK), HX_BLOCK, 0, stream>>>(
        s, direct->d_inverse);
    HX_TRY_LAUNCH("multigrid inverse");
    HX_TRY(mark_concurrent(dev, 1));
    return HX_CUDA(cudaEventRecord(impl->fork_mark[1], stream));
}

constexpr int WARPS = 8; // rows per block

// One warp per row. Sums are in double precision because large terms cancel.
__global__ void __launch_bounds__(32 * WARPS)
    inverse_multiply_kernel(int n, int pitch, const float *__restrict__ inverse, const float *b,
                            float *y)
{
    extern __shared__ double2 value[]; // [pitch / 2]
    const hx_fours fours = {value, pitch / 4};
    const int lane = static_cast<int>(threadIdx.x) % 32,
              row = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.x) / 32;
    hx_let_next_begin();
    hx_wait_for_last();
    for (int k = static_cast<int>(threadIdx.x); k < pitch; k += 32 * WARPS)
        fours.put(k, k < n ? b[k] : 0.0f);
    __syncthreads();
    if (row >= n) return;
    const float4 *const from =
        reinterpret_cast<const float4 *>(inverse + static_cast<int64_t>(row) * pitch);
    double sum[2] = {};
#pragma unroll 4
    for (int k = lane; k < fours.n; k += 32) fours.add(k, from[k], sum);
    sum[0] += sum[1];
    for (int k = 16; k > 0; k /= 2) sum[0] += __shfl_down_sync(0xffffffffu, sum[0], k);
    if (lane == 0) y[row] = static_cast<float>(sum[0]);
}

} // namespace

int hx_cuda_mg_inverse(hx_device *dev, const hx_mg_level *level, double added, hx_mg_direct *direct)
{
    return invert<HX_MG_DOF>(dev, level, added, direct);
}

int hx_cuda_mg_inverse_scalar(hx_device *dev, const hx_mg_level *level, double added,
                              hx_mg_direct *direct)
{
    return invert<1>(dev, level, added, direct);
}

int hx_cuda_mg_inverse_fits(hx_device *dev, const hx_mg_level *, double added, hx_mg_direct *direct,
                            int *fits)
{
    const sweep s = sweep_of(direct->n, added, direct->d_work);
    const hx_cuda *impl = hx_cuda_of(dev);
    int refused;
    HX_TRY_CUDA(cudaStreamWaitEvent(impl->stream, impl->fork_mark[1], 0));
    HX_TRY(dev->ops->download(dev, &refused, s.refused, sizeof refused));
    *fits = !refused;
    return HX_OK;
}

int hx_cuda_mg_inverse_multiply(hx_device *dev, const hx_mg_level *, const hx_mg_direct *direct,
                                const float *d_b, float *d_x)
{
    const int64_t n = direct->n, pitch = hx_mg_pitch(n);
    return hx_launch_early(dev, "multigrid coarsest", inverse_multiply_kernel, hx_blocks(n, WARPS),
                           32 * WARPS, static_cast<size_t>(pitch) * sizeof(double),
                           static_cast<int>(n), static_cast<int>(pitch), direct->d_inverse, d_b,
                           d_x);
}
