// The fill `gather` for quadratic cells, of one kind or mixed, chunk by chunk of rows. First each
// cell that the chunk's rows touch is integrated once, by a warp (for tet10, eight cells per warp):
// gradients of all points, then their products on tensor cores, which are stored in a buffer. Then
// each row is processed by a warp: it sums its lines of the buffer in shared memory, cells in
// ascending order, computes its blocks from the sums, and is written once. Rows with very many
// entries or cells are processed by one warp each, some entries at a time, with the same products.
#include <cstdlib>

#include "core/base/memory.h"
#include "gather_points.cuh"

namespace
{

using namespace hx_points;

constexpr int WARPS = 4; // per block
// a row with more entries is wide, and is processed this many entries at a time
constexpr int WIDE_ENTRIES = 256;
constexpr int AT_ONCE = 2;                 // number of cells that a row loads at a time
constexpr int LANES = 2;                   // chunks at a time, each with its part of the buffer
constexpr size_t BUFFER_BYTES = 256 << 20; // for all lanes

// Layout of the buffer: each cell has as many lines as the largest kind needs; the size of a line
// is a multiple of 32 bytes.
struct buffer_layout {
    int line, cell_size; // in units of numbers
    int64_t capacity;    // maximum number of cells of a chunk
    int64_t lane_size;   // in units of numbers
    size_t bytes;
};

struct points_filling : hx_cuda_filling {
    hx_chunks::plan p;              // (owned, like d_rule and d_buffer)
    lane_rule *d_rule;              // [HX_N_CELL_RULE]
    double *d_buffer;               // one lane after the other
    cudaStream_t lane[LANES];       // the device's stream, and more for several chunks (owned)
    cudaEvent_t ready, done[LANES]; // (owned)
    buffer_layout layout;
    int most_entries;
};

struct chunk {
    int first_cell, n_cell, first_row, n_row; // indices in the plan's lists
    double *buffer;
};

template <int C, int N>
__global__ void __launch_bounds__(WARP *WARPS, 4)
    cells_kernel(const __grid_constant__ arguments g, const chunk now)
{
    extern __shared__ __align__(128) unsigned char memory[];
    using size = sizes<N>;
    const int lane = static_cast<int>(threadIdx.x % WARP),
              warp = static_cast<int>(threadIdx.x / WARP);
    double *const own = reinterpret_cast<double *>(memory) + warp * size::batch * size::lines;
    const int first = (static_cast<int>(blockIdx.x) * WARPS + warp) * size::batch;
    if (first >= now.n_cell) return;
    const int count = now.n_cell - first < size::batch ? now.n_cell - first : size::batch;
    const int mine = lane / size::lanes;
    const lane_cell c =
        find_cell<N>(g, mine < count ? g.p.d_cell[now.first_cell + first + mine] : -1);
    make_gradients<N>(g, c, own);
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < count; i++)
        multiply_lines<C, N>(own + i * size::lines, C * c.n, C == 3 ? c.steps : 3 * c.steps, g.line,
                             now.buffer + static_cast<int64_t>(first + i) * g.cell_size);
}

