// gather of splines all of whose patches have one degree: line by line of cells (spline_lines.cuh),
// all patches at a time whose products fit into a buffer, of a larger patch some layers of lines.
// Then each point of a patch adds its row's sums to K. Points that several patches share take
// turns: a launch for the first patch of each, which writes, one for the second, which adds, and so
// on. So every number is one sum over the patches, ascending, whatever the buffer holds.
#include <cstdlib>

#include "core/base/memory.h"
#include "hex8_tiles.cuh"
#include "matrix_cuda.cuh"
#include "product_cuda.cuh"
#include "spline_lines.cuh"

namespace
{

using namespace hx_spline_lines;

// Buffer, unless one patch needs more: bytes; layers of lines of the largest patch, in orders.
constexpr size_t LEAST_BUFFER = static_cast<size_t>(128) << 20;
constexpr int LEAST_RING = 3;

// Lines of cells and rows of points that are made at a time.
struct step {
    int patch, end;       // of these patches
    int layer, layer_end; // of a single patch the layers of lines; else all
    int rank, rank_end;   // its parts of the list of rows: one for each turn
    int64_t n_line;       // of all patches
};

// On the host: what follows from the patches alone.
struct plan {
    int n_patch, order;
    hx_interaction *patch; // [n_patch] axes, without tables and points
    int64_t *point_at;     // [n_patch + 1] points of the patches before
    int64_t *buffer_at;    // [n_patch] numbers before a patch's in its step
    int64_t *line_at;      // [n_patch] lines before a patch's in its step
    int *ring;             // [n_patch] layers of lines that lie in the buffer
    int32_t *integers;     // of all axes
    int64_t n_integer, n_buffer;
    int n_step, n_rank;
    step *step;
    int64_t *rank_at; // [n_rank + 1] rows before
    int32_t *row;     // [point_at[n_patch]] points of patches in the order of their turns
};

// A patch in device memory.
struct device_patch {
    hx_interaction in;
    int64_t first_cell, point_at, buffer_at, line_at;
    int ring, order;
};

struct lines_filling : hx_cuda_filling {
    plan p;
    device_patch *d_patch;
    int32_t *d_integers, *d_row, *d_number; // d_number: point of the whole of each patch's
    double *d_point;                        // [points of patches][4]
    double *d_buffer;
};

void free_plan(plan *p)
{
    free(p->patch);
    free(p->point_at);
    free(p->buffer_at);
    free(p->line_at);
    free(p->ring);
    free(p->integers);
    free(p->step);
    free(p->rank_at);
    free(p->row);
    *p = {};
}

// The one order of all patches and directions, or 0.
int order_of(int n_patch, const hx_spline_rule_patch *patch)
{
    for (int k = 0; k < 3 * n_patch; k++)
        if (patch[k / 3].degree[k % 3] != patch[0].degree[0]) return 0;
    return patch[0].degree[0] + 1;
}

// Sizes of an axis of degree + 1 = order; its functions end with the last span's.
void size_axis(hx_interaction_axis *axis, int order, int n_cell, const int32_t *first)
{
    *axis = {};
    axis->degree = order - 1;
    axis->n_cell = n_cell;
    axis->n = first[n_cell - 1] + order;
}

void fill_axis(const hx_interaction_axis *axis, const int32_t *from, int32_t *first, int32_t *cells,
               int32_t *reach)
{
    const int order = axis->degree + 1;
    for (int i = 0; i < axis->n; i++) cells[2 * i] = axis->n_cell;
    for (int c = 0; c < axis->n_cell; c++) {
        first[c] = from[c];
        for (int a = 0; a < order; a++) {
            int32_t *const own = cells + 2 * (from[c] + a);
            if (c < own[0]) own[0] = c;
            own[1] = c + 1;
        }
    }
    for (int i = 0; i < axis->n; i++) {
        reach[2 * i] = from[cells[2 * i]];
        reach[2 * i + 1] = from[cells[2 * i + 1] - 1] + order;
    }
}

// Pointers of the axes into integers, as fill_axes lays them.
void point_axes(plan *p, int32_t *integers, hx_interaction *patch)
{
    for (int k = 0; k < 3 * p->n_patch; k++) {
        hx_interaction_axis *const axis = &patch[k / 3].axis[k % 3];
        axis->first = integers;
        axis->cells = axis->first + axis->n_cell;
        axis->reach = axis->cells + 2 * static_cast<size_t>(axis->n);
        integers += axis->n_cell + 4 * static_cast<size_t>(axis->n);
    }
}

int make_axes(plan *p, const hx_spline_rule_patch *patch, const int32_t *first)
{
    const int32_t *from = first;
    for (int k = 0; k < p->n_patch; k++) {
        hx_interaction *const in = &p->patch[k];
        *in = {};
        in->dim = 3;
        in->n_point = in->n_cell = 1;
        for (int d = 0; d < 3; d++) {
            hx_interaction_axis *const axis = &in->axis[d];
            size_axis(axis, p->order, patch[k].n_span[d], from);
            from += axis->n_cell;
            in->n_point *= axis->n;
            in->n_cell *= axis->n_cell;
            p->n_integer += axis->n_cell + 4 * static_cast<int64_t>(axis->n);
        }
        p->point_at[k + 1] = p->point_at[k] + in->n_point;
    }
    HX_TRY(hx_alloc(&p->integers, static_cast<size_t>(p->n_integer), sizeof *p->integers, "axes"));
    point_axes(p, p->integers, p->patch);
    from = first;
    for (int k = 0; k < 3 * p->n_patch; k++) {
        const hx_interaction_axis *const axis = &p->patch[k / 3].axis[k % 3];
        int32_t *const to = p->integers + (axis->first - p->integers);
        fill_axis(axis, from, to, to + axis->n_cell,
                  to + axis->n_cell + 2 * static_cast<size_t>(axis->n));
        from += axis->n_cell;
    }
    return HX_OK;
}

// Numbers of a layer of lines.
int64_t layer_of(const plan *p, int k)
{
    return static_cast<int64_t>(p->patch[k].axis[1].n_cell) * p->patch[k].axis[0].n *
           hx_line_part(p->order);
}

int64_t whole_of(const plan *p, int k)
{
    return layer_of(p, k) * p->patch[k].axis[2].n_cell;
}

// The buffer: all, or what is enough for some layers of the largest patch. Below 2^31 numbers a
// patch.
void choose_buffer(plan *p)
{
    int64_t all = 0, least = static_cast<int64_t>(LEAST_BUFFER / sizeof(double));
    for (int k = 0; k < p->n_patch; k++) {
        const int64_t some = LEAST_RING * p->order * layer_of(p, k);
        all += whole_of(p, k);
        if (some > least) least = some;
    }
    p->n_buffer = all < least ? all : least;
    for (int k = 0; k < p->n_patch; k++) {
        const int64_t layer = layer_of(p, k);
        int64_t ring = p->n_buffer / layer;
        if (ring * layer > INT32_MAX) ring = INT32_MAX / layer;
        p->ring[k] =
            static_cast<int>(ring < p->patch[k].axis[2].n_cell ? ring : p->patch[k].axis[2].n_cell);
    }
}

int is_whole(const plan *p, int k)
{
    return p->ring[k] == p->patch[k].axis[2].n_cell;
}

int count_steps(const plan *p, int k)
{
    const int n = p->ring[k] - p->order + 1;
    return is_whole(p, k) ? 1 : (p->patch[k].axis[2].n_cell + n - 1) / n;
}

// Patches that fit together; others layers at a time.
int make_steps(plan *p)
{
    int most = 0;
    for (int k = 0; k < p->n_patch; k++) most += count_steps(p, k);
    HX_TRY(hx_alloc(&p->step, static_cast<size_t>(most), sizeof *p->step, "steps"));
    for (int k = 0, end; k < p->n_patch; k = end) {
        int64_t n = 0, line = 0;
        end = k;
        do {
            p->buffer_at[end] = n;
            p->line_at[end] = line;
            n += layer_of(p, end) * p->ring[end];
            line += static_cast<int64_t>(p->patch[end].axis[1].n_cell) * p->ring[end];
            end++;
        } while (is_whole(p, k) && end < p->n_patch && is_whole(p, end) &&
                 n + whole_of(p, end) <= p->n_buffer);
        const int n_layer = p->patch[k].axis[2].n_cell, some = p->ring[k] - p->order + 1;
        const int each = is_whole(p, k) ? n_layer : some;
        for (int layer = 0; layer < n_layer; layer += each) {
            step *const s = &p->step[p->n_step++];
            *s = {k, end, layer, layer + each < n_layer ? layer + each : n_layer, 0, 0, line};
            if (!is_whole(p, k))
                s->n_line =
                    static_cast<int64_t>(p->patch[k].axis[1].n_cell) * (s->layer_end - s->layer);
        }
    }
    return HX_OK;
}

// The step that completes each row of a patch, by the row's place in the third direction.
int is_of_step(const plan *p, const step *s, int k, int64_t point)
{
    const hx_interaction_axis *const axis = p->patch[k].axis;
    const int r = static_cast<int>(point / axis[0].n / axis[1].n);
    const int last = axis[2].cells[2 * r + 1];
    return s->end - s->patch > 1 || (last > s->layer && last <= s->layer_end);
}

// Turn of each point of each patch: how many patches before have it. -1: a patch has it twice.
int count_turns(const plan *p, const int32_t *number, int64_t n_point, uint8_t *turn, int *most)
{
    int32_t *last = nullptr;
    uint8_t *n = nullptr;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&last, static_cast<size_t>(n_point), sizeof *last, "points"));
    rc = hx_alloc(&n, static_cast<size_t>(n_point), sizeof *n, "points");
    *most = 0;
    for (int k = 0; rc == HX_OK && k < p->n_patch; k++)
        for (int64_t i = p->point_at[k]; i < p->point_at[k + 1]; i++) {
            const int32_t a = number[i];
            if (last[a] == k + 1 || n[a] == UINT8_MAX) *most = -1;
            last[a] = k + 1;
            turn[i] = n[a]++;
            if (*most >= 0 && n[a] > *most) *most = n[a];
        }
    free(last);
    free(n);
    return rc;
}

