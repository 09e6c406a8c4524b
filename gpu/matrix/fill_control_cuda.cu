// The fill `gather` for any spline: joined patches, different degrees, weights. A thread block owns
// ROWS rows of control points, and processes the cells that touch them in ascending order. For each
// cell it computes the map and the gradients of all points at all Gauss points, some Gauss points
// at a time, in shared memory. Tensor cores multiply the rows' own lines with all lines; the
// contributions to each entry are added in shared memory, and each row is written once. Rows wider
// than that memory are computed some entries at a time, with the same products. No order depends on
// the launch.
//
// h is sqrt(modulus weight det J) times a gradient, so that the sum of h_a h_b' over the Gauss
// points is the complete tile. Component i of control point a at Gauss point q of a batch is
// h[(3 a + i) stride + q].
#include <cstdlib>

#include "core/base/memory.h"
#include "hex8_tiles.cuh"
#include "matrix_cuda.cuh"
#include "spline_cells.cuh"
#include "tensor_products.cuh"

namespace
{

using namespace hx_spline_gpu;

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;
constexpr int ROWS = 5;   // 15 of the 16 rows of a tensor core's tile
constexpr int STRIPS = 3; // maximum number of strips of 8 columns per warp
constexpr int NO_CELL = INT32_MAX;

// By the number of points of a cell: 8 WARPS STRIPS columns suffice for 3 n.
constexpr int SMALL = 32, MIDDLE = 64;
constexpr int warps_of(int most_points)
{
    return most_points <= SMALL ? 4 : most_points <= MIDDLE ? 8 : 16;
}

// Shared memory in doubles, in the order of the arrays.
struct layout {
    int most;  // maximum number of points of a cell
    int batch; // number of Gauss points at a time, a multiple of 4
    // distance of lines of h: 4 more than a multiple of 8, so that lines are in different banks
    int stride;
    int capacity;             // number of entries of a window
    int frames, h, sum, slot; // offsets of the arrays in doubles; the tables come first
    size_t bytes;
};

struct control_filling : hx_cuda_filling {
    layout at;
};

struct arguments {
    space s;
    const double *modulus;
    double lambda, mu;
    hx_matrix m;
    layout at;
};

// Rows of a block whose entries are summed at the same time.
struct window {
    int first, end;     // rows of the block
    int low;            // first entry of row `first` in the window
    int base[ROWS + 1]; // number of entries before each row
};

// The window that begins `low` entries into row `first`; end = first after the last row.
__device__ __forceinline__ window next_window(const arguments &g, int64_t row, int n_row, int first,
                                              int low)
{
    const int64_t *const ptr = g.m.pattern.d_row_ptr + row;
    window w = {first, first, low, {}};
    int sum = 0;
    bool is_full = false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        w.base[r] = sum;
        if (r < first || r >= n_row || is_full) continue;
        const int n = static_cast<int>(ptr[r + 1] - ptr[r]) - (r == first ? low : 0);
        is_full = sum + n > g.at.capacity;
        if (is_full && r > first) continue;
        sum += is_full ? g.at.capacity : n;
        w.end = r + 1;
    }
    w.base[ROWS] = sum;
    return w;
}

// h of the Gauss points first .. first + count - 1, padded with 0: one thread per Gauss point and
// line of control points.
__device__ __forceinline__ void make_gradients(const arguments &g, const cell &c, const tables &t,
                                               const double *frames, int first, int count,
                                               double *h)
{
    const int n0 = c.order[0], n1 = c.order[1], n2 = c.order[2], stride = g.at.stride;
    const int padded = (count + 3) / 4 * 4, n_item = padded * n1 * n2;
    const double *const weight = g.s.rule.weight;
#pragma unroll 1
    for (int item = static_cast<int>(threadIdx.x); item < n_item;
         item += static_cast<int>(blockDim.x)) {
        const int line = item / padded, q = item % padded, a1 = line % n1, a2 = line / n1;
        double *const to = h + 3 * line * n0 * stride + q;
        if (q >= count) {
            for (int k = 0; k < 3 * n0; k++) to[k * stride] = 0.0;
            continue;
        }
        const int at = first + q;
        const double *const u = row(c, t, 0, at % n0);
        const double *const v = row(c, t, 1, at / n0 % n1) + a1;
        const double *const w = row(c, t, 2, at / n0 / n1) + a2;
        const double vw = v[0] * w[0], dvw = v[n1] * w[0], vdw = v[0] * w[n2];
        double by_value[3], by_slope[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const double *const f = frames + (4 * i) * c.n + at;
            by_slope[i] = f[0] * vw;
            by_value[i] = f[c.n] * dvw + f[2 * c.n] * vdw - f[3 * c.n] * vw;
        }
        for (int a0 = 0; a0 < n0; a0++) {
            const double own = weight ? weight[g.s.in.point[c.first + line * n0 + a0]] : 1.0;
#pragma unroll
            for (int i = 0; i < 3; i++)
                to[(3 * a0 + i) * stride] = own * (by_value[i] * u[a0] + by_slope[i] * u[n0 + a0]);
        }
    }
}

