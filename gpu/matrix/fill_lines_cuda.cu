// The fill `gather` for splines whose patches all have one degree: line by line of cells
// (spline_lines.cuh), in the steps that core/matrix/line_plan.h plans. Each control point of a
// patch adds the sums of its row to K. For points that several patches share, the first launch
// writes the rows of the first patch of each point, the second launch adds those of the second
// patch, and so on.
#include <cstdlib>

#include "core/base/memory.h"
#include "core/matrix/line_plan.h"
#include "hex8_tiles.cuh"
#include "matrix_cuda.cuh"
#include "product_cuda.cuh"
#include "spline_lines.cuh"

namespace
{

using namespace hx_spline_lines;
using plan = hx_line_plan;

// A patch in device memory.
struct device_patch {
    hx_interaction in;
    int64_t first_cell, point_at, buffer_at, line_at;
    int ring, order;
};

struct lines_filling : hx_cuda_filling {
    plan p;
    device_patch *d_patch;
    // d_number: index in the whole spline of each control point of a patch
    int32_t *d_integers, *d_row, *d_number;
    double *d_point; // [control points of patches][4]
    double *d_buffer;
};

// Default number of lines in the buffer: as many as an H200 runs at a time. The memory is estimated
// without querying a device; one with more multiprocessors takes slightly longer.
constexpr int MULTIPROCESSORS = 132;

template <int ORDER> constexpr int64_t lines_at_once()
{
    using S = shape<ORDER>;
    return (MULTIPROCESSORS * S::blocks + S::parts - 1) / S::parts;
}

hx_line_budget budget_of(int degree, size_t bytes)
{
    const int64_t n = degree == 1   ? lines_at_once<2>()
                      : degree == 2 ? lines_at_once<3>()
                      : degree == 3 ? lines_at_once<4>()
                                    : lines_at_once<5>();
    return {n, bytes};
}

// Returns 1 if this fill does not support these patches.
int make_plan(plan *p, const hx_spline_rule *rule, const hx_spline_rule_patch *patch, size_t bytes)
{
    const hx_line_budget budget = budget_of(patch[0].degree[0], bytes);
    return hx_line_plan_make(p, rule, patch, &budget);
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

// One thread per control point of a cell.
__global__ void number_kernel(const device_patch *patch, hx_incidence in, int64_t n_cell, int k,
                              int32_t *number)
{
    const int cube = hx_line_cube(patch[k].order);
    const int64_t item = hx_grid_thread();
    if (item >= n_cell * cube) return;
    const int64_t cell = item / cube;
    const auto a = static_cast<int>(item % cube);
    number[patch[k].point_at + hx_line_point_of(&patch[k].in, patch[k].order, cell, a)] =
        in.point[hx_incidence_first(&in, patch[k].first_cell + cell) + a];
}

__global__ void point_kernel(int64_t n, const int32_t *__restrict__ number,
                             const double *__restrict__ xyz, const double *__restrict__ weight,
                             double *__restrict__ point)
{
    const int64_t i = hx_grid_thread();
    if (i >= n) return;
    const int64_t a = number[i];
    const double w = weight ? weight[a] : 1.0;
#pragma unroll
    for (int k = 0; k < 3; k++) point[4 * i + k] = w * xyz[3 * a + k];
    point[4 * i + 3] = w;
}

// The patch among first .. end - 1 that contains index `at`, given the ascending first indices
// from(patch).
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

// Copies the struct of a patch to shared memory; the block waits.
__device__ __forceinline__ void load_patch(const device_patch *from, device_patch &to)
{
    static_assert(sizeof(device_patch) % sizeof(int64_t) == 0, "it is copied by words");
    for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(sizeof to / sizeof(int64_t));
         i += static_cast<int>(blockDim.x))
        reinterpret_cast<int64_t *>(&to)[i] = reinterpret_cast<const int64_t *>(from)[i];
    __syncthreads();
}

// x: lines of cells of the patches first .. end - 1; y: strips. For a single patch, the lines from
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
    hx_matrix m;
    const double *buffer;
    const int32_t *row, *number;
    int first, end; // range of patches
    int is_added;   // 1: a preceding patch has written these rows
};

// Index, in a row's n ascending columns, of the control point at a place of the box of r; -1: none.
template <int ORDER>
__device__ __forceinline__ int find_entry(const row_arguments &g, const device_patch &p,
                                          const int (&r)[3], int place,
                                          const int32_t *__restrict__ column, int n)
{
    constexpr int wide = 2 * ORDER - 1;
    const int at[3] = {place % wide, place / wide % wide, place / wide / wide};
    int j[3], low = 0;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const int32_t *const reach = p.in.axis[d].reach + 2 * r[d];
        j[d] = reach[0] + at[d];
        if (j[d] >= reach[1]) return -1;
    }
    const int32_t point = g.number[p.point_at + hx_interaction_point(&p.in, j)];
    for (int end = n; low < end;) {
        const int middle = (low + end) / 2;
        if (column[middle] < point)
            low = middle + 1;
        else
            end = middle;
    }
    return low < n && column[low] == point ? low : -1;
}