// A lane's numbers of a row's C lines in one cell: column `lane` and every 32nd column after it.
template <int C, int N> struct row_lines {
    static constexpr int n_part = (C * sizes<N>::most_points + WARP - 1) / WARP;
    int entry[n_part]; // -1: no entry
    double v[n_part][C];

    // `place` and `cell` are the same in all lanes.
    __device__ __forceinline__ void load(const arguments &g, const chunk &now, uint32_t place,
                                         int64_t cell)
    {
        const hx_device_pattern &pattern = g.m.pattern;
        const int lane = static_cast<int>(threadIdx.x % WARP);
        const int n = N ? N : hx_incidence_count(&g.in, cell);
        const int a = static_cast<int>(place & ((1u << hx_chunks::POINT_BITS) - 1));
        const int64_t pair = (N ? cell * N * N : hx_incidence_pair(&g.in, cell)) + a * n;
        const double *const from =
            now.buffer + static_cast<int64_t>(place >> hx_chunks::POINT_BITS) * g.cell_size +
            C * a * g.line;
        const int slot =
            lane < n ? hx_slot_at(pattern.d_slot, pattern.slot_bytes, pair + lane) : -1;
#pragma unroll
        for (int part = 0; part < n_part; part++) {
            const int column = lane + WARP * part, b = column / C;
            const bool is_in = column < C * n;
            const int e = __shfl_sync(ALL, slot, is_in ? b : 0);
            entry[part] = is_in ? e : -1;
            const bool is_read = is_in && (pattern.part == HX_PART_FULL || e >= 0);
#pragma unroll
            for (int i = 0; i < C; i++) v[part][i] = is_read ? from[i * g.line + column] : 0.0;
        }
    }

    __device__ __forceinline__ void add(double *sum) const
    {
        const int lane = static_cast<int>(threadIdx.x % WARP);
#pragma unroll
        for (int part = 0; part < n_part; part++) {
            if (entry[part] < 0) continue;
            double *const to = sum + C * C * entry[part] + (lane + WARP * part) % C;
#pragma unroll
            for (int i = 0; i < C; i++) to[C * i] += v[part][i];
        }
        __syncwarp();
    }
};

// Adds at most 32 places of the row from `first` on.
template <int C, int N>
__device__ __forceinline__ void add_places(const arguments &g, const chunk &now, uint32_t first,
                                           int count, double *sum)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    const uint32_t place = lane < count ? g.p.d_place[first + lane] : 0;
    const int cell =
        lane < count ? g.p.d_cell[now.first_cell + (place >> hx_chunks::POINT_BITS)] : 0;
#pragma unroll 1
    for (int i = 0; i < count; i += AT_ONCE) {
        row_lines<C, N> lines[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (i + k < count)
                lines[k].load(g, now, __shfl_sync(ALL, place, i + k),
                              __shfl_sync(ALL, cell, i + k));
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (i + k < count) lines[k].add(sum);
    }
}

template <int C, int N>
__global__ void __launch_bounds__(WARP *WARPS, 8)
    rows_kernel(const __grid_constant__ arguments g, const chunk now)
{
    extern __shared__ __align__(128) unsigned char memory[];
    const int lane = static_cast<int>(threadIdx.x % WARP),
              warp = static_cast<int>(threadIdx.x / WARP);
    const int k = static_cast<int>(blockIdx.x) * WARPS + warp;
    if (k >= now.n_row) return;
    const int64_t row = g.p.d_row[now.first_row + k];
    const int64_t *const ptr = g.m.pattern.d_row_ptr + row;
    const uint32_t *const first_place = g.p.d_first_place + now.first_row + k;
    const int n = static_cast<int>(ptr[1] - ptr[0]);
    const uint32_t end = first_place[1];
    double *const sum = reinterpret_cast<double *>(memory) + warp * C * C * g.most_entries;
    for (int t = lane; t < C * C * n; t += WARP) sum[t] = 0.0;
    __syncwarp();
#pragma unroll 1
    for (uint32_t p = first_place[0]; p < end; p += WARP)
        add_places<C, N>(g, now, p, end - p < WARP ? static_cast<int>(end - p) : WARP, sum);
    finish_blocks<C>(g, n, sum);
    store_entries<C>(g, row, n, 0, n, sum);
}