// Lists the rows of each step and turn.
int list_rows(plan *p, const uint8_t *turn, int most)
{
    const int64_t n_point = p->point_at[p->n_patch];
    int64_t n = 0;
    HX_TRY(hx_alloc(&p->row, static_cast<size_t>(n_point), sizeof *p->row, "rows"));
    HX_TRY(hx_alloc(&p->rank_at, static_cast<size_t>(p->n_step) * static_cast<size_t>(most) + 1,
                    sizeof *p->rank_at, "rows"));
    for (int i = 0; i < p->n_step; i++) {
        step *const s = &p->step[i];
        s->rank = p->n_rank;
        for (int t = 0; t < most; t++) {
            for (int k = s->patch; k < s->end; k++)
                for (int64_t a = p->point_at[k]; a < p->point_at[k + 1]; a++)
                    if (turn[a] == t && is_of_step(p, s, k, a - p->point_at[k]))
                        p->row[n++] = static_cast<int32_t>(a);
            p->rank_at[++p->n_rank] = n;
        }
        s->rank_end = p->n_rank;
    }
    return n == n_point ? HX_OK : HX_RAISE(HX_EINTERNAL, "rows of a spline");
}

// All but rows. Returns 1: these patches are not for this fill.
int make_plan(plan *p, const hx_spline_rule *rule, const hx_spline_rule_patch *patch)
{
    const auto n = static_cast<size_t>(rule->n_patch);
    p->n_patch = rule->n_patch;
    p->order = order_of(rule->n_patch, patch);
    if (p->order == 0 || !rule->first) return 1;
    HX_TRY(hx_alloc(&p->patch, n, sizeof *p->patch, "patches"));
    HX_TRY(hx_alloc(&p->point_at, n + 1, sizeof *p->point_at, "patches"));
    HX_TRY(hx_alloc(&p->buffer_at, n, sizeof *p->buffer_at, "patches"));
    HX_TRY(hx_alloc(&p->line_at, n, sizeof *p->line_at, "patches"));
    HX_TRY(hx_alloc(&p->ring, n, sizeof *p->ring, "patches"));
    HX_TRY(make_axes(p, patch, rule->first));
    if (p->point_at[p->n_patch] > INT32_MAX) return 1;
    choose_buffer(p);
    for (int k = 0; k < p->n_patch; k++) // of a layer of 2^31 numbers and more
        if (p->ring[k] < p->order && !is_whole(p, k)) return 1;
    return make_steps(p);
}

