// The table of the GPU's matrices: their arrays, diagonals, rows, and downloads concurrent with the
// queue.
#include <cstring>

#include "../device/scan_cuda.cuh"
#include "core/base/memory.h"
#include "product_cuda.cuh"

namespace
{

constexpr int WARP = 32;
static_assert(HX_SLICE == WARP, "a lane of a warp is a row of a slice");

// Number of blocks for n warps.
unsigned warp_blocks(int64_t n)
{
    return hx_blocks(n * WARP, HX_BLOCK);
}

// slice_ptr[s + 1] = number of blocks of slice s, one warp per slice.
__global__ void slice_widths_kernel(int64_t n_row, int64_t n_slice,
                                    const int64_t *__restrict__ row_ptr,
                                    int64_t *__restrict__ slice_ptr)
{
    const int64_t slice = hx_grid_thread() / WARP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int64_t r = HX_SLICE * slice + lane;
    if (slice >= n_slice) return;
    const int n = r < n_row ? static_cast<int>(row_ptr[r + 1] - row_ptr[r]) : 0;
    const int width = __reduce_max_sync(0xffffffffu, n);
    if (lane != 0) return;
    slice_ptr[slice + 1] = static_cast<int64_t>(HX_SLICE) * width;
    if (slice == 0) slice_ptr[0] = 0;
}

// One warp per slice. Lanes beyond the last row use its column.
__global__ void slice_columns_kernel(hx_matrix m, int64_t n_slice)
{
    const hx_device_pattern &p = m.pattern;
    const int64_t slice = hx_grid_thread() / WARP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int64_t r = HX_SLICE * slice + lane;
    if (slice >= n_slice) return;
    const int64_t own = p.row_first + (r < p.n_row ? r : p.n_row - 1);
    const int64_t begin = r < p.n_row ? p.d_row_ptr[r] : 0;
    const int64_t end = r < p.n_row ? p.d_row_ptr[r + 1] : 0, first = m.d_ptr[slice];
    const int64_t width = (m.d_ptr[slice + 1] - first) / HX_SLICE;
    for (int64_t k = 0; k < width; k++)
        m.d_col[first + HX_SLICE * k + lane] =
            begin + k < end ? p.d_col[begin + k] : static_cast<int32_t>(own);
}

// Columns of csr and coo, rows of coo, and pointers of csr: one warp per row of points.
template <int C> __global__ void number_columns_kernel(hx_matrix m)
{
    const hx_device_pattern &p = m.pattern;
    const int64_t r = hx_grid_thread() / WARP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    if (r >= p.n_row) return;
    const bool lower = m.spec.part == HX_PART_LOWER;
    const int64_t begin = p.d_row_ptr[r];
    const int n = static_cast<int>(p.d_row_ptr[r + 1] - begin);
    for (int i = 0; i < C; i++) {
        const int64_t first = hx_matrix_place(&m, r, n, 0, i, 0);
        const int n_number = lower ? C * (n - 1) + i + 1 : C * n;
        if (m.d_ptr && lane == 0) m.d_ptr[C * r + i] = first;
        for (int t = lane; t < n_number; t += WARP) {
            m.d_col[first + t] = C * p.d_col[begin + t / C] + t % C;
            if (m.d_row) m.d_row[first + t] = static_cast<int32_t>(C * r + i);
        }
    }
    if (m.d_ptr && r == p.n_row - 1 && lane == 0) m.d_ptr[C * p.n_row] = m.n_value;
}

// One thread per row of numbers, so that neighbouring threads write to adjacent places.
template <int C> __global__ void ell_columns_kernel(hx_matrix m)
{
    const hx_device_pattern &p = m.pattern;
    const int64_t row = hx_grid_thread(), n_dof = C * p.n_row, r = row / C;
    const int i = static_cast<int>(row % C);
    if (row >= n_dof) return;
    const int64_t begin = p.d_row_ptr[r];
    const int n = static_cast<int>(p.d_row_ptr[r + 1] - begin);
    const int n_number = m.spec.part == HX_PART_LOWER ? C * (n - 1) + i + 1 : C * n;
    const int32_t own = static_cast<int32_t>(C * p.row_first + row);
    for (int t = 0; t < m.width; t++)
        m.d_col[t * n_dof + row] = t < n_number ? C * p.d_col[begin + t / C] + t % C : own;
}

int create_sliced(hx_device *dev, hx_matrix *m)
{
    const int64_t n_slice = (m->pattern.n_row + HX_SLICE - 1) / HX_SLICE, c = m->spec.components;
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    int64_t n_block;
    HX_TRY(dev->ops->alloc(dev, (static_cast<size_t>(n_slice) + 1) * sizeof(int64_t), &m->d_ptr));
    slice_widths_kernel<<<warp_blocks(n_slice), HX_BLOCK, 0, stream>>>(
        m->pattern.n_row, n_slice, m->pattern.d_row_ptr, m->d_ptr);
    HX_TRY_LAUNCH("slice widths");
    HX_TRY(hx_sum_with(dev, m->d_ptr + 1, n_slice));
    HX_TRY(dev->ops->download(dev, &n_block, m->d_ptr + n_slice, sizeof n_block));
    m->n_value = n_block * c * c;
    HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(n_block) * sizeof(int32_t), &m->d_col));
    slice_columns_kernel<<<warp_blocks(n_slice), HX_BLOCK, 0, stream>>>(*m, n_slice);
    return HX_LAUNCHED("slice columns");
}

