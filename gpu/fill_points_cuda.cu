// gather of quadratic cells, of one kind or mixed. A thread block owns a window of rows, whose
// entries it sums in shared memory; a warp takes a cell that touches the window (of tet10 eight):
// gradients of all points, then the products of the window's points with all points on tensor
// cores, which it adds to the rows. A row counts the cells that have been added to it: they are
// added in ascending order, whichever warp has them, so that an entry is one sum in one order.
//
// Rows of very many entries are a warp each, some entries at a time, with the same products.
#include <cstdlib>

#include "core/base/memory.h"
#include "gather_points.cuh"

namespace
{

using namespace hx_points;

constexpr int MOST_WARPS = 8;
constexpr int WIDE_ENTRIES = 384;        // of a wide row at a time
constexpr int MOST_CAPACITY = 8 * 1024;  // of a window
constexpr size_t MANY_BYTES = 150 << 10; // of shared memory: else half of the warps

struct points_filling : hx_cuda_filling {
    hx_windows::plan p;  // (owned)
    lane_rule *d_rule;   // [HX_N_CELL_RULE] (owned)
    int warps, capacity; // of a block
    size_t shared_bytes;
};

// Rows of a window: their numbers of entries are LEAST_WEIGHT in the mean at least.
__host__ __device__ constexpr int most_rows(int capacity)
{
    return capacity / hx_windows::LEAST_WEIGHT + 1;
}

// A block's shared memory: warps, sums, rows.
template <int C, int N> struct block_memory {
    warp_memory<N> *warp;
    double *sum;    // [capacity][C * C]
    int *begin;     // [rows + 1] first entry of each row
    unsigned *done; // [rows] cells that have been added to it

    __device__ __forceinline__ block_memory(unsigned char *memory, int warps, int capacity)
    {
        warp = reinterpret_cast<warp_memory<N> *>(memory);
        sum = reinterpret_cast<double *>(warp + warps);
        begin = reinterpret_cast<int *>(sum + static_cast<size_t>(capacity) * C * C);
        done = reinterpret_cast<unsigned *>(begin + most_rows(capacity) + 1);
    }

    static size_t bytes(int warps, int capacity)
    {
        return static_cast<size_t>(warps) * sizeof(warp_memory<N>) +
               static_cast<size_t>(capacity) * C * C * sizeof(double) +
               (2 * static_cast<size_t>(most_rows(capacity)) + 1) * sizeof(int);
    }
};

// begin[] of n rows of the plan, by a warp.
__device__ void list_begins(const arguments &g, const int32_t *rows, int n, int *begin)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    int before = 0;
    for (int first = 0; first < n; first += WARP) {
        const int r = first + lane;
        int sum = 0;
        if (r < n) {
            const int64_t *const ptr = g.m.pattern.d_row_ptr + rows[r];
            sum = static_cast<int>(ptr[1] - ptr[0]);
        }
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const int other = __shfl_up_sync(ALL, sum, static_cast<unsigned>(step));
            if (lane >= step) sum += other;
        }
        if (r < n) begin[r + 1] = before + sum;
        before += __shfl_sync(ALL, sum, WARP - 1);
    }
    if (lane == 0) begin[0] = 0;
}

// The entries of own points, `count` of them, of a cell of n points: by their rows' first entries.
__device__ __forceinline__ void list_offsets(const arguments &g, int64_t cell, int n,
                                             const uint32_t *own, int count, const int *begin,
                                             uint16_t *offset)
{
    const hx_device_pattern &p = g.m.pattern;
    const int lane = static_cast<int>(threadIdx.x % WARP), in_turn = WARP / n;
    const int k0 = lane / n, b = lane - n * k0;
    const int64_t pair = hx_incidence_pair(&g.in, cell);
    if (k0 >= in_turn) return;
#pragma unroll 4
    for (int k = k0; k < count; k += in_turn) {
        const int slot =
            hx_slot_at(p.d_slot, p.slot_bytes, pair + hx_windows::point_of(own[k]) * n + b);
        offset[k * n + b] =
            static_cast<uint16_t>(slot < 0 ? NO_OFFSET : begin[hx_windows::row_of(own[k])] + slot);
    }
}