// number[] of the points of patches, from those of the cells.
__host__ __device__ inline void place_number(const device_patch &d, const hx_incidence &in,
                                             int64_t cell, int a, int32_t *number)
{
    const hx_interaction_axis *const axis = d.in.axis;
    const int order = d.order;
    const int64_t c = cell - d.first_cell;
    const int at[3] = {static_cast<int>(c % axis[0].n_cell),
                       static_cast<int>(c / axis[0].n_cell % axis[1].n_cell),
                       static_cast<int>(c / axis[0].n_cell / axis[1].n_cell)};
    const int r[3] = {axis[0].first[at[0]] + a % order, axis[1].first[at[1]] + a / order % order,
                      axis[2].first[at[2]] + a / order / order};
    number[d.point_at + hx_interaction_point(&d.in, r)] =
        in.point[hx_incidence_first(&in, cell) + a];
}

void describe(const plan *p, int k, const hx_spline_rule_patch *patch, device_patch *to)
{
    *to = {};
    to->in = p->patch[k];
    to->first_cell = patch->first_cell;
    to->point_at = p->point_at[k];
    to->buffer_at = p->buffer_at[k];
    to->line_at = p->line_at[k];
    to->ring = p->ring[k];
    to->order = p->order;
}

int make_rows(plan *p, const int32_t *number, int64_t n_point)
{
    uint8_t *turn = nullptr;
    int most = 0;
    HX_TRY(hx_alloc(&turn, static_cast<size_t>(p->point_at[p->n_patch]), sizeof *turn, "rows"));
    int rc = count_turns(p, number, n_point, turn, &most);
    if (rc == HX_OK) rc = most < 0 ? 1 : list_rows(p, turn, most);
    free(turn);
    return rc;
}