// One block of one warp per row.
template <int C> __global__ void wide_row_kernel(const __grid_constant__ arguments g)
{
    __shared__ double own[sizes<0>::lines], sum[WIDE_ENTRIES * C * C];
    __shared__ int entry[HX_RULE_POINTS];
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
            int e = -1;
            if (lane < c.n)
                e = hx_slot_at(p.d_slot, p.slot_bytes,
                               hx_incidence_pair(&g.in, cell) + a * c.n + lane) -
                    e0;
            const bool mine = lane < c.n && e >= 0 && e < count;
            if (!__any_sync(ALL, mine)) continue;
            if (lane < c.n) entry[lane] = mine ? e : -1;
            make_gradients<0>(g, c, own);
            __syncwarp();
            product<C, 0, 0> products;
            products.make(own, C * c.n, C == 3 ? c.steps : 3 * c.steps, C * a, C * a + C);
            products.visit(C * c.n, C * a, C * a + C, [a](int r, int s, int, double v) {
                const int to = entry[s / C];
                if (to >= 0) sum[C * C * to + C * (r - C * a) + s % C] += v;
            });
            __syncwarp(); // all lanes have read the gradients
        }
        __syncwarp();
        finish_blocks<C>(g, count, sum);
        store_entries<C>(g, row, n_entry, e0, count, sum);
        __syncwarp();
    }
}

using chunk_kernel = void (*)(arguments, chunk);

struct choice {
    chunk_kernel cells, rows;
    int batch; // number of cells per warp
    size_t cells_shared;
    void (*wide)(arguments);
};

template <int C, int N> choice choose_sizes()
{
    return {cells_kernel<C, N>, rows_kernel<C, N>, sizes<N>::batch,
            sizeof(double) * WARPS * sizes<N>::batch * sizes<N>::lines, wide_row_kernel<C>};
}

template <int C> choice choose_points(const hx_incidence *in)
{
    if (in->n_per_cell == 20) return choose_sizes<C, 20>();
    if (in->n_per_cell == 10) return choose_sizes<C, 10>();
    return choose_sizes<C, 0>();
}

choice choose(const hx_cuda_filling *f)
{
    const hx_incidence *in = &f->input.incidence;
    return f->m->spec.components == 3 ? choose_points<3>(in) : choose_points<1>(in);
}

buffer_layout lay_out_buffer(const hx_incidence *in, int components)
{
    const int n = components * (in->n_per_cell ? in->n_per_cell : static_cast<int>(HX_RULE_POINTS));
    buffer_layout l;
    l.line = (n + 3) / 4 * 4;
    l.cell_size = n * l.line;
    const size_t bytes = static_cast<size_t>(l.cell_size) * sizeof(double);
    l.capacity = static_cast<int64_t>(BUFFER_BYTES / LANES / bytes);
    l.lane_size = l.capacity * l.cell_size;
    l.bytes = in->n_cell <= l.capacity ? static_cast<size_t>(in->n_cell) * bytes
                                       : LANES * static_cast<size_t>(l.capacity) * bytes;
    return l;
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

size_t rows_shared(const points_filling *f)
{
    const int c = f->m->spec.components;
    return sizeof(double) * WARPS * static_cast<size_t>(c * c * f->most_entries);
}

int allow_shared(chunk_kernel kernel, size_t bytes)
{
    return HX_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)));
}

int make_lanes(points_filling *f)
{
    f->lane[0] = hx_cuda_of(f->dev)->stream;
    if (f->p.n_chunk < 2) return HX_OK;
    HX_TRY_CUDA(cudaEventCreateWithFlags(&f->ready, cudaEventDisableTiming));
    for (int k = 1; k < LANES; k++) {
        HX_TRY_CUDA(cudaEventCreateWithFlags(&f->done[k], cudaEventDisableTiming));
        HX_TRY_CUDA(cudaStreamCreateWithFlags(&f->lane[k], cudaStreamNonBlocking));
    }
    return HX_OK;
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<points_filling *>(filling);
    const choice c = choose(f);
    const int widest = f->m->pattern.max_row;
    f->most_entries = widest < WIDE_ENTRIES ? widest : WIDE_ENTRIES;
    f->layout = lay_out_buffer(&f->input.incidence, f->m->spec.components);
    HX_TRY(upload_rules(f));
    HX_TRY(f->dev->ops->alloc(f->dev, f->layout.bytes, &f->d_buffer));
    HX_TRY(allow_shared(c.cells, c.cells_shared));
    HX_TRY(allow_shared(c.rows, rows_shared(f)));
    HX_TRY(hx_chunks::create(&f->p, f->dev, &f->m->pattern, &f->input.incidence, f->layout.capacity,
                             WIDE_ENTRIES));
    return make_lanes(f);
}