// Own points whose columns are among c0 .. c0 + 15.
template <int C> struct column_points {
    int first, n, complete; // of which so many have their last column here

    __device__ __forceinline__ column_points(int c0, int n_column)
    {
        const int end = c0 + 16 < n_column ? c0 + 16 : n_column;
        first = C == 3 ? c0 / 3 : c0;
        n = (C == 3 ? (end + 2) / 3 : end) - first;
        complete = (C == 3 ? end / 3 : end) - first;
    }
};

// Until all cells before this one have been added to the rows of these own points.
__device__ __forceinline__ void wait_for_rows(const uint32_t *own, int n,
                                              const volatile unsigned *done)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    const uint32_t code = own[lane < n ? lane : 0];
    while (!__all_sync(ALL, done[hx_windows::row_of(code)] == hx_windows::rank_of(code)))
        __nanosleep(20);
    __threadfence_block();
    __syncwarp();
}

__device__ __forceinline__ void release_rows(const uint32_t *own, int n, volatile unsigned *done)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    __threadfence_block();
    __syncwarp();
    if (lane < n) done[hx_windows::row_of(own[lane])] = hx_windows::rank_of(own[lane]) + 1;
}

// One cell's part of the window.
template <int C, int N>
__device__ __forceinline__ void add_cell(const double *h, const uint32_t *own, int n_own, int n,
                                         int steps, const uint16_t *offset, double *sum,
                                         unsigned *done)
{
    const int n_column = C * n_own;
#pragma unroll 1
    for (int c0 = 0; c0 < n_column; c0 += 16) {
        product<C, N> p;
        const column_points<C> points(c0, n_column);
        p.make(h, own, n, steps, n_column, c0);
        wait_for_rows(own + points.first, points.n, done);
        p.add(offset, n, n_column, c0, sum);
        release_rows(own + points.first, points.complete, done);
    }
}

template <int C, int N>
__global__ void __launch_bounds__(WARP *MOST_WARPS, 1)
    window_kernel(const __grid_constant__ arguments g)
{
    extern __shared__ __align__(128) unsigned char memory[];
    using size = sizes<N>;
    const int warps = static_cast<int>(blockDim.x) / WARP, t = static_cast<int>(threadIdx.x);
    const int lane = t % WARP, warp = t / WARP;
    const block_memory<C, N> s(memory, warps, g.capacity);
    const int32_t *const rows = g.p.d_row + g.p.d_window_row[blockIdx.x];
    const int n_row = g.p.d_window_row[blockIdx.x + 1] - g.p.d_window_row[blockIdx.x];
    const int64_t first = g.p.d_visit[blockIdx.x], end = g.p.d_visit[blockIdx.x + 1];
    if (warp == 0) list_begins(g, rows, n_row, s.begin);
    for (int k = t; k < n_row; k += WARP * warps) s.done[k] = 0;
    __syncthreads();
    for (int k = t; k < C * C * s.begin[n_row]; k += WARP * warps) s.sum[k] = 0.0;
    __syncthreads();

    warp_memory<N> *const own = s.warp + warp;
#pragma unroll 1
    for (int64_t v = first + warp * size::batch; v < end; v += warps * size::batch) {
        const int count = end - v < size::batch ? static_cast<int>(end - v) : size::batch;
        const int mine = lane / size::lanes;
        const lane_cell c = find_cell<N>(g, mine < count ? g.p.d_cell[v + mine] : -1);
        const uint32_t first_own = g.p.d_first_own[v];
        const int n_own = static_cast<int>(g.p.d_first_own[v + count] - first_own);
        for (int k = lane; k < n_own; k += WARP) own->own[k] = g.p.d_own[first_own + k];
        make_gradients<N>(g, c, own);
        int at[size::batch + 1] = {};
#pragma unroll
        for (int i = 0; i < size::batch; i++) {
            if (i >= count) break;
            const int64_t cell = __shfl_sync(ALL, c.cell, i * size::lanes);
            const int n = N ? N : c.n;
            at[i + 1] = static_cast<int>(g.p.d_first_own[v + i + 1] - first_own);
            list_offsets(g, cell, n, own->own + at[i], at[i + 1] - at[i], s.begin,
                         own->offset + at[i] * n);
        }
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < count; i++) {
            const int from = static_cast<int>(g.p.d_first_own[v + i] - first_own);
            const int n = static_cast<int>(g.p.d_first_own[v + i + 1] - first_own) - from;
            add_cell<C, N>(own->h + i * size::lines, own->own + from, n, c.n, c.steps,
                           own->offset + from * c.n, s.sum, s.done);
        }
        __syncwarp(); // gradients have been read
    }
    __syncthreads();
    for (int r = warp; r < n_row; r += warps) {
        const int n = s.begin[r + 1] - s.begin[r];
        double *const value = s.sum + C * C * s.begin[r];
        finish_blocks<C>(g, n, value);
        store_entries<C>(g, rows[r], n, 0, n, value);
    }
}