size_t held_bytes(const plan *p)
{
    const auto n = static_cast<size_t>(p->point_at[p->n_patch]);
    return static_cast<size_t>(p->n_buffer) * sizeof(double) +
           n * (4 * sizeof(double) + 2 * sizeof(int32_t)) +
           static_cast<size_t>(p->n_integer) * sizeof(int32_t) +
           static_cast<size_t>(p->n_patch) * sizeof(device_patch);
}

// ---- kernels ----

// x: cells, y: their points' threads.
__global__ void number_kernel(const device_patch *patch, hx_incidence in, int64_t n_cell, int k,
                              int32_t *number)
{
    const int cube = hx_line_cube(patch[k].order);
    const int64_t item = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (item >= n_cell * cube) return;
    place_number(patch[k], in, patch[k].first_cell + item / cube, static_cast<int>(item % cube),
                 number);
}

__global__ void point_kernel(int64_t n, const int32_t *__restrict__ number,
                             const double *__restrict__ xyz, const double *__restrict__ weight,
                             double *__restrict__ point)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const int64_t a = number[i];
    const double w = weight ? weight[a] : 1.0;
#pragma unroll
    for (int k = 0; k < 3; k++) point[4 * i + k] = w * xyz[3 * a + k];
    point[4 * i + 3] = w;
}