// Stores the frame of a cell at Gauss point q, c and g of a component one after the other,
// multiplied by sqrt(modulus volume).
__device__ __forceinline__ void store_frame(const frame &f, double modulus, int n, int q,
                                            double *frames)
{
    const double root = sqrt(modulus * f.volume);
#pragma unroll
    for (int i = 0; i < 3; i++) {
#pragma unroll
        for (int k = 0; k < 3; k++) frames[(4 * i + k) * n + q] = root * f.c[i][k];
        frames[(4 * i + 3) * n + q] = root * f.g[i];
    }
}

// d += the products of the rows' own lines with the warp's strips of columns. own: lines of the
// lane's row of the tile, and of the row 8 below it.
__device__ __forceinline__ void multiply(const double *h, int stride, int n_column, int fours,
                                         const int (&own)[2], double (&d)[STRIPS][4])
{
    const int lane = static_cast<int>(threadIdx.x) % WARP,
              warp = static_cast<int>(threadIdx.x) / WARP,
              warps = static_cast<int>(blockDim.x) / WARP;
    const double *a[2], *b[STRIPS];
#pragma unroll
    for (int k = 0; k < 2; k++) a[k] = h + own[k] * stride + lane % 4;
#pragma unroll
    for (int k = 0; k < STRIPS; k++) {
        const int c = 8 * (warp + warps * k) + lane / 4;
        b[k] = h + (c < n_column ? c : n_column - 1) * stride + lane % 4;
    }
    int step = 0;
#pragma unroll 1
    for (; step + 1 < fours; step += 2) {
        const double first[2] = {a[0][4 * step], a[1][4 * step]};
        const double then[2] = {a[0][4 * step + 4], a[1][4 * step + 4]};
#pragma unroll
        for (int k = 0; k < STRIPS; k++)
            if (8 * (warp + warps * k) < n_column)
                hx_tensor_add8(d[k], first, then, b[k][4 * step], b[k][4 * step + 4]);
    }
    if (step == fours) return;
    const double last[2] = {a[0][4 * step], a[1][4 * step]};
#pragma unroll
    for (int k = 0; k < STRIPS; k++)
        if (8 * (warp + warps * k) < n_column) hx_tensor_add4(d[k], last, b[k][4 * step]);
}

// Adds the lane's products of a cell to the sums of the window's entries. No two threads have the
// same entry, because no control point occurs twice in a cell: a patch with one span that is joined
// to its own opposite end has an image without volume, which is refused.
__device__ __forceinline__ void add_products(const int32_t *slot, int n, unsigned rows,
                                             const double (&d)[STRIPS][4], double *sum)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP,
              warp = static_cast<int>(threadIdx.x) / WARP,
              warps = static_cast<int>(blockDim.x) / WARP;
#pragma unroll
    for (int k = 0; k < STRIPS; k++)
#pragma unroll
        for (int which = 0; which < 4; which++) {
            const int c = 8 * (warp + warps * k) + 2 * (lane % 4) + which % 2;
            const int line = lane / 4 + 8 * (which / 2), r = line / 3;
            if (c >= 3 * n || r >= ROWS || !(rows >> r & 1u)) continue;
            const int to = slot[r * n + c / 3];
            if (to >= 0) sum[9 * to + 3 * (line % 3) + c % 3] += d[k][which];
        }
}

// Processes one cell. `own` of lane r is the index of row r's control point in the cell; -1: it is
// not in it.
__device__ __forceinline__ void add_cell(const arguments &g, const window &w, int number, int own,
                                         double *memory)
{
    tables &t = *reinterpret_cast<tables *>(memory);
    double *const frames = memory + g.at.frames, *const h = memory + g.at.h;
    auto *const slot = reinterpret_cast<int32_t *>(memory + g.at.slot);
    const hx_device_pattern &p = g.m.pattern;
    const int lane = static_cast<int>(threadIdx.x) % WARP, q = static_cast<int>(threadIdx.x);
    const cell c = load_cell(g.s, number, t);
    const int64_t pair = hx_incidence_pair(&g.s.in, number);
    unsigned rows = 0;
    int line[2];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int a = __shfl_sync(ALL, own, r);
        if (a < 0) continue;
        rows |= 1u << r;
        const int low = r == w.first ? w.low : 0, end = w.base[r + 1] - w.base[r];
        for (int b = q; b < c.n; b += static_cast<int>(blockDim.x)) {
            const int k = hx_slot_at(p.d_slot, p.slot_bytes, pair + a * c.n + b) - low;
            slot[r * c.n + b] = k >= 0 && k < end ? w.base[r] + k : -1;
        }
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int l = lane / 4 + 8 * k, a = __shfl_sync(ALL, own, l / 3);
        line[k] = l < 3 * ROWS && a >= 0 ? 3 * a + l % 3 : 0;
    }
    frame f;
    map_cell(g.s, c, t, h, f);
    if (q < c.n) store_frame(f, g.modulus[number], c.n, q, frames);
    double d[STRIPS][4] = {};