// For csr and coo.
int create_numbers(hx_device *dev, hx_matrix *m)
{
    const int64_t n_row = m->pattern.n_row;
    const int c = m->spec.components;
    const size_t n_bytes = static_cast<size_t>(m->n_value) * sizeof(int32_t);
    const size_t n_ptr = static_cast<size_t>(c * n_row) + 1;
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    if (m->spec.format == HX_FORMAT_CSR)
        HX_TRY(dev->ops->alloc(dev, n_ptr * sizeof(int64_t), &m->d_ptr));
    else
        HX_TRY(dev->ops->alloc(dev, n_bytes, &m->d_row));
    HX_TRY(dev->ops->alloc(dev, n_bytes, &m->d_col));
    if (c == 3)
        number_columns_kernel<3><<<warp_blocks(n_row), HX_BLOCK, 0, stream>>>(*m);
    else
        number_columns_kernel<1><<<warp_blocks(n_row), HX_BLOCK, 0, stream>>>(*m);
    return HX_LAUNCHED("columns");
}

int create_ell(hx_device *dev, hx_matrix *m)
{
    const int64_t n_dof = m->spec.components * m->pattern.n_row;
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const unsigned n_block = hx_blocks(n_dof, HX_BLOCK);
    HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(m->n_value) * sizeof(int32_t), &m->d_col));
    if (m->spec.components == 3)
        ell_columns_kernel<3><<<n_block, HX_BLOCK, 0, stream>>>(*m);
    else
        ell_columns_kernel<1><<<n_block, HX_BLOCK, 0, stream>>>(*m);
    return HX_LAUNCHED("ell columns");
}

// Padding is set to zero and never written by fills; so are the bytes after the last value.
int alloc_values(hx_device *dev, hx_matrix *m)
{
    const size_t each = m->spec.single ? sizeof(float) : sizeof(double);
    const size_t n_bytes = static_cast<size_t>(m->n_value) * each;
    const bool padded = m->spec.format == HX_FORMAT_BSRS || m->spec.format == HX_FORMAT_ELL;
    const size_t from = padded ? 0 : n_bytes;
    HX_TRY(dev->ops->alloc(dev, n_bytes + HX_VALUE_SPARE, &m->d_value));
    return dev->ops->zero(dev, static_cast<char *>(m->d_value) + from,
                          n_bytes + HX_VALUE_SPARE - from);
}

int create(hx_device *dev, hx_matrix *m)
{
    const hx_device_pattern &p = m->pattern;
    const int c = m->spec.components;
    const bool lower = m->spec.part == HX_PART_LOWER;
    m->n_value = p.n_entry * c * c;
    switch (m->spec.format) {
    case HX_FORMAT_BSR:
        break;
    case HX_FORMAT_BSRS:
        HX_TRY(create_sliced(dev, m));
        break;
    case HX_FORMAT_ELL:
        m->width = c * p.max_row;
        m->n_value = c * p.n_row * m->width;
        HX_TRY(create_ell(dev, m));
        break;
    default:
        if (lower) m->n_value -= p.n_row * (c * (c - 1) / 2);
        HX_TRY(create_numbers(dev, m));
    }
    HX_TRY(alloc_values(dev, m));
    if (p.n_row == p.n_point) HX_TRY(hx_cuda_product_create(dev, m));
    return dev->ops->sync(dev);
}