// The patch among first .. end - 1 in which number `at` lies, of ascending numbers `from(patch)`.
template <class From>
__device__ __forceinline__ int find_patch(int first, int end, int64_t at, From from)
{
    while (end - first > 1) {
        const int middle = (first + end) / 2;
        if (from(middle) <= at)
            first = middle;
        else
            end = middle;
    }
    return first;
}

// The struct of a patch to shared memory; the block waits.
__device__ __forceinline__ void load_patch(const device_patch *from, device_patch &to)
{
    static_assert(sizeof(device_patch) % sizeof(int64_t) == 0, "copied by words");
    for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(sizeof to / sizeof(int64_t));
         i += static_cast<int>(blockDim.x))
        reinterpret_cast<int64_t *>(&to)[i] = reinterpret_cast<const int64_t *>(from)[i];
    __syncthreads();
}

// x: a line of cells of the patches first .. end - 1, y: strips. Of a single patch the lines from
// `layer` on.
template <int ORDER>
__global__ void __launch_bounds__(shape<ORDER>::threads, shape<ORDER>::blocks)
    all_lines_kernel(const device_patch *patch, int first, int end, int layer, double *buffer)
{
    extern __shared__ __align__(128) double memory[];
    __shared__ device_patch p;
    const int64_t line = blockIdx.x;
    load_patch(patch + find_patch(first, end, line, [&](int k) { return patch[k].line_at; }), p);
    const auto at = static_cast<int>(line - p.line_at);
    run_line<ORDER>(p.in, buffer + p.buffer_at, p.ring, at % p.in.axis[1].n_cell,
                    layer + at / p.in.axis[1].n_cell, static_cast<int>(blockIdx.y), memory);
}

struct row_arguments {
    const device_patch *patch;
    hx_incidence incidence;
    hx_matrix m;
    const double *buffer;
    const int32_t *row, *number;
    int first, end; // patches
    int is_added;   // a patch before has these rows too
};

// Slot of the column at a place of the box of row r in the row of the whole; -1: none.
template <int ORDER>
__host__ __device__ inline int find_slot(const row_arguments &g, const device_patch &p,
                                         const int (&r)[3], int place)
{
    constexpr int wide = 2 * ORDER - 1;
    const int at[3] = {place % wide, place / wide % wide, place / wide / wide};
    int c[3], a[2] = {0, 0};
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        const hx_interaction_axis &u = p.in.axis[d];
        const int j = u.reach[2 * r[d]] + at[d];
        if (j >= u.reach[2 * r[d] + 1]) return -1;
        const int own = u.cells[2 * r[d]], other = u.cells[2 * j];
        c[d] = own > other ? own : other;
        a[0] = a[0] * ORDER + r[d] - u.first[c[d]];
        a[1] = a[1] * ORDER + j - u.first[c[d]];
    }
    const int64_t cell = p.first_cell + hx_interaction_cell(&p.in, c);
    const hx_device_pattern &pattern = g.m.pattern;
    return hx_slot_at(pattern.d_slot, pattern.slot_bytes,
                      hx_incidence_pair(&g.incidence, cell) + a[0] * ORDER * ORDER * ORDER + a[1]);
}

// Number (i, j) of an entry to the matrix, on top of what lies there or not.
__device__ __forceinline__ void store_number(const row_arguments &g, int64_t row, int n, int k,
                                             int i, int j, double value)
{
    const int64_t to = hx_matrix_place(&g.m, row, n, k, i, j);
    if (to < 0) return;
    hx_matrix_store(g.m, to, g.is_added ? hx_number(g.m, to) + value : value);
}