#pragma unroll 1
    for (int first = 0; first < c.n; first += g.at.batch) {
        const int count = c.n - first < g.at.batch ? c.n - first : g.at.batch;
        __syncthreads(); // the frames are complete, and all threads have read the old h
        make_gradients(g, c, t, frames, first, count, h);
        __syncthreads();
        multiply(h, g.at.stride, 3 * c.n, (count + 3) / 4, line, d);
    }
    add_products(slot, c.n, rows, d, memory + g.at.sum);
    __syncthreads(); // the numbers of the next cell overwrite these
}

// Sums of a window's rows over the cells in ascending order; lane r of every warp follows row r.
__device__ __forceinline__ void add_cells(const arguments &g, const window &w, int64_t row,
                                          double *memory)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int64_t *const ptr = g.s.in.point_ptr + g.m.pattern.row_first + row;
    const bool has = lane >= w.first && lane < w.end;
    int64_t at = has ? ptr[lane] : 0;
    const int64_t end = has ? ptr[lane + 1] : 0;
    uint32_t place = at < end ? g.s.in.point_place[at] : 0;
    int mine = at < end ? cell_of_place(g.s.in, place) : NO_CELL;
#pragma unroll 1
    for (;;) {
        const int number = __reduce_min_sync(ALL, mine);
        if (number == NO_CELL) return;
        int own = -1;
        if (mine == number) {
            own = static_cast<int>(place - hx_incidence_first(&g.s.in, number));
            at++;
            place = at < end ? g.s.in.point_place[at] : 0;
            mine = at < end ? cell_of_place(g.s.in, place) : NO_CELL;
        }
        add_cell(g, w, number, own, memory);
    }
}

// Computes the blocks of a window's entries from their sums and writes them to the matrix.
__device__ __forceinline__ void store_window(const arguments &g, const window &w, int64_t row,
                                             double *sum)
{
    const int thread = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
    const int64_t *const ptr = g.m.pattern.d_row_ptr + row;
    const int n_entry = w.base[ROWS];
    for (int e = thread; e < n_entry; e += step) {
        double m[3][3], k[3][3];
#pragma unroll
        for (int i = 0; i < 9; i++) m[i / 3][i % 3] = sum[9 * e + i];
        // heat conduction: its only number is stored at the beginning of the block
        if (g.m.spec.components == 1) {
            sum[9 * e] = m[0][0] + m[1][1] + m[2][2];
            continue;
        }
        hx_form_elasticity(1.0, g.lambda, g.mu, m, k);
#pragma unroll
        for (int i = 0; i < 9; i++) sum[9 * e + i] = k[i / 3][i % 3];
    }
    __syncthreads();
    if (g.m.spec.components == 1) {
#pragma unroll 1
        for (int r = w.first; r < w.end; r++) {
            const int n = static_cast<int>(ptr[r + 1] - ptr[r]), low = r == w.first ? w.low : 0;
            for (int i = thread; i < w.base[r + 1] - w.base[r]; i += step) {
                const int64_t to = hx_matrix_place(&g.m, row + r, n, low + i, 0, 0);
                if (to >= 0) hx_matrix_store(g.m, to, sum[9 * (w.base[r] + i)]);
            }
        }
    } else if (g.m.spec.format == HX_FORMAT_BSR) { // rows are contiguous
        const int64_t to = 9 * (ptr[w.first] + w.low);
        for (int i = thread; i < 9 * n_entry; i += step) hx_matrix_store(g.m, to + i, sum[i]);
    } else {
#pragma unroll 1
        for (int r = w.first; r < w.end; r++) {
            const int n = static_cast<int>(ptr[r + 1] - ptr[r]), low = r == w.first ? w.low : 0;
            const int n_value = 9 * (w.base[r + 1] - w.base[r]);
            for (int i = thread; i < n_value; i += step) {
                const int64_t to = hx_matrix_place(&g.m, row + r, n, low + i / 9, i % 9 / 3, i % 3);
                if (to >= 0) hx_matrix_store(g.m, to, sum[9 * w.base[r] + i]);
            }
        }
    }
    __syncthreads();
}