void destroy(hx_device *dev, hx_matrix *m)
{
    void *const owned[] = {m->d_ptr, m->d_row, m->d_col, m->d_value};
    for (void *d_p : owned) dev->ops->release(dev, d_p);
    hx_cuda_product_free(dev, m->plan);
}

// Number (i, j) of entry k of row r; for a lower matrix also above the diagonal.
__device__ __forceinline__ double number_at(const hx_matrix &m, int64_t r, int n, int k, int i,
                                            int j)
{
    int64_t at = hx_matrix_place(&m, r, n, k, i, j);
    if (at < 0) at = hx_matrix_place(&m, r, n, k, j, i);
    return hx_number(m, at);
}

// One thread per row of points. Columns ascend, so the diagonal entry is found by bisection.
__global__ void diagonal_kernel(hx_matrix m, double *__restrict__ diag)
{
    const hx_device_pattern &p = m.pattern;
    const int64_t r = hx_grid_thread();
    const int c = m.spec.components;
    if (r >= p.n_row) return;
    const int64_t begin = p.d_row_ptr[r];
    const int n = static_cast<int>(p.d_row_ptr[r + 1] - begin);
    int low = 0, high = n - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (p.d_col[begin + middle] < p.row_first + r)
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = 0; i < c; i++) diag[c * r + i] = number_at(m, r, n, low, i, i);
}

int diagonal(hx_device *dev, const hx_matrix *m, double *d_diag)
{
    return hx_launch(dev, "diagonal of the matrix", m->pattern.n_row, diagonal_kernel, *m, d_diag);
}

// Copies the blocks of rows first .. first + n_row - 1, row-major in double precision: one warp per
// row of points.
__global__ void rows_kernel(hx_matrix m, int64_t first, int64_t n_row, double *__restrict__ to)
{
    const int64_t k = hx_grid_thread() / WARP, r = first + k;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int c = m.spec.components;
    if (k >= n_row) return;
    const int64_t begin = m.pattern.d_row_ptr[r];
    const int n = static_cast<int>(m.pattern.d_row_ptr[r + 1] - begin);
    double *const row = to + (begin - m.pattern.d_row_ptr[first]) * c * c;
    for (int t = lane; t < n * c * c; t += WARP)
        row[t] = number_at(m, r, n, t / (c * c), t / c % c, t % c);
}

// Downloads through a buffer in device memory, some rows at a time.
int download_blocks(hx_device *dev, const hx_matrix *m, hx_matrix_rows *rows)
{
    constexpr int64_t most = 1 << 20; // number of blocks of the buffer; a row has less than 2^16
    const int64_t *const ptr = rows->ptr, n_row = rows->n_row;
    const int64_t block = m->spec.components * m->spec.components;
    hx_cuda_scratch scratch(dev);
    double *d_buffer;
    HX_TRY(scratch.take(&d_buffer, (ptr[n_row] < most ? ptr[n_row] : most) * block));
    for (int64_t r = 0, end; r < n_row; r = end) {
        for (end = r + 1; end < n_row && ptr[end + 1] - ptr[r] <= most;) end++;
        rows_kernel<<<warp_blocks(end - r), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
            *m, rows->first + r, end - r, d_buffer);
        HX_TRY_LAUNCH("rows of the matrix");
        HX_TRY(
            dev->ops->download(dev, rows->value + ptr[r] * block, d_buffer,
                               static_cast<size_t>((ptr[end] - ptr[r]) * block) * sizeof(double)));
    }
    return HX_OK;
}

int download_rows(hx_device *dev, const hx_matrix *m, hx_matrix_rows *rows)
{
    const hx_device_pattern &p = m->pattern;
    const size_t n_row = static_cast<size_t>(rows->n_row);
    const size_t block = static_cast<size_t>(m->spec.components * m->spec.components);
    HX_TRY(hx_alloc_raw(&rows->ptr, n_row + 1, sizeof *rows->ptr, "rows"));
    HX_TRY(dev->ops->download(dev, rows->ptr, p.d_row_ptr + rows->first,
                              (n_row + 1) * sizeof *rows->ptr));
    const int64_t begin = rows->ptr[0];
    for (size_t r = 0; r <= n_row; r++) rows->ptr[r] -= begin;
    const size_t n_entry = static_cast<size_t>(rows->ptr[n_row]);
    HX_TRY(hx_alloc_raw(&rows->col, n_entry, sizeof *rows->col, "rows"));
    HX_TRY(hx_alloc_raw(&rows->value, n_entry * block, sizeof *rows->value, "rows"));
    if (n_entry == 0) return HX_OK;
    HX_TRY(dev->ops->download(dev, rows->col, p.d_col + begin, n_entry * sizeof *rows->col));
    if (m->spec.format != HX_FORMAT_BSR || m->spec.single) return download_blocks(dev, m, rows);
    return dev->ops->download(dev, rows->value,
                              static_cast<const double *>(m->d_value) +
                                  static_cast<size_t>(begin) * block,
                              n_entry * block * sizeof *rows->value);
}