// A block of one warp a row.
template <int C> __global__ void wide_row_kernel(const __grid_constant__ arguments g)
{
    __shared__ warp_memory<0> s;
    __shared__ double sum[WIDE_ENTRIES * C * C];
    const int lane = static_cast<int>(threadIdx.x);
    const int64_t row = g.p.d_row[g.p.n_narrow + blockIdx.x];
    const int64_t *const ptr = g.in.point_ptr + g.m.pattern.row_first + row;
    const int n_entry =
        static_cast<int>(g.m.pattern.d_row_ptr[row + 1] - g.m.pattern.d_row_ptr[row]);
#pragma unroll 1
    for (int e0 = 0; e0 < n_entry; e0 += WIDE_ENTRIES) {
        const int count = n_entry - e0 < WIDE_ENTRIES ? n_entry - e0 : WIDE_ENTRIES;
        for (int t = lane; t < C * C * count; t += WARP) sum[t] = 0.0;
#pragma unroll 1
        for (int64_t k = ptr[0]; k < ptr[1]; k++) {
            const int64_t place = g.in.point_place[k], cell = hx_incidence_cell(&g.in, place);
            const lane_cell c = find_cell<0>(g, cell);
            const int a = static_cast<int>(place - c.first);
            const hx_device_pattern &p = g.m.pattern;
            int entry = -1;
            if (lane < c.n)
                entry = hx_slot_at(p.d_slot, p.slot_bytes,
                                   hx_incidence_pair(&g.in, cell) + a * c.n + lane) -
                        e0;
            const bool mine = lane < c.n && entry >= 0 && entry < count;
            if (!__any_sync(ALL, mine)) continue;
            if (lane < c.n) s.offset[lane] = static_cast<uint16_t>(mine ? entry : NO_OFFSET);
            if (lane == 0) s.own[0] = static_cast<uint32_t>(a);
            make_gradients<0>(g, c, &s);
            __syncwarp();
            product<C, 0> products;
            products.make(s.h, s.own, c.n, c.steps, C, 0);
            products.add(s.offset, c.n, C, 0, sum);
            __syncwarp(); // gradients have been read
        }
        __syncwarp();
        finish_blocks<C>(g, count, sum);
        store_entries<C>(g, row, n_entry, e0, count, sum);
        __syncwarp();
    }
}

using kernel = void (*)(arguments);

// The kernel of windows and its shared memory.
struct choice {
    kernel run;
    size_t (*bytes)(int warps, int capacity);
};