// x: a row of the list.
template <int ORDER>
__global__ void __launch_bounds__(shape<ORDER>::row_threads, shape<ORDER>::row_blocks)
    all_rows_kernel(const __grid_constant__ row_arguments g)
{
    extern __shared__ __align__(128) double memory[];
    constexpr int threads = shape<ORDER>::row_threads, wide = 2 * ORDER - 1;
    constexpr int n_place = wide * wide * wide;
    __shared__ device_patch p;
    __shared__ hx_line_row table;
    __shared__ int16_t slot[n_place];
    __shared__ int n_found;
    const int64_t at = g.row[blockIdx.x], row = g.number[at];
    load_patch(g.patch + find_patch(g.first, g.end, at, [&](int k) { return g.patch[k].point_at; }),
               p);
    int r[3], n_mine = 0;
    hx_interaction_place(&p.in, at - p.point_at, r);
    const int64_t *const ptr = g.m.pattern.d_row_ptr + row;
    const int n = static_cast<int>(ptr[1] - ptr[0]), c = g.m.spec.components;
    for (int i = static_cast<int>(threadIdx.x); i < n_place; i += threads) {
        const int k = find_slot<ORDER>(g, p, r, i);
        slot[i] = static_cast<int16_t>(k);
        n_mine += k >= 0 ? 1 : 0;
    }
    for_items<threads>(hx_line_row_items(ORDER),
                       [&](int item) { hx_line_row_make(&p.in, ORDER, p.ring, r, item, &table); });
    if (!g.is_added) { // entries of the row that only later patches have: 0 so far
        if (threadIdx.x == 0) n_found = 0;
        __syncthreads();
        if (n_mine > 0) atomicAdd(&n_found, n_mine); // a count: no order matters
        __syncthreads();
        if (n_found < n)
            for_items<threads>(n * c * c, [&](int item) {
                store_number(g, row, n, item / (c * c), item / c % c, item % c, 0.0);
            });
    }
    for_items<threads>(3 * n_place, [&](int item) {
        int box[3], j[3], i;
        const int k = hx_line_item(ORDER, item, box, &i);
        if (slot[k] < 0) return;
#pragma unroll
        for (int d = 0; d < 3; d++) j[d] = p.in.axis[d].reach[2 * r[d]] + box[d];
        hx_line_sum(ORDER, g.buffer + p.buffer_at, &table, r, box, j, i, memory + 9 * k);
    });
    for_items<threads>(n_place, [&](int k) {
        if (slot[k] >= 0) hx_line_block(&p.in, c, memory + 9 * k);
    });
    if (c == 1) {
        for_items<threads>(n_place, [&](int k) {
            if (slot[k] >= 0) store_number(g, row, n, slot[k], 0, 0, memory[9 * k]);
        });
        return;
    }
    for_items<threads>(9 * n_place, [&](int item) {
        const int k = slot[item / 9];
        if (k >= 0) store_number(g, row, n, k, item % 9 / 3, item % 3, memory[item]);
    });
}

// ---- the fill ----

template <int ORDER> int run_step(const lines_filling *f, const step *s)
{
    using S = shape<ORDER>;
    const plan *const p = &f->p;
    constexpr size_t row_bytes = sizeof(double) * row_size<ORDER>();
    const size_t bytes = sizeof(double) * static_cast<size_t>(hx_line_size(ORDER, S::layers));
    const cudaStream_t stream = hx_cuda_of(f->dev)->stream;
    const dim3 lines(static_cast<unsigned>(s->n_line), static_cast<unsigned>(S::parts));
    all_lines_kernel<ORDER>
        <<<lines, S::threads, bytes, stream>>>(f->d_patch, s->patch, s->end, s->layer, f->d_buffer);
    HX_TRY_LAUNCH("lines of a spline");
    for (int t = s->rank; t < s->rank_end; t++) {
        const int64_t n = p->rank_at[t + 1] - p->rank_at[t];
        const row_arguments g = {
            f->d_patch,  f->input.incidence, *f->m,  f->d_buffer, f->d_row + p->rank_at[t],
            f->d_number, s->patch,           s->end, t > s->rank};
        if (n == 0) continue;
        all_rows_kernel<ORDER><<<static_cast<unsigned>(n), S::row_threads, row_bytes, stream>>>(g);
        HX_TRY_LAUNCH("rows of a spline");
    }
    return HX_OK;
}