int run_chunk(const points_filling *f, const arguments *a, int64_t number)
{
    const int lane = static_cast<int>(number % LANES);
    const choice c = choose(f);
    const auto first_cell = static_cast<int>(f->p.first_cell(number));
    const auto first_row = static_cast<int>(f->p.first_row(number));
    const chunk now = {first_cell, static_cast<int>(f->p.first_cell(number + 1)) - first_cell,
                       first_row, static_cast<int>(f->p.first_row(number + 1)) - first_row,
                       f->d_buffer + lane * f->layout.lane_size};
    const chunk_kernel cells = c.cells, rows = c.rows;
    const cudaStream_t stream = f->lane[lane];
    if (now.n_row == 0) return HX_OK;
    cells<<<hx_blocks(now.n_cell, WARPS * c.batch), WARP * WARPS, c.cells_shared, stream>>>(*a,
                                                                                            now);
    HX_TRY_LAUNCH("gather's cells");
    rows<<<hx_blocks(now.n_row, WARPS), WARP * WARPS, rows_shared(f), stream>>>(*a, now);
    return HX_LAUNCHED("gather's rows");
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const points_filling *>(filling);
    const arguments a = {f->input.incidence,
                         f->input.d_xyz,
                         f->input.d_modulus,
                         f->input.form.lambda,
                         f->input.form.mu,
                         *f->m,
                         f->p,
                         f->d_rule,
                         f->most_entries,
                         f->layout.line,
                         f->layout.cell_size};
    const bool is_split = f->p.n_chunk > 1;
    if (is_split) HX_TRY_CUDA(cudaEventRecord(f->ready, f->lane[0]));
    for (int k = 1; k < LANES && is_split; k++)
        HX_TRY_CUDA(cudaStreamWaitEvent(f->lane[k], f->ready, 0));
    for (int64_t k = 0; k < f->p.n_chunk; k++) HX_TRY(run_chunk(f, &a, k));
    for (int k = 1; k < LANES && is_split; k++) {
        HX_TRY_CUDA(cudaEventRecord(f->done[k], f->lane[k]));
        HX_TRY_CUDA(cudaStreamWaitEvent(f->lane[0], f->done[k], 0));
    }
    if (f->p.n_wide > 0) {
        const auto wide = choose(f).wide;
        wide<<<static_cast<unsigned>(f->p.n_wide), WARP, 0, f->lane[0]>>>(a);
        HX_TRY_LAUNCH("gather of wide rows");
    }
    return HX_OK;
}

void release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<points_filling *>(filling);
    for (int k = 1; k < LANES; k++) {
        if (f->lane[k]) cudaStreamDestroy(f->lane[k]);
        if (f->done[k]) cudaEventDestroy(f->done[k]);
    }
    if (f->ready) cudaEventDestroy(f->ready);
    hx_chunks::release(&f->p, f->dev);
    f->dev->ops->release(f->dev, f->d_rule);
    f->dev->ops->release(f->dev, f->d_buffer);
}

size_t bytes(const hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const points_filling *>(filling);
    return f->p.bytes + HX_N_CELL_RULE * sizeof(lane_rule) + f->layout.bytes;
}

} // namespace

size_t hx_cuda_points_expected(const hx_incidence *in, int components)
{
    const buffer_layout l = lay_out_buffer(in, components);
    return hx_chunks::expected(in, l.capacity) + HX_N_CELL_RULE * sizeof(lane_rule) + l.bytes;
}

const hx_cuda_fill_kind hx_cuda_fill_points = {sizeof(points_filling), prepare, run, release,
                                               bytes};