template <int C> choice choose_points(const hx_incidence *in)
{
    if (in->n_per_cell == 20) return {window_kernel<C, 20>, block_memory<C, 20>::bytes};
    if (in->n_per_cell == 10) return {window_kernel<C, 10>, block_memory<C, 10>::bytes};
    return {window_kernel<C, 0>, block_memory<C, 0>::bytes};
}

choice choose(const hx_cuda_filling *f)
{
    const hx_incidence *in = &f->input.incidence;
    return f->m->spec.components == 3 ? choose_points<3>(in) : choose_points<1>(in);
}

void lay_out(const hx_cell_rule *from, lane_rule *to)
{
    to->n_point = from->n_point;
    to->n_gauss = from->n_gauss;
    for (int q = 0; q < from->n_gauss; q++) {
        to->weight[q] = from->weight[q];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < from->n_point; a++) to->gradient[k][a][q] = from->gradient[q][k][a];
    }
}

int upload_rules(points_filling *f)
{
    lane_rule *rule;
    HX_TRY(hx_alloc(&rule, HX_N_CELL_RULE, sizeof *rule, "rules of cells"));
    for (int kind = 0; kind < HX_N_CELL_RULE; kind++) lay_out(&f->input.rule[kind], &rule[kind]);
    const int rc = hx_device_put(f->dev, &f->d_rule, rule, HX_N_CELL_RULE * sizeof *rule);
    free(rule);
    return rc;
}

// The most entries that fit.
int choose_capacity(points_filling *f, const choice *c)
{
    int device = 0, most = 0;
    HX_TRY_CUDA(cudaGetDevice(&device));
    HX_TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const auto bytes = static_cast<size_t>(most);
    f->warps = bytes >= MANY_BYTES ? MOST_WARPS : MOST_WARPS / 2;
    f->capacity = MOST_CAPACITY;
    while (f->capacity > 0 && c->bytes(f->warps, f->capacity) > bytes) f->capacity -= 8;
    if (f->capacity < 64)
        return HX_RAISE(HX_EENV,
                        "device 'cuda' has too little shared memory for the fill 'gather'");
    f->shared_bytes = c->bytes(f->warps, f->capacity);
    HX_TRY_CUDA(cudaFuncSetAttribute(c->run, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(f->shared_bytes)));
    return HX_OK;
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<points_filling *>(filling);
    const choice c = choose(f);
    HX_TRY(upload_rules(f));
    HX_TRY(choose_capacity(f, &c));
    return hx_windows::create(&f->p, f->dev, &f->m->pattern, &f->input.incidence, f->capacity);
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const points_filling *>(filling);
    const cudaStream_t stream = hx_cuda_of(f->dev)->stream;
    const arguments a = {f->input.incidence,
                         f->input.d_xyz,
                         f->input.d_modulus,
                         f->input.form.lambda,
                         f->input.form.mu,
                         *f->m,
                         f->p,
                         f->d_rule,
                         f->capacity};
    if (f->p.n_window > 0) {
        const kernel windows = choose(f).run;
        windows<<<static_cast<unsigned>(f->p.n_window), static_cast<unsigned>(WARP * f->warps),
                  f->shared_bytes, stream>>>(a);
        HX_TRY_LAUNCH("gather of points");
    }
    if (f->p.n_wide > 0) {
        const kernel wide = f->m->spec.components == 3 ? wide_row_kernel<3> : wide_row_kernel<1>;
        wide<<<static_cast<unsigned>(f->p.n_wide), WARP, 0, stream>>>(a);
        HX_TRY_LAUNCH("gather of wide rows");
    }
    return HX_OK;
}

void release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<points_filling *>(filling);
    hx_windows::release(&f->p, f->dev);
    f->dev->ops->release(f->dev, f->d_rule);
}

size_t bytes(const hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const points_filling *>(filling);
    return f->p.bytes + HX_N_CELL_RULE * sizeof(lane_rule);
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_points = {sizeof(points_filling), prepare, run, release,
                                               bytes};