template <int ORDER> int run_order(const lines_filling *f)
{
    for (int i = 0; i < f->p.n_step; i++) HX_TRY(run_step<ORDER>(f, &f->p.step[i]));
    return HX_OK;
}

template <int ORDER> int allow_memory()
{
    const int bytes = hx_line_size(ORDER, shape<ORDER>::layers) * static_cast<int>(sizeof(double));
    constexpr int rows = row_size<ORDER>() * static_cast<int>(sizeof(double));
    HX_TRY(check_shared(static_cast<size_t>(bytes)));
    HX_TRY_CUDA(cudaFuncSetAttribute(all_lines_kernel<ORDER>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    HX_TRY_CUDA(cudaFuncSetAttribute(all_rows_kernel<ORDER>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, rows));
    return HX_OK;
}

// Numbers and coordinates of the points of patches.
int make_points(lines_filling *f, int32_t *number)
{
    const plan *const p = &f->p;
    const int64_t n = p->point_at[p->n_patch], cube = hx_line_cube(p->order);
    const hx_spline_rule *const rule = f->input.incidence.spline;
    const cudaStream_t stream = hx_cuda_of(f->dev)->stream;
    for (int k = 0; k < p->n_patch; k++) {
        const int64_t n_cell = p->patch[k].n_cell;
        number_kernel<<<hx_blocks(n_cell * cube, HX_BLOCK), HX_BLOCK, 0, stream>>>(
            f->d_patch, f->input.incidence, n_cell, k, f->d_number);
        HX_TRY_LAUNCH("points of a spline");
    }
    point_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream>>>(n, f->d_number, f->input.d_xyz,
                                                                  rule->weight, f->d_point);
    HX_TRY_LAUNCH("points of a spline");
    return f->dev->ops->download(f->dev, number, f->d_number,
                                 static_cast<size_t>(n) * sizeof *number);
}

int put_patches(lines_filling *f, const hx_spline_rule_patch *patch)
{
    const plan *const p = &f->p;
    const hx_spline_rule *const rule = f->input.incidence.spline;
    device_patch *d;
    HX_TRY(hx_alloc(&d, static_cast<size_t>(p->n_patch), sizeof *d, "patches"));
    const int32_t *const host = p->integers;
    for (int k = 0; k < p->n_patch; k++) {
        describe(p, k, &patch[k], &d[k]);
        hx_interaction *const in = &d[k].in;
        for (int i = 0; i < 3; i++) {
            hx_interaction_axis *const axis = &in->axis[i];
            axis->first = f->d_integers + (axis->first - host);
            axis->cells = f->d_integers + (axis->cells - host);
            axis->reach = f->d_integers + (axis->reach - host);
            axis->table = rule->table + patch[k].at[i];
        }
        in->is_rational = rule->weight != nullptr;
        in->lambda = f->input.form.lambda;
        in->mu = f->input.form.mu;
        in->point = f->d_point + 4 * p->point_at[k];
        in->modulus = f->input.d_modulus + patch[k].first_cell;
    }
    const int rc =
        hx_device_put(f->dev, &f->d_patch, d, static_cast<size_t>(p->n_patch) * sizeof *d);
    free(d);
    return rc;
}

int put_all(lines_filling *f, const hx_spline_rule_patch *patch)
{
    plan *const p = &f->p;
    const hx_device_ops *const ops = f->dev->ops;
    const auto n = static_cast<size_t>(p->point_at[p->n_patch]);
    int32_t *number = nullptr;
    HX_TRY(hx_device_put(f->dev, &f->d_integers, p->integers,
                         static_cast<size_t>(p->n_integer) * sizeof *p->integers));
    HX_TRY(ops->alloc(f->dev, n * sizeof *f->d_number, &f->d_number));
    HX_TRY(ops->alloc(f->dev, 4 * n * sizeof *f->d_point, &f->d_point));
    HX_TRY(put_patches(f, patch));
    HX_TRY(hx_alloc(&number, n, sizeof *number, "points of patches"));
    int rc = make_points(f, number);
    if (rc == HX_OK) rc = make_rows(p, number, f->input.incidence.n_point);
    free(number);
    if (rc != HX_OK) return rc;
    HX_TRY(hx_device_put(f->dev, &f->d_row, p->row, n * sizeof *p->row));
    return ops->alloc(f->dev, static_cast<size_t>(p->n_buffer) * sizeof *f->d_buffer, &f->d_buffer);
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<lines_filling *>(filling);
    const hx_spline_rule *const rule = f->input.incidence.spline;
    const hx_device_pattern *const pattern = &f->m->pattern;
    const auto bytes = static_cast<size_t>(rule->n_patch) * sizeof(hx_spline_rule_patch);
    hx_spline_rule_patch *patch = nullptr;
    if (pattern->n_row != pattern->n_point || pattern->max_row > INT16_MAX) return 1;
    HX_TRY(hx_alloc_raw(&patch, static_cast<size_t>(rule->n_patch), sizeof *patch, "patches"));
    int rc = f->dev->ops->download(f->dev, patch, rule->patch, bytes);
    if (rc == HX_OK) rc = make_plan(&f->p, rule, patch);
    if (rc == HX_OK) rc = put_all(f, patch);
    free(patch);
    if (rc != HX_OK) return rc;
    return f->p.order == 2   ? allow_memory<2>()
           : f->p.order == 3 ? allow_memory<3>()
           : f->p.order == 4 ? allow_memory<4>()
                             : allow_memory<5>();
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const lines_filling *>(filling);
    switch (f->p.order) {
    case 2:
        return run_order<2>(f);
    case 3:
        return run_order<3>(f);
    case 4:
        return run_order<4>(f);
    default:
        return run_order<5>(f);
    }
}

void release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<lines_filling *>(filling);
    void *const owned[] = {f->d_patch,  f->d_integers, f->d_row,
                           f->d_number, f->d_point,    f->d_buffer};
    for (void *const d : owned) f->dev->ops->release(f->dev, d);
    free_plan(&f->p);
}

size_t bytes(const hx_cuda_filling *filling)
{
    return held_bytes(&static_cast<const lines_filling *>(filling)->p);
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_lines = {sizeof(lines_filling), prepare, run, release, bytes};

size_t hx_cuda_lines_expected(const hx_incidence *in)
{
    const hx_spline_rule *const rule = in->spline;
    plan p = {};
    device_patch d;
    int32_t *number = nullptr;
    size_t found = 0;
    int rc = make_plan(&p, rule, rule->patch);
    if (rc == HX_OK)
        rc =
            hx_alloc(&number, static_cast<size_t>(p.point_at[p.n_patch]), sizeof *number, "points");
    for (int k = 0; rc == HX_OK && k < p.n_patch; k++) {
        describe(&p, k, &rule->patch[k], &d);
        for (int64_t i = 0; i < p.patch[k].n_cell * hx_line_cube(p.order); i++)
            place_number(d, *in, d.first_cell + i / hx_line_cube(p.order),
                         static_cast<int>(i % hx_line_cube(p.order)), number);
    }
    if (rc == HX_OK) rc = make_rows(&p, number, in->n_point);
    if (rc == HX_OK) found = held_bytes(&p);
    if (rc < 0) hx_error_clear();
    free(number);
    free_plan(&p);
    return found;
}