// Writes number (i, j) of an entry to the matrix, or adds it if the row has been written before.
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
    __shared__ int16_t entry[n_place];
    __shared__ int n_found;
    const int64_t at = g.row[blockIdx.x], row = g.number[at];
    load_patch(g.patch + find_patch(g.first, g.end, at, [&](int k) { return g.patch[k].point_at; }),
               p);
    int r[3], n_mine = 0;
    hx_interaction_place(&p.in, at - p.point_at, r);
    const int64_t *const ptr = g.m.pattern.d_row_ptr + row;
    const int n = static_cast<int>(ptr[1] - ptr[0]), c = g.m.spec.components;
    for (int i = static_cast<int>(threadIdx.x); i < n_place; i += threads) {
        const int k = find_entry<ORDER>(g, p, r, i, g.m.pattern.d_col + ptr[0], n);
        entry[i] = static_cast<int16_t>(k);
        n_mine += k >= 0 ? 1 : 0;
    }
    for_items<threads>(hx_line_row_items(ORDER),
                       [&](int item) { hx_line_row_make(&p.in, ORDER, p.ring, r, item, &table); });
    if (!g.is_added) { // set to 0 the entries of the row that only later patches have
        if (threadIdx.x == 0) n_found = 0;
        __syncthreads();
        if (n_mine > 0) atomicAdd(&n_found, n_mine); // a count, so the order does not matter
        __syncthreads();
        if (n_found < n)
            for_items<threads>(n * c * c, [&](int item) {
                store_number(g, row, n, item / (c * c), item / c % c, item % c, 0.0);
            });
    }
    for_items<threads>(3 * n_place, [&](int item) {
        int box[3], j[3], i;
        const int k = hx_line_item(ORDER, item, box, &i);
        if (entry[k] < 0) return;
#pragma unroll
        for (int d = 0; d < 3; d++) j[d] = p.in.axis[d].reach[2 * r[d]] + box[d];
        hx_line_sum(ORDER, g.buffer + p.buffer_at, &table, r, box, j, i, memory + 9 * k);
    });
    for_items<threads>(n_place, [&](int k) {
        if (entry[k] >= 0) hx_line_block(&p.in, c, memory + 9 * k);
    });
    if (c == 1) {
        for_items<threads>(n_place, [&](int k) {
            if (entry[k] >= 0) store_number(g, row, n, entry[k], 0, 0, memory[9 * k]);
        });
        return;
    }
    for_items<threads>(9 * n_place, [&](int item) {
        const int k = entry[item / 9];
        if (k >= 0) store_number(g, row, n, k, item % 9 / 3, item % 3, memory[item]);
    });
}

// ---- the fill ----

template <int ORDER> int run_step(const lines_filling *f, const hx_line_step *s)
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
    for (int t = s->turn; t < s->turn_end; t++) {
        const int64_t n = p->turn_at[t + 1] - p->turn_at[t];
        const row_arguments g = {f->d_patch,  *f->m,    f->d_buffer, f->d_row + p->turn_at[t],
                                 f->d_number, s->patch, s->end,      t > s->turn};
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
    return HX_CUDA(cudaFuncSetAttribute(all_rows_kernel<ORDER>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, rows));
}

// Indices and coordinates of the control points of patches.
int make_points(lines_filling *f, int32_t *number)
{
    const plan *const p = &f->p;
    const int64_t n = p->point_at[p->n_patch], cube = hx_line_cube(p->order);
    const hx_spline_rule *const rule = f->input.incidence.spline;
    for (int k = 0; k < p->n_patch; k++) {
        const int64_t n_cell = p->patch[k].n_cell;
        HX_TRY(hx_launch(f->dev, "points of a spline", n_cell * cube, number_kernel, f->d_patch,
                         f->input.incidence, n_cell, k, f->d_number));
    }
    HX_TRY(hx_launch(f->dev, "points of a spline", n, point_kernel, n, f->d_number, f->input.d_xyz,
                     rule->weight, f->d_point));
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
        device_patch *const to = &d[k];
        *to = {};
        to->in = p->patch[k];
        to->first_cell = p->first_cell[k];
        to->point_at = p->point_at[k];
        to->buffer_at = p->buffer_at[k];
        to->line_at = p->line_at[k];
        to->ring = p->ring[k];
        to->order = p->order;
        hx_interaction *const in = &to->in;
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
    if (rc == HX_OK) rc = hx_line_plan_rows(p, number, f->input.incidence.n_point);
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
    if (rc == HX_OK) rc = make_plan(&f->p, rule, patch, f->input.buffer);
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
    hx_line_plan_free(&f->p);
}

size_t bytes(const hx_cuda_filling *filling)
{
    return held_bytes(&static_cast<const lines_filling *>(filling)->p);
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_lines = {
    sizeof(lines_filling), prepare, run, release, bytes, 1};

size_t hx_cuda_lines_expected(const hx_incidence *in)
{
    plan p = {};
    int32_t *number = nullptr;
    size_t found = 0;
    int rc = make_plan(&p, in->spline, in->spline->patch, 0);
    if (rc == HX_OK)
        rc =
            hx_alloc(&number, static_cast<size_t>(p.point_at[p.n_patch]), sizeof *number, "points");
    if (rc == HX_OK) {
        hx_line_plan_number(&p, in, number);
        rc = hx_line_plan_rows(&p, number, in->n_point);
    }
    if (rc == HX_OK) found = held_bytes(&p);
    if (rc < 0) hx_error_clear();
    free(number);
    hx_line_plan_free(&p);
    return found;
}
