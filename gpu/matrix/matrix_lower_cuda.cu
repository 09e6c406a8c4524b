// Products of lower matrices on the GPU, y = (L + L' - D) x, bitwise reproducible. bsr with 3
// unknowns reads each block once, in runs of rows (lower_runs.cuh). Other formats read each block
// twice.

#include "../device/scan_cuda.cuh"
#include "core/base/memory.h"
#include "core/matrix/pattern_internal.h"
#include "lower_runs.cuh"

namespace
{

using namespace hx_lower;

view view_of(const hx_matrix *m, const hx_cuda_lower *s)
{
    return {m->pattern.n_row, s->n_each,        s->most_block,  s->most_outer, m->pattern.d_row_ptr,
            s->d_outer_begin, m->pattern.d_col, s->d_outer_row, s->d_code,     s->d_list,
            s->d_end};
}

// Adds the contributions of other runs, one thread per number.
__global__ void __launch_bounds__(HX_BLOCK)
    parts_kernel(hx_cuda_rows rows, const int32_t *__restrict__ part_ptr,
                 const int32_t *__restrict__ part, const double *__restrict__ aside,
                 double *__restrict__ y)
{
    const int64_t thread = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    const int64_t at = thread / 3;
    const int i = static_cast<int>(thread - 3 * at);
    const int64_t row = hx_row_at(rows, at);
    if (row < 0) return;
    const int32_t begin = part_ptr[row], end = part_ptr[row + 1];
    if (begin == end) return;
    double *const to = y + 3 * row + i;
    double sum = *to;
    for (int32_t k = begin; k < end; k++) sum += aside[3 * static_cast<int64_t>(part[k]) + i];
    *to = sum;
}

// One thread per number of y: first the blocks of its row, then those of its column.
__global__ void __launch_bounds__(HX_BLOCK)
    lists_kernel(const int32_t *__restrict__ block, hx_matrix m,
                 const int64_t *__restrict__ column_ptr, const int32_t *__restrict__ row_of,
                 const uint16_t *__restrict__ entry_of, const double *__restrict__ x,
                 double *__restrict__ y)
{
    const int64_t thread = hx_block_at(block) * HX_BLOCK + threadIdx.x;
    const int c = m.spec.components;
    const int64_t r = thread / c, *const ptr = m.pattern.d_row_ptr;
    const int i = static_cast<int>(thread - c * r);
    if (r >= m.pattern.n_row) return;
    const int n = static_cast<int>(ptr[r + 1] - ptr[r]);
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        const double *const xk = x + c * static_cast<int64_t>(m.pattern.d_col[ptr[r] + k]);
        for (int j = 0; j < c; j++) {
            int64_t at = hx_matrix_place(&m, r, n, k, i, j);
            if (at < 0) at = hx_matrix_place(&m, r, n, k, j, i);
            sum += hx_number(m, at) * xk[j];
        }
    }
    for (int64_t t = column_ptr[r]; t < column_ptr[r + 1]; t++) {
        const int64_t row = row_of[t];
        const int n_there = static_cast<int>(ptr[row + 1] - ptr[row]);
        for (int j = 0; j < c; j++)
            sum +=
                hx_number(m, hx_matrix_place(&m, row, n_there, entry_of[t], j, i)) * x[c * row + j];
    }
    y[thread] = sum;
}

// --- the plan: runs ---

// most[i] = maximum number of blocks in a run of SHAPE[i] rows.
__global__ void most_blocks_kernel(int64_t n_row, const int64_t *__restrict__ row_ptr,
                                   unsigned long long *most)
{
    constexpr int shape[N_SHAPE] = {SHAPE[0], SHAPE[1], SHAPE[2], SHAPE[3]};
    const int64_t thread = hx_grid_thread();
#pragma unroll
    for (int i = 0; i < N_SHAPE; i++) {
        const int64_t first = thread * shape[i];
        if (first >= n_row) continue;
        const int64_t last = first + shape[i] < n_row ? first + shape[i] : n_row;
        atomicMax(most + i, static_cast<unsigned long long>(row_ptr[last] - row_ptr[first]));
    }
}