template <int WARPS>
__global__ void __launch_bounds__(WARP *WARPS) control_kernel(const __grid_constant__ arguments g)
{
    extern __shared__ __align__(128) double memory[];
    const int64_t row = static_cast<int64_t>(blockIdx.x) * ROWS;
    const int n_row =
        g.m.pattern.n_row - row < ROWS ? static_cast<int>(g.m.pattern.n_row - row) : ROWS;
    double *const sum = memory + g.at.sum;
    window w = {};
#pragma unroll 1
    do {
        w = next_window(g, row, n_row, w.end, w.low);
        for (int i = static_cast<int>(threadIdx.x); i < 9 * w.base[ROWS]; i += WARP * WARPS)
            sum[i] = 0.0;
        __syncthreads();
        add_cells(g, w, row, memory);
        store_window(g, w, row, sum);
        // the rest of a row wider than a window comes next
        const int64_t *const ptr = g.m.pattern.d_row_ptr + row;
        const int done = w.low + w.base[ROWS];
        const bool is_cut = w.end == w.first + 1 && done < ptr[w.end] - ptr[w.first];
        if (is_cut) w.end = w.first;
        w.low = is_cut ? done : 0;
    } while (w.end < n_row);
}

using control = void (*)(arguments);

control choose(int most)
{
    switch (warps_of(most)) {
    case 4:
        return control_kernel<4>;
    case 8:
        return control_kernel<8>;
    default:
        return control_kernel<16>;
    }
}

int even(int n)
{
    return (n + 1) / 2 * 2;
}

// h also holds the map's scratch data before it: 28 numbers per Gauss point, where h has at least
// 36.
layout lay_out(int most, int max_row, size_t available)
{
    const int table = static_cast<int>(sizeof(tables) / sizeof(double));
    layout l = {};
    l.most = most;
    l.batch = most < 32 ? (most + 3) / 4 * 4 : 32;
    for (;;) {
        l.stride = l.batch % 8 == 4 ? l.batch : l.batch + 4;
        l.slot = even(table);
        l.frames = l.slot + even(ROWS * most / 2 + 1);
        l.h = l.frames + even(FRAME * most);
        l.sum = l.h + even(3 * most * (l.stride < 12 ? 12 : l.stride));
        if (static_cast<size_t>(l.sum) * sizeof(double) <= available / 2 || l.batch <= 8) break;
        l.batch = l.batch > 16 ? 16 : 8;
    }
    const int left = static_cast<int>(available / sizeof(double)) - l.sum;
    const int wanted = ROWS * max_row;
    l.capacity = wanted < left / 9 ? wanted : left / 9;
    l.bytes = static_cast<size_t>(l.sum + 9 * l.capacity) * sizeof(double);
    return l;
}

int most_points(const hx_spline_rule *rule, const hx_spline_rule_patch *patch)
{
    int most = 0;
    for (int k = 0; k < rule->n_patch; k++) {
        const int *const p = patch[k].degree;
        const int n = (p[0] + 1) * (p[1] + 1) * (p[2] + 1);
        if (n > most) most = n;
    }
    return most;
}

// Number of points of the largest cell, from the rule in device memory.
int find_most(hx_device *dev, const hx_spline_rule *rule, int *most)
{
    hx_spline_rule_patch *patch;
    HX_TRY(hx_alloc_raw(&patch, static_cast<size_t>(rule->n_patch), sizeof *patch, "patches"));
    const int rc = dev->ops->download(dev, patch, rule->patch,
                                      static_cast<size_t>(rule->n_patch) * sizeof *patch);
    if (rc == HX_OK) *most = most_points(rule, patch);
    free(patch);
    return rc;
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<control_filling *>(filling);
    int device = 0, available = 0, most = 0;
    HX_TRY(find_most(f->dev, f->input.incidence.spline, &most));
    HX_TRY_CUDA(cudaGetDevice(&device));
    HX_TRY_CUDA(
        cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    f->at = lay_out(most, f->m->pattern.max_row, static_cast<size_t>(available));
    return HX_CUDA(cudaFuncSetAttribute(choose(most), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(f->at.bytes)));
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const control_filling *>(filling);
    const arguments a = {space_of(&f->input.incidence, f->input.d_xyz),
                         f->input.d_modulus,
                         f->input.form.lambda,
                         f->input.form.mu,
                         *f->m,
                         f->at};
    if (f->m->pattern.n_row == 0) return HX_OK;
    const control kernel = choose(f->at.most);
    kernel<<<hx_blocks(f->m->pattern.n_row, ROWS), WARP * warps_of(f->at.most), f->at.bytes,
             hx_cuda_of(f->dev)->stream>>>(a);
    return HX_LAUNCHED("gather of a spline");
}

void release(hx_cuda_filling *) {}

size_t bytes(const hx_cuda_filling *)
{
    return 0;
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_control = {sizeof(control_filling), prepare, run, release,
                                                bytes};