int get_rows(hx_device *dev, const hx_matrix *m, int64_t first, int64_t n, hx_matrix_rows *rows)
{
    *rows = {};
    rows->first = first;
    rows->n_row = n;
    const int rc = download_rows(dev, m, rows);
    if (rc < 0) hx_matrix_rows_free(rows);
    return rc;
}

size_t plan_bytes(const hx_matrix *m)
{
    return m->plan ? hx_cuda_product_bytes(m) : 0;
}

int host_alloc(hx_device *, size_t bytes, void *out)
{
    void *p = nullptr;
    memcpy(out, &p, sizeof p);
    HX_TRY_CUDA(cudaHostAlloc(&p, bytes > 0 ? bytes : 1, cudaHostAllocDefault));
    memcpy(out, &p, sizeof p);
    return HX_OK;
}

void host_release(hx_device *, void *p)
{
    if (p) cudaFreeHost(p);
}

int fetch(hx_device *dev, int slot, void *to, const void *d_from, size_t bytes)
{
    hx_cuda *impl = hx_cuda_of(dev);
    if (!impl->fetch_ready[slot])
        HX_TRY_CUDA(cudaEventCreateWithFlags(&impl->fetch_ready[slot], cudaEventDisableTiming));
    if (!impl->fetch_stream[slot])
        HX_TRY_CUDA(cudaStreamCreateWithFlags(&impl->fetch_stream[slot], cudaStreamNonBlocking));
    HX_TRY_CUDA(cudaEventRecord(impl->fetch_ready[slot], impl->stream));
    HX_TRY_CUDA(cudaStreamWaitEvent(impl->fetch_stream[slot], impl->fetch_ready[slot], 0));
    return HX_CUDA(
        cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, impl->fetch_stream[slot]));
}

int fetch_wait(hx_device *dev, int slot)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (impl->fetch_stream[slot]) HX_TRY_CUDA(cudaStreamSynchronize(impl->fetch_stream[slot]));
    return HX_OK;
}

constexpr unsigned ALL_FORMATS = (1u << HX_N_FORMAT) - 1;

} // namespace

extern const hx_matrix_ops hx_cuda_matrix_ops = {
    .formats = ALL_FORMATS,
    .lower_formats = ALL_FORMATS,
    .single_formats = ALL_FORMATS,
    .fills = (1u << HX_N_FILL) - 1,
    .builds = (1u << HX_N_BUILD) - 1,
    .splines = 1,
    .pattern = hx_cuda_pattern,
    .create = create,
    .destroy = destroy,
    .fill_create = hx_cuda_fill_create,
    .fill_run = hx_cuda_fill_run,
    .fill_free = hx_cuda_fill_free,
    .fill_bytes = hx_cuda_fill_bytes,
    .fill_steps = hx_cuda_fill_steps,
    .fill_reads_slots = hx_cuda_fill_reads_slots,
    .multiply = hx_cuda_matrix_multiply,
    .multiply_dot = hx_cuda_matrix_multiply_dot,
    .divide = hx_cuda_product_divide,
    .multiply_part = hx_cuda_matrix_multiply_part,
    .multiply_single = hx_cuda_matrix_multiply_single,
    .multiply_part_single = hx_cuda_matrix_multiply_part_single,
    .diagonal = diagonal,
    .rows = get_rows,
    .plan_bytes = plan_bytes,
    .cutter_create = hx_cuda_cutter_create,
    .cut = hx_cuda_cut,
    .cutter_free = hx_cuda_cutter_free,
    .shift = hx_cuda_shift,
    .host_alloc = host_alloc,
    .host_release = host_release,
    .fetch = fetch,
    .fetch_wait = fetch_wait,
};