template <class T> __global__ void count_up_kernel(int64_t n, T *to)
{
    const int64_t k = hx_grid_thread();
    if (k < n) to[k] = static_cast<T>(k);
}

// ptr[row] = number of keys below row; keys are sorted.
template <class T>
__global__ void pointers_kernel(int64_t n_row, int64_t n, const int32_t *__restrict__ key,
                                T *__restrict__ ptr)
{
    const int64_t row = hx_grid_thread();
    if (row > n_row) return;
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (key[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    ptr[row] = static_cast<T>(low);
}

// Number of bits of numbers below n.
int bits_of(int64_t n)
{
    int bits = 1;
    while (bits < 31 && n >> bits) bits++;
    return bits;
}

size_t shared_bytes(const hx_matrix_spec *spec, int n_each, int64_t most_block, int64_t most_outer)
{
    const layout at =
        spec->single
            ? layout_of<float>(n_each, static_cast<int>(most_block), static_cast<int>(most_outer))
            : layout_of<double>(n_each, static_cast<int>(most_block), static_cast<int>(most_outer));
    return static_cast<size_t>(at.bytes);
}

// Number of rows of a run, from the maximum number of blocks of each shape; 0: no shape fits.
int choose_shape(const hx_matrix_spec *spec, const unsigned long long most[N_SHAPE],
                 int64_t *most_block)
{
    for (int i = 0; i < N_SHAPE; i++) {
        *most_block = static_cast<int64_t>(most[i]);
        if (*most_block <= UINT16_MAX / 2 &&
            shared_bytes(spec, SHAPE[i], *most_block, *most_block) <= MOST_SHARED)
            return SHAPE[i];
    }
    return 0;
}

bool may_run(const hx_matrix_spec *spec)
{
    return spec->format == HX_FORMAT_BSR && spec->components == 3;
}

int find_shape(hx_device *dev, const hx_matrix *m, hx_cuda_lower *s)
{
    const int64_t n_row = m->pattern.n_row;
    hx_cuda_scratch scratch(dev);
    unsigned long long *d_most, most[N_SHAPE];
    int64_t most_block;
    HX_TRY(scratch.take(&d_most, N_SHAPE));
    HX_TRY(dev->ops->zero(dev, d_most, sizeof most));
    HX_TRY(hx_launch(dev, "blocks of runs", n_row / SHAPE[N_SHAPE - 1] + 1, most_blocks_kernel,
                     n_row, m->pattern.d_row_ptr, d_most));
    HX_TRY(dev->ops->download(dev, most, d_most, sizeof most));
    s->n_each = choose_shape(&m->spec, most, &most_block);
    if (s->n_each == 0) return HX_OK;
    s->most_block = static_cast<int>(most_block);
    s->n_run = (n_row + s->n_each - 1) / s->n_each;
    return HX_OK;
}

template <class T> int allow_shared()
{
    HX_TRY_CUDA(cudaFuncSetAttribute(runs_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(MOST_SHARED)));
    return HX_CUDA(cudaFuncSetAttribute(runs_kernel<T>,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
}

size_t list_numbers(int64_t n_off, int64_t n_run)
{
    return static_cast<size_t>(hx_lower_place(n_off, n_run) + 8);
}

// Shared memory for the columns of a run, in whole vectors of 16 bytes, because compilers read it
// that way.
size_t column_bytes(const hx_cuda_lower *s)
{
    return (static_cast<size_t>(s->most_block) + 3) / 4 * 4 * sizeof(int32_t);
}

// Creates the lists of the runs, and counts the outer rows of each.
int list_runs(hx_device *dev, const hx_matrix *m, hx_cuda_lower *s)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const unsigned n_run = static_cast<unsigned>(s->n_run);
    const size_t n_shared = column_bytes(s);
    const size_t n_ptr = static_cast<size_t>(s->n_run) + 1;
    HX_TRY(dev->ops->alloc(dev, list_numbers(s->n_off, s->n_run) * sizeof(uint16_t), &s->d_list));
    HX_TRY(dev->ops->alloc(dev, n_ptr * sizeof(int64_t), &s->d_outer_begin));
    list_kernel<<<n_run, SIZE, n_shared, stream>>>(view_of(m, s), s->d_list, s->d_outer_begin);
    HX_TRY_LAUNCH("lists of runs");
    HX_TRY(hx_sum_with(dev, s->d_outer_begin + 1, s->n_run));
    return dev->ops->download(dev, &s->n_outer, s->d_outer_begin + s->n_run, sizeof s->n_outer);
}

// Creates the ends of the lists, and the lists of contributions to each row.
int list_parts(hx_device *dev, const hx_matrix *m, hx_cuda_lower *s)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const int64_t n_row = m->pattern.n_row, n = s->n_outer;
    const size_t n_shared = column_bytes(s);
    const size_t n_place = static_cast<size_t>(n);
    hx_cuda_scratch scratch(dev);
    int32_t *d_sorted, *d_count;
    unsigned long long *d_most, most;
    HX_TRY(dev->ops->alloc(dev, list_numbers(n + n_row, s->n_run) * sizeof(uint16_t), &s->d_end));
    HX_TRY(dev->ops->alloc(dev, n_place * 3 * sizeof(double), &s->d_aside));
    HX_TRY(dev->ops->alloc(dev, n_place * sizeof(int32_t), &s->d_part));
    HX_TRY(
        dev->ops->alloc(dev, (static_cast<size_t>(n_row) + 1) * sizeof(int32_t), &s->d_part_ptr));
    HX_TRY(dev->ops->alloc(dev, n_place * sizeof(int32_t), &s->d_outer_row));
    HX_TRY(scratch.take(&d_sorted, n));
    HX_TRY(scratch.take(&d_count, n));
    HX_TRY(scratch.take(&d_most, 1));
    HX_TRY(dev->ops->zero(dev, d_most, sizeof most));
    ends_kernel<<<static_cast<unsigned>(s->n_run), SIZE, n_shared, stream>>>(
        view_of(m, s), s->d_end, s->d_outer_row, d_most);
    HX_TRY_LAUNCH("ends of lists");
    if (n > 0) {
        HX_TRY(hx_launch(dev, "outer rows", n, count_up_kernel<int32_t>, n, d_count));
        HX_TRY(
            hx_sort_by_key(dev, s->d_outer_row, d_sorted, d_count, s->d_part, n, bits_of(n_row)));
    }
    HX_TRY(hx_launch(dev, "outer rows", n_row + 1, pointers_kernel<int32_t>, n_row, n, d_sorted,
                     s->d_part_ptr));
    HX_TRY(dev->ops->download(dev, &most, d_most, sizeof most));
    s->most_outer = static_cast<int>(most);
    return HX_OK;
}

size_t code_numbers(int64_t n_block)
{
    return static_cast<size_t>(n_block) + 8;
}

int create_runs(hx_device *dev, const hx_matrix *m, hx_cuda_lower *s)
{
    HX_TRY(list_runs(dev, m, s));
    if (s->n_outer > INT32_MAX || s->n_run > INT32_MAX)
        return HX_RAISE(HX_EENV,
                        "the product of a lower matrix would need %lld sums, more than a 31-bit "
                        "index can count; use the full matrix, or renumber the mesh",
                        static_cast<long long>(s->n_outer));
    HX_TRY(list_parts(dev, m, s));
    HX_TRY(dev->ops->alloc(dev, code_numbers(m->pattern.n_entry) * sizeof(uint16_t), &s->d_code));
    codes_kernel<<<static_cast<unsigned>(s->n_run), SIZE, 0, hx_cuda_of(dev)->stream>>>(
        view_of(m, s), s->d_code);
    HX_TRY_LAUNCH("points of blocks");
    return m->spec.single ? allow_shared<float>() : allow_shared<double>();
}

// --- the plan: lists ---

// Blocks off the diagonal: column, and row << 16 | index in the row. One thread per row.
__global__ void blocks_kernel(int64_t n_row, const int64_t *__restrict__ row_ptr,
                              const int32_t *__restrict__ col, int32_t *__restrict__ key,
                              uint64_t *__restrict__ block)
{
    const int64_t r = hx_grid_thread();
    if (r >= n_row) return;
    const int64_t begin = row_ptr[r];
    const int n_off = static_cast<int>(row_ptr[r + 1] - begin) - 1;
    for (int k = 0; k < n_off; k++) {
        key[begin - r + k] = col[begin + k];
        block[begin - r + k] = static_cast<uint64_t>(r) << 16 | static_cast<uint64_t>(k);
    }
}

__global__ void split_kernel(int64_t n, const uint64_t *__restrict__ block,
                             int32_t *__restrict__ row, uint16_t *__restrict__ entry)
{
    const int64_t k = hx_grid_thread();
    if (k >= n) return;
    row[k] = static_cast<int32_t>(block[k] >> 16);
    entry[k] = static_cast<uint16_t>(block[k] & 0xffff);
}

// Number of thread blocks of lists_kernel.
int64_t list_blocks(const hx_matrix_spec *spec, int64_t n_row)
{
    return (spec->components * n_row + HX_BLOCK - 1) / HX_BLOCK;
}

int create_lists(hx_device *dev, const hx_matrix *m, hx_cuda_lower *s)
{
    const hx_device_pattern &p = m->pattern;
    const size_t n_off = static_cast<size_t>(s->n_off);
    hx_cuda_scratch scratch(dev);
    int32_t *d_key, *d_sorted;
    uint64_t *d_block, *d_block_sorted;
    HX_TRY(dev->ops->alloc(dev, (static_cast<size_t>(p.n_row) + 1) * sizeof(int64_t),
                           &s->d_column_ptr));
    HX_TRY(dev->ops->alloc(dev, n_off * sizeof(int32_t), &s->d_row));
    HX_TRY(dev->ops->alloc(dev, n_off * sizeof(uint16_t), &s->d_entry));
    HX_TRY(scratch.take(&d_key, s->n_off));
    HX_TRY(scratch.take(&d_sorted, s->n_off));
    HX_TRY(scratch.take(&d_block, s->n_off));
    HX_TRY(scratch.take(&d_block_sorted, s->n_off));
    if (s->n_off > 0) {
        HX_TRY(hx_launch(dev, "blocks of columns", p.n_row, blocks_kernel, p.n_row, p.d_row_ptr,
                         p.d_col, d_key, d_block));
        HX_TRY(hx_sort_by_key(dev, d_key, d_sorted, d_block, d_block_sorted, s->n_off,
                              bits_of(p.n_row)));
        HX_TRY(hx_launch(dev, "blocks of columns", s->n_off, split_kernel, s->n_off, d_block_sorted,
                         s->d_row, s->d_entry));
    }
    return hx_launch(dev, "blocks of columns", p.n_row + 1, pointers_kernel<int64_t>, p.n_row,
                     s->n_off, d_sorted, s->d_column_ptr);
}

size_t bytes_of_runs(int64_t n_row, int64_t n_off, int64_t n_run, int64_t n_outer)
{
    return (list_numbers(n_off, n_run) + list_numbers(n_outer + n_row, n_run) +
            code_numbers(n_off + n_row)) *
               sizeof(uint16_t) +
           (static_cast<size_t>(n_run) + 1) * sizeof(int64_t) +
           (static_cast<size_t>(n_row) + 1) * sizeof(int32_t) +
           static_cast<size_t>(n_outer) * (3 * sizeof(double) + 2 * sizeof(int32_t));
}

size_t bytes_of_lists(int64_t n_row, int64_t n_off)
{
    return (static_cast<size_t>(n_row) + 1) * sizeof(int64_t) +
           static_cast<size_t>(n_off) * (sizeof(int32_t) + sizeof(uint16_t));
}

// --- estimates on the host ---

// Maximum number of blocks in a run of each shape, and the total number of blocks.
int64_t count_runs(int64_t n_row, const int32_t *count, unsigned long long most[N_SHAPE])
{
    int64_t n = 0;
    for (int i = 0; i < N_SHAPE; i++) {
        unsigned long long here = 0;
        most[i] = 0;
        n = 0;
        for (int64_t r = 0; r < n_row; r++) {
            if (r % SHAPE[i] == 0) here = 0;
            here += static_cast<unsigned long long>(count[r]);
            n += count[r];
            if (here > most[i]) most[i] = here;
        }
    }
    return n;
}

// Number of rows of earlier runs that the cells of a run's points contain, summed over all runs.
// stamp: [n_point], -1.
int64_t count_outer(const hx_incidence *in, int n_each, int32_t *stamp)
{
    int64_t n = 0;
    for (int64_t a = 0; a < in->n_point; a++) {
        const int32_t first = static_cast<int32_t>(a - a % n_each);
        for (int64_t k = in->point_ptr[a]; k < in->point_ptr[a + 1]; k++) {
            const int64_t cell = hx_incidence_cell(in, in->point_place[k]);
            const int32_t *const point = in->point + hx_incidence_first(in, cell);
            for (int b = 0; b < hx_incidence_count(in, cell); b++) {
                if (point[b] >= first || stamp[point[b]] == first) continue;
                stamp[point[b]] = first;
                n++;
            }
        }
    }
    return n;
}

int expect(const hx_incidence *in, const hx_matrix_spec *spec, int32_t *count, size_t *bytes)
{
    hx_pattern_spec pattern = {};
    unsigned long long most[N_SHAPE];
    int64_t most_block;
    pattern.part = HX_PART_LOWER;
    pattern.n_row = in->n_point;
    HX_TRY(hx_pattern_count_rows(in, &pattern, count));
    const int64_t n_off = count_runs(in->n_point, count, most) - in->n_point;
    const int n_each = may_run(spec) ? choose_shape(spec, most, &most_block) : 0;
    *bytes =
        bytes_of_lists(in->n_point, n_off) + hx_cuda_blocks_bytes(list_blocks(spec, in->n_point));
    if (n_each == 0) return HX_OK;
    for (int64_t a = 0; a < in->n_point; a++) count[a] = -1;
    const int64_t n_run = (in->n_point + n_each - 1) / n_each;
    *bytes = bytes_of_runs(in->n_point, n_off, n_run, count_outer(in, n_each, count)) +
             hx_cuda_blocks_bytes(n_run);
    return HX_OK;
}

} // namespace

int hx_cuda_lower_create(hx_device *dev, const hx_matrix *m, hx_cuda_lower *lower)
{
    lower->n_off = m->pattern.n_entry - m->pattern.n_row;
    if (may_run(&m->spec)) HX_TRY(find_shape(dev, m, lower));
    lower->blocks.n = lower->n_each > 0 ? lower->n_run : list_blocks(&m->spec, m->pattern.n_row);
    return lower->n_each > 0 ? create_runs(dev, m, lower) : create_lists(dev, m, lower);
}

void hx_cuda_lower_free(hx_device *dev, hx_cuda_lower *s)
{
    void *const owned[] = {s->d_code,       s->d_list,  s->d_end,      s->d_outer_begin,
                           s->d_outer_row,  s->d_aside, s->d_part_ptr, s->d_part,
                           s->d_column_ptr, s->d_row,   s->d_entry,    s->blocks.d_block};
    for (void *d_p : owned) dev->ops->release(dev, d_p);
}

size_t hx_cuda_lower_bytes(const hx_matrix *m, const hx_cuda_lower *s)
{
    const int64_t n_row = m->pattern.n_row;
    size_t bytes = s->n_each > 0 ? bytes_of_runs(n_row, s->n_off, s->n_run, s->n_outer)
                                 : bytes_of_lists(n_row, s->n_off);
    if (s->blocks.d_block) bytes += hx_cuda_blocks_bytes(s->blocks.n);
    return bytes;
}

int hx_cuda_lower_expected(const hx_incidence *in, const hx_matrix_spec *spec, size_t *bytes)
{
    int32_t *count;
    HX_TRY(hx_alloc_raw(&count, static_cast<size_t>(in->n_point), sizeof *count, "lower product"));
    const int rc = expect(in, spec, count, bytes);
    free(count);
    return rc;
}

// Lists the runs that write to interface rows first.
static int divide_runs(hx_device *dev, const hx_matrix *m, const hx_cuda_interface &interface,
                       hx_cuda_lower *s)
{
    const size_t n_run = static_cast<size_t>(s->n_run);
    hx_cuda_scratch scratch(dev);
    uint8_t *d_mark, *mark;
    hx_block_split split;
    HX_TRY(scratch.take(&d_mark, s->n_run));
    HX_TRY(hx_launch(dev, "runs with interface rows", s->n_run, mark_kernel, view_of(m, s),
                     s->n_run, interface.d_is_interface, d_mark));
    HX_TRY(hx_alloc_raw(&mark, n_run, sizeof *mark, "lower product"));
    int rc = dev->ops->download(dev, mark, d_mark, n_run);
    if (rc == HX_OK) rc = hx_block_split_marked(&split, s->n_run, mark);
    free(mark);
    HX_TRY(rc);
    rc = hx_cuda_blocks_put(&s->blocks, dev, split);
    hx_block_split_free(&split);
    return rc;
}

int hx_cuda_lower_divide(hx_device *dev, const hx_matrix *m, const hx_cuda_interface &interface,
                         const int32_t *point, hx_cuda_lower *s)
{
    if (s->n_each > 0) return divide_runs(dev, m, interface, s);
    return hx_cuda_blocks_of_rows(&s->blocks, dev, m->pattern.n_row, interface.n, point,
                                  m->spec.components, HX_BLOCK);
}

static int run_blocks(const hx_matrix *m, const hx_cuda_lower *s, const hx_block_run &run,
                      const double *d_x, double *d_y)
{
    const size_t n_shared = shared_bytes(&m->spec, s->n_each, s->most_block, s->most_outer);
    if (m->spec.single)
        runs_kernel<<<run.n, SIZE, n_shared, run.stream>>>(
            run.block, view_of(m, s), static_cast<const float *>(m->d_value), d_x, s->d_aside, d_y);
    else
        runs_kernel<<<run.n, SIZE, n_shared, run.stream>>>(run.block, view_of(m, s),
                                                           static_cast<const double *>(m->d_value),
                                                           d_x, s->d_aside, d_y);
    return HX_LAUNCHED("product of a lower matrix");
}

int hx_cuda_lower_multiply(hx_device *dev, const hx_matrix *m, const hx_cuda_product *plan,
                           hx_product_part part, const double *d_x, double *d_y)
{
    const hx_cuda_lower *const s = &plan->lower;
    const hx_block_run run = hx_blocks_of(s->blocks, part, hx_cuda_of(dev)->stream);
    const hx_cuda_rows rows = hx_rows_after(plan->interface, m->pattern.n_row, part);
    if (s->n_each == 0) {
        if (run.n == 0) return HX_OK;
        lists_kernel<<<run.n, HX_BLOCK, 0, run.stream>>>(run.block, *m, s->d_column_ptr, s->d_row,
                                                         s->d_entry, d_x, d_y);
        return HX_LAUNCHED("product of a lower matrix by lists");
    }
    if (run.n > 0) HX_TRY(run_blocks(m, s, run, d_x, d_y));
    if (s->n_outer == 0 || rows.n == 0) return HX_OK;
    parts_kernel<<<hx_blocks(3 * rows.n, HX_BLOCK), HX_BLOCK, 0, run.stream>>>(
        rows, s->d_part_ptr, s->d_part, s->d_aside, d_y);
    return HX_LAUNCHED("outer sums");
}
